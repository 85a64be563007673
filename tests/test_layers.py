"""Who may import whom: the tables of the design against every import in the code, Python and JavaScript."""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / "explorer" / "instrument" / "js"
EVERYWHERE = frozenset(sys.stdlib_module_names) | {"numpy"}


@dataclass(frozen=True)
class Row:
    """What a part may import: third parties, and parts of ours."""

    third: frozenset[str]
    ours: frozenset[str]


def _row(third: str, ours: str) -> Row:
    return Row(frozenset(third.split()), frozenset(ours.split()))


_CURVES = _row("torch pandas", "gradient catalogue formula reference curves kinks checks")
_CORE = (
    "formula catalogue gradient reference curves kinks claims description checks colours figures snippets "
    "reading training"
)
TABLE = {
    "formula": _row("torch", ""),
    "catalogue": _row("", "formula"),
    "gradient": _row("torch", "catalogue formula"),
    "curves": _CURVES,
    "kinks": _CURVES,
    "reference": _row("torch", "catalogue formula"),
    "colours": _row("", ""),
    "claims": _row("", "curves"),
    "description": _row("pandas", "curves claims"),
    "checks": _CURVES,
    "figures": _row("plotly pandas", "curves colours"),
    "snippets": _row("nbformat black", "catalogue formula"),
    "reading": _row("", "catalogue formula"),
    "training": _row("torch sklearn", "gradient catalogue formula"),
    "lessons": _row("torch", _CORE),
    "__init__": _row("", f"{_CORE} instrument"),
    "instrument": _row("plotly", "catalogue formula curves kinks description colours"),
    "ui": _row("streamlit starlette plotly pandas", f"{_CORE} instrument lessons"),
    "app": _row("streamlit starlette plotly torch", "ui"),
}

# The rooms of the browser's half in their order: what a room may import stands above it.
ROOMS = {
    "formula": "",
    "elements": "formula",
    "choice": "formula elements",
    "chart": "formula elements",
    "cards": "formula elements choice chart",
    "explore": "formula elements choice chart cards",
    "train": "formula elements choice chart cards",
    "learn": "formula elements choice chart explore train",
    "pages": "elements choice explore train learn",
}
# A type is imported as well, in a comment.
_MODULE = re.compile(
    r"""(?:^(?:import|export)\b[^;"'`=(]*|\bimport\s*\(\s*)["'`]([^"'`]*)["'`]|\bimport\s*\(""", re.MULTILINE
)


def part_of(path: Path, root: Path) -> str:
    """The part a file belongs to: its folder or name below ``explorer``, or its name at the top."""
    inside = path.relative_to(root).with_suffix("").parts
    return inside[1] if inside[0] == "explorer" else inside[0]


def files_of(root: Path) -> list[Path]:
    """All code of ours but the tests."""
    return sorted([*root.glob("*.py"), *(root / "explorer").rglob("*.py")])


def imports_of(path: Path, root: Path) -> Iterator[str]:
    """Dotted names of what a file imports, wherever in it the import stands; relative ones made absolute."""
    package = path.relative_to(root).parent.parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            yield f"a name computed at run time, {ast.unparse(node)}"


def breaches(root: Path, table: dict[str, Row]) -> list[str]:
    """Every file without a row and every import the table does not allow, one line each."""
    found = []
    for path in files_of(root):
        part, name = part_of(path, root), path.relative_to(root)
        if part not in table:
            found.append(f"{name} is in no row")
            continue
        for imported in imports_of(path, root):
            first, *rest = imported.split(".")
            if first == "explorer":
                target = rest[0] if rest and rest[0] in table else "__init__"
                allowed = target == part or target in table[part].ours
            else:
                allowed = first in EVERYWHERE | table[part].third
            if not allowed:
                found.append(f"{name} imports {imported}")
    return found


def modules_of(scripts: Path) -> list[Path]:
    """All modules of the browser's half."""
    return sorted(scripts.rglob("*.js"))


def named_by(module: Path, scripts: Path) -> Iterator[str]:
    """Paths below ``scripts`` of what a module imports, in code or as a type; other addresses as they are."""
    for found in _MODULE.finditer(module.read_text(encoding="utf-8")):
        address = found[1]
        if address is None:
            yield "a name computed at run time"
        elif address.startswith("."):
            yield Path(os.path.relpath(module.parent / address, scripts)).as_posix()
        else:
            yield address


def room_breaches(scripts: Path, rooms: dict[str, str]) -> list[str]:
    """Every module outside the rooms, and every import not allowed or not there, one line each."""
    found = []
    for module in modules_of(scripts):
        name = module.relative_to(scripts).as_posix()
        room, *inside = name.split("/")
        if room not in rooms or not inside:
            found.append(f"{name} is in no room")
            continue
        for imported in named_by(module, scripts):
            allowed = imported.split("/")[0] in {room, *rooms[room].split()}
            if not (allowed and (scripts / imported).is_file()):
                found.append(f"{name} imports {imported}")
    return found


def test_every_import_is_in_the_table():
    assert breaches(ROOT, TABLE) == []


def test_every_import_between_rooms_is_in_the_table():
    assert room_breaches(SCRIPTS, ROOMS) == []


def test_imports_go_one_way_between_rooms():
    order = list(ROOMS)
    for room, imported in ROOMS.items():
        assert set(imported.split()) <= set(order[: order.index(room)]), room


def test_every_room_and_what_it_may_import_is_used():
    used = {room: set() for room in ROOMS}
    for module in modules_of(SCRIPTS):
        room = module.relative_to(SCRIPTS).parts[0]
        used[room] |= {imported.split("/")[0] for imported in named_by(module, SCRIPTS)} - {room}
    assert used == {room: set(imported.split()) for room, imported in ROOMS.items()}


def test_the_files_are_really_read():
    parts = {part_of(path, ROOT) for path in files_of(ROOT)}
    assert {"formula", "catalogue", "gradient", "curves", "kinks", "figures", "ui", "app"} <= parts
    assert "torch.Tensor" in set(imports_of(ROOT / "explorer" / "gradient.py", ROOT))


SMALL = {
    "low": _row("torch", ""),
    "high": _row("", "low"),
    "__init__": _row("", "low high"),
    "app": _row("streamlit", "high"),
}


@pytest.mark.parametrize(
    ("file", "code", "expected"),
    [
        ("explorer/low.py", "import torch, math\nimport numpy as np\nfrom torch.nn import functional", None),
        ("explorer/low.py", "import torchvision", "imports torchvision"),
        ("explorer/low.py", "import explorer.high", "imports explorer.high"),
        ("explorer/low.py", "from explorer import high", "imports explorer.high"),
        ("explorer/low.py", "from explorer import sample", "imports explorer.sample"),
        ("explorer/low.py", "import explorer", "imports explorer"),
        ("explorer/low.py", "from . import high", "imports explorer.high"),
        ("explorer/low.py", "from .high import x", "imports explorer.high.x"),
        ("explorer/low/deep/er.py", "from ...high import x", "imports explorer.high.x"),
        ("explorer/low/deep/er.py", "from ..other import x\nfrom .here import y", None),
        ("explorer/low.py", "def f():\n    if x:\n        import pandas.core", "imports pandas.core"),
        ("explorer/low.py", "try:\n    import streamlit\nexcept ImportError:\n    pass", "imports streamlit"),
        (
            "explorer/low.py",
            "import importlib\nimportlib.import_module('explorer.high')",
            "computed at run time",
        ),
        ("explorer/high/__init__.py", "from explorer.low import x\nfrom explorer.high.y import z", None),
        ("explorer/high/__init__.py", "import torch", "imports torch"),
        ("explorer/__init__.py", "from explorer.low import x\nfrom explorer.high.y import z", None),
        ("explorer/other.py", "", "is in no row"),
        ("explorer/other/deep.py", "", "is in no row"),
        ("script.py", "", "script.py is in no row"),
        ("app.py", "import streamlit as st\nfrom explorer.high import x", None),
        ("app.py", "from explorer.low import x", "imports explorer.low.x"),
        ("tests/test_x.py", "import anything", None),
    ],
)
def test_the_check_itself(tmp_path: Path, file: str, code: str, expected: str | None):
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(code, encoding="utf-8")
    found = breaches(tmp_path, SMALL)
    assert len(found) == (expected is not None)
    if expected:
        assert expected in found[0]
        assert found[0].startswith(str(Path(file)))


@pytest.mark.parametrize(
    ("file", "code", "expected"),
    [
        ("low/a.js", 'import { x } from "./b.js";\nexport { y } from "./b.js";', None),
        ("low/a.js", 'import "../high/c.js";', "imports high/c.js"),
        ("low/a.js", "import {\n  x,\n} from '../high/c.js';", "imports high/c.js"),
        ("low/a.js", "const { x } = await import('../high/c.js');", "imports high/c.js"),
        ("low/a.js", "await import(`../high/${name}.js`);", "imports high/${name}.js"),
        ("low/a.js", "await import(name);", "computed at run time"),
        ("low/a.js", '/** @type {import("../high/c.js").X} */', "imports high/c.js"),
        ("low/a.js", 'import { x } from "./gone.js";', "imports low/gone.js"),
        ("low/a.js", 'import { x } from "https://elsewhere.org/x.js";', "imports https://elsewhere.org/x.js"),
        ("low/a.js", 'import { x } from "../../outside.js";', "imports ../outside.js"),
        ("high/a.js", 'import { x } from "../low/b.js";\nimport { y } from "./c.js";', None),
        ("a.js", "", "is in no room"),
        ("other/a.js", "", "is in no room"),
    ],
)
def test_the_check_of_rooms_itself(tmp_path: Path, file: str, code: str, expected: str | None):
    scripts = tmp_path / "js"
    for name in ("low/b.js", "high/c.js"):
        (scripts / name).parent.mkdir(parents=True)
        (scripts / name).touch()
    (scripts / file).parent.mkdir(exist_ok=True)
    (scripts / file).write_text(code, encoding="utf-8")
    found = room_breaches(scripts, {"low": "", "high": "low"})
    assert len(found) == (expected is not None)
    if expected:
        assert expected in found[0]
        assert found[0].startswith(file)
