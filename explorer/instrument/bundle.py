"""The browser's modules in two files: on a slow line a request for each of two hundred takes seconds.

Each module becomes a function that returns its exports, and reads its imports from those before it. Only
modules like ours can be read: they import and export by name, at the start of a line, and never in a circle.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping

from explorer.instrument.modules import MODULES, beside, imported, text_of, with_imports

LATER = "later.js"  # beside the first module
_IMPORT = re.compile(r'^import (?:\* as (\w+)|\{([^}]*)\}) from "([^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(
    r"^export (?=(?:(?:async )?function\*?|const|class) (?:(\w+)|\[([\w, ]+)\]))", re.MULTILINE
)
_NOTHING = re.compile(r"^export \{\};$", re.MULTILINE)  # of a module of types alone
_LOADED = re.compile(r'(?<!\{)\bimport\(("|`)(\.[^"`]+)\1\)')
_UNREAD = re.compile(r"^(?:import|export)\b.*|.*\bawait import\(.*", re.MULTILINE)
_DOCUMENTATION = re.compile(r"^ */\*\*(?:[^*]|\*(?!/))*\*/\n", re.MULTILINE)

# Their names are none of a module's.
_BEGIN = f"""export const $modules = {{}};
export const $load = async (name) => $modules[name] ?? (await import("./{LATER}"), $modules[name]);
"""


def bundled(first: str) -> Mapping[str, str]:
    """The texts of files by their addresses: a module with all it imports, and all that is loaded later.

    ``first`` is the path of a module, such as ``"pages/mount.js"``; its file stands in its place and exports
    the same. At the address of each other module are the exports of the one instance that there is of it.

    Raises:
        ValueError: a module imports or exports in a way that this cannot read.
    """
    at_once = with_imports(first)
    later = [name for name in _with_all(first) if name not in at_once]
    programs = {name: _program(name, first) for name in [*at_once, *later]}
    home = f'import {{ $modules, $load }} from "./{posixpath.basename(first)}";\n'
    files = {name: _door(name, first, names) for name, (_, names) in programs.items()}
    files[beside(first, LATER)] = home + _sequence(later, programs)
    files[first] = _BEGIN + _sequence(at_once, programs) + _exports(first, programs[first][1])
    return files


def _door(module: str, first: str, names: list[str]) -> str:
    """A module that gives the exports of another one that is bundled, whichever file it is in."""
    way = posixpath.relpath(first, posixpath.dirname(module))
    return (
        f'import {{ $modules, $load }} from "./{way}";\nawait $load("{module}");\n{_exports(module, names)}'
    )


def _exports(module: str, names: list[str]) -> str:
    return f'export const {{ {", ".join(names)} }} = $modules["{module}"];\n'


def _sequence(names: Iterable[str], programs: Mapping[str, tuple[str, list[str]]]) -> str:
    """Modules one after the other, each behind those that it imports."""
    return "".join(programs[name][0] for name in _in_order(list(names)))


def _in_order(names: list[str]) -> Iterator[str]:
    done: set[str] = set()

    def behind(name: str) -> Iterator[str]:
        if name in done or name not in names:
            return
        done.add(name)
        for other in imported(name):
            yield from behind(other)
        yield name

    for name in names:
        yield from behind(name)


def _with_all(first: str) -> list[str]:
    """A module with all that it imports or loads later, and so on."""
    names = with_imports(first)
    for name in names:  # it grows
        names += [other for other in with_imports(*_loaded(name)) if other not in names]
    return names


def _loaded(module: str) -> list[str]:
    """The modules that one loads by ``import(…)``: where a part of the name is open, all that it may be."""
    paths: list[str] = []
    for _, path in _LOADED.findall(text_of(module)):
        pattern = re.sub(r"\$\{\w+\}", "*", beside(module, path))
        paths += sorted(each.relative_to(MODULES).as_posix() for each in MODULES.glob(pattern))
    return paths


def _program(module: str, first: str) -> tuple[str, list[str]]:
    """A module as a statement that sets its exports, and their names."""
    names: list[str] = []

    def export(match: re.Match[str]) -> str:
        names.extend([match[1]] if match[1] else re.split(", *", match[2]))
        return ""

    def load(match: re.Match[str]) -> str:
        return f"$load({match[1]}{beside(module, match[2])}{match[1]})"

    text = _DOCUMENTATION.sub("", text_of(module))
    text = _NOTHING.sub("", _EXPORT.sub(export, _IMPORT.sub(lambda match: _taken(module, match), text)))
    own = f'new URL("{posixpath.relpath(module, posixpath.dirname(first))}", import.meta.url)'
    text = _LOADED.sub(load, text).replace("import.meta.url", own)
    if unread := _UNREAD.search(text):
        raise ValueError(f"{module}: this import or export cannot be bundled: {unread[0]}")
    return f'$modules["{module}"] = (() => {{\n{text}return {{ {", ".join(names)} }};\n}})();\n', names


def _taken(module: str, match: re.Match[str]) -> str:
    """An import as a constant that is read from the exports of the other module."""
    name = match[1] or f"{{{match[2].replace(' as ', ': ')}}}"
    return f'const {name} = $modules["{beside(module, match[3])}"];'
