"""The files of the site: small, relative, complete, and allowed nothing from elsewhere."""

import base64
import hashlib
import json
import re
from pathlib import Path

import pytest

import explorer
from explorer.catalogue import FORMULA_PREFIX
from explorer.instrument.view import SECTIONS
from explorer.lessons import LESSONS
from explorer.site import python, write
from explorer.site.pages import COMMANDS, LOCAL
from explorer.ui.links.link import from_text
from explorer.ui.server import answers
from tests.frontend.modules import Node
from tests.questions.asking import READY

ROOT = Path(__file__).parents[2]
LARGEST_PAGE = 3_000_000  # characters
SOURCE = "https://example.org/<project>"

SAVED = """
    const { writeFile } = await import("./explore/page/saving.js");
    const ask = async () => ({ message: "", lacks: true });
    return writeFile(parseMessage(given.choice), given.template, ask);
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with a made-up Pyodide: nothing has to be installed to see where its files go."""
    folder, pyodide = tmp_path_factory.mktemp("site") / "new", tmp_path_factory.mktemp("pyodide")
    for name in python._RUNTIME:
        (pyodide / name).write_bytes(name.encode())
    (pyodide / "package.json").write_text('{"version": "1.2.3"}', encoding="utf-8")
    (pyodide / "pyodide-lock.json").write_text('{"info": {"python": "3"}}', encoding="utf-8")
    write(folder, ops=(), lessons=("autograd",), source=SOURCE, pyodide=pyodide)
    return folder


def start_of(page: str) -> str:
    (text,) = re.findall(r'id="start">(.*?)</script>', page, re.DOTALL)
    return text


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, str]:
    return {path.stem: path.read_text(encoding="utf-8") for path in site.glob("*.html")}


def test_every_page_and_section_of_the_app_is_there_and_code_for_later_in_files(site, pages) -> None:
    assert set(pages) == {"index", "train", "study", "learn"}
    assert json.loads(start_of(pages["index"]))["sections"] == SECTIONS
    assert (site / "torch/values.js").is_file()
    later = (site / answers.get_saved_name()).stat().st_size
    assert max(map(len, pages.values())) < min(later, LARGEST_PAGE)


def test_every_address_is_a_file_next_to_the_page(site: Path, pages: dict[str, str]) -> None:
    for page in pages.values():
        found = re.findall(r'<(?:a|link|script)\b[^>]* (?:href|src)="([^"]+)"', page)
        beside = {address for address in found if not address.startswith((LOCAL, "https://example.org/"))}
        assert {"favicon.svg", "index.html", "learn.html", "train.html", "study.html"} < beside
        assert [address for address in beside if not (site / address).is_file()] == []


def test_nothing_but_its_own_scripts_may_run(pages: dict[str, str]) -> None:
    for page in pages.values():
        (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
        rules = dict(part.split(" ", 1) for part in policy.split("; "))
        assert rules["default-src"] == "'none'"
        assert "unsafe" not in rules["script-src"].replace("'wasm-unsafe-eval'", "")  # Python is compiled
        assert not re.search(r"https?:|\*", policy)
        for script in re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL):
            digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in rules["script-src"]


def test_the_way_to_the_app_is_the_readmes(pages: dict[str, str]) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for command in COMMANDS.splitlines():
        assert command in readme
        assert command in pages["train"]
        assert command in pages["study"]
    assert 'href="https://example.org/&lt;project&gt;"' in pages["train"]


def test_a_saved_file_is_the_one_that_python_writes(site: Path, pages: dict[str, str], node: Node) -> None:
    text = (site / answers.get_saved_name()).read_text(encoding="utf-8")
    template = json.loads(text.removeprefix("document.currentScript.data = ").removesuffix(";"))
    told = json.loads(start_of(pages["index"]))
    given = {"document": told["document"], "template": template, "choice": told["choice"]}
    saved = node.run(READY + SAVED, given)
    pythons = explorer.instrument("round", ["default", "straight_through"]).html()
    start, whole = map(start_of, (saved, pythons))
    assert saved.replace(start, "") == pythons.replace(whole, "")
    found, expected = json.loads(start), json.loads(whole)
    assert (found["document"], found["answers"]) == (expected["document"], [])
    assert told["document"]["limits"].keys() > found["document"]["limits"].keys()  # of tables and studies
    for name in ("op", "rules", "range"):
        assert found["choice"][name] == expected["choice"][name]


def test_the_formula_reader_is_in_separate_files(site: Path, pages: dict[str, str]) -> None:
    files = sorted((site / "python").iterdir())
    assert [path.name.rpartition("-")[0] for path in files] == ["black", "program", "pyodide"]
    assert files[2].name == "pyodide-1.2.3.js"
    for name in ("index", "learn"):
        for path in files:
            assert f'"python/{path.name}"' in pages[name]
            assert f'src="python/{path.name}"' not in pages[name]  # nothing of it is loaded at first


def test_the_formulas_of_lessons_are_known_to_who_comes_from_there(pages: dict[str, str]) -> None:
    own = json.loads(start_of(pages["index"]))["own"]
    known = {entry["key"] for kind in ("op", "rule") for entry in own[kind]}
    scenes = [scene.query for lesson in LESSONS.values() for scene in lesson.scenes if scene.path == "/"]
    named = {key for each, _ in map(from_text, scenes) for key in (each.op, *each.rules)}
    assert known == {key for key in named if key.startswith(FORMULA_PREFIX)}
    assert len(known) > 10


def test_without_pyodide_there_is_neither_it_nor_leave_to_compile(tmp_path: Path) -> None:
    write(tmp_path, ops=(), lessons=(), pyodide=tmp_path / "nowhere")
    assert not (tmp_path / "python").exists()
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert '"python":null' in page
    assert "wasm" not in page.partition("<title>")[0]
