"""The formatter that lays out code, as far as that needs it: the browser runs it as plain Python.

Black reads settings and walks through folders as well, with packages of others for that. Of each module come
along the statements that are needed, and those that they need in turn.
"""

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import files, packages_distributions
from importlib.util import find_spec
from pathlib import Path

FORMATTER = "black"
_START = {"black": {"format_str"}, "black.mode": {"Mode", "TargetVersion"}}  # see snippets/layout.py
_WHOLE = "*"

Wanted = Mapping[str, Iterable[str]]


def formatter() -> dict[str, str]:
    """The modules by their paths, the files that they read, and the licences that ask to come along."""
    modules = _parts()
    texts = {_address(name): ast.unparse(ast.Module(body, [])) + "\n" for name, body in modules.items()}
    folders = dict.fromkeys(_path(name).parent for name in modules)
    data = [path for folder in folders if folder.name != "site-packages" for path in folder.glob("*.txt")]
    beside = {f"{path.parent.name}/{path.name}": path.read_text(encoding="utf-8") for path in data}
    return texts | beside | dict(_licences(name.partition(".")[0] for name in modules))


def _licences(packages: Iterable[str]) -> Iterator[tuple[str, str]]:
    distributions = packages_distributions()
    for name in sorted({name for package in packages for name in distributions[package]}):
        yield from ((str(path), path.read_text()) for path in files(name) or () if path.name == "LICENSE")


def _parts() -> dict[str, list[ast.stmt]]:
    """The statements that are needed of each module, by its name."""
    wanted = {name: set(names) for name, names in _START.items()}
    while True:
        parts = {name: _part(name, frozenset(names)) for name, names in wanted.items()}
        before = {name: set(names) for name, names in wanted.items()}
        for module, body in parts.items():
            for other, name in _imported(module, body):
                wanted.setdefault(other, set()).add(name)
        if wanted == before:
            return parts


@cache
def _part(module: str, wanted: frozenset[str]) -> list[ast.stmt]:
    """What binds the wanted names in a module or is done when it is imported, and what that needs."""
    body = [each for each in _tree(module).body if not _is_script(each)]
    if _WHOLE in wanted:
        return body
    names = set(wanted)
    kept: list[ast.stmt] = []
    while (found := [each for each in body if _is_done(each) or names & set(_bound(each))]) != kept:
        kept = found
        names |= {name for each in kept for name in _used(each)}
    return [_narrowed(each, names) for each in kept]


@cache  # and with it each node of it, by which others are cached
def _tree(module: str) -> ast.Module:
    return ast.parse(_path(module).read_text(encoding="utf-8"))


def _path(module: str) -> Path:
    """The file of a module; where it is compiled, the source beside it."""
    top, *inside = module.split(".")
    spec = find_spec(top)
    if not spec or not spec.origin:
        raise FileNotFoundError(f"{module}, which {FORMATTER} needs, is not installed")
    beside = Path(spec.origin).parent
    path = beside.joinpath(*([] if spec.submodule_search_locations else [top]), *inside)
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _address(module: str) -> str:
    """The path of a module's file below the folder that it is installed in."""
    path = _path(module)
    depth = module.count(".") + 1 + (path.name == "__init__.py")
    return "/".join(path.parts[-depth:])


def _imported(module: str, body: Iterable[ast.stmt]) -> Iterator[tuple[str, str]]:
    """What statements import from packages of others: modules, each with a name in it.

    What stands behind a condition is for another Python.
    """
    always = [each for each in body if not isinstance(each, ast.If | ast.Try)]
    for node in (node for statement in always for node in _imports(statement)):
        if isinstance(node, ast.Import):
            pairs = [(alias.name, _WHOLE) for alias in node.names]
        else:
            base = _absolute(module, node)
            pairs = [_source(base, alias.name) for alias in node.names]
        yield from (pair for pair in pairs if _is_installed(pair[0]))


@cache
def _imports(statement: ast.stmt) -> list[ast.Import | ast.ImportFrom]:
    return [node for node in ast.walk(statement) if isinstance(node, ast.Import | ast.ImportFrom)]


@cache
def _is_installed(module: str) -> bool:
    """Whether it is of a package that was installed: neither Python's own nor another Python's."""
    top = module.partition(".")[0]
    return top not in sys.stdlib_module_names and find_spec(top) is not None


def _absolute(module: str, node: ast.ImportFrom) -> str:
    package = module.split(".") if _path(module).name == "__init__.py" else module.split(".")[:-1]
    above = package[: len(package) - node.level + 1] if node.level else []
    return ".".join([*above, *([node.module] if node.module else [])])


def _source(base: str, name: str) -> tuple[str, str]:
    """A name of a package is a module of it, or something in its own."""
    whole = f"{base}.{name}"
    return (whole, _WHOLE) if _is_installed(base) and _path(whole).is_file() else (base, name)


def _is_script(statement: ast.stmt) -> bool:
    """Whether it is done only where the module is a program."""
    return isinstance(statement, ast.If) and "__name__" in _used(statement.test)


def _is_done(statement: ast.stmt) -> bool:
    """Whether it is there for what it does rather than for a name that it binds."""
    if isinstance(statement, ast.Expr):
        return not isinstance(statement.value, ast.Constant)
    return not list(_bound(statement)) or getattr(statement, "module", "") == "__future__"


def _bound(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement of a module binds."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in aliases)
        case ast.Assign(targets=targets):
            yield from (name for target in targets for name in _used(target))
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            yield from _used(target)


@cache
def _used(node: ast.AST) -> frozenset[str]:
    return frozenset(part.id for part in ast.walk(node) if isinstance(part, ast.Name))


def _narrowed(statement: ast.stmt, names: set[str]) -> ast.stmt:
    """An import without the names that nothing needs."""
    if not isinstance(statement, ast.ImportFrom) or statement.module == "__future__":
        return statement
    aliases = [alias for alias in statement.names if (alias.asname or alias.name) in names]
    return ast.ImportFrom(statement.module, aliases, statement.level)
