"""The browser's modules: where they are, and what each of them imports."""

import posixpath
import re
from pathlib import Path

MODULES = Path(__file__).parents[1] / "frontend"
_IMPORTED = re.compile(r'^(?:(?:import|export) .*|\}) from "(\.[\w./-]+\.js)";$', re.MULTILINE)


def with_imports(*names: str) -> list[str]:
    """Modules with all they import, each once; modules loaded later, by ``import(…)``, are left out.

    ``names`` are paths below ``explorer/frontend``, such as ``"pages/mount.js"``.
    """
    modules = list(names)
    for name in modules:  # it grows
        modules += [other for other in imported(name) if other not in modules]
    return modules


def imported(module: str) -> list[str]:
    """The modules that one imports, in their order."""
    return list(dict.fromkeys(beside(module, path) for path in _IMPORTED.findall(text_of(module))))


def text_of(module: str) -> str:
    """The source of a module."""
    return (MODULES / module).read_text(encoding="utf-8")


def sources(*suffixes: str) -> list[Path]:
    """The files of all folders that end in one of the suffixes, such as ``"css"``, in order."""
    return sorted(path for suffix in suffixes for path in MODULES.rglob(f"*.{suffix}"))


def beside(module: str, path: str) -> str:
    """The module at a relative path, such as ``"../formula/curves.js"``, from there."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(module), path))
