"""Explore on phones, tablets and narrow screens, and in the dark theme."""

from collections.abc import Sequence
from functools import partial
from itertools import combinations
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from explorer.catalogue.colours import RULE_COLOURS_DARK, RULE_COLOURS_LIGHT
from tests.browser.access import set_theme, violations_in_both_themes
from tests.browser.reading import CHART, TRACES, box_of, card, link, retry, settle_train, turn, visit
from tests.browser.visitors import FINGER, PHONE, Open
from tests.selection import take_part

LINES = f"{TRACES}.map(trace => trace.line.color)"
CARDS = "[...document.querySelectorAll('.card')]"
THEMES: list[tuple[Literal["light", "dark"], Sequence[str]]] = [
    ("light", RULE_COLOURS_LIGHT),
    ("dark", RULE_COLOURS_DARK),
]

# Text in the chart and the ground it stands on, as [red, green, blue] each.
COLOURS = f"""() => {{
    const rgb = colour => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
    const ground = rgb(getComputedStyle(document.querySelector('[data-testid="stApp"]')).backgroundColor);
    const texts = [...document.querySelectorAll("{CHART} text")].filter(text => text.textContent.trim());
    return [ground, texts.map(text => rgb(getComputedStyle(text).fill))];
}}"""

# The ground of the chart's host, and the letters on it.
LETTERS = f"""() => [
    getComputedStyle(document.querySelector("{CHART}").closest(".chart-host")).backgroundColor,
    ...[...document.querySelectorAll("{CHART} text")].filter(text => text.textContent.trim())
        .map(text => getComputedStyle(text).fill),
].map(colour => colour.match(/[\\d.]+/g).slice(0, 3).map(Number))"""
# Into a dark place where the instrument stands, or back.
MOVED = """isDark => {
    const instrument = document.querySelector(".instrument:has(.chart)");
    const place = document.querySelector(".dark-place");
    if (Boolean(place?.contains(instrument)) === isDark) return;
    if (!isDark) return place.replaceWith(instrument);
    const dark = document.createElement("div");
    dark.className = "dark-place";
    dark.style = "--st-text-color: #e6edf3; --st-background-color: #10161d";
    instrument.replaceWith(dark);
    dark.append(instrument);
}"""

# How far the page is scrolled, and what has its name where the field of the op is.
MIDDLE = """() => {
    const {left, top, width, height} = document.querySelector(".op input").getBoundingClientRect();
    const {ariaLabel} = document.elementFromPoint(left + width / 2, top + height / 2);
    return [document.querySelector('[data-testid="stMain"]').scrollTop, ariaLabel];
}"""


def test_the_chart_on_a_phone_comes_first_and_stays_in_view(phone_explore: Page) -> None:
    """Nothing lies on anything, nor on a tablet, and nothing scrolls sideways: on Train neither."""
    page = phone_explore
    rules = ["default", "masked", "published_clamp", "zero"]
    turn(page, link("/", {"op": "clamp", "rule": rules}), shows=rules)
    for width in (820, 600, PHONE["width"]):
        page.set_viewport_size({"width": width, "height": 1180})
        retry(page, partial(nothing_lies_on_anything, page))
    page.set_viewport_size(PHONE)
    shows_the_chart_without_scrolling_sideways(page)
    parts = (page.locator(CHART), card(page, "Clamp"), page.get_by_role("group", name="Sections"))
    tops = [box_of(part)["y"] for part in parts]
    assert tops == sorted(tops)
    add_rule = page.get_by_role("button", name="Add rule")
    add_rule.scroll_into_view_if_needed()

    def stands_above() -> None:
        chart = box_of(page.locator(CHART))
        assert 0 <= chart["y"] < 60
        assert box_of(add_rule)["y"] > chart["y"] + chart["height"] - 1

    retry(page, stands_above)
    page.goto("/train")
    settle_train(page)
    shows_the_chart_without_scrolling_sideways(page)


def nothing_lies_on_anything(page: Page) -> None:
    parts = page.locator(".words .menu, .sign, .examples > *, .chart-buttons, .infolayer .annotation").all()
    for one, other in combinations([box_of(part) for part in parts if part.is_visible()], 2):
        is_left = one["x"] + one["width"] <= other["x"] or other["x"] + other["width"] <= one["x"]
        assert is_left or one["y"] + one["height"] <= other["y"] or other["y"] + other["height"] <= one["y"]
    menu = box_of(page.get_by_test_id("stMainMenu"))
    for link_to in page.get_by_test_id("stPageLink").all():
        box = box_of(link_to)
        assert box["x"] + box["width"] <= menu["x"] or box["y"] >= menu["y"] + menu["height"]


def shows_the_chart_without_scrolling_sideways(page: Page) -> None:
    for part in ("html", '[data-testid="stApp"]', '[data-testid="stMain"]'):
        width = page.locator(part).evaluate("element => [element.scrollWidth, element.clientWidth]")
        assert width[0] <= width[1] == PHONE["width"]
    chart, drawn = (box_of(page.locator(part).first) for part in (CHART, f"{CHART} .main-svg"))
    assert chart["x"] >= 0
    assert 300 <= chart["width"] <= PHONE["width"] - chart["x"]
    assert drawn["width"] == pytest.approx(chart["width"], abs=1)


def test_the_chart_has_enough_contrast_in_both_themes(page: Page) -> None:
    """Opened in the dark one, and changed to the light one; so is Train, from there."""
    set_theme(page, "dark")
    visit(page, "/")
    can_be_read_in_both_themes(page)
    set_theme(page, "dark")
    page.get_by_role("link", name="Train", exact=True).click()
    settle_train(page)
    can_be_read_in_both_themes(page)


def test_the_chart_follows_the_theme_of_its_container(explore: Page) -> None:
    """As when Streamlit takes over a page whose theme was not known yet: no transition tells of it.

    Lines and letters are checked together, as each follows its own host, one a frame after the other; and
    Streamlit, told of a link a moment later, may put the instrument back.
    """
    set_theme(explore, "light")
    turn(explore, "/?op=round&rule=default", shows=["default"])
    for scheme, colours in reversed(THEMES):
        retry(explore, partial(is_drawn_for_its_place, explore, scheme == "dark", colours[0]))


def is_drawn_for_its_place(page: Page, is_dark: bool, colour: str) -> None:
    page.evaluate(MOVED, is_dark)
    assert page.evaluate(f"{LINES}.slice(1)") == [colour]
    ground, *letters = page.evaluate(LETTERS)
    assert min(contrast(letter, ground) for letter in letters) >= 4.5


def can_be_read_in_both_themes(page: Page) -> None:
    page.get_by_test_id("stApp").wait_for()  # a chart may stand before Streamlit does
    page.locator(f"{CHART} text").first.wait_for()

    def can_be_read() -> None:
        ground, texts = page.evaluate(COLOURS)
        assert (luminance(ground) < 0.2) == (scheme == "dark")
        assert len(texts) >= 3  # a loss chart has no axis before its first value
        assert min(contrast(text, ground) for text in texts) >= 4.5

    for scheme in ("dark", "light"):
        set_theme(page, scheme)
        retry(page, can_be_read)


def test_explore_has_no_accessibility_violations(explore: Page) -> None:
    page = explore
    turn(page, "/?op=clamp&rule=default&rule=clipped&rule=formula:+g*k&section=paste")
    page.get_by_text("More", exact=True).click()
    assert violations_in_both_themes(page) == []
    page.get_by_role("button", name="Add rule").click()
    page.get_by_role("option").first.wait_for()
    assert violations_in_both_themes(page) == []


def test_a_card_has_the_colour_of_its_curve(explore: Page) -> None:
    """In the dark theme and, changed, in the light one."""
    turn(explore, "/?op=sign&rule=default&rule=clipped", shows=["default", "clipped"])
    for scheme, colours in reversed(THEMES):
        set_theme(explore, scheme)
        explore.wait_for_function(f"two => String({LINES}.slice(1)) === two", arg=",".join(colours[:2]))
        assert explore.evaluate(f"{CARDS}.map(card => card.style.getPropertyValue('--colour'))") == (
            explore.evaluate(LINES)
        )


def luminance(colour: list[float]) -> float:
    """Relative luminance, 0 to 1, of sRGB values from 0 to 255 (WCAG 2.2)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: list[float], other: list[float]) -> float:
    """Contrast ratio, 1 to 21 (WCAG 2.2)."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_the_chart_on_a_phone_does_not_move_when_the_words_arrive(new_page: Open) -> None:
    page = new_page(viewport=PHONE, **FINGER)
    loading = page.context.new_cdp_session(page)
    loading.send("Fetch.enable", {"patterns": [{"urlPattern": "*/ask/curves"}]})
    page.goto("/?op=clamp&rule=default&rule=published_clamp", wait_until="commit")
    expect(page.locator(".served")).to_have_count(0)
    page.get_by_role("link", name="Train", exact=True).wait_for()
    words = page.locator(".words .main")
    expect(words).to_have_text("…")
    top = "document.querySelector('.instrument .chart').getBoundingClientRect().top"
    before = page.evaluate(top)
    loading.send("Fetch.disable")
    expect(words).not_to_have_text("…")
    assert page.evaluate(top) == before


def test_hints_of_examples_are_not_cut_off(explore: Page) -> None:
    page = explore
    page.set_viewport_size({"width": 1280, "height": 720})
    turn(page, "/")
    examples = page.locator(".examples .window button")
    for place in take_part(range(examples.count())):
        page.locator(".examples summary").click()
        hint = examples.nth(place).locator("small")
        hint.scroll_into_view_if_needed()
        assert hint.evaluate("hint => hint.scrollHeight <= hint.clientHeight + 1"), hint.text_content()
        examples.nth(place).click()
        expect(page.locator(".examples .then")).to_be_visible()


def test_the_menu_of_the_page_covers_no_card(explore: Page) -> None:
    page = explore
    page.set_viewport_size({"width": 1366, "height": 500})
    turn(page, "/")
    menu = page.get_by_test_id("stMainMenu")
    expect(menu).to_be_visible()
    for top in (45, 60):
        page.get_by_test_id("stMain").evaluate("(main, top) => main.scrollTo(0, top)", top)
        page.wait_for_function(f"top => ({MIDDLE})()[0] === top && ({MIDDLE})()[1] === 'Op'", arg=top)
    page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, 0)")
    expect(menu).to_be_visible()
