"""The browser's modules: their folder, and their imports."""

import posixpath
import re
from pathlib import Path

MODULES = Path(__file__).parents[1] / "frontend"
_IMPORT = re.compile(r'^(?:(?:import|export) .*|\}) from "(\.[\w./-]+\.js)";$', re.MULTILINE)


def collect_imports(*names: str) -> list[str]:
    """Return modules with all their imports, each once; modules loaded later, by ``import(…)``, are left out.

    ``names`` are paths below ``explorer/frontend``, such as ``"pages/mount.js"``.
    """
    modules = list(names)
    for name in modules:  # grows during the loop
        modules += [other for other in list_imports(name) if other not in modules]
    return modules


def list_imports(module: str) -> list[str]:
    """Return the imports of a module, in order."""
    return list(dict.fromkeys(resolve_path(module, path) for path in _IMPORT.findall(text_of(module))))


def text_of(module: str) -> str:
    """Return the source of a module."""
    return (MODULES / module).read_text(encoding="utf-8")


def list_sources(*suffixes: str) -> list[Path]:
    """Return the files in all folders that have one of the suffixes, such as ``"css"``, in order."""
    return sorted(path for suffix in suffixes for path in MODULES.rglob(f"*.{suffix}"))


def resolve_path(module: str, path: str) -> str:
    """Return the module at a path relative to another one, such as ``"../formula/curves.js"``."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(module), path))
