"""Bundle the browser's modules into two files, since two hundred requests take seconds, or into one text.

Each module becomes a function that returns its exports, and gets its imports from the modules before it. Only
modules in this project's style are supported: they import and export by name, at the start of a line, and
without cycles.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping

from explorer.instrument.modules import collect_imports, list_imports, read_module, resolve_path

LATER = "later.js"  # a file in the folder of the first module
_IMPORT = re.compile(r'^import (?:\* as (\w+)|\{([^}]*)\}) from "([^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(
    r"^export (?=(?:(?:async )?function\*?|const|class) (?:(\w+)|\[([\w, ]+)\]))", re.MULTILINE
)
_EMPTY_EXPORT = re.compile(r"^export \{\};$", re.MULTILINE)  # the end of modules that contain only types
_LAZY_IMPORT = re.compile(r'(?<!\{)\bimport\("(\.[^"]+)"\)')
_UNSUPPORTED = re.compile(r"^(?:import|export)\b.*|^.*\bawait import\(.*", re.MULTILINE)
_DOCUMENTATION = re.compile(r"^ */\*\*(?:[^*]|\*(?!/))*\*/\n", re.MULTILINE)

# Names that begin with $ cannot collide with exports of modules.
_HEAD = f"""export const $modules = {{}};
export const $load = async (name) => $modules[name] ?? (await import("./{LATER}"), $modules[name]);
"""


def bundle_modules(first: str) -> Mapping[str, str]:
    """Bundle a JavaScript module with its imports in one file, and lazily loaded modules in another.

    Args:
        first: path of a module, such as ``"pages/mount.js"``.

    Returns:
        A dict from addresses to texts. The bundle has the address of the first module and the same exports.
            At the address of each other module is a file that exports the one instance of that module.

    Raises:
        ValueError: if a module imports or exports in an unsupported way.
    """
    at_once = collect_imports(first)
    names = list(at_once)
    for name in names:  # names are appended during the loop
        lazy = [resolve_path(name, path) for path in _LAZY_IMPORT.findall(read_module(name))]
        names += [other for other in collect_imports(*lazy) if other not in names]
    later = [name for name in names if name not in at_once]
    programs = {name: _compile_module(name, first) for name in [*at_once, *later]}
    header = f'import {{ $modules, $load }} from "./{posixpath.basename(first)}";\n'
    files: dict[str, str] = {}
    for name, (_, exports) in programs.items():
        path = posixpath.relpath(first, posixpath.dirname(name))
        load = f'import {{ $modules, $load }} from "./{path}";\nawait $load("{name}");'
        files[name] = f"{load}\n{_write_exports(name, exports)}"
    files[resolve_path(first, LATER)] = header + _join_modules(later, programs)
    files[first] = _HEAD + _join_modules(at_once, programs) + _write_exports(first, programs[first][1])
    return files


def bundle_page(first: str) -> str:
    """Return a JavaScript module with all its imports as one text, since a file on disk cannot load others.

    The result has the exports of the first module. Modules loaded later by ``import(…)`` are left out.
    ``first`` and the errors are as in ``bundle_modules``.
    """
    _, *others = collect_imports(first)
    programs = {name: _compile_module(name, first) for name in others}
    text = _IMPORT.sub(lambda match: _convert_import(first, match), read_module(first))
    return f"const $modules = {{}};\n{_join_modules(others, programs)}{text}"


def _write_exports(module: str, names: list[str]) -> str:
    return f'export const {{ {", ".join(names)} }} = $modules["{module}"];\n'


def _join_modules(names: Iterable[str], programs: Mapping[str, tuple[str, list[str]]]) -> str:
    return "".join(programs[name][0] for name in _sort_by_imports(list(names)))


def _sort_by_imports(names: list[str]) -> Iterator[str]:
    visited: set[str] = set()

    def visit(name: str) -> Iterator[str]:
        if name in visited or name not in names:
            return
        visited.add(name)
        for other in list_imports(name):
            yield from visit(other)
        yield name

    for name in names:
        yield from visit(name)


def _compile_module(module: str, first: str) -> tuple[str, list[str]]:
    """Return a module as a statement that sets its exports, and their names; refuse unsupported imports."""
    names: list[str] = []

    def export(match: re.Match[str]) -> str:
        names.extend([match[1]] if match[1] else re.split(", *", match[2]))
        return ""

    def load(match: re.Match[str]) -> str:
        return f'$load("{resolve_path(module, match[1])}")'

    text = _DOCUMENTATION.sub("", read_module(module))
    text = _EMPTY_EXPORT.sub(
        "", _EXPORT.sub(export, _IMPORT.sub(lambda match: _convert_import(module, match), text))
    )
    address = f'new URL("{posixpath.relpath(module, posixpath.dirname(first))}", import.meta.url)'
    text = _LAZY_IMPORT.sub(load, text).replace("import.meta.url", address)
    if unsupported := _UNSUPPORTED.search(text):
        raise ValueError(f"{module}: cannot bundle this import or export, use named ones: {unsupported[0]}")
    return f'$modules["{module}"] = (() => {{\n{text}return {{ {", ".join(names)} }};\n}})();\n', names


def _convert_import(module: str, match: re.Match[str]) -> str:
    name = match[1] or f"{{{match[2].replace(' as ', ': ')}}}"
    return f'const {name} = $modules["{resolve_path(module, match[3])}"];'
