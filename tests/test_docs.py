"""The documentation is true: its tables, its list of functions, its code, its links, its pictures."""

import ast
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import nbformat
import pytest
import torch

import explorer
from explorer.formula import FUNCTIONS, parse, parsing
from explorer.lessons import LESSONS
from explorer.ui.links.link import from_text
from tests.peer_formulas.pairs import PAIRS

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
README_LINES = 150
CODE = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
of_each = pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@cache
def run_page(name: str) -> tuple[dict[str, Any], list[tuple[str, Any]]]:
    """Run a page's blocks of Python one after another, once for all tests.

    Returns the names that they define, and the texts in quotation marks beside expressions with their values.
    """
    names: dict[str, Any] = {}
    shown = []
    for block in PYTHON.findall(read(name)):
        lines = block.splitlines()
        for statement in ast.parse(block).body:
            said = re.search(r'  # "(.+?)"', lines[(statement.end_lineno or 0) - 1])
            if said and isinstance(statement, ast.Expr):
                shown.append((said[1], eval(compile(ast.Expression(statement.value), name, "eval"), names)))
            else:
                exec(compile(ast.Module([statement], []), name, "exec"), names)  # our own text
    return names, shown


def anchors(path: Path) -> set[str]:
    """The anchors that a host of Markdown gives to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", CODE.sub("", path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def test_the_page_on_other_libraries_has_a_line_for_each_function() -> None:
    line = r"^\| (\w+) \| `(.+?)` \| `(\w+)` \| (?:`(\w+)`)? ?\|"
    lines = re.findall(line, read("docs/peers.md"), re.MULTILINE)
    assert lines == [(each.library, each.name, each.op, each.rule) for each in PAIRS]
    for each in PAIRS:
        explorer.apply(each.op, each.rule or "zero", torch.zeros(1), **each.parameters)


def test_the_plan_for_a_class_adds_up_and_its_links_open() -> None:
    row = r"^\| (\d+) +\| (\d+) +\|.*\| (?:`(.+?)`)? *\|$"
    rows = re.findall(row, read("docs/teaching.md"), re.MULTILINE)
    assert len(rows) >= 8
    at = 0
    for start, minutes, link in rows:
        assert int(start) == at
        at += int(minutes)
        if link.startswith("/learn?"):
            assert parse_qs(link)["/learn?lesson"][0] in LESSONS
        elif link:
            assert from_text(link.partition("?")[2])[1] == []
    assert at == 90


def test_every_function_of_the_language_is_listed() -> None:
    listed = read("docs/language.md").split("these functions:")[1].split(".\n")[0]
    assert re.findall(r"`(\w+)`", listed) == list(FUNCTIONS)


def test_the_alternative_spellings_and_limits_of_the_language_are_true() -> None:
    language = read("docs/language.md")
    spellings = re.findall(r"`([^`]*x[^`]*)`", language.split("## Other spellings")[1].split("\n## ")[0])
    assert len(spellings) >= 9
    assert all(parse(spelling, parameters=None) for spelling in spellings)
    said = f"{parsing.MAX_LENGTH} characters, {parsing.MAX_NODES} parts, {parsing.MAX_DEPTH} levels"
    assert said in language


def test_the_pages_with_code_are_those_that_are_run() -> None:
    with_code = {path.name for path in PAGES if PYTHON.search(path.read_text(encoding="utf-8"))}
    guide = {"CONTRIBUTING.md"}  # which has a test of its own
    assert with_code - guide == {"README.md", "library.md", "own-model.md", "study.md"}


def test_the_code_of_the_library_runs_and_gives_what_it_says() -> None:
    names = run_page("docs/library.md")[0]
    frame, x, run, race = names["frame"], names["x"], names["run"], names["race"]
    assert list(frame.columns) == ["rule", "x", "y", "gradient"]
    library = read("docs/library.md")
    keys = ", ".join(f'"{key}"' for key in names["others"]["rule"].unique())
    assert f'others["rule"].unique()  # {keys}\n' in library
    nearest = explorer.nearest("sign", torch.nn.Tanh())[0].sentence
    assert f'explorer.nearest("sign", torch.nn.Tanh())  # "{nearest}" …\n' in library
    assert x.grad.tolist() == [1.0, 1.0, 1.0]
    assert run.snapshot().loss["default"] < 1e-4
    accuracy = race.snapshot().accuracy["straight_through"]
    assert accuracy.shape == (5,)
    assert accuracy.mean() == pytest.approx(0.96, abs=0.01)
    assert names["own"].settings.task == "data"
    assert names["other"].settings.branch == ((50, "lr", 0.001), (50, "default", "straight_through"))
    learned = torch.as_tensor(names["steps"].snapshot().learned["lsq"]["s"])
    assert learned.shape == (1, 2)
    assert (learned > 1).all()


def test_the_ranking_of_the_library_is_printed_as_it_is() -> None:
    found: Any = run_page("docs/library.md")[0]["found"]
    library = read("docs/library.md")
    printed = re.search(r'found\.sentence  # "(.+); …"', library)
    assert printed
    assert found.sentence.startswith(f"{printed[1]}; ")
    ((label, (least, most)),) = found.lower.items()
    assert f'found.lower  # "{label}" alone, by {least:.3f} to {most:.3f}\n' in library


def test_the_code_of_a_study_runs_and_gives_what_it_says() -> None:
    names = run_page("docs/study.md")[0]
    listed = read("docs/study.md").split("The columns are ")[1].split(".\n")[0]
    assert list(names["runs"].columns) == re.findall(r"`(\w+)`", listed)
    printed = re.search(r'# "… (.+?) …"', read("docs/study.md"))
    assert printed
    assert f" {printed[1]} " in names["fair"].describe()
    assert "held-out examples, at " in printed[1]


def texts_of(value: Any) -> list[str]:
    """All that may be shown of a value: itself, or one of its parts."""
    parts = [] if isinstance(value, str) else [*value] if isinstance(value, Iterable) else []
    words = [f"{part.verdict}, {part.name}: {part.sentence}" for part in parts if hasattr(part, "verdict")]
    return [str(value), *words, *(str(getattr(part, "sentence", part)) for part in parts)]


@pytest.mark.parametrize(("page", "count"), [("README.md", 2), ("docs/library.md", 6), ("docs/study.md", 1)])
def test_every_output_next_to_code_is_what_the_code_prints(page: str, count: int) -> None:
    _, quoted = run_page(page)
    assert len(quoted) >= count
    for said, value in quoted:
        pattern = ".*".join(re.escape(part.strip()) for part in said.split("…"))
        assert any(re.search(pattern, text, re.DOTALL) for text in texts_of(value)), said


def test_the_code_of_your_own_model_runs_and_gives_what_it_says() -> None:
    names = run_page("docs/own-model.md")[0]
    page = read("docs/own-model.md")
    first: Any = names["first"]
    printed = re.search(r'# "(4 parameters.+?\.) …"', page)
    assert printed
    assert first.describe().startswith(printed[1])
    slope: Any = names["slope"]
    assert slope.slope > 2 * slope.error
    race: Any = names["race"]
    assert "Default autograd (" in race.describe()
    assert "lower by" in race.describe()
    require_recipes(names)


def require_recipes(names: dict[str, Any]) -> None:
    """Check what the five recipes of the page say of their results."""
    assert [*names["dead"].parameter] == ["a.weight", "a.bias", "b.weight", "b.bias"]
    assert {*names["dead"].why} == {"its backward is zero everywhere"}
    assert names["sizes"]["approx_sign"] > names["sizes"]["straight_through"] > 0
    ours, theirs, x = (names[name] for name in ("ours", "theirs", "x"))
    assert torch.equal(ours(x), theirs(x))
    assert "act.lsq_s" in dict(names["lsq"].named_parameters())
    with pytest.raises(AssertionError, match=r"4 parameters .* cannot learn"):
        names["check_gradients"](names["model"])
    assert {*names["log"].frame.step} == {0, 50, 100}


def cells_of(notebook: str) -> list[Any]:
    return [each for each in nbformat.read(ROOT / notebook, as_version=4).cells if each.cell_type == "code"]


def test_the_notebook_of_your_own_model_is_executed_and_runs() -> None:
    """It runs here with few steps; what it shows was written by the whole of it."""
    cells = cells_of("docs/own-model.ipynb")
    assert [cell.execution_count for cell in cells] == [*range(1, len(cells) + 1)]
    assert not any(out.output_type == "error" for cell in cells for out in cell.outputs)
    shown = "".join(out.get("text", "") for cell in cells for out in cell.outputs)
    assert "(sign) is to blame: its rule, default, lets no gradient through to all its 16 units." in shown
    assert re.search(r"Default autograd \(8\d\.\d %\) is lower by", shown)
    source = "\n".join(cell.source for cell in cells)
    short = source.replace("steps=200", "steps=2").replace("seeds=5", "seeds=2")
    assert short.count("steps=2,") == short.count("seeds=2,") == 1
    names: dict[str, Any] = {}
    exec(compile(short, "own-model.ipynb", "exec"), names)  # our own text
    assert len(names["race"].frame) == 5 * 2 * 3


def test_the_recipes_of_the_notebook_are_those_of_the_page() -> None:
    page = read("docs/own-model.md")
    blocks = re.findall(r"```python\n(.*?)\n```", page.split("## Recipes")[1], re.DOTALL)
    cells = [cell.source for cell in cells_of("docs/own-model.ipynb")]
    assert len(blocks) == 5
    assert cells[-5:] == blocks


@of_each
def test_every_link_leads_somewhere(path: Path) -> None:
    words = CODE.sub("", path.read_text(encoding="utf-8"))
    for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", words):
        file = (path.parent / target).resolve() if target else path
        assert file.is_file(), target
        assert not anchor or anchor in anchors(file), f"{target}#{anchor}"


@of_each
def test_every_file_that_is_named_is_there(path: Path) -> None:
    named = r"(?<!New file )`((?:explorer/|app\.py)[\w./]*|tests/[\w./]+)`"
    for name in re.findall(named, path.read_text("utf-8")):
        assert (ROOT / name).exists(), name


def test_a_word_means_one_thing() -> None:
    below = read("docs/architecture.md").split("\n| word | meaning | where |\n|---|---|---|\n")[1]
    table = below.split("\n\n")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    words = [word for first, meaning, _ in rows if meaning for word in first.split(", ")]
    assert len(words) > 40
    assert len(set(words)) == len(words)


def test_a_newcomer_finds_every_page() -> None:
    readme = read("README.md")
    assert len(readme.splitlines()) <= README_LINES
    for path in PAGES:
        assert path.name == "README.md" or f"]({path.relative_to(ROOT)})" in readme, path


def test_the_pictures_are_all_shown() -> None:
    pictures = re.findall(r"!\[.+\]\((.+)\)", "\n".join(path.read_text("utf-8") for path in PAGES))
    assert {Path(name).name for name in pictures} == {path.name for path in (ROOT / "docs").glob("*.png")}


def test_the_readme_counts_right() -> None:
    """In round numbers, so that a new entry needs no other."""
    said = re.search(r"over (\d+) ops and over (\d+) backward rules", read("README.md"))
    assert said
    assert len(explorer.OPS) > int(said[1])
    assert len(explorer.RULES) > int(said[2])


def test_the_public_names_are_shown() -> None:
    library = read("docs/library.md")
    for name in explorer.__all__:
        if name not in {"Formula", "FormulaError", "ReadingError"}:
            assert f"explorer.{name}" in library, name


def test_the_two_commands_are_the_ones_that_are_checked() -> None:
    """One sets up and opens the app, the other sets up and runs the tests, and the checks begin with it."""
    first, second = re.findall(r"```sh\n(.*?)```", read("README.md"), flags=re.DOTALL)
    assert "pip install -r requirements.txt" in first
    assert "streamlit run app.py" in first
    assert second.strip() == "sh tests/run"
    checks = read(".ci/run").splitlines()
    assert any(line.startswith(f"{second.strip()} ") for line in checks)
    for name in ("requirements.txt", "app.py", "tests/run"):
        assert (ROOT / name).is_file()


def test_the_settings_are_those_that_the_code_reads() -> None:
    code = [ROOT / "app.py", *(ROOT / "explorer").rglob("*.py")]
    variables = {name for file in code for name in re.findall(r'"(EXPLORER_\w+)"', file.read_text("utf-8"))}
    listed = re.findall(r"^\| `(EXPLORER_\w+)` +\|", read("docs/deploy.md"), flags=re.MULTILINE)
    assert sorted(listed) == sorted(variables)
    files = ("Dockerfile", "compose.yaml", "deploy/explorer@.service", *map(str, PAGES))
    used = {name for each in files for name in re.findall(r"EXPLORER_\w+", (ROOT / each).read_text("utf-8"))}
    assert used <= variables
