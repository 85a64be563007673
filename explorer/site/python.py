"""Python in the browser: Pyodide, and the app's own modules that read and write formulas and code.

Pyodide comes from npm (see package.json). Its files and the app's modules are written next to the pages as
data. They are loaded only when a page needs an answer that is not stored, as for a custom formula.
"""

import ast
import base64
import gzip
import json
import math
from collections.abc import Iterator, Sequence
from keyword import kwlist, softkwlist
from pathlib import Path
from typing import Any

import torch

from explorer.formula import FUNCTIONS
from explorer.formula.aliases import find_similar
from explorer.formula.measured import at_bounds, e4m3_saturates, is_elsewhere
from explorer.instrument.bundle import bundle_page
from explorer.site.packages import CONVERTER, pack_package

ROOT = Path(__file__).parents[2]
PYODIDE = ROOT / "node_modules" / "pyodide"
# The module that answers questions, and the modules that it imports on demand.
_START = (
    "explorer.site.program",
    *(f"explorer.questions.{name}" for name in ("entry", "formulas", "code", "read", "judge")),
)
_FOLDER = Path(__file__).parent
_REPLACEMENTS = {"explorer/formula/torch_operations.py": _FOLDER / "steps.py"}
_MEASURED = "explorer/formula/measured.py"
_WORKER, _BROWSER = _FOLDER / "worker.js", "../site/arithmetic.js"
_RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")

Json = dict[str, Any]


def read_version(pyodide: Path = PYODIDE) -> str:
    """Return the version of Pyodide in a folder, or "" if the folder has no Pyodide."""
    package = pyodide / "package.json"
    return str(json.loads(package.read_text(encoding="utf-8"))["version"]) if package.is_file() else ""


def pack_runtime(pyodide: Path = PYODIDE) -> Json:
    """Return Python itself as data.

    The dict has the address of the ``worker``; ``files``, a dict from the names of Pyodide's files to their
    contents, gzipped and as base64; and ``packages``, an empty list of packages in Pyodide's JSON format,
    because no package is loaded.
    """
    info = json.loads((pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))["info"]
    files = {name: gzip.compress((pyodide / name).read_bytes(), mtime=0) for name in _RUNTIME}
    return {
        "worker": f"data:text/javascript;base64,{base64.b64encode(_WORKER.read_bytes()).decode()}",
        "files": {name: base64.b64encode(content).decode() for name, content in files.items()},
        "packages": json.dumps({"info": info, "packages": {}}),
    }


def pack_program() -> Json:
    """Return the program for the browser as data.

    The dict has the name of the module to ``start``; ``modules``, a dict from paths to the source of all
    modules; and ``browser``, the text of a JavaScript module, which Python imports by that name.
    """
    texts = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for path in _collect_modules(_START)
    }
    texts |= {name: path.read_text(encoding="utf-8") for name, path in _REPLACEMENTS.items()}
    texts |= {_MEASURED: _write_measured()} | pack_package(CONVERTER)
    return {"start": _START[0], "modules": texts, "browser": bundle_page(_BROWSER)}


def _collect_modules(start: Sequence[str]) -> list[Path]:
    """Return the files of the given modules and of all project modules that they import at the top.

    A package is left out unless it is imported itself, because its ``__init__`` imports all its modules.
    """
    names = [*start]
    for name in names:  # names are appended during the loop
        names += [other for other in _list_imports(name) if other not in names]
    return [path for path in map(_find_path, names) if path]


def _list_imports(name: str) -> Iterator[str]:
    path = _find_path(name)
    if path is None or path.relative_to(ROOT).as_posix() in (_MEASURED, *_REPLACEMENTS):
        return
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("explorer"):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from names if all(map(_find_path, names)) else (node.module, *names)


def _find_path(name: str) -> Path | None:
    """Return the file of a module or package by its dotted name, or None for a name inside a module."""
    path = ROOT.joinpath(*name.split("."))
    return next(filter(Path.is_file, (path.with_suffix(".py"), path / "__init__.py")), None)


def _write_measured() -> str:
    libraries = (torch, torch.nn.functional, math)
    names = {name for library in libraries for name in dir(library) if find_similar(name, FUNCTIONS)}
    existing = {name for name in sorted(names) if is_elsewhere(name)}
    return "\n".join(
        [
            f'"""What torch {torch.__version__} answered where this site was written."""',
            "",
            "from explorer.formula.functions import AtBounds",
            "",
            f"_NAMES = frozenset({sorted(existing)!r})",
            f"_WORDS = frozenset({sorted({*kwlist, *softkwlist})!r})",
            "",
            "",
            "def at_bounds():",
            f"    return {at_bounds()!r}",
            "",
            "",
            "def e4m3_saturates():",
            f"    return {e4m3_saturates()!r}",
            "",
            "",
            "def is_elsewhere(name):",
            "    return name in _NAMES",
            "",
            "",
            "def is_word(name):",
            "    return name in _WORDS",
            "",
        ]
    )
