"""Python in the browser: Pyodide, and the app's own modules that read and write formulas and code.

Pyodide comes from npm (see package.json). Its files and ours are written beside the pages as data, and none
is loaded before somebody asks for what did not come along, such as an own formula.
"""

import ast
import base64
import gzip
import json
import math
import re
from collections.abc import Iterator, Sequence
from keyword import kwlist, softkwlist
from pathlib import Path
from typing import Any

import torch

from explorer.formula import FUNCTIONS
from explorer.formula.aliases import alike
from explorer.formula.measured import at_bounds, e4m3_saturates, is_elsewhere

ROOT = Path(__file__).parents[2]
PYODIDE = ROOT / "node_modules" / "pyodide"
# The module that answers, and those that it imports once they are needed.
_START = (
    "explorer.site.program",
    *(f"explorer.questions.{name}" for name in ("entry", "formulas", "code", "read", "judge")),
)
_HERE = Path(__file__).parent
_IN_PLACE = {"explorer/formula/torch_operations.py": _HERE / "steps.py"}
_MEASURED = "explorer/formula/measured.py"
_WORKER, _BROWSER = _HERE / "worker.js", _HERE / "arithmetic.js"
_FROM = re.compile(r'^(?:import|export)\b[^;"]*from "(\.[^"]+)"', re.MULTILINE)
_RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")

Json = dict[str, Any]


def version(pyodide: Path = PYODIDE) -> str:
    """The version of Pyodide in a folder; "" where there is none."""
    package = pyodide / "package.json"
    return str(json.loads(package.read_text(encoding="utf-8"))["version"]) if package.is_file() else ""


def runtime(pyodide: Path = PYODIDE) -> Json:
    """Python itself: the worker's address, and the files of Pyodide as base64 of gzip, by name."""
    return {
        "worker": f"data:text/javascript;base64,{base64.b64encode(_WORKER.read_bytes()).decode()}",
        "files": {name: _packed((pyodide / name).read_bytes()) for name in _RUNTIME},
        "packages": packages(pyodide),
    }


def packages(pyodide: Path = PYODIDE) -> str:
    """Pyodide's list of packages, as JSON: there are none beside Python's own."""
    info = json.loads((pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))["info"]
    return json.dumps({"info": info, "packages": {}})


def program() -> Json:
    """The module that answers questions, ``start``, and all modules with it, texts by their paths.

    ``scripts`` are JavaScript likewise; Python imports that at the path ``browser`` as a module of this name.
    """
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in _needed(_START)}
    texts |= {name: path.read_text(encoding="utf-8") for name, path in _IN_PLACE.items()}
    texts[_MEASURED] = _measured()
    scripts = {path.relative_to(ROOT).as_posix(): text for path, text in _scripts(_BROWSER)}
    return {
        "start": _START[0],
        "modules": texts,
        "browser": _BROWSER.relative_to(ROOT).as_posix(),
        "scripts": scripts,
    }


def _scripts(start: Path) -> Iterator[tuple[Path, str]]:
    """A module of JavaScript and all that it imports, with their texts."""
    paths = [start]
    for path in paths:  # it grows
        text = path.read_text(encoding="utf-8")
        beside = [(path.parent / name).resolve() for name in _FROM.findall(text)]
        paths += [other for other in beside if other not in paths]
        yield path, text


def _packed(content: bytes) -> str:
    return base64.b64encode(gzip.compress(content, mtime=0)).decode()


def _needed(start: Sequence[str]) -> list[Path]:
    """The files of modules and of all that they import from here at their top.

    The packages that hold them without being asked for anything are left out, as they would import the rest.
    """
    names = [*start]
    for name in names:  # it grows
        names += [other for other in _imported(name) if other not in names]
    return [path for path in map(_path, names) if path]


def _imported(name: str) -> Iterator[str]:
    path = _path(name)
    if path is None or path.relative_to(ROOT).as_posix() in (_MEASURED, *_IN_PLACE):
        return
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("explorer"):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _path(name: str) -> Path | None:
    """The file of a module or package; None for a name that is something in one."""
    path = ROOT.joinpath(*name.split("."))
    return next(filter(Path.is_file, (path.with_suffix(".py"), path / "__init__.py")), None)


def _measured() -> str:
    """In place of what asks torch and Python: what they answered where the site was written."""
    libraries = (torch, torch.nn.functional, math)
    names = {name for library in libraries for name in dir(library) if alike(name, FUNCTIONS)}
    known = {name for name in sorted(names) if is_elsewhere(name)}
    return "\n".join(
        [
            f'"""What torch {torch.__version__} answered where this site was written."""',
            "",
            "from explorer.formula.functions import AtBounds",
            "",
            f"_NAMES = frozenset({sorted(known)!r})",
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
