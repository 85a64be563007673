"""Find the browser's JavaScript modules and their imports."""

import posixpath
import re
from pathlib import Path

MODULES = Path(__file__).parents[1] / "frontend"
_IMPORT = re.compile(r'^(?:(?:import|export) .*|\}) from "(\.[\w./-]+\.js)";$', re.MULTILINE)


def collect_imports(*names: str) -> list[str]:
    """Return the given JavaScript modules and all that they import, directly or indirectly.

    Modules loaded later by ``import(…)`` are left out. ``names`` are paths below ``explorer/frontend``, such
    as ``"pages/mount.js"``.
    """
    modules = list(names)
    for name in modules:  # modules are appended during the loop
        modules += [other for other in list_imports(name) if other not in modules]
    return modules


def list_imports(module: str) -> list[str]:
    """Return the JavaScript modules that a module imports, in order."""
    return list(dict.fromkeys(resolve_path(module, path) for path in _IMPORT.findall(read_module(module))))


def read_module(module: str) -> str:
    """Return the source code of a JavaScript module."""
    return (MODULES / module).read_text(encoding="utf-8")


def list_sources(*suffixes: str) -> list[Path]:
    """Return all files of the browser's code with one of the given suffixes, such as ``"css"``."""
    return sorted(path for suffix in suffixes for path in MODULES.rglob(f"*.{suffix}"))


def resolve_path(module: str, path: str) -> str:
    """Return the path of an import such as ``"../formula/curves.js"``, seen from the importing module."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(module), path))
