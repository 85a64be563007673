"""The sections below the chart, and what the keyboard reaches on each page, in which order."""

from collections.abc import Sequence

from playwright.sync_api import Page, ViewportSize, expect

from explorer.instrument.view import SECTIONS
from explorer.lessons import LESSONS
from explorer.ui.server.admission.paths import PAGES
from tests.browser.lessons import turn_to
from tests.browser.reading import CHART, box_of, card, press_section, settle_train, turn, wait_until_at_rest
from tests.browser.training import press
from tests.browser.visitors import VIEWPORT
from tests.selection import take_part

# What has the focus: tag, role where it is not the tag's own, name, and ring; null after the last.
REACHED = """() => {
    const node = document.activeElement;
    if (node === document.body) return null;
    const drawn = node.matches(".chart-grip") ? "::after" : null;
    const {outlineStyle, outlineWidth} = getComputedStyle(node, drawn);
    const name = node.ariaLabel ?? node.labels?.[0]?.textContent ?? node.textContent;
    return [node.localName, node.getAttribute("role"), name.trim(), `${outlineStyle} ${outlineWidth}`];
}"""
SIZES: list[ViewportSize] = [{"width": 1366, "height": 768}, {"width": 390, "height": 844}]
NATIVE = ("a", "button", "input", "select", "summary", "textarea")
MOST = 100  # more than any page has


def list_focus_order(page: Page) -> list[list[str]]:
    """Return what Tab reaches after the links to the pages, or on Train from Start on, in order."""
    start = page.locator(".training .stage").get_by_role("button", name="Start", exact=True)
    link = page.get_by_role("link", name="Learn", exact=True)
    (start if start.count() else link).focus()
    result = []
    for _ in range(MOST):
        page.keyboard.press("Tab")
        result.append(page.evaluate(REACHED))
        if result[-1] is None:
            return result[:-1]
    raise AssertionError(f"Tab has no end: {result}")


def test_an_opened_section_scrolls_into_view(explore: Page) -> None:
    page = explore
    page.set_viewport_size(SIZES[0])
    turn(page, "/?op=quantize&rule=lsq", shows=["lsq"])  # its step size can learn: all sections apply
    wait_until_at_rest(page)
    drawn = page.get_by_test_id("stElementContainer")
    without = drawn.count()
    for name in take_part(SECTIONS.values()):
        button = page.locator(".sections button", has_text=name)
        press_section(page, name)
        page.wait_for_function(
            "top => document.querySelector('.sections').getBoundingClientRect().top < top", arg=450
        )
        expect(page.locator(".chart-plot")).to_be_in_viewport()
        press_section(page, name)
        expect(button).to_have_attribute("aria-expanded", "false")
        expect(drawn).to_have_count(without)
        page.locator(".stMain").evaluate("main => main.scrollTo(0, 0)")


def test_a_section_from_the_menu_has_a_tab_while_it_is_open(explore: Page) -> None:
    turn(explore, "/?op=round&rule=straight_through", shows=["straight_through"])
    menu, inside = explore.locator(".sections summary"), explore.locator(".sections .window button:visible")
    compare = explore.locator(".sections button", has_text="Compare")
    menu.press("Enter")
    expect(inside).to_have_text(["Format", "Compare", "Rule map"])  # no parameter of round learns
    compare.press("Enter")
    expect(explore.locator(".sections button[aria-expanded=true]")).to_be_focused()
    expect(inside).to_have_count(0)
    compare.press("Enter")
    expect(compare).to_be_hidden()
    expect(menu).to_be_focused()


def test_every_focusable_element_has_a_name_a_ring_and_a_role(explore: Page) -> None:
    """From page to page as a visitor goes; op and rules come first."""
    for viewport in reversed(SIZES):
        explore.set_viewport_size(viewport)
        turn(explore, "/?op=clamp&rule=masked&rule=zero", shows=["masked", "zero"])
        names = whatever_is_reached_is_sound(explore)
        rules = [f"{verb} {label}" for label in ("Masked", "Zero") for verb in ("Hide", "Remove")]
        assert [name for name in names if name in ("Op", "Add rule", *rules)] == ["Op", *rules, "Add rule"]
        assert names[0] == "Op"
    explore.get_by_role("button", name="Copy link").focus()
    for name in (each.title for each in PAGES):
        explore.keyboard.press("Tab")
        tag, _, shown, ring = explore.evaluate(REACHED)
        assert (tag, ring) == ("a", "solid 2px")
        assert shown.endswith(name)
    explore.get_by_role("link", name="Train", exact=True).click()
    settle_train(explore)
    for viewport in SIZES:
        explore.set_viewport_size(viewport)
        names = whatever_is_reached_is_sound(explore)
        on_train_op_rules_and_settings_come_after_what_is_watched(explore, names, viewport)
    explore.set_viewport_size(VIEWPORT)
    explore.get_by_role("link", name="Learn", exact=True).click()
    explore.locator(".contents a").first.wait_for()
    whatever_is_reached_is_sound(explore)
    turn_to(explore, LESSONS["clamp"])
    press(explore, "Skip")
    explore.locator(f".lesson {CHART}").first.wait_for()
    whatever_is_reached_is_sound(explore)


def on_train_op_rules_and_settings_come_after_what_is_watched(
    page: Page, names: Sequence[str], viewport: ViewportSize
) -> None:
    order = ["Step", "Examples", "Op", "Add rule", "What these words mean", "Seed", "Copy link"]
    assert sorted(order, key=names.index) == order
    places = (page.locator(f".curves {CHART}"), card(page, "Clamp"))
    tops = [box_of(place)["y"] for place in places]
    assert (tops == sorted(tops)) == (viewport["width"] < 800)


def whatever_is_reached_is_sound(page: Page) -> list[str]:
    """Their names."""
    result = list_focus_order(page)
    assert len(result) > 15
    for tag, role, name, ring in result:
        scrolls = tag == "pre" or role == "group"
        assert tag in NATIVE or role == "slider" or scrolls, name
        assert name
        assert ring == "solid 2px", name
    return [name for _, _, name, _ in result]


def test_the_section_format_shows_how_x_is_rounded_if_the_op_has_levels(explore: Page) -> None:
    page = explore
    turn(page, "/?op=fp8_e5m2&rule=straight_through&section=format", shows=["straight_through"])
    section = page.locator(".format")
    expect(section).to_contain_text("247 numbers from −57344 to 57344")
    expect(section).to_contain_text("Up to 2⁻¹³ they lie 2⁻¹⁶ apart")
    expect(section.get_by_role("cell", name="57344", exact=True)).to_have_count(1)
    field, said = section.get_by_label("Value to round"), section.get_by_role("status")
    for typed, words in (
        ("0.3", "y = 0.3125, 0.0125 more than x, 4.167 % of x. Beside 0.3125 lie 0.25 and 0.375."),
        ("1/4", "x = y = 0.25: nothing is lost."),
        ("1e5", "The rounded value lies beyond the largest number. y = 57344, 42656 less than x"),
        ("nan", "“nan” is not a finite number: write it as 2.5, 1/3, pi/2 or 1e-3."),
    ):
        field.fill(typed)
        expect(said).to_contain_text(words)
        expect(field).to_have_attribute("aria-invalid", str(words.startswith("“")).lower())
    turn(page, "/?op=seq&rule=seq&section=format", shows=["seq"])
    expect(section).to_contain_text("for x from −3 to 3 it has 4 values, 0.5 apart.")
    expect(section.get_by_role("region", name="All numbers")).to_have_text("−0.75  −0.25  0.25  0.75")
    field.fill("0.3")
    expect(said).to_have_text("y = 0.25, 0.05 less than x, 16.67 % of x.")
    expect(section.get_by_role("table")).to_be_hidden()
    turn(page, "/?op=relu&rule=straight_through&section=format", shows=["straight_through"])
    expect(section).to_contain_text("The op rounds to no levels")
    expect(field).to_be_hidden()
