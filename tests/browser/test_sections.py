"""The sections below the chart, and the order in which the keyboard reaches what is above them."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from explorer.ui.link import SECTIONS
from tests.browser.conftest import Open
from tests.browser.reading import CHART, card, visit

FIRST = ["default", "straight_through"]
FOCUSED = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"


@pytest.mark.parametrize("viewport", [{"width": 1366, "height": 768}, {"width": 390, "height": 844}])
def test_op_and_rules_come_first_for_the_keyboard(new_page: Open, viewport: dict[str, int]) -> None:
    page = new_page(viewport=viewport)
    visit(page, "/", shows=FIRST)
    page.get_by_role("link", name="Learn").focus()
    reached = []
    for _ in range(6):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(FOCUSED))
    rules = [
        f"{verb} {label}" for label in ("Default autograd", "Straight-through") for verb in ("Hide", "Remove")
    ]
    assert reached == ["Op", *rules, "Add rule"]


def test_on_a_phone_the_chart_stands_above_the_cards_and_stays(new_page: Open) -> None:
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    visit(page, "/", shows=FIRST)
    places = [page.locator(CHART), card(page, "Round"), page.get_by_role("group", name="Sections")]
    tops = [(place.bounding_box() or {})["y"] for place in places]
    assert tops == sorted(tops)
    places[-1].scroll_into_view_if_needed()
    expect(page.locator(CHART)).to_be_in_viewport(ratio=0.9)


@pytest.mark.parametrize("name", SECTIONS.values())
def test_a_section_that_opens_comes_into_view(new_page: Open, name: str) -> None:
    page = new_page(viewport={"width": 1366, "height": 768})
    visit(page, "/", shows=FIRST)
    button = page.get_by_role("button", name=name, exact=True)
    button.click()
    page.wait_for_function(
        "top => document.querySelector('.sections').getBoundingClientRect().top < top", arg=450
    )
    expect(page.locator(CHART)).to_be_in_viewport()
    button.click()
    expect(button).to_have_attribute("aria-expanded", "false")
