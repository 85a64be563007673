"""The sections below the chart, and what the keyboard reaches on each page, in which order."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from explorer.ui.choice import SECTIONS
from explorer.ui.pages import PAGES
from tests.browser.conftest import Open
from tests.browser.lessons import open_lesson
from tests.browser.reading import CHART, card, settle_train, turn, visit

FIRST = ["default", "straight_through"]
# What has the focus: tag, role where it is not the tag's own, name, and ring; null after the last.
REACHED = """() => {
    const node = document.activeElement;
    if (node === document.body) return null;
    const drawn = node.matches(".chart-grip") ? "::after" : null;
    const {outlineStyle, outlineWidth} = getComputedStyle(node, drawn);
    const name = node.ariaLabel ?? node.labels?.[0]?.textContent ?? node.textContent;
    return [node.localName, node.getAttribute("role"), name.trim(), `${outlineStyle} ${outlineWidth}`];
}"""
NATIVE = ("a", "button", "input", "select", "summary", "textarea")
MOST = 100  # more than any page has


def visit_all_of(page: Page, address: str, shows: list[str]) -> None:
    """Go to Explore, and wait for what Streamlit adds to it."""
    visit(page, address, shows=shows)
    expect(page.locator(".served")).to_have_count(0)


def reached(page: Page) -> list[list[str]]:
    """What Tab leads to after the links to the pages, or on Train from Start on, one after another."""
    start = page.locator(".training .stage").get_by_role("button", name="Start", exact=True)
    link = page.get_by_role("link", name="Learn", exact=True)
    (start if start.count() else link).focus()
    found = []
    for _ in range(MOST):
        page.keyboard.press("Tab")
        found.append(page.evaluate(REACHED))
        if found[-1] is None:
            return found[:-1]
    raise AssertionError(f"Tab has no end: {found}")


@pytest.mark.parametrize("viewport", [{"width": 1366, "height": 768}, {"width": 390, "height": 844}])
def test_op_and_rules_come_first_for_the_keyboard(new_page: Open, viewport: dict[str, int]) -> None:
    page = new_page(viewport=viewport)
    visit_all_of(page, "/", FIRST)
    names = [name for _, _, name, _ in reached(page)]
    rules = [
        f"{verb} {label}" for label in ("Default autograd", "Straight-through") for verb in ("Hide", "Remove")
    ]
    assert names[:6] == ["Op", *rules, "Add rule"]


@pytest.mark.parametrize("viewport", [{"width": 1366, "height": 768}, {"width": 390, "height": 844}])
def test_on_train_op_rules_and_settings_come_after_what_is_watched(
    new_page: Open, viewport: dict[str, int]
) -> None:
    page = new_page(viewport=viewport)
    page.goto("/train?op=relu&rule=default")
    settle_train(page)
    names = [name for _, _, name, _ in reached(page)]
    order = ["Pause", "Examples", "What these words mean", "Op", "Add rule", "Seed", "Copy link"]
    assert sorted(order, key=names.index) == order
    tops = [
        (place.bounding_box() or {})["y"] for place in (page.locator(f".curves {CHART}"), card(page, "ReLU"))
    ]
    assert (tops == sorted(tops)) == (viewport["width"] < 800)


@pytest.mark.parametrize("query", ["/", "/train", "/learn", "clamp"])
def test_whatever_the_keyboard_reaches_has_a_name_a_ring_and_a_role(page: Page, query: str) -> None:
    if query == "/":
        visit_all_of(page, "/?op=sign&rule=clipped", ["clipped"])
    elif query == "/train":
        page.goto(query)
        settle_train(page)
    elif query == "/learn":
        page.goto(query)
        page.locator(".contents a").first.wait_for()
    else:
        open_lesson(page, query)
        page.get_by_role("button", name="Skip").click()
        page.get_by_role("button", name="Add rule").wait_for()
    found = reached(page)
    assert len(found) > 15
    for tag, role, name, ring in found:
        scrolls = tag == "pre" or role == "group"
        assert tag in NATIVE or role == "slider" or scrolls, name
        assert name
        assert ring == "solid 2px", name


def test_the_links_to_the_pages_have_a_ring(explore: Page) -> None:
    page = explore
    turn(page, "/", shows=FIRST)
    page.get_by_role("button", name="Copy link").focus()
    for name in (each.title for each in PAGES):
        page.keyboard.press("Tab")
        tag, _, shown, ring = page.evaluate(REACHED)
        assert (tag, ring) == ("a", "solid 2px")
        assert shown.endswith(name)


def test_on_a_phone_the_chart_stands_above_the_cards_and_stays(new_page: Open) -> None:
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    visit_all_of(page, "/", FIRST)
    places = [page.locator(CHART), card(page, "Round"), page.get_by_role("group", name="Sections")]
    tops = [(place.bounding_box() or {})["y"] for place in places]
    assert tops == sorted(tops)
    places[-1].scroll_into_view_if_needed()
    expect(page.locator(CHART)).to_be_in_viewport(ratio=0.9)


@pytest.mark.parametrize("name", SECTIONS.values())
def test_a_section_that_opens_comes_into_view(explore: Page, name: str) -> None:
    page = explore
    page.set_viewport_size({"width": 1366, "height": 768})
    turn(page, "/", shows=FIRST)
    button = page.get_by_role("button", name=name, exact=True)
    button.click()
    page.wait_for_function(
        "top => document.querySelector('.sections').getBoundingClientRect().top < top", arg=450
    )
    expect(page.locator(CHART)).to_be_in_viewport()
    button.click()
    expect(button).to_have_attribute("aria-expanded", "false")
