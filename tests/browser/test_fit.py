"""Explore at every size: what is too small for the screen scrolls, and nothing is cut or overprinted."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.access import in_both_themes
from tests.browser.reading import CHART, card, settle, turn

SIZES: dict[str, ViewportSize] = {
    "a laptop": {"width": 1366, "height": 768},
    "a projector": {"width": 1024, "height": 768},
    "a laptop at 200 %": {"width": 683, "height": 384},
    "a desktop at 200 %": {"width": 960, "height": 540},
    "a phone": {"width": 390, "height": 844},
    "a phone turned": {"width": 844, "height": 390},
}
LEAST_PX = 80
# Heights of the two panels, and the ends of both titles of y from top to bottom, in px.
PANELS = f"""() => {{
    const chart = document.querySelector("{CHART}");
    const heights = ["yaxis", "yaxis2"].map(axis => chart._fullLayout[axis]._length);
    const titles = [...chart.querySelectorAll(".ytitle, .y2title")];
    const boxes = titles.map(title => title.getBoundingClientRect());
    return [heights, boxes.map(({{top, bottom}}) => [top, bottom])];
}}"""
# Whether the chart has been drawn for a window of this width: as wide as its place, and not wider than that.
FITS = """([chart, width]) => {
    const {width: drawn, left, right} = document.querySelector(`${chart} .main-svg`).getBoundingClientRect();
    const place = document.querySelector(chart).clientWidth;
    return innerWidth === width && Math.abs(drawn - place) <= 1 && left >= 0 && right <= width;
}"""
# The words of labels, buttons and sentences that do not fit where they stand.
CUT = """() => [...document.querySelectorAll(".instrument :is(label, button, .hint, .main, .mistake, h2)")]
    .filter(node => node.checkVisibility())
    .filter(node => node.scrollWidth > node.clientWidth + 1 || node.scrollHeight > node.clientHeight + 2)
    .map(node => node.textContent)"""


@pytest.fixture
def page(explore: Page) -> Page:
    """One page for all tests here."""
    return explore


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES.keys())
def test_panels_are_tall_enough_and_no_words_are_cut(page: Page, size: ViewportSize) -> None:
    page.set_viewport_size(size)
    turn(page, "/?op=round&rule=default&rule=straight_through")
    page.wait_for_function(FITS, arg=[CHART, size["width"]])
    heights, titles = page.evaluate(PANELS)
    assert min(heights) >= LEAST_PX
    (_, above), (below, _) = sorted(titles)
    assert above <= below
    assert page.evaluate(CUT) == []


@pytest.mark.parametrize("size", [SIZES["a laptop"], SIZES["a phone"]], ids=["wide", "phone"])
def test_the_message_of_an_own_formula_is_whole(page: Page, size: ViewportSize) -> None:
    page.set_viewport_size(size)
    turn(page, "/?op=round&rule=formula:+g*a")
    field = page.get_by_label("Own rule:")
    field.fill("g * unknown_name_that_is_long(x, y, 3) + another")
    expect(field).to_have_attribute("aria-invalid", "true")
    mistake = page.locator(".mistake:not(.loss *)")
    expect(mistake).to_contain_text("The last good formula stays.")
    height, room = mistake.evaluate("node => [node.scrollHeight, node.clientHeight]")
    assert height <= room


def test_the_section_of_code_violates_no_rule_of_axe(page: Page) -> None:
    turn(page, "/?op=clamp&rule=masked&section=code")
    page.locator("pre").first.wait_for()
    assert in_both_themes(page, ".stMain") == []


def test_the_first_screen_says_what_the_page_is_and_what_g_is(page: Page) -> None:
    turn(page, "/")
    line = page.locator(".heading p").last  # the page's own lies behind what came with it
    expect(line).to_be_in_viewport()
    expect(line).to_contain_text("backward rule")
    expect(line).to_contain_text("g is the gradient that arrives at its output")


def test_what_confirmed_means_is_explained_where_a_finger_reaches_it(phone_explore: Page) -> None:
    page = phone_explore
    turn(page, "/")
    why = page.get_by_label("What confirmed by torch means")
    why.tap()
    words = page.get_by_text("its values take their place")
    expect(words).to_be_in_viewport(ratio=1)
    page.keyboard.press("Escape")
    expect(words).to_be_hidden()


def test_a_rule_that_is_shown_is_found_but_not_chosen_twice(page: Page) -> None:
    turn(page, "/?op=round&rule=default&rule=straight_through")
    page.get_by_role("button", name="Add rule").click()
    page.get_by_label("Search rules").fill("ste")
    shown = page.get_by_role("option").filter(has_text="Straight-through").first
    expect(shown).to_be_visible()
    expect(shown).to_be_disabled()
    expect(shown).to_contain_text("Shown already.")
    expect(shown).to_have_attribute("aria-selected", "false")
    page.keyboard.press("Enter")
    expect(page.locator(".card.rule")).to_have_count(3)
    settle(page)


def test_grips_on_the_chart_are_reached_and_ringed_by_keyboard(page: Page) -> None:
    turn(page, "/?op=clamp&rule=masked")
    page.get_by_role("slider", name="Right end of x").focus()
    for name in ("lo, lower bound", "hi, upper bound"):
        page.keyboard.press("Tab")
        grip = page.get_by_role("slider", name=name).and_(page.locator(".chart-grip"))
        expect(grip).to_be_focused()
        assert grip.evaluate("node => getComputedStyle(node, '::after').outlineStyle") == "solid"


def test_an_example_leads_to_its_training(page: Page) -> None:
    turn(page, "/?op=sign&rule=default&rule=straight_through&g=2")
    page.get_by_role("link", name="Train both").click()
    page.locator(".training").wait_for()
    expect(card(page, "Straight-through")).to_be_visible()
    assert {"op=sign", "g=2"} <= set(page.url.partition("?")[2].split("&"))
