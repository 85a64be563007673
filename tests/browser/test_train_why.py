"""Train's area "Why" in a browser: its pictures, a rule that is lifted everywhere, the way to Explore."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.access import in_both_themes
from tests.browser.training import button, open_train, press, status

SMALL = "task=digits&op=sign&hidden=8,8&rule=default&rule=clipped&seeds=2&steps=20&pace=full"
FADED = re.compile(r"0\.\d+")


def finish(page: Page, query: str = SMALL) -> None:
    open_train(page, query)
    press(page, "Start")
    expect(status(page)).to_contain_text("Finished after", timeout=60_000)


def column(page: Page, panel: str, rule: str) -> Locator:
    """What a panel shows of a rule."""
    return page.get_by_role("region", name=re.compile(f"^{panel}")).locator(f'[data-rule="{rule}"]')


def is_lifted(page: Page, rule: str, other: str) -> None:
    """Wait until a rule is lifted, and another has faded, in curves, pictures, cards and table."""
    for part in (".curves .trace", ".inputs .column", ".card", "tbody tr"):
        expect(page.locator(f'.training {part}[data-rule="{rule}"]').first).to_have_css("opacity", "1")
        expect(page.locator(f'.training {part}[data-rule="{other}"]').first).to_have_css("opacity", FADED)


def test_why_is_shown_by_rule_and_layer_and_what_is_pointed_at_is_lifted(page: Page) -> None:
    finish(page)
    data = column(page, "Where the data sits, layer 2", "clipped")
    expect(data.locator("path.data")).to_have_attribute("d", re.compile("^M"))
    expect(data.locator("path.curve")).to_have_attribute("d", re.compile("^M"))
    expect(page.get_by_role("region", name="Gradient norms")).to_have_count(0)
    press(page, "Show Gradient norms")
    expect(column(page, "Gradient norms", "clipped")).to_contain_text(re.compile("w1.*w2.*w3", re.DOTALL))
    expect(page.get_by_text("Pictures of seed 0")).to_be_visible()
    expect(page.locator(".alignment")).to_contain_text("No gradient: Default autograd")
    page.get_by_role("group", name="Layer").get_by_role("button", name="1", exact=True).click()
    expect(column(page, "Where the data sits, layer 1", "clipped")).to_be_visible()

    page.locator('.ends span[data-rule="clipped"]').first.hover()
    is_lifted(page, "clipped", "default")
    page.mouse.move(0, 0)
    expect(page.locator('.card[data-rule="default"]')).to_have_css("opacity", "1")
    page.get_by_role("button", name="Remove Default autograd").focus()
    is_lifted(page, "default", "clipped")
    holder = page.locator(".measured").get_by_role("button", name="Clipped straight-through")
    holder.click()
    expect(holder).to_have_attribute("aria-pressed", "true")
    page.mouse.move(0, 0)
    is_lifted(page, "clipped", "default")
    holder.click()
    page.mouse.move(0, 0)
    assert in_both_themes(page) == []


def test_the_data_of_a_rule_are_carried_to_explore_and_stay_until_they_are_removed(page: Page) -> None:
    finish(page)
    column(page, "Where the data sits", "clipped").get_by_role("link", name="Show behind the curves").click()
    page.wait_for_url(re.compile(r"/\?op=sign&rule=default&rule=clipped"))
    named = page.locator(".chart .carried-name")
    expect(named).to_contain_text("data of Clipped straight-through, Digits, layer 2, step 20")
    bars = page.locator(".chart .carried-bars path")
    expect(bars).to_have_attribute("d", re.compile("^M"))
    page.reload()
    expect(bars).to_have_attribute("d", re.compile("^M"), timeout=30_000)
    button(page, "Remove these data").click()
    expect(named).to_have_count(0)
    page.reload()
    expect(page.get_by_role("slider", name="Upstream gradient g")).to_be_visible(timeout=30_000)
    expect(named).to_have_count(0)
