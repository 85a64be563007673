"""Python in the browser, which reads own formulas there: Pyodide, and the modules that read them in the app.

Pyodide comes from npm (see package.json). Its files and ours are written beside the pages as data, and none
is loaded before somebody writes an own formula or opens a link with one.
"""

import ast
import base64
import gzip
import json
import math
import re
from collections.abc import Iterator
from keyword import kwlist, softkwlist
from pathlib import Path
from typing import Any

import torch

from explorer.formula import FUNCTIONS
from explorer.formula.aliases import alike
from explorer.formula.measured import at_bounds, is_elsewhere
from explorer.formula.torch_operations import called

ROOT = Path(__file__).parents[2]
PYODIDE = ROOT / "node_modules" / "pyodide"
_OWN, _JUDGING = "explorer.site.own", "explorer.site.judging"
_STAND_IN = Path(__file__).with_name("torch")
_MEASURED = "explorer/formula/measured.py"
_WORKER = Path(__file__).with_name("worker.js")
_FROM = re.compile(r'(^(?:import|export)\b[^;"]*from )"(\.[^"]+)"', re.MULTILINE)
_RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")

Json = dict[str, Any]


def version(pyodide: Path = PYODIDE) -> str:
    """The version of Pyodide in a folder; "" where there is none."""
    package = pyodide / "package.json"
    return str(json.loads(package.read_text(encoding="utf-8"))["version"]) if package.is_file() else ""


def runtime(pyodide: Path = PYODIDE) -> Json:
    """Python itself: the worker's address, and the files of Pyodide as base64 of gzip, by name."""
    return {
        "worker": _address(_WORKER.read_bytes()),
        "files": {name: _packed((pyodide / name).read_bytes()) for name in _RUNTIME},
        "packages": packages(pyodide),
    }


def packages(pyodide: Path = PYODIDE) -> str:
    """What Pyodide is told of packages, as JSON: there are none beside Python's own."""
    info = json.loads((pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))["info"]
    return json.dumps({"info": info, "packages": {}})


def program() -> Json:
    """What answers questions about own formulas: its module, and the texts of all modules by their paths."""
    return {"start": _OWN, "modules": _modules(_OWN), "arrays": ""}


def judging() -> Json:
    """What answers questions about rules: as ``program``, with what stands in for torch and NumPy."""
    return {
        "start": _JUDGING,
        "modules": _modules(_JUDGING) | stand_in(),
        "arrays": _holding(_STAND_IN / "arrays.js"),
    }


def stand_in() -> dict[str, str]:
    """The modules that are imported as torch and NumPy in the browser, by their paths."""
    texts = {f"torch/{path.name}": path.read_text(encoding="utf-8") for path in _STAND_IN.glob("*.py")}
    return texts | {
        "torch_measured.py": f"VERSION, ONCE = {torch.__version__!r}, {_once()!r}\n",
        "numpy/__init__.py": "from torch.numpy import *\nfrom torch.numpy import __getattr__\n",
        "numpy/typing.py": "NDArray = list\n",
    }


def _once() -> dict[str, str]:
    """What the torch that is here says of a second derivative, by the functions of which it has none."""
    said = {}
    for name, row in FUNCTIONS.items():
        if row.arity == 1 and row.differentiable and not row.reduces:
            x = torch.zeros(1, requires_grad=True)
            (first,) = torch.autograd.grad(called(row)(x), x, create_graph=True)
            try:
                torch.autograd.backward(first)
            except RuntimeError as error:
                if first.requires_grad:
                    said[name] = str(error)
    return said


def _modules(start: str) -> dict[str, str]:
    """A module and those that it needs: of others they need torch at most.

    The packages that hold them without being asked for anything are left out, as they would import the rest.
    """
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in _needed(start)}
    return texts | {_MEASURED: _measured()}


def _holding(module: Path) -> str:
    """An address that holds a module of JavaScript and, in it, those of all that it imports."""

    def beside(found: re.Match[str]) -> str:
        return f'{found[1]}"{_holding((module.parent / found[2]).resolve())}"'

    text = _FROM.sub(beside, module.read_text(encoding="utf-8"))
    return _address(text.encode())


def _address(script: bytes) -> str:
    return f"data:text/javascript;base64,{base64.b64encode(script).decode()}"


def _packed(content: bytes) -> str:
    return base64.b64encode(gzip.compress(content, mtime=0)).decode()


def _needed(start: str) -> list[Path]:
    """The files of a module and of all that it imports from here at its top."""
    names = [start]
    for name in names:  # it grows
        names += [other for other in _imported(name) if other not in names]
    return [path for path in map(_path, names) if path]


def _imported(name: str) -> Iterator[str]:
    path = _path(name)
    if path is None or path.relative_to(ROOT).as_posix() == _MEASURED:
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
    told = {name for name in sorted(names) if is_elsewhere(name)}
    return "\n".join(
        [
            f'"""What torch {torch.__version__} answered where this site was written."""',
            "",
            "from explorer.formula.functions import AtBounds",
            "",
            f"_NAMES = frozenset({sorted(told)!r})",
            f"_WORDS = frozenset({sorted({*kwlist, *softkwlist})!r})",
            "",
            "",
            "def at_bounds():",
            f"    return {at_bounds()!r}",
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
