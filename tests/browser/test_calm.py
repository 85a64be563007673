"""Explore as a first visitor has it: one sentence, one thing to take hold of, all tools one press away."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import torch
from playwright.sync_api import Page, Route, expect

import explorer
from explorer.description.net_gradient import make_normal_numbers
from explorer.formula import format_percent
from tests.browser.access import violations, violations_in_both_themes
from tests.browser.reading import box_of, card, enter, hold, number, retry, settle, turn, visit
from tests.browser.training import requests, status
from tests.browser.visitors import FINGER, PHONE, First, Tab

COUNT = Path(__file__).with_name("count.js").read_text("utf-8")
BUG = "/?op=clamp&rule=default&rule=published_clamp&rule=straight_through&g=2&range=0&range=2"
LAPTOP, NARROW = (1366, 768), (1024, 768)
TWICE = (683, 384)  # a laptop whose text is twice as large


def resize(page: Page, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})


@pytest.fixture
def first(tabs: Callable[..., Tab]) -> Iterator[First]:
    """Open Explore as somebody has it who has never been there, or turn to a link where it is open."""
    used: list[Tab] = []

    def opened(path: str = "/", arrives: bool = False, **options: Any) -> Page:
        used.append(tab := tabs(**options))
        resize(tab.page, (PHONE["width"], PHONE["height"]) if options else LAPTOP)
        is_there = urlsplit(tab.page.url).path == "/" and "embed" not in tab.page.url
        (turn if is_there and not arrives else visit)(tab.page, path)
        expect(tab.page.locator(".served")).to_have_count(0)
        return tab.page

    yield opened
    errors = [error for tab in used for error in tab.errors]
    for tab in used:
        if errors:
            tab.leave()
        tab.page.emulate_media(color_scheme="light")
    assert not errors


def count_visible(page: Page) -> tuple[list[str], list[str]]:
    page.mouse.move(1, 1)
    seen = page.evaluate(COUNT)
    assert not seen["isWide"]
    return seen["controls"], seen["words"]


def assert_few(page: Page, controls: int, words: int) -> None:
    """At most so many controls and words are seen, and nothing is wider than the window."""
    seen = count_visible(page)
    assert (0 < len(seen[0]) <= controls, 0 < len(seen[1]) <= words) == (True, True), seen


def test_the_first_screen_has_few_controls_and_links_every_page(first: First) -> None:
    page = first(arrives=True)
    expect(page.get_by_role("link", name="Train both")).to_be_visible()
    words = "Round is flat: its true gradient is 0, so nothing before it can learn."
    expect(page.get_by_role("heading", name=words)).to_be_visible()
    assert_few(page, 16, 85)
    card = page.get_by_role("group", name="Straight-through")
    expect(card.get_by_text("passes the gradient unchanged")).to_be_visible()
    box = box_of(page.locator(".instrument .chart"))
    assert (box["width"] >= 1034, box["height"] >= 600) == (True, True)
    assert page.evaluate("document.querySelector('.stMain').scrollHeight <= innerHeight")
    resize(page, NARROW)
    retry(page, partial(assert_few, page, 18, 85))
    for name in ("Train", "Study", "Learn", "Explore"):
        page.get_by_role("link", name=name, exact=True).click(trial=True, timeout=5000)
    resize(page, TWICE)
    retry(page, partial(is_as_on_a_phone, page))
    resize(page, LAPTOP)
    unanswered: list[Route] = []
    page.route("**/runs", lambda route: route.continue_() if unanswered else unanswered.append(route))
    page.get_by_role("link", name="Train both").click()
    expect(status(page)).to_have_attribute("data-state", re.compile("running|finished"), timeout=60_000)
    page.reload()
    expect(status(page)).to_have_attribute("data-state", re.compile("running|finished"), timeout=60_000)
    unanswered[0].abort()
    page.unroute("**/runs")


def is_as_on_a_phone(page: Page) -> None:
    assert_few(page, 15, 65)
    chart, card = (box_of(page.locator(f".instrument {part}").first) for part in (".chart", ".card"))
    assert chart["y"] + chart["height"] <= card["y"]
    assert chart["width"] > 600
    expect(page.locator(".chart-knob")).to_be_in_viewport()
    for part in (".headline", ".words .main", ".examples .then"):
        expect(page.locator(part)).to_be_in_viewport(ratio=1)


def test_the_first_screen_on_a_phone_is_short_and_accessible(first: First) -> None:
    page = first(arrives=True, **FINGER)
    expect(page.get_by_role("link", name="Train both")).to_be_visible()
    assert_few(page, 15, 65)
    expect(page.get_by_text("Backward rules set the gradient passed back.")).to_be_in_viewport(ratio=1)
    turn(page, "/?section=code")
    code = page.get_by_role("region", name="Code", exact=True)
    expect(code).to_contain_text("return RoundStraightThrough.apply(x)")
    expect(code).not_to_contain_text("nn.Module")
    page.get_by_role("button", name="All features").click()
    expect(code).to_contain_text("class RoundStraightThrough(nn.Module)")
    assert violations(page) == []


def test_dragging_the_knob_moves_the_probe_and_its_labels(first: First) -> None:
    page = first()
    labels, probe = page.locator(".chart-label"), page.get_by_role("slider", name="Probe x")
    expect(page.locator(".chart-readout, .chart .legend")).to_be_hidden()  # labels are in its place
    shown = {"slope 0", "slope 1", "Default autograd", "Straight-through", "0", "1", "x = 1.68"}
    assert {*labels.all_text_contents()} == shown
    dot, value = (
        box_of(each.last) for each in (page.locator(".chart-dot"), labels.filter(has_text=re.compile("^1$")))
    )
    assert abs(dot["x"] - value["x"]) < 30, "a value is next to its dot, not at the end of the curve"
    before = float(probe.get_attribute("aria-valuenow") or "nan")
    knob = page.locator(".chart-knob")
    with hold(page, knob, 0.5, 0.5 - 300 / box_of(knob)["width"]):
        pass
    after = probe.get_attribute("aria-valuenow") or "nan"
    assert float(after) < before - 1
    expect(labels.filter(has_text=f"x = {after.replace('-', '−')}")).to_have_count(1)


def test_all_tools_open_with_one_press_and_are_remembered(first: First) -> None:
    page = first(arrives=True)
    slider = page.get_by_role("slider", name="Upstream gradient g")
    expect(slider).to_be_hidden()
    page.get_by_role("button", name="All tools").click()
    retry(page, partial(assert_few, page, 34, 122))
    for name in ("Formula", "Code", "Checks", "Data", "Hide Straight-through", "Copy link"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_visible()
    expect(slider).to_be_visible()
    for menu, name in {"Layers and size": "Noise lens", "Save": "Save as HTML"}.items():
        page.locator("summary", has_text=menu).click()
        expect(page.get_by_text(name, exact=True)).to_be_in_viewport(ratio=1)
        page.keyboard.press("Escape")
        expect(page.get_by_text(name, exact=True)).to_be_hidden()
        expect(page.locator("summary", has_text=menu)).to_be_focused()
    page.wait_for_url("**/?*tools=all*")
    assert page.evaluate("localStorage.getItem('gradient-explorer.all-tools')") == "true"
    page.keyboard.press("Control+e")  # the browser's own
    expect(slider).to_be_visible()
    page.keyboard.press("e")
    expect(slider).to_be_hidden()
    page.wait_for_url(lambda address: "tools" not in urlsplit(address).query)


PLACES = """() => [".headline", ".words .main", ".then", ".js-plotly-plot", ".card.op", ".card.rule"].map(
    name => { const {x, y, width} = document.querySelector(`.instrument ${name}`).getBoundingClientRect();
              return [x, y, width].map(Math.round); })"""


def test_all_tools_move_no_headline_chart_or_card(first: First) -> None:
    page = first()
    for size in (LAPTOP, (1920, 1080)):
        resize(page, size)
        settle(page)
        before = page.evaluate(PLACES)
        page.keyboard.press("e")
        expect(page.get_by_label("From")).to_be_visible()
        settle(page)
        assert page.evaluate(PLACES) == before
        assert page.evaluate("document.querySelector('.stMain').scrollHeight <= innerHeight")
        page.keyboard.press("e")


def test_a_zoom_by_the_wheel_is_undone_with_a_button_or_key(first: First) -> None:
    """On a stage too, where nothing scrolls. With a section open the wheel scrolls, and Ctrl zooms."""
    page = first("/?op=round&rule=straight_through")
    reset, plot = page.get_by_role("button", name="Reset view"), page.locator(".js-plotly-plot").first
    acts = [
        reset.click, partial(page.keyboard.press, "r"), partial(plot.dblclick, position={"x": 300, "y": 420}),
    ]  # fmt: skip
    for key in ("p", "Escape"):
        for undo in acts:
            expect(reset).to_be_hidden()
            plot.hover(position={"x": 300, "y": 420})
            page.mouse.wheel(0, -300)
            expect(reset).to_be_in_viewport(ratio=1)
            undo()
            page.wait_for_timeout(300)  # the wheel's last word is later
            expect(reset).to_be_hidden()
        page.keyboard.press(key)
    turn(page, "/?op=round&rule=straight_through&tools=all&section=compare")
    plot.hover(position={"x": 300, "y": 330})
    page.mouse.wheel(0, 100)
    page.wait_for_function("() => document.querySelector('.stMain').scrollTop > 50")
    expect(reset).to_be_hidden()
    page.keyboard.down("Control")
    page.mouse.wheel(0, -300)
    page.keyboard.up("Control")
    expect(reset).to_be_visible()


def test_the_chip_opens_the_field_of_g_and_edit_the_tools_of_a_card(first: First) -> None:
    page = first()
    page.get_by_role("button", name="g = 1, the upstream gradient: change it").click()
    enter(page.locator(".strip input.exact"), "2")
    expect(page.locator(".g-chip")).to_have_text("g = 2, the gradient that arrives")
    page.get_by_role("button", name="Edit Straight-through").click()
    page.get_by_role("button", name="Remove Straight-through").click()
    expect(page.get_by_role("link", name="Train it")).to_be_visible()


WORDS_IN_PLACE = """() => {
    const box = name => document.querySelector(`.instrument ${name}`).getBoundingClientRect();
    const [words, head, main, chart] = [".words", ".headline", ".words .main", ".chart"].map(box);
    return head.bottom <= chart.top + 1 && (main.bottom <= chart.top + 1 || main.left >= words.right);
}"""


def test_the_published_clamp_shows_its_bug_and_no_text_over_curves(first: First) -> None:
    page = first(BUG)
    labels = {*page.locator(".chart-label").all_text_contents()}
    names = {"Default autograd", "Published clamp (with its bug)", "Straight-through"}
    assert labels >= {*names, "0", "1", "2", "slope 0.5"}
    expect(page.locator(".headline")).to_contain_text("where the true gradient is 0")
    for size in [(1280, 860), NARROW, (390, 844), LAPTOP]:
        resize(page, size)
        retry(page, partial(page.evaluate, WORDS_IN_PLACE))
    badges = page.locator(".failing:visible")
    expect(badges).to_have_text(["✗ fails: linear in g"])
    assert violations_in_both_themes(page) == []
    badges.click()
    expect(page.locator("[data-verdict=fails]").first).to_be_in_viewport()
    expect(page.locator(".instrument .chart")).to_be_in_viewport(ratio=1)


def test_the_badge_of_a_custom_formula_is_requested_once(first: First) -> None:
    page = first("/?op=round&rule=straight_through")
    badges = page.locator(".failing:visible")
    with requests(page, "/ask/checks") as asked:
        expect(badges).to_have_count(0)  # what holds has none
        page.get_by_role("button", name="Add rule").click()
        page.get_by_label("Search rules").press("e")  # a letter where one types
        expect(page.get_by_role("button", name="All tools")).to_have_attribute("aria-expanded", "false")
        enter(page.get_by_label("Search rules"), "g / 2")
        expect(badges).to_have_text(["✗ fails: area, antiderivative"])
        badges.click()
        expect(page.locator(".checked").last.locator("[data-verdict=fails]").first).to_be_in_viewport()
        before = len(asked)
        page.get_by_role("button", name="Edit g / 2").click()
        page.get_by_role("button", name="Remove g / 2").click()
        expect(badges).to_have_count(0)
        page.go_back()
        expect(badges).to_have_text(["✗ fails: area, antiderivative"])
        page.wait_for_timeout(1500)
    assert 1 <= before == len(asked)


def test_sizes_need_all_tools_but_an_edited_card_states_its_share(first: First) -> None:
    page = first("/?op=sign&rule=clipped")
    expect(page.locator(".strip .size summary")).to_be_hidden()
    place = card(page, explorer.RULES["clipped"].label)
    said = place.locator(".share")
    expect(said).to_be_hidden()
    place.get_by_role("button", name="Edit").click()
    x = torch.tensor(make_normal_numbers(), dtype=torch.float64)
    for c in (1.0, 0.25):
        enter(number(place, "c"), str(c))
        passed = format_percent(explorer.share("sign", "clipped", x, c=c))
        expect(place.locator(".values")).to_have_text(f"c = {c:g}")
        numbers = "1,000 standard normal numbers"
        expect(said).to_have_text(f"Passes {passed} of g on {numbers}.")


# What lies upon the thing that has the focus; "" where nothing does.
_COVERS = """() => {
    const focused = document.activeElement;
    const {x, y, width, height} = focused.getBoundingClientRect();
    const seen = document.elementFromPoint(x + width / 2, y + Math.min(height, 40) / 2);
    if (focused.contains(seen) || seen?.contains(focused)) return "";
    return `${focused.outerHTML} < ${seen?.outerHTML}`;
}"""


def test_the_curves_on_a_phone_never_cover_the_focused_element(first: First) -> None:
    page = first("/?op=round&rule=default&rule=straight_through&section=compare&tools=all", **FINGER)
    page.locator(".compared .join").last.focus()
    for _ in range(60):
        page.keyboard.press("Shift+Tab")
        if not page.evaluate("document.activeElement.matches('.chart *, .chart')"):
            assert page.evaluate(_COVERS) == ""
    page.get_by_role("searchbox", name="Filter rules").focus()
    assert page.evaluate(_COVERS) == ""
