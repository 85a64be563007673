"""Explore, Train and Study on a stage: the page alone, in type and lines that the last row can read."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE, Tab
from tests.browser.lessons import SMALL
from tests.browser.reading import in_the_end, settle
from tests.browser.training import button

ROOT = ".instrument.presenting"
PAGES = ["/", "/train", "/study"]
SIZES = [(1280, 720), (1920, 1080)]


def open_stage(tabs: Callable[..., Tab], path: str, more: str = "present=1") -> Page:
    page = tabs().page
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{path}?{more}")
    expect(page.locator(".instrument .add")).to_be_visible()
    return page


def is_on_stage(page: Page, presented: bool) -> None:
    expect(page.locator(ROOT)).to_have_count(int(presented))
    assert ("present" in parse_qs(urlsplit(page.url).query)) == presented


def nothing_is_small(page: Page, least: float) -> None:
    in_the_end(page, lambda: none_is_small(page, least))


def none_is_small(page: Page, least: float) -> None:
    assert page.evaluate(SMALL, [ROOT, least]) == []


@pytest.mark.parametrize("path", PAGES)
def test_no_text_is_below_a_fortieth_of_the_height_and_nothing_stands_beside_the_page(
    tabs: Callable[..., Tab], path: str
) -> None:
    page = open_stage(tabs, path)
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        nothing_is_small(page, 0.025 * height)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    expect(page.get_by_role("heading", level=1)).to_have_count(0)
    expect(page.get_by_role("link", name="Learn", exact=True)).to_have_count(0)
    expect(button(page, "Leave the stage (p)")).to_be_in_viewport(ratio=1)


def test_no_curve_is_below_a_250th_of_the_height_and_all_of_explore_is_in_view(
    tabs: Callable[..., Tab],
) -> None:
    page = open_stage(tabs, "/")
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        settle(page)
        lines = page.locator(".scatterlayer .js-line").evaluate_all(
            "lines => lines.map(line => parseFloat(getComputedStyle(line).strokeWidth))"
        )
        assert min(lines) >= 0.004 * height
        expect(button(page, "All tools")).to_be_in_viewport(ratio=1)


def test_no_curve_of_a_training_is_below_a_250th_of_the_height(tabs: Callable[..., Tab]) -> None:
    page = open_stage(tabs, "/train", "task=moons&steps=20&seeds=2&pace=full&present=1")
    button(page, "Start").click()
    expect(button(page, "Again")).to_be_visible()
    lines = page.locator(".race .js-line, .object .curve").evaluate_all(
        "lines => lines.map(line => parseFloat(getComputedStyle(line).strokeWidth)).filter(Boolean)"
    )
    assert len(lines) > 4
    assert min(lines) >= 0.004 * 720
    bounds = page.locator(".race .js-line").evaluate_all(
        "lines => lines.filter(line => getComputedStyle(line).strokeWidth === '0px').length"
    )
    assert bounds, "the bounds of a band are no curves"


@pytest.mark.parametrize("path", PAGES)
def test_keys_and_buttons_lead_to_the_stage_and_off_it(tabs: Callable[..., Tab], path: str) -> None:
    page = open_stage(tabs, path, "tools=all")
    button(page, "Present (p)").click()
    is_on_stage(page, True)
    page.keyboard.press("p")
    is_on_stage(page, False)
    page.keyboard.press("p")
    is_on_stage(page, True)
    page.keyboard.press("Escape")
    is_on_stage(page, False)
    page.keyboard.press("p")
    button(page, "Leave the stage (p)").click()
    is_on_stage(page, False)


def test_who_types_a_p_stays_where_he_is_and_escape_closes_a_menu_first(tabs: Callable[..., Tab]) -> None:
    page = open_stage(tabs, "/")
    button(page, "Add rule").click()
    page.keyboard.type("p")
    is_on_stage(page, True)
    page.keyboard.press("Escape")
    is_on_stage(page, True)


def test_the_stage_stays_while_the_choice_changes_and_goes_along_to_the_next_page(
    tabs: Callable[..., Tab],
) -> None:
    page = open_stage(tabs, "/")
    button(page, "Remove Default autograd").or_(page.locator(".card.rule .edit").first).first.click()
    button(page, "Remove Default autograd").click()
    page.wait_for_url(lambda address: "rule=default" not in address)
    is_on_stage(page, True)
    page.get_by_role("link", name="Train it").click()
    page.wait_for_url("**/train?**")
    expect(button(page, "Start")).to_be_visible()
    is_on_stage(page, True)


def test_sections_stand_below_the_curves_in_large_type(tabs: Callable[..., Tab]) -> None:
    page = open_stage(tabs, "/")
    button(page, "Code").click()
    code = page.locator(".stCode")
    expect(code).to_be_visible()
    expect(page.locator(".chart-place")).to_be_in_viewport(ratio=0.9)
    label = page.get_by_text("Code for", exact=True)
    size = label.evaluate("at => parseFloat(getComputedStyle(at).fontSize)")
    assert size >= 0.025 * 720


def test_slow_motion_is_large_as_well(tabs: Callable[..., Tab]) -> None:
    page = open_stage(tabs, "/train", "task=digits&steps=40&pace=full&present=1")
    button(page, "Slow motion").click()
    dialog = page.get_by_role("dialog", name="Slow motion")
    expect(dialog.get_by_role("heading", level=2)).to_be_visible()
    expect(dialog.locator("[data-stage]").first).to_be_visible()
    in_the_end(page, lambda: none_of_slow_motion_is_small(page))
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    is_on_stage(page, True)


def none_of_slow_motion_is_small(page: Page) -> None:
    assert page.evaluate(SMALL, ["[role=dialog], dialog", 0.025 * 720]) == []


def test_a_phone_has_no_button_for_it(tabs: Callable[..., Tab]) -> None:
    page = open_stage(tabs, "/", "tools=all")
    page.set_viewport_size(PHONE)
    expect(button(page, "Present (p)")).to_have_count(0)


def test_a_frame_is_no_stage(tabs: Callable[..., Tab]) -> None:
    page = open_stage(tabs, "/", "present=1&embed=true")
    expect(page.locator(ROOT)).to_have_count(0)
