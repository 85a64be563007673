"""The site of plain files: from the disk without network, and below a prefix of a web host beside the app."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect

import explorer
from explorer.catalogue import OWN as KEY
from explorer.checks import check_pair
from explorer.curves import readings, sample_curves
from explorer.formula import FormulaError, parse
from explorer.instrument.view import DRAWN_WORDS
from explorer.lessons import LESSONS
from explorer.nearest import nearest
from explorer.sampled import EVEN
from explorer.site import python, write
from explorer.snippets import (
    custom_op_snippet,
    jax_snippet,
    mlx_snippet,
    notebook,
    snippet,
)
from explorer.ui.links.presets import PRESETS
from explorer.ui.server import answers
from tests.browser.access import in_both_themes
from tests.browser.conftest import ALL_TOOLS, Profiles
from tests.browser.files import serve_files
from tests.browser.reading import (
    CHART,
    Trace,
    back,
    card,
    choose,
    enter,
    number,
    sign,
    slider,
    traces,
    turn,
    visit,
)
from tests.reading.documents import DOCUMENTS_CLAMP

_SIGN = re.compile("Confirmed by torch|Computed in the browser")
PREFIX = "some/where"
RULES = ("default", "straight_through", "clipped", "approx_sign", "lsq", "published_clamp")
# The words of the cards, but for a badge, which comes when a page has rested.
CARDS = """[...document.querySelectorAll(".cards [role=group]")].map(card =>
    card.innerText.replace(card.querySelector(".failing")?.innerText ?? "", "").replace(/\\n+/g, "\\n"))"""
KINK = 1e-4  # points that lie closer are at a kink
OWN = "op=formula: x^3 - a*x&rule=formula: g*(&rule=formula: g * (|x| <= w); w: sum(g * x)&a=2&learns=w"
TAUGHT = "formula: g * (relu(x + h) - relu(x - h)) / (2 * h)"  # by a lesson
LOADING_MS = 60_000  # at most, of Python in a browser on a busy machine
needs_pyodide = pytest.mark.skipif(not python.version(), reason="npm install brings Pyodide")
LINKS = (
    "op=round&rule=default&rule=clipped",
    "op=sign&rule=clipped&rule=approx_sign&c=0.5&hide=approx_sign&colours=31&range=-2&range=2.5&g=-0.5",
    "op=clamp&rule=masked&rule=published_clamp&lo=-1&hi=2&g=2&section=rest&task=digits",
    "op=quantize&rule=lsq&s=0.6&qmin=-2&qmax=1&learns=s",
    "op=reciprocal&rule=default&rule=sigmoid_surrogate&rule=atan_surrogate&atan_surrogate.a=1",
    PRESETS[2].query,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, with what is torch's for some pairs, and three lessons: below a folder as below a prefix."""
    root = tmp_path_factory.mktemp("site")
    write(root / PREFIX, ops=("round",), rules=RULES, lessons=("clamp", "autograd", "unbiased-or-quiet"))
    return root


def _is_error(message: ConsoleMessage) -> bool:
    """All but that checks are missing: a badge asks for them after a rest, and most are not written here."""
    return message.type == "error" and "/checks/" not in message.location["url"]


class Watched:
    """A page whose wrong requests and errors are kept."""

    def __init__(self, chromium: Browser, is_wrong: Callable[[Request], bool]) -> None:
        self.context = chromium.new_context(reduced_motion="reduce")
        self.context.add_init_script(ALL_TOOLS)
        self.page = self.context.new_page()
        self._wrong: list[str] = []
        say = self._wrong.append
        self.page.on("request", lambda request: say(request.url) if is_wrong(request) else None)
        self.page.on("console", lambda message: say(message.text) if _is_error(message) else None)
        self.page.on("pageerror", lambda error: say(str(error)))

    def lent(self) -> Iterator[Page]:
        """The page; what was wrong there fails the test."""
        self.page.set_viewport_size({"width": 1366, "height": 768})
        self.page.emulate_media(color_scheme="light")
        yield self.page
        self.page.evaluate("sessionStorage.clear()")
        assert (self._wrong, self.context.cookies()) == ([], [])


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
    yield from without_network.lent()


@pytest.fixture(scope="module")
def host(folder: Path) -> Iterator[str]:
    """The address of the site on a plain web host, below a prefix."""
    with serve_files(folder) as address:
        yield f"{address}/{PREFIX}/"


@pytest.fixture(scope="module")
def visitor(chromium: Browser, host: str) -> Iterator[Watched]:
    watched = Watched(chromium, lambda request: not request.url.startswith((host, "data:", "blob:")))
    yield watched
    watched.context.close()


@pytest.fixture
def served(visitor: Watched) -> Iterator[Page]:
    """Opens pages of a plain web host below a prefix; a request beside it or an error fails the test."""
    yield from visitor.lent()


@pytest.fixture(scope="module")
def app(profiles: Profiles) -> Iterator[Page]:
    """Explore of the app in a tab that other tests leave alone: what they open or pin there would differ."""
    with profiles.lent() as tab:
        visit(tab.page, "/")
        expect(tab.page.locator(".served")).to_have_count(0)
        yield tab.page
        assert not tab.errors


def _at(folder: Path, page: str, query: str = "") -> str:
    return f"{(folder / PREFIX / page).as_uri()}.html{query and f'?{query}'}"


def _drawn(page: Page, text: str) -> None:
    page.locator(f"{CHART} .cartesianlayer").first.wait_for()
    expect(sign(page)).to_have_text(text)


def test_explore_from_the_disk(disk: Page, folder: Path) -> None:
    disk.goto(_at(folder, "index"))
    _drawn(disk, "Confirmed by torch")
    expect(disk.locator(".words .main")).to_contain_text("Straight-through: the gradient is 1 everywhere.")
    enter(number(disk, "Upstream gradient g"), "2")
    _drawn(disk, "Computed in the browser")
    expect(disk.locator(".words .main")).to_be_empty()
    assert set(traces(disk)["straight_through"].y) == {2.0}
    back(disk)
    _drawn(disk, "Confirmed by torch")
    disk.locator(".strip .size summary").click()
    expect(disk.locator(".strip .size tbody")).to_contain_text("has no finite area")
    disk.keyboard.press("Escape")
    disk.get_by_role("button", name="Add rule", exact=True).click()
    disk.get_by_label("Search rules").fill("clipped")
    disk.keyboard.press("Enter")
    slider(card(disk, "Clipped straight-through"), "c").press("ArrowRight")
    _drawn(disk, "Computed in the browser")
    c = {"c": float(parse_qs(urlsplit(disk.url).query)["c"][0])}
    expect(disk.get_by_role("button", name="Say it in words", exact=True)).to_be_visible()
    expect(disk.locator("body")).not_to_contain_text("undefined")
    disk.get_by_role("button", name="Code", exact=True).click()
    disk.get_by_label("Code for").select_option("Clipped straight-through")
    expect(disk.get_by_role("region", name="Code")).to_have_text(snippet("round", "clipped", c).rstrip())
    disk.get_by_role("button", name="Paste code", exact=True).click()
    expect(disk.get_by_text("Paste code needs the app")).to_have_count(0 if python.version() else 1)
    assert in_both_themes(disk, "body") == []
    disk.get_by_role("link", name="Train", exact=True).click()
    expect(disk.get_by_text("To train nets takes torch, and so the app")).to_be_visible()
    way = disk.get_by_role("link", name="open this page in it")
    expect(way).to_have_attribute("href", re.compile("[?]"))  # filled by the page's module
    local = way.get_attribute("href")
    assert local is not None
    assert local.startswith("http://localhost:8501/train?")
    assert parse_qs(urlsplit(local).query)["rule"] == ["default", "straight_through", "clipped"]
    assert in_both_themes(disk, "body") == []


def test_the_numbers_of_a_format_are_there_from_the_disk(disk: Page, folder: Path) -> None:
    disk.goto(_at(folder, "index", "op=fp4_e2m1&rule=dge&section=format"))
    section = disk.locator(".format")
    expect(section).to_contain_text("15 numbers from −6 to 6")
    section.get_by_label("Value to round").fill("2.5")
    said = "y = 2, 0.5 less than x, 20 % of x. Beside 2 lie 1.5 and 3."
    expect(section.get_by_role("status")).to_have_text(said)
    assert in_both_themes(disk, "body") == []


def test_what_is_taken_away_is_what_the_app_gives(disk: Page, folder: Path, tmp_path: Path) -> None:
    pair = ("round", ["default", "straight_through"])
    disk.goto(_at(folder, "index", "op=round&rule=default&rule=straight_through&section=data"))
    expect(disk.get_by_text("Torch's values.")).to_be_visible()
    curves = sample_curves(*pair)
    assert _downloaded(disk, "Download CSV") == ("curve.csv", curves.frame.to_csv(index=False))
    table = disk.get_by_role("region", name="Data")
    table.evaluate("table => table.scrollTo(0, table.scrollHeight)")
    last = table.locator("tr[aria-rowindex]").last
    expect(last).to_have_attribute("aria-rowindex", str(1 + len(curves.frame)))
    disk.get_by_role("button", name="Remove Straight-through").click()
    expect(last).to_have_attribute("aria-rowindex", str(1 + len(curves.frame) // 2))
    back(disk)
    assert in_both_themes(disk, "body") == []
    disk.get_by_role("button", name="Code", exact=True).click()
    disk.get_by_role("button", name="Notebook", exact=True).click()
    kinks = curves.kinks["straight_through"]
    assert kinks
    expected = notebook("round", "straight_through", kinks=kinks)
    expect(disk.get_by_role("region", name="Code")).to_have_text(expected)
    assert _downloaded(disk, "Download .ipynb") == ("backward_rule.ipynb", expected)
    rows = len(readings("round", ["straight_through"]))
    disk.get_by_role("button", name="Formula", exact=True).click()
    expect(disk.locator(".formula-section math")).to_have_count(3)
    expect(disk.get_by_role("region", name="Readings").get_by_role("row")).to_have_count(1 + rows)
    disk.get_by_role("button", name="Checks", exact=True).click()
    expect(disk.locator(".checks")).to_contain_text(check_pair("round", "straight_through", {})[0].sentence)
    expect(disk.locator(".checks")).to_contain_text(nearest("round", "straight_through")[1].sentence)
    expect(disk.locator(".checks").get_by_text("takes the app")).to_have_count(0)
    expect(disk.get_by_role("button", name="Add Scale", exact=True)).to_be_visible()
    disk.goto(_at(folder, "index", "op=round&rule=lsq&rule=default&learns=s&section=code"))
    disk.get_by_label("Code for").select_option("Default autograd")
    disk.get_by_role("button", name="Copy", exact=True).click()
    expect(disk.get_by_text(re.compile("^(Copied|The browser does not allow it)"))).to_be_visible()
    expect(disk.get_by_text("s cannot learn by this rule: in its code it is a number.")).to_be_visible()
    back(disk)
    name, saved = _downloaded(disk, "Save as HTML")
    (tmp_path / name).write_text(saved, encoding="utf-8")
    disk.goto((tmp_path / name).as_uri())
    disk.locator(f"{CHART} .cartesianlayer").first.wait_for()
    assert list(traces(disk)) == ["forward", *pair[1]]
    expect(disk.locator(".words .main")).to_contain_text("Straight-through: the gradient is 1 everywhere.")


@needs_pyodide
def test_of_what_draws_data_and_notebook_are_what_the_app_gives(disk: Page, folder: Path) -> None:
    pair = ("round", "st_gumbel")
    disk.goto(_at(folder, "index", f"op={pair[0]}&rule={pair[1]}&target=0.3&section=data"))
    heads = ["rule", "x", "y", "gradient", "y_sd", "gradient_sd", "unbiased"]
    expect(disk.get_by_role("region", name="Data").locator("th")).to_have_text(heads)
    _, text = _downloaded(disk, "Download CSV")
    ours = pd.read_csv(io.StringIO(text))
    theirs = sample_curves(*pair, target=0.3, dtype="float64")
    assert list(ours) == heads
    even = np.isin(ours["x"].round(9), theirs.x[theirs.marks == EVEN].round(9))
    assert even.sum() == (theirs.marks == EVEN).sum()
    wanted = theirs.frame[theirs.marks == EVEN][heads[1:]]
    np.testing.assert_allclose(ours[even][heads[1:]], wanted, atol=1e-6)
    disk.get_by_role("button", name="Code", exact=True).click()
    disk.get_by_role("button", name="Notebook", exact=True).click()
    kinks = sample_curves(*pair).kinks[pair[1]]
    assert kinks
    expected = notebook(*pair, {"target": 0.3}, kinks=kinks)
    expect(disk.get_by_role("region", name="Code")).to_have_text(expected, timeout=LOADING_MS)


def _downloaded(page: Page, button: str) -> tuple[str, str]:
    """The name and the text of the file that a button hands out."""
    with page.expect_download() as waiting:
        page.get_by_role("button", name=button, exact=True).click()
    return waiting.value.suggested_filename, waiting.value.path().read_text(encoding="utf-8")


def test_lens_map_and_table_from_the_disk(disk: Page, folder: Path, tmp_path: Path) -> None:
    disk.goto(_at(folder, "index", "op=round&rule=straight_through&rule=clip_value&layer=lens&section=map"))
    rules = ["straight_through", "clip_value"]
    said = disk.locator(".layer-words p")
    expect(said).to_have_text(explorer.lens("round", rules).describe())
    expect(disk.locator(".map p")).to_have_text(["Linear in g.", "Not linear in g anywhere here."])
    assert in_both_themes(disk, "body") == []
    width = number(disk, "Width of the noise")
    enter(width, "0.5")
    expect(said).to_have_text(explorer.lens("round", rules, width=0.5).describe())
    disk.get_by_role("slider", name="Chosen g on the map of Clip the gradient").press("End")
    expect(number(disk, "Upstream gradient g")).to_have_value("2")
    disk.get_by_role("button", name="Compare", exact=True).click()
    expect(disk.get_by_role("combobox", name="Noise on x")).to_have_count(1)
    area = disk.locator(".compared [data-rule=straight_through] [data-column=area]")
    expect(area).to_have_text("∞")
    name, saved = _downloaded(disk, "Save as HTML")
    (tmp_path / name).write_text(saved, encoding="utf-8")
    disk.goto((tmp_path / name).as_uri())
    expect(area).to_have_text("∞")


def test_a_lesson_from_the_disk_keeps_what_was_answered(disk: Page, folder: Path) -> None:
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
    _drawn(disk, "Confirmed by torch")
    assert in_both_themes(disk, "body") == []
    disk.reload()
    expect(disk.get_by_text("What to remember")).to_be_visible()
    disk.get_by_role("link", name="Open in Explore").first.click()
    _drawn(disk, "Confirmed by torch")
    expect(card(disk, "Clamp")).to_be_visible()


def test_a_walker_from_the_disk_counts_its_runs(disk: Page, folder: Path) -> None:
    disk.goto(_at(folder, "learn", "lesson=unbiased-or-quiet"))
    disk.get_by_role("button", name="Skip").click()
    _drawn(disk, "Confirmed by torch")
    expect(disk.get_by_text("After 150 steps 795 of 2,000 runs are above p = 0.5")).to_be_visible()


def test_a_frame_has_no_heading(disk: Page, folder: Path) -> None:
    disk.goto(_at(folder, "index", "op=round&embed=true"))
    _drawn(disk, "Confirmed by torch")
    expect(disk.get_by_role("navigation")).to_have_count(0)
    disk.goto(_at(folder, "learn", "lesson=autograd&embed=true&present=1"))
    expect(disk.get_by_role("heading", name=LESSONS["autograd"].title)).to_be_visible()
    expect(disk.get_by_role("navigation", name="Pages")).to_have_count(0)
    expect(disk.locator(".lesson.presenting")).to_be_visible()
    expect(disk.locator(".lesson button:text-is('Class')")).to_have_count(0)  # there is no server to have one


def test_what_of_a_link_cannot_be_had_is_said(disk: Page, folder: Path) -> None:
    disk.goto(_at(folder, "index", "op=rond&g=1e999&<b>=1"))
    expect(disk.get_by_text('The link names an unknown op "rond"')).to_be_visible()
    expect(disk.get_by_text('The link sets "<b>"')).to_be_visible()
    _drawn(disk, "Confirmed by torch")


@needs_pyodide
def test_own_formulas_are_read_on_a_web_host(served: Page, host: str, app: Page) -> None:
    served.goto(f"{host}?{OWN}")
    expect(served.get_by_text("Loading Python, which reads formulas …")).to_be_visible()
    train = served.get_by_role("link", name="Train", exact=True)
    expect(train).to_have_attribute("href", re.compile(r"op=.*x\^3"))  # of who does not wait
    expect(card(served, "g * (abs(x) <= w)")).to_be_visible(timeout=LOADING_MS)
    expect(served.get_by_text("Loading Python")).to_have_count(0)
    expect(served.get_by_text('own rule "g*(" cannot be read: a value is missing at the end')).to_be_visible()
    _drawn(served, "Computed in the browser")
    field, mistake = served.get_by_label("Own op"), served.locator(".mistake").first
    expect(field).to_have_value("x ** 3 - a * x")
    choose(served, "Op", "round")
    expect(card(served, "Round")).to_be_visible()
    choose(served, "Op", "own formula")
    field.fill("x^3 - a*x + rond(")
    with pytest.raises(FormulaError) as wrong:
        parse("x^3 - a*x + rond(", variables=("x",), parameters=None)
    words = wrong.value.message[0].upper() + wrong.value.message[1:]
    expect(mistake).to_have_text(f"{words}. The last good formula stays.")
    caret = served.locator(".caret").first.evaluate("caret => caret.style.getPropertyValue('--column')")
    assert int(caret) == wrong.value.column - 1
    expect(card(served, "x - floor(x)")).to_be_visible()
    assert in_both_themes(served, "body") == []
    field.fill("x^3 - a*x^2")
    expect(mistake).to_be_empty()
    enter(number(card(served, "x ** 3 - a * x ** 2"), "a"), "2")
    _drawn(served, "Computed in the browser")
    turn(app, f"/?{urlsplit(served.url).query}")
    _assert_same(served, app)
    back(served)
    expect(number(card(served, "x ** 3 - a * x ** 2"), "a")).to_have_value("1")
    served.reload()
    expect(card(served, "x ** 3 - a * x ** 2")).to_be_visible()
    expect(served.get_by_text("Loading Python")).to_have_count(0)


@needs_pyodide
def test_what_takes_python_is_done_from_the_disk(disk: Page, folder: Path) -> None:
    """In one visit, since Python takes as long to come as all that it does then."""
    what_did_not_come_along_is_computed(disk, folder)
    an_own_formula_is_read_and_its_checks_need_the_app(disk)
    pasted_code_is_read(disk)


def what_did_not_come_along_is_computed(disk: Page, folder: Path) -> None:
    """Code, formulas and words, also of an own rule that nobody need read: a lesson has it."""
    label, pair = TAUGHT.removeprefix(KEY), ("round", TAUGHT)
    disk.goto(_at(folder, "index", f"op=round&rule=default&rule={quote(TAUGHT)}&h=1.5&rule=clipped&c=0.7"))
    _drawn(disk, "Computed in the browser")
    expect(disk.get_by_text("Loading Python")).to_have_count(0)
    disk.get_by_role("button", name="Code", exact=True).click()
    disk.get_by_label("Code for").select_option(TAUGHT)
    expect(disk.get_by_text("Loading Python, which reads formulas …")).to_be_visible()
    text = disk.get_by_role("region", name="Code")
    expect(disk.get_by_text("Loading black, the code formatter")).to_be_visible(timeout=LOADING_MS)
    expect(text).to_have_text(snippet(*pair, {"h": 1.5}).rstrip(), timeout=LOADING_MS)
    enter(number(card(disk, label), "h"), "0.5")
    for language, write_code in (
        ("Custom op", custom_op_snippet),
        ("JAX", jax_snippet),
        ("MLX", mlx_snippet),
    ):
        disk.get_by_role("button", name=language, exact=True).click()
        expect(text).to_have_text((write_code(*pair, {"h": 0.5}) or "").rstrip(), timeout=LOADING_MS)
    disk.get_by_role("button", name="Notebook", exact=True).click()
    kinks = sample_curves("round", [TAUGHT], h=0.5).kinks[TAUGHT]
    assert kinks
    expected = notebook(*pair, {"h": 0.5}, kinks=kinks)
    expect(text).to_have_text(expected, timeout=LOADING_MS)
    assert _downloaded(disk, "Download .ipynb") == ("backward_rule.ipynb", expected)
    assert in_both_themes(disk, "body") == []
    disk.get_by_role("button", name="Formula", exact=True).click()
    expect(disk.locator(".formula-section .box math mfrac")).not_to_have_count(0)
    expect(disk.locator(".formula-section .box code")).to_have_count(0)
    assert in_both_themes(disk, "body") == []
    say = disk.get_by_role("button", name="Say it in words", exact=True)
    say.click()
    query = f"op=round&rule=default&rule={quote(TAUGHT)}&h=0.5&rule=clipped&c=0.7"
    expect(disk.locator(".words .main")).to_have_text(answers.confirm(query)["main"], timeout=LOADING_MS)
    expect(disk.get_by_text("Loading Python")).to_have_count(0)  # one is there for all
    expect(say).to_be_hidden()
    expect(disk.locator("body")).not_to_contain_text("undefined")
    assert in_both_themes(disk, "body") == []


def an_own_formula_is_read_and_its_checks_need_the_app(disk: Page) -> None:
    choose(disk, "Add rule", "own formula")
    disk.get_by_label("Own rule").last.fill("g * x")
    expect(card(disk, "g * x")).to_be_visible()
    disk.get_by_role("button", name="Checks", exact=True).click()
    expect(disk.get_by_text(f"To check {TAUGHT.removeprefix(KEY)} and g * x here")).to_be_visible()
    expect(disk.locator(".checked")).to_have_count(2)  # of Default autograd and Clipped


def pasted_code_is_read(disk: Page) -> None:
    disk.get_by_role("button", name="Paste code", exact=True).click()
    box = disk.get_by_label("Paste a torch.autograd.Function")
    box.fill(DOCUMENTS_CLAMP)
    result = disk.locator(".found section").filter(has=disk.get_by_role("heading", name="ClampGradient"))
    expect(result).to_contain_text("gradient = where(x > 1, 1, where(x < 0, 0, g))")
    expect(disk.get_by_text("Loading Python")).to_have_count(0)
    assert in_both_themes(disk, "body") == []
    result.get_by_role("button", name="Show its curve").click()
    expect(card(disk, "ClampGradient").last).to_be_visible()
    _drawn(disk, "Computed in the browser")
    box.fill(DOCUMENTS_CLAMP.replace("x.round()", "sort_it(x)"))
    expect(disk.locator(".found")).to_contain_text("line 5")
    expect(box).to_be_visible()
    disk.get_by_role("button", name="Data", exact=True).click()
    expect(box).to_be_hidden()


@needs_pyodide
def test_an_exercise_is_judged_in_the_browser(disk: Page, folder: Path) -> None:
    disk.goto(_at(folder, "learn", "lesson=clamp"))
    disk.get_by_role("button", name="Skip").click()
    disk.get_by_role("button", name="Write it yourself").click()
    said = disk.locator(".judged")
    expect(said).to_have_text("At x = 2 and g = 1 it returns 1, not 0.", timeout=60_000)
    expect(disk.locator(".case-words")).to_have_text("1, not 0")
    box = disk.get_by_label("Your Function")
    box.fill(box.input_value().replace("grad[x > 1] = 1", "grad[x > 1] = 0"))
    expect(said).to_contain_text("Right: as it should be")
    expect(disk.locator(".case")).to_be_hidden()


def test_without_pyodide_an_exercise_is_said_to_need_the_app(disk: Page, tmp_path: Path) -> None:
    write(tmp_path / PREFIX, ops=("round",), rules=("clipped",), lessons=("clamp",), pyodide=tmp_path)
    disk.goto(_at(tmp_path, "learn", "lesson=clamp"))
    disk.get_by_role("button", name="Skip").click()
    expect(disk.get_by_text("To write it yourself takes the app.")).to_be_visible()
    expect(disk.get_by_role("button", name="Write it yourself")).to_have_count(0)


def test_checks_of_what_was_moved_are_said_to_be_those_at_the_defaults(disk: Page, folder: Path) -> None:
    pair = ("round", "clipped")
    disk.goto(_at(folder, "index", "op=round&rule=default&rule=clipped&section=checks"))
    default, clipped = disk.locator(".checked").all()
    lines = [f"{one.verdict}. {one.sentence}" for one in check_pair(*pair, {})]
    told = clipped.locator("ul").first.locator("li span")  # not those beside other rules
    expect(told).to_have_count(len(lines))
    placed = clipped.locator("button.line").count()
    assert placed > 0
    expect(disk.get_by_text("At the defaults.")).to_have_count(0)
    enter(number(card(disk, "Clipped straight-through"), "c"), "0.7")
    enter(disk.get_by_label("To", exact=True), "2")
    moved = clipped.locator(".defaults")
    expect(moved.first).to_have_text("At the defaults. For c = 0.7 the app checks this.")
    expect(moved.last).to_have_text("At the defaults. For c = 0.7 and the range −3 to 2 the app checks this.")
    assert set(told.all_text_contents()) == set(lines)
    expect(clipped.get_by_role("button")).to_have_count(0)  # they have no place on this chart
    expect(clipped.get_by_role("heading", name="Beside another rule, on −3 to 3")).to_be_visible()
    expect(default.locator(".defaults")).to_have_text(
        "At the defaults. For the range −3 to 2 the app checks this."
    )
    expect(disk.get_by_role("link", name="How to run the app")).to_be_visible()
    assert in_both_themes(disk, "body") == []


def test_a_badge_of_what_was_moved_stands_as_at_the_defaults(disk: Page, folder: Path) -> None:
    disk.goto(_at(folder, "index", "op=round&rule=clipped&rule=published_clamp"))
    badges = disk.locator(".failing:visible")
    expect(badges).to_have_text("✗ fails: linear in g")
    expect(card(disk, "Published clamp (with its bug)").locator(".failing")).to_be_visible()
    enter(number(card(disk, "Published clamp (with its bug)"), "hi"), "2")
    disk.wait_for_timeout(1500)  # after a rest it is looked for anew
    expect(badges).to_have_text("✗ fails: linear in g")


def test_without_pyodide_pasted_code_is_said_to_need_the_app(disk: Page, tmp_path: Path) -> None:
    write(tmp_path / PREFIX, ops=("round",), rules=("clipped",), lessons=(), pyodide=tmp_path)
    disk.goto(_at(tmp_path, "index", "section=paste"))
    expect(disk.get_by_text("The section Paste code needs the app")).to_be_visible()
    expect(disk.get_by_role("link", name="How to run the app")).to_be_visible()
    expect(disk.get_by_label("Paste a torch.autograd.Function")).to_have_count(0)
    assert in_both_themes(disk, "body") == []


@pytest.mark.parametrize("query", LINKS, ids=range(len(LINKS)))
def test_a_link_shows_what_it_shows_in_the_app(app: Page, served: Page, host: str, query: str) -> None:
    turn(app, f"/?{query}")
    served.goto(f"{host}?{query}")
    served.locator(f"{CHART} .cartesianlayer").first.wait_for(timeout=LOADING_MS)
    expect(sign(served)).to_have_text(_SIGN)
    _assert_same(served, app)
    fields = "[...document.querySelectorAll('.instrument input')].map(field => field.value)"
    assert served.evaluate(fields) == app.evaluate(fields)


def _assert_same(served: Page, app: Page) -> None:
    """Both pages show the same curves, cards and address."""
    ours, theirs = traces(served), traces(app)
    assert list(ours) == list(theirs)
    for key, curve in ours.items():
        assert curve.name == theirs[key].name
        np.testing.assert_allclose(_even(curve), _even(theirs[key]), rtol=1e-4, atol=1e-5)
    assert served.evaluate(CARDS) == app.evaluate(CARDS)
    assert parse_qs(urlsplit(served.url).query) == parse_qs(urlsplit(app.url).query)


def _even(curve: Trace) -> NDArray[np.float64]:
    """The points of a curve but those at and beside a kink, where float32 rounds to another side; (2, n)."""
    near = np.diff(curve.x, prepend=-np.inf, append=np.inf) < KINK
    return np.stack([curve.x, curve.y])[:, ~(near[:-1] | near[1:])]


def test_a_phone_has_room_for_it(disk: Page, folder: Path) -> None:
    disk.set_viewport_size({"width": 390, "height": 844})
    for name in ("index", "train", "learn"):
        disk.goto(_at(folder, name))
        expect(disk.get_by_role("navigation", name="Pages")).to_be_visible()
        assert disk.evaluate("document.documentElement.scrollWidth") <= 390
    expect(disk.locator(".contents a").last).to_be_visible()
    cards = disk.locator(".contents a").evaluate_all(
        "cards => cards.map((card) => card.getBoundingClientRect()).map(({top, bottom}) => [top, bottom])"
    )
    assert all(above[1] <= below[0] for above, below in pairwise(cards))


def test_means_of_what_draws_are_read_from_the_formula_as_python_has_them(disk: Page, folder: Path) -> None:
    disk.goto(
        f"{(folder / PREFIX / 'index.html').as_uri()}?op=bernoulli&rule=disarm&target=0.2&section=formula"
    )
    readings = disk.get_by_role("region", name="Readings")
    expect(disk.locator(".formula-section")).to_contain_text(DRAWN_WORDS["readings"])
    rows = [row.split("\t") for row in readings.locator("tbody tr").all_inner_texts()]
    x, y, _, gradient = np.array(rows, float).T
    table = explorer.expected("bernoulli", "disarm", x, target=0.2)
    np.testing.assert_allclose(y, table["forward"], rtol=1e-3)
    np.testing.assert_allclose(gradient, table["mean"], rtol=1e-3)
