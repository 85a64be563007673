"""Explore at every size: what is too small for the screen scrolls, and nothing is cut or overprinted."""

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.reading import CHART, settle, title, turn

SIZES: dict[str, ViewportSize] = {
    "a laptop": {"width": 1366, "height": 768}, "a projector": {"width": 1024, "height": 768},
    "a laptop at 200 %": {"width": 683, "height": 384}, "a desktop at 200 %": {"width": 960, "height": 540},
    "a phone": {"width": 390, "height": 844}, "a phone turned": {"width": 844, "height": 390},
}  # fmt: skip
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


def test_panels_are_tall_enough_and_no_words_are_cut(explore: Page, subtests: pytest.Subtests) -> None:
    """The message of an own formula is whole too."""
    page = explore
    turn(page, "/?op=round&rule=default&rule=formula:+g*a")
    field = title(page, "Rule").last
    field.fill("g * unknown_name_that_is_long(x, y, 3) + another")
    expect(field).to_have_attribute("aria-invalid", "true")
    mistake = page.locator(".mistake:visible")
    expect(mistake).to_contain_text("The last good formula stays.")
    for name, size in SIZES.items():
        with subtests.test(name):
            page.set_viewport_size(size)
            page.wait_for_function(FITS, arg=[CHART, size["width"]])
            heights, titles = page.evaluate(PANELS)
            assert min(heights) >= LEAST_PX
            (_, above), (below, _) = sorted(titles)
            assert above <= below
            assert page.evaluate(CUT) == []
            assert mistake.evaluate("node => node.scrollHeight <= node.clientHeight")


def test_the_page_explains_itself_and_its_sign_on_a_phone(phone_explore: Page) -> None:
    page = phone_explore
    turn(page, "/")
    line = page.locator(".heading p").last  # the page's own lies behind what came with it
    expect(line).to_contain_text("backward rule")
    expect(line).to_contain_text("A backward rule sets the gradient that an op passes back")
    page.get_by_text("More", exact=True).tap()
    words = page.get_by_text("its values take their place")
    expect(words).to_be_in_viewport(ratio=1)
    page.keyboard.press("Escape")
    expect(words).to_be_hidden()


def test_a_rule_already_shown_is_listed_but_disabled(explore: Page) -> None:
    page = explore
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
