"""The instrument as one file: from the disk, without network, with all its sliders; and in a notebook."""

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

import explorer
from explorer.questions.standalone import make_page
from tests.browser.reading import CHART, TRACES, card, choose, enter, number, retry, slider, title, traces
from tests.browser.server import ROOT
from tests.browser.visitors import PHONE, Tab

SIZE: ViewportSize = {"width": 1280, "height": 800}


@pytest.fixture(scope="module")
def tab(chromium: Browser) -> Iterator[Tab]:
    """A tab without network, for all tests: what one has compiled, the next one need not."""
    with chromium.new_context(viewport=SIZE, offline=True, reduced_motion="reduce") as context:
        tab = Tab(context)
        fail = lambda sent: tab.errors.append(sent.url) if sent.url[:4] == "http" else None  # noqa: E731
        tab.watch(lambda page: page.on("request", fail))
        yield tab


@pytest.fixture
def alone(tab: Tab, tmp_path: Path) -> Iterator[Callable[[str], Page]]:
    """Opens a text as a page from the disk, without network; a request or an error fails the test."""
    tab.errors.clear()
    tab.page.emulate_media(color_scheme="light")

    def opened(text: str) -> Page:
        file = tmp_path / "instrument.html"
        file.write_text(text, encoding="utf-8")
        tab.page.goto(file.as_uri())
        return tab.page

    yield opened
    assert not tab.errors


def notebook(cell: str, head: str = "") -> str:
    """Return a page with an output cell, which says its charset: else Chromium guesses one."""
    return f'<head><meta charset="utf-8">{head}</head><body>{cell}</body>'


def test_a_saved_file_is_interactive_fits_a_phone_and_follows_the_theme(alone) -> None:
    page = alone(explorer.instrument("sign", ["clipped", "approx_sign"], c=0.5).html())
    page.locator(f"{CHART} .cartesianlayer").wait_for()
    words = explorer.describe(explorer.sample("sign", ["clipped", "approx_sign"], c=0.5))
    assert words.startswith(page.locator(".words .main").inner_text())
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator(".compare-host [role=status]")).to_contain_text(
        "This file has no Python to answer this: save a file while this is open, or use the app"
    )
    expect(page.locator(".compared [data-rule=clipped] [data-column=share]")).to_have_text("38 %")
    page.get_by_role("button", name="Compare", exact=True).click()
    page.set_viewport_size({"width": 1024, "height": 768})
    assert page.locator(".words .main").evaluate("words => words.scrollHeight <= words.clientHeight")
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    enter(number(page, "Upstream gradient g"), "2")
    retry(page, lambda: page.evaluate(f"{TRACES}[1].y.includes(2)"))  # its policy forbids waiting inside
    enter(number(page, "Upstream gradient g"), "1")
    page.set_viewport_size(SIZE)
    place = card(page, "Clipped straight-through")
    slider(place, "c").press("ArrowRight")
    value = float(number(place, "c").input_value())
    assert value > 0.5
    retry(page, lambda: page.evaluate(f"{TRACES}[1].x.some(x => Math.abs(x - {value}) < 1e-9)"))
    expect(page.locator(".words .main")).to_contain_text("For others, use the app.")
    choose(page, "Add rule", "swish")
    retry(page, lambda: page.evaluate(f"{TRACES}.length === 4"))
    drawn, expected = traces(page), explorer.sample("sign", "swish_sign", dtype="float64")
    assert drawn["swish_sign"].y.max() == pytest.approx(expected["gradient"].max(), rel=1e-12)
    follows_the_theme_of_the_system(page)


def test_a_saved_file_runs_no_foreign_script_and_makes_no_request(alone, tab: Tab) -> None:
    """Its policy holds even for what would be written into it."""
    html = explorer.instrument("sign", ["clipped"]).html()
    page = alone(html.replace("</body>", "<script>window.struck = 1</script></body>"))
    page.locator(f"{CHART} .cartesianlayer").wait_for()
    assert page.evaluate("window.struck") is None
    refused = "fetch('data:text/plain,x').then(() => 'answered', () => 'refused')"
    assert page.evaluate(refused) == "refused"
    assert len(tab.errors) >= 2
    assert all("Content Security Policy" in error for error in tab.errors)
    tab.errors.clear()


# As in a notebook whose server has a policy: the frame in its cell inherits it.
POLICY = '<meta http-equiv="Content-Security-Policy" content="script-src {}">'


def test_a_notebook_cell_explains_which_policy_blocks_it(alone, tab: Tab) -> None:
    cell = notebook(make_page("sign", ["clipped"])._repr_html_(), POLICY.format("'self'"))
    words = alone(cell).frame_locator("iframe").locator(".unstarted")
    expect(words).to_contain_text("forbids scripts of its own")
    expect(words).to_be_visible()
    assert tab.errors
    tab.errors.clear()


def follows_the_theme_of_the_system(page: Page) -> None:
    ground = "getComputedStyle(document.querySelector('.instrument')).getPropertyValue('--ground')"
    light = page.evaluate(ground)
    page.emulate_media(color_scheme="dark")
    dark = tomllib.loads((ROOT / ".streamlit/config.toml").read_text())["theme"]["dark"]["backgroundColor"]
    assert page.evaluate(ground) == dark != light


def test_a_notebook_cell_shows_a_learning_parameter_and_the_rule_map(alone) -> None:
    instrument = make_page("quantize", ["lsq"], learns="s", s=0.6, section="map")
    cell = notebook(instrument._repr_html_(), POLICY.format("'unsafe-inline'"))
    frame = alone(cell).frame_locator("iframe")
    frame.locator(f"{CHART} .cartesianlayer .xy3").first.wait_for()
    expect(frame.locator(".unstarted")).to_have_count(0)
    expect(frame.locator(".card[data-rule=lsq]")).to_be_visible()
    words = explorer.describe(explorer.sample("quantize", ["lsq"], learns="s", s=0.6))
    assert words.endswith(f"{frame.locator('.verdicts li span').inner_text()}.")
    expect(frame.locator(".map p").last).to_be_visible()
    frame.get_by_role("slider", name="Chosen g on the map of").last.press("Home")
    expect(frame.get_by_role("spinbutton", name="Upstream gradient g")).to_have_value("-2")
    frame.get_by_role("button", name="Where does s come to rest?").click()
    expect(frame.locator(".rest-words li").first).to_contain_text("comes to rest at")
    frame.locator(".rest-figure .cartesianlayer").wait_for()


def test_a_saved_file_escapes_user_text_and_accepts_no_new_formula(alone) -> None:
    wild = "</script><!--<script><img src=x onerror=window.struck=1>"
    rule = explorer.Rule(key="mine", label=wild, formula="g", purpose=wild)
    page = alone(explorer.instrument("formula: x**3", [rule, "formula: g * k"]).html())
    expect(card(page, wild)).to_be_visible()
    field = title(page, "Rule").last
    expect(field).to_have_value("g * k")
    field.fill("g * 7.25")
    expect(page.get_by_text("Nothing here is called “g * 7.25”")).to_be_visible()
    field.press("Escape")
    expect(field).to_have_value("g * k")
    expect(card(page, "g * k").locator(".formula")).to_be_hidden()  # the field shows it
    assert page.evaluate("window.struck") is None
