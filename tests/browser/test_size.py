"""Rules on one size on Explore: one press scales them, by keyboard."""

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

import explorer
from tests.browser.access import violations_in_both_themes
from tests.browser.reading import card, read_query, tab_to, traces, turn

LINK = "/?op=step&rule=straight_through&rule=super_spike&rule=fast_sigmoid&rule=clipped&tools=all"
FIRST, OTHER = (explorer.RULES[key].label for key in ("super_spike", "fast_sigmoid"))
RULES = ["straight_through", "super_spike", "fast_sigmoid", "clipped"]


def window(page: Page) -> Locator:
    return page.locator(".strip .size .window")


def cells(page: Page) -> list[list[str]]:
    expect(window(page).locator("td").last).not_to_have_text("…")  # which Python measures meanwhile
    rows = window(page).locator("tbody tr").all()
    return [[cell.inner_text() for cell in row.locator("td").all()] for row in rows]


def test_one_press_scales_rules_to_one_area_and_undo_restores_them(explore: Page) -> None:
    page = explore
    turn(page, LINK, shows=RULES)
    page.locator(".strip .size summary").focus()
    page.keyboard.press("Enter")
    before = page.url
    expect(window(page).locator("tbody tr")).to_have_count(4)
    assert cells(page) == [
        ["has no finite area", "never falls to half its height"], ["2", "0.8284"], ["0.08", "0.03314"],
        ["2", "is flat on top, so it has no peak to scale"],
    ]  # fmt: skip
    tab_to(page, "One area", 4)
    page.keyboard.press("Enter")
    expect(window(page).get_by_role("status")).to_have_text(
        f"Scaled to the area of {FIRST}, 2: {OTHER} × 25. Not scaled: Straight-through has no finite area."
    )
    page.wait_for_url("**fast_sigmoid_scaled*")
    own = "formula: fast_sigmoid_scaled = 25 * (g / (1 + 25 * abs(x)) ** 2)"
    assert read_query(page)["rule"] == ["straight_through", "super_spike", own, "clipped"]
    expect(page.locator(".sign")).to_contain_text("Confirmed by torch")
    title = card(page, "fast_sigmoid_scaled").get_by_role("combobox", name="Rule")
    expect(title).to_have_value(own.removeprefix("formula: "))
    drawn = traces(page)[own]
    wanted = explorer.sample("step", [own], start=-3, stop=3, dtype="float64")
    assert np.nanmax(drawn.y) == pytest.approx(wanted.gradient.max())
    assert [row[0] for row in cells(page)] == ["has no finite area", "2", "2", "2"]
    assert violations_in_both_themes(page, ".strip") == []
    tab_to(page, "Undo", 3)
    page.keyboard.press("Enter")
    page.wait_for_url(before)
    expect(window(page).get_by_role("button", name="Undo")).to_be_hidden()
    expect(card(page, OTHER)).to_be_visible()
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
