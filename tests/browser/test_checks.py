"""The section Checks in a real browser: lines that are pointed at, pressed and added."""

import re

from playwright.sync_api import Page, Route, expect

from tests.browser.reading import card, settle, sign, turn

PROBE = "Probe x"


def test_a_check_shows_its_x_and_a_neighbour_can_be_added(explore: Page) -> None:
    page = explore
    held: list[Route] = []
    holds = [True]
    page.route("**/ask/neighbours", lambda route: held.append(route) if holds else route.continue_())
    link = "/?op=clamp&rule=published_clamp&rule=masked&section=checks"
    turn(page, link, shows=["published_clamp", "masked"])
    block, beside = page.locator(".checked").first, page.locator(".checked").last
    worst = block.locator("li").first
    expect(worst).to_contain_text("the gradient is 1 whatever g is")
    expect(worst.locator("abbr")).to_have_attribute("title", re.compile("^Twice the upstream"))
    expect(block.get_by_text("Comparing …")).to_be_visible()
    expect(block.locator("h4")).to_have_text("The nearest other rules, from −3 to 3")
    probe = page.get_by_role("slider", name=PROBE)
    worst.get_by_role("button").hover()
    expect(probe).to_have_attribute("aria-valuetext", re.compile(r"^x 1\.50*, forward 1, "))
    rest = re.compile(r"^x 1\.68, ")  # the point that Explore shows by itself
    page.mouse.move(0, 0)
    expect(probe).to_have_attribute("aria-valuetext", rest)
    other = block.locator("button.line").nth(1)
    other.hover()
    expect(probe).not_to_have_attribute("aria-valuetext", rest)
    other.evaluate("line => line.replaceWith(line.cloneNode(true))")  # as an answer that comes meanwhile does
    page.mouse.move(0, 0)
    expect(probe).to_have_attribute("aria-valuetext", rest)
    worst.get_by_role("button").click()
    expect(page.get_by_role("spinbutton", name="From")).to_have_value("-1.5")
    holds.clear()
    for route in held:
        route.continue_()
    expect(block).to_contain_text("No rule of the catalogue resembles it at every g.")
    words = "On −1.5 to 4.5 this differs from Masked (open) only at x = 0 and x = 1: 1 instead of 0."
    expect(beside).to_contain_text(words)
    beside.get_by_role("button", name="Add Masked (open)").click()
    expect(card(page, "Masked (open)")).to_be_visible()
    settle(page, shows=["published_clamp", "masked", "masked_open"])
    expect(page.locator(".checked")).to_have_count(3)
    page.get_by_role("button", name="Checks", exact=True).click()
    expect(page.locator(".checked").first).to_be_hidden()


def test_a_failed_request_for_checks_is_reported_and_delays_no_curve(explore: Page) -> None:
    page = explore
    page.route("**/ask/checks", lambda route: route.fulfill(status=200, json={"x": "nonsense"}))
    page.route("**/ask/neighbours", lambda route: None)
    turn(page, "/?op=sign&rule=clipped&c=0.77&section=checks", shows=["clipped"])
    expect(sign(page)).to_have_text("Confirmed by torch")
    block = page.locator(".checked")
    expect(block).to_contain_text("The server does not answer")
    page.unroute("**/ask/checks")
    block.get_by_role("button", name="Try again").click()
    expect(block.locator("li[data-verdict]").first).to_be_visible()
