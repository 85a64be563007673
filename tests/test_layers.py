"""Who may import whom: the tables of docs/architecture.md against every import, Python and JavaScript."""

import ast
import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / "explorer" / "frontend"
EVERYWHERE = frozenset(sys.stdlib_module_names) | {"numpy"}


@dataclass(frozen=True)
class Row:
    """The imports that a part may have: packages of others, and parts of ours."""

    third: frozenset[str]
    ours: frozenset[str]


def rows_of(text: str) -> dict[str, Row]:
    """The table of parts: what each may import, and every part that shares its row."""
    table: dict[str, Row] = {}
    for paths, _, third, ours in _cells(text, "| part |"):
        parts = re.findall(r"`(?:explorer/)?(\w+)(?:\.py)?`", paths)
        row = Row(_names(third), _parts(ours, frozenset(table)) | frozenset(parts))
        table |= dict.fromkeys(parts, row)
    return table


def rooms_of(text: str, part: str) -> dict[str, frozenset[str]]:
    """The table of the rooms of a part in their order: what each may import."""
    head = f"| package of `explorer/{part}` |"
    return {room.strip("`"): _names(ours) for room, _, ours in _cells(text, head)}


def _cells(text: str, head: str) -> Iterator[list[str]]:
    """The rows of the table whose head begins so, below its rule."""
    table = text.split(f"\n{head}")[1].split("\n\n")[0]
    for line in table.splitlines()[2:]:
        yield [cell.strip() for cell in line.strip("|").split(" | ")]


def _names(cell: str) -> frozenset[str]:
    return frozenset() if cell == "–" else frozenset(cell.split(", "))


def _parts(cell: str, above: frozenset[str]) -> frozenset[str]:
    """The parts a cell names: one by one, or as "everything above", or as that "but" some."""
    everything, _, but = cell.partition("everything above")
    return _names(cell) if everything else above - _names(but.removeprefix(" but ") or "–")


TABLES = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
TABLE, ROOMS = rows_of(TABLES), rooms_of(TABLES, "frontend")
HOUSES = {part: rooms_of(TABLES, part) for part in ("training", "model", "ui")}
MOST_FILES = 20  # of code in a folder
# Folders in which one entry is a file.
_CATALOGUES = {"catalogue/ops", "catalogue/rules", "training/tasks", "training/instruments"}
ENTRIES = frozenset({"lessons/stories", "checks", *_CATALOGUES})

# A type is imported as well, in a comment. Files of a room that are found by themselves are in the same room.
_MODULE = re.compile(
    r"""(?:(?:^(?:import|export)|@import)\b[^;"'`=(]*|\bimport\s*\(\s*)["'`]([^"'`]*)["'`]|\bimport\s*\(""",
    re.MULTILINE,
)
OWN_ROOM = "./${key}.js"


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
            match node.args[0]:
                case ast.Constant(value=str(name)):
                    if find_spec(name.partition(".")[0]):  # else it is nobody's: a story tells of that
                        yield name
                case name if not ast.unparse(name).startswith("f'{__name__}."):  # what is below is looked at
                    yield f"a name computed at run time, {ast.unparse(node)}"


@cache
def find_packages() -> Mapping[str, list[str]]:
    """Return the packages that a module may come from, as they are installed."""
    return packages_distributions()


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
                allowed = target in table[part].ours
            else:
                packages = {*find_packages().get(first, [first])}
                allowed = first in EVERYWHERE or bool(packages & table[part].third)
            if not allowed:
                found.append(f"{name} imports {imported}")
    return found


def modules_of(scripts: Path) -> list[Path]:
    return sorted(scripts.rglob("*.js"))


def named_by(module: Path, scripts: Path) -> Iterator[str]:
    """Paths below ``scripts`` of what a module imports, in code or as a type; other addresses as they are."""
    for found in _MODULE.finditer(module.read_text(encoding="utf-8")):
        address = found[1]
        if address == OWN_ROOM or (
            address is None and module.name == "cell.js"
        ):  # its modules come by message
            continue
        if address is None:
            yield "a name computed at run time"
        elif address.startswith("."):
            yield Path(os.path.relpath(module.parent / address, scripts)).as_posix()
        else:
            yield address


def room_of(name: str) -> str:
    """The room of a module by its path: its folder, at whatever depth."""
    return name.rpartition("/")[0]


def rooms_used(root: Path, part: str, rooms: Collection[str]) -> dict[str, set[str]]:
    """The other rooms of a part that the files of each room import; "" for what is in none."""
    folder = root / "explorer" / part
    known = {room.replace("/", "."): room for room in rooms}
    used: dict[str, set[str]] = {room: set() for room in rooms}
    for path in sorted(folder.rglob("*.py")):
        inner = path.relative_to(folder)
        room = inner.parent.as_posix() if len(inner.parts) > 1 else inner.stem  # its folder, if it has one
        if room == "__init__":  # the part's door
            continue
        for imported in imports_of(path, root):
            inside = imported.removeprefix(f"explorer.{part}.")
            if inside != imported:
                named = [each for each in known if f"{inside}.".startswith(f"{each}.")]
                used.setdefault(room, set()).add(known[max(named, key=len)] if named else "")
    return {room: imported - {room} for room, imported in used.items()}


def python_graph(root: Path) -> dict[str, set[str]]:
    """The modules that each module of ours imports."""
    paths = {path: path.relative_to(root).with_suffix("").parts for path in files_of(root)}
    modules = {".".join(parts).removesuffix(".__init__"): path for path, parts in paths.items()}
    graph: dict[str, set[str]] = {}
    for name, path in modules.items():
        prefixes = ([i.rsplit(".", n)[0] for n in range(i.count(".") + 1)] for i in imports_of(path, root))
        graph[name] = {next((each for each in names if each in modules), name) for names in prefixes} - {name}
    return graph


def script_graph(scripts: Path) -> dict[str, set[str]]:
    """The modules that each module of the browser's half imports as code; types may be of each other."""
    graph = {}
    for module in modules_of(scripts):
        code = re.sub(r"/\*.*?\*/", "", module.read_text(encoding="utf-8"), flags=re.DOTALL)
        named = [found[1] for found in _MODULE.finditer(code) if (found[1] or "").startswith(".")]
        graph[module.relative_to(scripts).as_posix()] = {
            Path(os.path.relpath(module.parent / address, scripts)).as_posix()
            for address in named
            if address != OWN_ROOM  # its files import it as a type alone
        }
    return graph


@pytest.mark.parametrize("part", HOUSES)
def test_every_python_part_and_its_imports_are_in_the_table(part: str):
    assert rooms_used(ROOT, part, HOUSES[part]) == HOUSES[part]


@pytest.mark.parametrize("rooms", [ROOMS, *HOUSES.values()], ids=["frontend", *HOUSES])
def test_imports_go_one_way_between_rooms(rooms: dict[str, frozenset[str]]):
    order = list(rooms)
    for room, imported in rooms.items():
        assert imported <= set(order[: order.index(room)]), room


@pytest.mark.parametrize(("graph_of", "folder"), [(python_graph, ROOT), (script_graph, SCRIPTS)])
def test_no_modules_import_in_a_circle(graph_of: Callable[[Path], dict[str, set[str]]], folder: Path):
    graph = graph_of(folder)
    assert len(graph) > 100
    assert len(list(TopologicalSorter(graph).static_order())) == len(graph)


def test_no_folder_holds_more_than_twenty_files_of_code():
    for folder in (ROOT / "explorer").rglob("*"):
        if folder.is_dir() and folder.relative_to(ROOT / "explorer").as_posix() not in ENTRIES:
            files = [each for each in folder.iterdir() if each.suffix in {".py", ".js", ".css", ".html"}]
            assert len(files) <= MOST_FILES, folder


def test_every_import_is_in_the_table():
    assert breaches(ROOT, TABLE) == []


def test_rooms_of_the_browser_import_what_the_table_says_and_nothing_that_is_gone():
    used: dict[str, set[str]] = {room: set() for room in ROOMS}
    for module in modules_of(SCRIPTS):
        room = room_of(module.relative_to(SCRIPTS).as_posix())
        imported = set(named_by(module, SCRIPTS))
        assert all((SCRIPTS / each).is_file() for each in imported), module
        used.setdefault(room, set()).update({room_of(each) for each in imported} - {room})
    assert used == ROOMS


SMALL = rows_of("""
| part | what it holds | of others | of ours |
|---|---|---|---|
| `explorer/low` | the lowest | torch, scikit-learn | – |
| `explorer/high.py`, `explorer/higher.py` | what stands on it | – | low |
| `app.py` | the server | streamlit | everything above but low |
| `explorer/__init__.py` | names | – | everything above |

The rest.
""")


@pytest.mark.parametrize(
    ("file", "code", "expected"),
    [
        ("explorer/low.py", "import torch, math\nimport numpy as np\nfrom torch.nn import functional", None),
        ("explorer/low.py", "from sklearn.datasets import load_digits", None),
        ("explorer/high.py", "import sklearn", "imports sklearn"),
        ("explorer/low.py", "from .high import x", "imports explorer.high.x"),
        ("explorer/low/deep/er.py", "from ...high import x", "imports explorer.high.x"),
        ("explorer/low.py", "def f():\n    if x:\n        import pandas.core", "imports pandas.core"),
        ("explorer/low.py", "importlib.import_module('explorer.high')", "imports explorer.high"),
        ("explorer/low.py", "importlib.import_module(name)", "computed at run time"),
        ("explorer/low/__init__.py", "import_module(f'{__name__}.{name}')", None),
        ("explorer/__init__.py", "from explorer.low import x\nfrom explorer.high.y import z", None),
        ("explorer/other.py", "", "is in no row"),
        ("app.py", "from explorer.low import x", "imports explorer.low.x"),
    ],
)
def test_the_check_itself(tmp_path: Path, file: str, code: str, expected: str | None):
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(code, encoding="utf-8")
    found = breaches(tmp_path, SMALL)
    assert len(found) == (expected is not None)
    assert all(expected in each and each.startswith(file) for each in found)
