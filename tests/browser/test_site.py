"""The site of plain files from the disk, without network.

One journey on each page, and one with Python in the browser: ``tests/site`` asks all else without a page.
"""

import json
import re
from collections.abc import Iterator
from io import StringIO
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

import nbformat
import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, expect

from explorer.curves import sample_curves
from explorer.lessons import LESSONS
from explorer.site import python, write
from explorer.snippets import notebook, snippet
from explorer.snippets.pair import make_pair
from explorer.snippets.short_code import make_short_code
from tests.browser.access import violations_in_both_themes
from tests.browser.reading import card, choose, enter, go_back, number, slider, title, traces
from tests.browser.sites import PREFIX, Watched, wait_until_drawn
from tests.reading.documents import DOCUMENTS_CLAMP

RULES = ("default", "straight_through", "clipped")
TAUGHT = "formula: Measured = g * (relu(x + eps) - relu(x - eps)) / (2 * eps)"  # by a lesson
LOADING_MS = 60_000  # at most, of Python in a browser on a busy machine
needs_pyodide = pytest.mark.skipif(not python.read_version(), reason="npm install brings Pyodide")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, with what is torch's for some pairs, and three lessons: below a folder as below a prefix."""
    root = tmp_path_factory.mktemp("site")
    write(root / PREFIX, ops=("round",), rules=RULES, lessons=("clamp", "autograd", "unbiased-or-quiet"))
    return root


@pytest.fixture(scope="module")
def without_network(chromium: Browser) -> Iterator[Watched]:
    allowed = ("file:", "data:", "blob:")
    watched = Watched(chromium, lambda request: not request.url.startswith(allowed))
    watched.context.set_offline(True)
    yield watched
    watched.context.close()


@pytest.fixture
def disk(without_network: Watched) -> Iterator[Page]:
    """Opens pages from the disk, without network; a request for anything else or an error fails the test."""
    yield from without_network.lend()


def _at(folder: Path, page: str, query: str = "") -> str:
    return f"{(folder / PREFIX / page).as_uri()}.html{query and f'?{query}'}"


def test_explore_works_from_the_disk(disk: Page, folder: Path) -> None:
    disk.goto(_at(folder, "index"))
    wait_until_drawn(disk, "Confirmed by torch")
    words = "Straight-through: the gradient is 1 everywhere."
    expect(disk.locator(".words .main")).to_contain_text(words)
    disk.get_by_role("button", name="Data", exact=True).click()
    name, csv = _downloaded(disk, "Download CSV")
    assert name == "curve.csv"
    frame = sample_curves("round", ["default", "straight_through"]).frame
    pd.testing.assert_frame_equal(pd.read_csv(StringIO(csv)).astype(frame.dtypes), frame, check_exact=True)
    disk.locator("summary", has_text="Save").click()
    assert _words_in(_downloaded(disk, "Save as HTML")[1]).endswith(words)
    enter(number(disk, "Upstream gradient g"), "2")
    wait_until_drawn(disk, "Computed in the browser")
    disk.locator("summary", has_text="Save").click()
    assert _words_in(_downloaded(disk, "Save as HTML")[1]) == ""
    expect(disk.locator(".words .main")).to_contain_text("The app has them for everything else.")
    assert set(traces(disk)["straight_through"].y) == {2.0}
    go_back(disk)
    wait_until_drawn(disk, "Confirmed by torch")
    disk.locator(".strip .size summary").click()
    expect(disk.locator(".strip .size tbody")).to_contain_text("has no finite area")
    disk.keyboard.press("Escape")
    disk.get_by_role("button", name="Add rule", exact=True).click()
    disk.get_by_label("Search rules").fill("clipped")
    disk.keyboard.press("Enter")
    slider(card(disk, "Clipped straight-through"), "c").press("ArrowRight")
    wait_until_drawn(disk, "Computed in the browser")
    expect(disk.locator("body")).not_to_contain_text("undefined")
    disk.get_by_role("link", name="Train", exact=True).click()
    expect(disk.get_by_text("Training needs torch, so it runs only in the app")).to_be_visible()
    way = disk.get_by_role("link", name="open this page in it")
    expect(way).to_have_attribute("href", re.compile("^http://localhost:8501/train[?].*rule=clipped"))
    assert violations_in_both_themes(disk, "body") == []


def _words_in(saved: str) -> str:
    """Return the sentences that a saved file begins with."""
    return str(json.loads(saved.rpartition('id="start">')[2].partition("</script>")[0])["words"]["main"])


def _downloaded(page: Page, button: str) -> tuple[str, str]:
    """The name and the text of the file that a button hands out."""
    with page.expect_download() as waiting:
        page.get_by_role("button", name=button, exact=True).click()
    return waiting.value.suggested_filename, waiting.value.path().read_text(encoding="utf-8")


def test_a_lesson_from_the_disk_keeps_its_answers(disk: Page, folder: Path) -> None:
    disk.goto(_at(folder, "index"))
    enter(number(disk, "Upstream gradient g"), "2")
    disk.get_by_role("link", name="Learn", exact=True).click()
    for name in ("Explore", "Train", "Study"):  # what was chosen goes on from there
        expect(disk.get_by_role("link", name=name, exact=True)).to_have_attribute("href", re.compile("g=2"))
    disk.get_by_role("link", name=LESSONS["clamp"].title).last.click()
    picture = disk.get_by_role("radio").first
    picture.check()
    disk.reload()
    expect(picture).to_be_checked()
    disk.get_by_role("button", name="Skip").click()
    wait_until_drawn(disk, "Confirmed by torch")
    disk.reload()
    expect(disk.get_by_text("What to remember")).to_be_visible()
    disk.get_by_role("link", name="Open in Explore").first.click()
    wait_until_drawn(disk, "Confirmed by torch")
    expect(card(disk, "Clamp")).to_be_visible()


@needs_pyodide
def test_python_in_the_browser_answers_questions_from_the_disk(disk: Page, folder: Path) -> None:
    """In one visit, since Python takes as long to come as all that it does then."""
    what_did_not_come_along_is_computed(disk, folder)
    an_own_formula_is_read_and_its_checks_need_the_app(disk)
    pasted_code_is_read(disk)


def what_did_not_come_along_is_computed(disk: Page, folder: Path) -> None:
    """Code and formulas, also of an own rule that nobody need read: a lesson has it."""
    label, pair = "Measured", ("round", TAUGHT)
    disk.goto(_at(folder, "index", f"op=round&rule=default&rule={quote(TAUGHT)}&eps=1.5&rule=clipped&c=0.7"))
    wait_until_drawn(disk, "Computed in the browser")
    expect(disk.get_by_text("Loading Python")).to_have_count(0)
    disk.get_by_role("button", name="Code", exact=True).click()
    disk.get_by_label("Code for").select_option(TAUGHT)
    expect(disk.get_by_text("Loading Python, which reads formulas …")).to_be_visible()
    text = disk.get_by_role("region", name="Code")
    expect(disk.get_by_text("Loading black, the code formatter")).to_be_visible(timeout=LOADING_MS)
    expect(text).to_have_text(make_short_code(make_pair(*pair, {"eps": 1.5})).rstrip(), timeout=LOADING_MS)
    disk.get_by_role("button", name="All features").click()
    expect(text).to_have_text(snippet(*pair, {"eps": 1.5}).rstrip())
    enter(number(card(disk, label), "eps"), "0.5")
    disk.get_by_role("button", name="Notebook", exact=True).click()
    kinks = sample_curves("round", [TAUGHT], eps=0.5).kinks[TAUGHT]
    book = notebook(*pair, {"eps": 0.5}, kinks=kinks)
    expect(text).to_have_text(book, timeout=LOADING_MS)
    name, saved = _downloaded(disk, "Download .ipynb")
    assert (name, saved) == ("backward_rule.ipynb", book)
    nbformat.validate(nbformat.reads(saved, as_version=4))
    disk.get_by_role("button", name="Formula", exact=True).click()
    expect(disk.locator(".formula-section .box math mfrac")).not_to_have_count(0)
    expect(disk.locator(".formula-section .box code")).to_have_count(0)
    expect(disk.get_by_text("Loading Python")).to_have_count(0)  # one is there for all
    expect(disk.locator("body")).not_to_contain_text("undefined")


def an_own_formula_is_read_and_its_checks_need_the_app(disk: Page) -> None:
    choose(disk, "Add rule", "g * x")
    expect(card(disk, "g * x")).to_be_visible()
    disk.get_by_role("button", name="Checks", exact=True).click()
    expect(disk.get_by_text("This site has no server to answer this: use the app.").first).to_be_visible()
    expect(disk.locator(".checked li").first).to_be_visible()  # of Default autograd and Clipped


def pasted_code_is_read(disk: Page) -> None:
    box, found = disk.get_by_label("Paste a torch.autograd.Function"), disk.locator(".op [role=option]")
    title(disk, "Op").fill("class ")
    box.fill(DOCUMENTS_CLAMP)
    result = found.filter(has_text="ClampGradient")
    expect(result).to_contain_text("gradient = where(x > 1, 1, where(x < 0, 0, g))")
    expect(disk.get_by_text("Loading Python")).to_have_count(0)
    box.fill(DOCUMENTS_CLAMP.replace("x.round()", "sort_it(x)"))
    expect(found.filter(has_text="line 5")).to_have_count(1)
    result.click()
    expect(card(disk, "ClampGradient").last).to_be_visible()
    wait_until_drawn(disk, "Computed in the browser")
    expect(box).to_be_hidden()


def test_an_embedded_page_has_no_heading(disk: Page, folder: Path) -> None:
    disk.goto(_at(folder, "index", "op=round&embed=true"))
    wait_until_drawn(disk, "Confirmed by torch")
    expect(disk.get_by_role("navigation")).to_have_count(0)
    disk.goto(_at(folder, "learn", "lesson=autograd&embed=true&present=1"))
    expect(disk.get_by_role("heading", name=LESSONS["autograd"].title)).to_be_visible()
    expect(disk.get_by_role("navigation", name="Pages")).to_have_count(0)
    expect(disk.locator(".lesson.presenting")).to_be_visible()
    expect(disk.locator(".lesson button:text-is('Class')")).to_have_count(0)  # there is no server to have one


def test_every_page_of_the_site_fits_a_phone(disk: Page, folder: Path) -> None:
    disk.set_viewport_size({"width": 390, "height": 844})
    for name in ("train", "study", "learn", "index"):
        disk.goto(_at(folder, name))
        expect(disk.get_by_role("navigation", name="Pages")).to_be_visible()
        assert disk.evaluate("document.documentElement.scrollWidth") <= 390
        if name == "learn":
            expect(disk.locator(".contents a").last).to_be_visible()
            cards = disk.locator(".contents a").evaluate_all(
                "cards => cards.map(card => ['top', 'bottom'].map(end => card.getBoundingClientRect()[end]))"
            )
            assert all(above[1] <= below[0] for above, below in pairwise(cards))
    wait_until_drawn(disk, "Confirmed by torch")
    enter(number(disk, "Upstream gradient g"), "2")
    wait_until_drawn(disk, "Computed in the browser")
