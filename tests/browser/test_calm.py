"""Explore as a first visitor has it: one sentence, one thing to take hold of, all tools one press away."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from explorer.instrument.modules import MODULES
from tests.browser.access import in_both_themes
from tests.browser.conftest import NOTHING_CHOSEN, Open, Tab
from tests.browser.reading import choose, in_the_end, settle, tab_to, visit
from tests.browser.training import requests

COUNT = (Path(__file__).parent / "count.js").read_text(encoding="utf-8").partition("\n() =>")[2]
FINGER = {"has_touch": True, "is_mobile": True}
BUG = "/?op=clamp&rule=default&rule=published_clamp&rule=straight_through&g=2&range=0&range=2"

First = Callable[..., Page]


@pytest.fixture
def first(tabs: Callable[..., Tab]) -> Iterator[First]:
    """Opens a page as somebody has it who has never been there."""
    used: list[Tab] = []

    def opened(path: str = "/", size: tuple[int, int] = (1366, 768), **options: Any) -> Page:
        used.append(tab := tabs(**options))
        tab.page.set_viewport_size({"width": size[0], "height": size[1]})
        visit(tab.page, path)
        expect(tab.page.locator(".served")).to_have_count(0)
        return tab.page

    yield opened
    errors = [error for tab in used for error in tab.errors]
    for tab in used:
        tab.leave()
    assert not errors


def counted(page: Page) -> tuple[list[str], list[str]]:
    page.mouse.move(1, 1)
    seen = page.evaluate(f"() => {COUNT.removesuffix(';').rstrip().removesuffix(';')}")
    assert not seen["isWide"]
    return seen["controls"], seen["words"]


def test_no_words_stand_on_a_canvas_where_nobody_would_count_them() -> None:
    files = [*MODULES.rglob("*.js")]
    assert len(files) > 200
    assert not [file.name for file in files if re.search(r"\.(fill|stroke)Text\(", file.read_text("utf-8"))]


@pytest.mark.parametrize(
    ("size", "most", "options"),
    [((1366, 768), (18, 85), {}), ((1024, 768), (18, 85), {}), ((390, 844), (15, 65), FINGER)],
)
def test_the_first_screen_is_calm(
    first: First, size: tuple[int, int], most: tuple[int, int], options: dict[str, Any]
) -> None:
    page = first(size=size, **options)
    expect(page.get_by_role("link", name="Train both")).to_be_visible()
    controls, words = counted(page)
    assert (len(controls) <= most[0], len(words) <= most[1]) == (True, True), (controls, words)
    box = page.locator(".instrument .chart").bounding_box()
    assert box
    if size[0] == 1366:
        assert box["width"] >= 1034
        assert box["height"] >= 600
        assert page.evaluate("document.querySelector('.stMain').scrollHeight <= innerHeight")


# At most so many controls and words on the first screen of a laptop: they were 43 and 250, 50 and 153.
@pytest.mark.parametrize(
    ("path", "part", "most"), [("/learn", ".contents a", (30, 160)), ("/study", ".study .plan", (32, 115))]
)
@pytest.mark.parametrize(
    ("size", "options"), [((1366, 768), {}), ((1024, 768), {}), ((390, 844), FINGER)], ids=str
)
def test_the_other_pages_open_with_few_controls_and_words(
    new_page: Open,
    path: str,
    part: str,
    most: tuple[int, int],
    size: tuple[int, int],
    options: dict[str, Any],
) -> None:
    page = new_page(viewport={"width": size[0], "height": size[1]}, **options)
    page.goto(path)
    page.locator(part).first.wait_for()
    page.get_by_role("link", name="Explore", exact=True).wait_for()

    def are_few() -> None:
        controls, words = counted(page)
        assert 10 < len(controls) <= most[0], controls
        assert 20 < len(words) <= most[1], words

    in_the_end(page, are_few)
    expect(page.locator(part).first).to_be_in_viewport(ratio=1)


def test_on_a_phone_names_of_the_plan_lie_beside_its_rings(new_page: Open) -> None:
    page = new_page(viewport={"width": 390, "height": 844}, **FINGER)
    page.goto("/study?op=sign&rule=clipped")
    page.locator(".plan .rings").first.wait_for()
    ends = page.evaluate("""[...document.querySelectorAll(".plan tbody tr")].map(row => {
        const range = document.createRange();
        range.selectNodeContents(row.firstElementChild);
        const ring = row.querySelector(".rings i");
        return ring.getBoundingClientRect().left - range.getBoundingClientRect().right;
    })""")
    assert min(ends) > 0


# The first thing of each page, as a window of 1366 × 768 has it whose text is twice as large.
@pytest.mark.parametrize(
    ("path", "part", "most"),
    [
        ("/train", ".buttons .primary", 16),
        ("/study", ".buttons .primary", 16),
        ("/learn", ".contents a", 18),
    ],
)
def test_at_200_percent_every_page_is_one_column(new_page: Open, path: str, part: str, most: int) -> None:
    page = new_page(viewport={"width": 683, "height": 384}, fresh=True)
    page.add_init_script(NOTHING_CHOSEN)
    page.goto(path)
    page.locator(part).first.wait_for()
    page.get_by_role("link", name="Explore", exact=True).wait_for()
    expect(page.locator(part).first).to_be_in_viewport(ratio=1)
    controls, words = counted(page)  # nothing is wider than the window
    assert (len(controls) <= most, len(words) <= 85) == (True, True), (controls, words)


def test_every_link_to_a_page_can_be_hit_in_a_narrow_window(first: First) -> None:
    page = first(size=(1024, 768))
    for name in ("Train", "Study", "Learn", "Explore"):
        page.get_by_role("link", name=name, exact=True).click(trial=True, timeout=5000)


def test_the_headline_says_why_to_care(first: First) -> None:
    page = first()
    heading = page.get_by_role(
        "heading", name="Round is flat: its true gradient is 0, so nothing before it can learn."
    )
    expect(heading).to_be_visible()
    page.get_by_role("button", name="Op", exact=True).click()
    page.get_by_role("searchbox", name="Search ops").fill("tanh")
    page.keyboard.press("Enter")
    expect(page.locator(".headline")).to_have_text(
        "Tanh is flat nowhere in this picture: its true gradient reaches what stands before it."
    )


def test_the_point_is_dragged_and_carries_each_slope(first: First) -> None:
    page = first()
    labels = page.locator(".chart-label")
    expect(page.locator(".chart-readout, .chart .legend")).to_be_hidden()  # labels are in its place
    assert {"slope 0", "slope 1", "Default autograd: 0", "Straight-through: 1"} <= set(
        labels.all_text_contents()
    )
    knob = page.locator(".chart-knob").bounding_box()
    assert knob
    x, y = knob["x"] + knob["width"] / 2, knob["y"] + knob["height"] / 2
    before = page.get_by_role("slider", name="Probe x").get_attribute("aria-valuenow")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 300, y, steps=4)
    page.mouse.up()
    after = page.get_by_role("slider", name="Probe x").get_attribute("aria-valuenow")
    assert before
    assert after
    assert float(after) < float(before) - 1
    expect(labels.filter(has_text=f"x = {after.replace('-', '−')}")).to_have_count(1)


def test_all_tools_are_one_press_away_and_stay_in_browser_and_link(first: First) -> None:
    page = first()
    slider = page.get_by_role("slider", name="Upstream gradient g")
    expect(slider).to_be_hidden()
    page.get_by_role("button", name="All tools").click()
    for name in (
        "Formula",
        "Where it settles",
        "Paste code",
        "Data",
        "Reset view",
        "PNG",
        "Hide Straight-through",
        "Copy link",
    ):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_visible()
    expect(slider).to_be_visible()
    expect(page.get_by_role("link", name="Save as HTML")).to_be_visible()
    page.wait_for_url("**/?*tools=all*")
    assert page.evaluate("localStorage.getItem('gradient-explorer.all-tools')") == "true"
    page.keyboard.press("e")
    expect(slider).to_be_hidden()
    page.wait_for_url(lambda address: "tools" not in urlsplit(address).query)


def test_a_link_brings_all_tools(first: First) -> None:
    page = first("/?op=sign&tools=all")
    expect(page.get_by_role("button", name="Reset view")).to_be_visible()


def test_the_key_e_is_a_letter_where_one_types(first: First) -> None:
    page = first("/?op=formula%3A+x&rule=default")
    field = page.locator(".typed input").first
    field.click()
    page.keyboard.type("e")
    expect(page.get_by_role("button", name="All tools")).to_have_attribute("aria-expanded", "false")


def test_the_chip_brings_the_slider_of_g_and_a_card_its_tools(first: First) -> None:
    page = first()
    page.get_by_role("button", name="g = 1, the upstream gradient: change it").click()
    field = page.locator(".strip input.exact")
    field.fill("2")
    field.press("Enter")
    expect(page.locator(".g-chip")).to_have_text("g = 2")
    page.get_by_role("button", name="Edit Straight-through").click()
    page.get_by_role("button", name="Remove Straight-through").click()
    expect(page.get_by_role("link", name="Train it")).to_be_visible()


def test_the_example_of_the_published_clamp_shows_its_bug_at_once(first: First) -> None:
    page = first(BUG)
    labels = set(page.locator(".chart-label").all_text_contents())
    assert {"Default autograd: 0", "Published clamp (with its bug): 1", "Straight-through: 2"} <= labels
    badges = page.locator(".failing:visible")
    expect(badges).to_have_text(["✗ fails: linear in g"])
    badges.click()
    expect(page.locator("[data-verdict=fails]").first).to_be_in_viewport()
    expect(page.locator(".instrument .chart")).to_be_in_viewport(ratio=1)


def test_a_badge_of_an_own_formula_comes_after_a_rest_and_is_asked_for_once(first: First) -> None:
    page = first("/?op=round&rule=straight_through")
    with requests(page, "/checks") as asked:
        page.wait_for_timeout(1500)  # what holds has no badge
        expect(page.locator(".failing:visible")).to_have_count(0)
        choose(page, "Add rule", "own formula")
        field = page.locator(".typed input").first
        field.fill("g * g")
        field.press("Enter")
        expect(page.locator(".failing:visible")).to_have_text(["✗ fails: linear in g"])
        before = len(asked)
        page.get_by_role("button", name="Edit g * g").click()
        page.get_by_role("button", name="Remove g * g").click()
        expect(page.locator(".failing:visible")).to_have_count(0)
        page.go_back()
        expect(page.locator(".failing:visible")).to_have_text(["✗ fails: linear in g"])
        page.wait_for_timeout(1500)
    assert 1 <= before == len(asked)


WORDS_IN_PLACE = """() => {
    const box = name => document.querySelector(`.instrument ${name}`).getBoundingClientRect();
    const [words, head, main, chart] = [".words", ".headline", ".words .main", ".chart"].map(box);
    return head.bottom <= chart.top + 1 && (main.bottom <= chart.top + 1 || main.left >= words.right);
}"""


def test_no_sentence_lies_on_the_curves(first: First) -> None:
    page = first(BUG)
    expect(page.locator(".headline")).to_contain_text("where the true gradient is 0")
    for width, height in [(1366, 768), (1280, 860), (1024, 768), (390, 844)]:
        page.set_viewport_size({"width": width, "height": height})
        in_the_end(page, lambda: _has_words_in_place(page))


def _has_words_in_place(page: Page) -> None:
    assert page.evaluate(WORDS_IN_PLACE)


# What lies upon the thing that has the focus; "" where nothing does.
_COVERS = """() => {
    const focused = document.activeElement;
    const {x, y, width, height} = focused.getBoundingClientRect();
    const seen = document.elementFromPoint(x + width / 2, y + Math.min(height, 40) / 2);
    if (focused.contains(seen) || seen?.contains(focused)) return "";
    return `${focused.outerHTML} < ${seen?.outerHTML}`;
}"""


@pytest.mark.parametrize("tools", ["", "&tools=all"])
def test_on_a_phone_the_curves_cover_nothing_that_has_the_focus(first: First, tools: str) -> None:
    page = first(
        f"/?op=round&rule=default&rule=straight_through&section=compare{tools}", (390, 844), **FINGER
    )
    search = page.get_by_role("searchbox", name="Filter rules")
    page.locator(".compared .join").last.focus()
    for _ in range(60):
        page.keyboard.press("Shift+Tab")
        if not page.evaluate("document.activeElement.matches('.chart *, .chart')"):
            assert page.evaluate(_COVERS) == ""
    search.focus()
    assert page.evaluate(_COVERS) == ""


def test_what_is_opened_leaves_the_curves_in_view(first: First) -> None:
    page = first()
    page.get_by_role("button", name="Code", exact=True).click()
    expect(page.get_by_role("button", name="Download .py")).to_be_in_viewport()
    expect(page.locator(".instrument .chart")).to_be_in_viewport(ratio=1)
    settle(page)


@pytest.mark.parametrize(
    ("path", "size", "options"),
    [("/", (1366, 768), {}), (BUG, (1024, 768), {}), ("/?section=code", (390, 844), FINGER)],
)
def test_axe_finds_nothing_on_the_calm_page(
    first: First, path: str, size: tuple[int, int], options: dict[str, Any]
) -> None:
    page = first(path, size, **options)
    settle(page)
    assert in_both_themes(page) == []
    page.emulate_media(color_scheme="light")


def test_by_keyboard_alone_from_the_point_to_a_race(first: First) -> None:
    page = first()
    page.evaluate("document.activeElement.blur()")
    tab_to(page, "Probe x")
    before = page.evaluate("document.activeElement.ariaValueNow")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.ariaValueNow") != before
    tab_to(page, "Checks")
    page.keyboard.press("Enter")
    expect(page.locator("[data-verdict]").first).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("[data-verdict]").first).to_be_hidden()
    tab_to(page, "Op", 60)
    page.keyboard.press("Enter")
    page.keyboard.type("tanh")
    page.keyboard.press("Enter")
    expect(page.locator(".headline")).to_contain_text("Tanh")
    tab_to(page, "Train both", 60)
    page.keyboard.press("Enter")
    page.wait_for_url("**/train?*op=tanh*")


def test_an_embedded_instrument_keeps_its_tools(first: First) -> None:
    page = first("/?embed=true&op=round")
    expect(page.get_by_role("slider", name="Upstream gradient g")).to_be_visible()
    expect(page.get_by_role("button", name="All tools")).to_be_hidden()


# What Python draws of a section, which comes after the browser's own.
DRAWN = {"formula": "Forward: Round", "code": "Download .py", "data": "Download CSV"}


@pytest.mark.parametrize("tools", ["", "&tools=all"])
@pytest.mark.parametrize("section", ["formula", "code", "checks", "rest", "data"])
def test_a_link_to_a_section_opens_it_in_view(first: First, section: str, tools: str) -> None:
    page = first(f"/?op=round&rule=lsq&section={section}{tools}")
    opened = page.locator(".sections button[aria-expanded=true]")
    expect(opened).to_have_count(1)
    expect(opened).to_be_in_viewport(ratio=1)
    panel = page.locator(".instrument .panel:visible").first
    if section in DRAWN:
        expect(page.get_by_text(DRAWN[section], exact=True).first).to_be_in_viewport()
    elif section == "checks" and tools:  # the curves fill the window
        expect(panel.locator("li").nth(3)).to_be_in_viewport()
    else:
        expect(panel).to_be_in_viewport()
    if not tools:
        expect(page.locator(".instrument .chart")).to_be_in_viewport(ratio=1)


def test_at_200_percent_a_page_is_as_on_a_phone(first: First) -> None:
    page = first(size=(683, 384))  # of 1366 × 768
    controls, words = counted(page)
    assert (len(controls) <= 15, len(words) <= 65) == (True, True), (controls, words)
    chart, card = (page.locator(f".instrument {part}").first.bounding_box() for part in (".chart", ".card"))
    assert chart
    assert card
    assert chart["y"] + chart["height"] <= card["y"]
    assert chart["width"] > 600
    expect(page.locator(".chart-knob")).to_be_in_viewport()
    for part in (".headline", ".words .main", ".examples .then"):
        expect(page.locator(part)).to_be_in_viewport(ratio=1)


_WATCH = """() => {
    window.moved = [];
    const seen = list => window.moved.push(...list.getEntries().filter(each => !each.hadRecentInput));
    new PerformanceObserver(seen).observe({ type: "layout-shift", buffered: true });
}"""
_MOVED = "moved.filter(each => each.startTime > 1000).reduce((sum, each) => sum + each.value, 0)"

# The bytes of each answer as they came, but for plotly.js, of which there are two builds.
_BROUGHT = """["navigation", "resource"].flatMap(kind => performance.getEntriesByType(kind))
    .filter(({ name }) => !name.includes("/assets/plotly-")).map(({ transferSize }) => transferSize)"""
_MOST_REQUESTS = 85  # a first visit took 117


@pytest.mark.parametrize("path", ["/", "/train", "/study", "/learn", "/learn?lesson=vanishing"])
@pytest.mark.parametrize("tools", ["few tools", "all tools"])
def test_nothing_moves_after_the_first_second(new_page: Open, path: str, tools: str) -> None:
    """In the same visits: the bytes that come, and Start among the first stops of the keyboard."""
    page = new_page(viewport={"width": 1366, "height": 768}, fresh=True)
    page.add_init_script(NOTHING_CHOSEN if tools == "few tools" else "")
    page.add_init_script(f"({_WATCH})()")
    page.goto(path)
    page.get_by_role("link", name="Learn", exact=True).wait_for()
    page.locator(".served").wait_for(state="detached")
    page.wait_for_timeout(1000)
    assert page.evaluate(_MOVED) < 0.02
    if tools == "few tools":
        brought = page.evaluate(_BROUGHT)
        assert len(brought) <= _MOST_REQUESTS
        assert 1_000_000 < sum(brought) <= (1_400_000 if path == "/" else 1_650_000)
    if path in ("/train", "/study"):
        has_start_among_the_first_five_stops(page)


def has_start_among_the_first_five_stops(page: Page) -> None:
    page.get_by_role("button", name="Start", exact=True).wait_for()
    stops = []
    for _ in range(5):
        page.keyboard.press("Tab")
        stops.append(page.evaluate("document.activeElement.textContent.trim()"))
    assert "Start" in stops
