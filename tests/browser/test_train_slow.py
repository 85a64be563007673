"""Slow motion in a browser: opened before any run, moved by keys and clicks, one step further, closed.

What its stages draw and say, and how a link tells its position: ``tests/frontend/train/slow_motion``.
"""

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.access import violations_in_both_themes
from tests.browser.training import button, metric, status, turn_train

QUERY = "task=digits&op=sign&hidden=8,8&rule=default&rule=clipped&steps=40&pace=full"


def dialog(page: Page) -> Locator:
    return page.get_by_role("dialog", name="Slow motion")


def stage(page: Page, key: str) -> Locator:
    return dialog(page).locator(f'[data-stage="{key}"]')


def is_at(page: Page, number: int) -> None:
    """Wait until so many stages have been gone to."""
    expect(dialog(page).get_by_text(f"{number} of 9", exact=True)).to_be_visible()


def test_keys_and_clicks_move_through_one_step_and_to_the_next(train: Page) -> None:
    train.set_viewport_size({"width": 1280, "height": 720})
    turn_train(train, f"{QUERY}&slow=gradient,2")
    expect(dialog(train)).to_contain_text("There is no run yet to look at.")
    expect(metric(train, "Step")).to_contain_text("0 / 40")
    train.keyboard.press("Escape")
    expect(dialog(train)).to_have_count(0)
    expect(status(train).locator(".main")).to_have_text("Ready: press Start.")  # a link trains nothing

    opener = button(train, "Slow motion")
    opener.click()
    heading = dialog(train).get_by_role("heading", level=2)
    expect(heading).to_have_text(re.compile(r"^Slow motion: step 1, unit \d+, example \d+$"))
    is_at(train, 1)
    for number in range(2, 9):
        train.keyboard.press("ArrowRight")
        is_at(train, number)
    expect(stage(train, "gradient")).to_have_attribute("aria-current", "step")
    expect(stage(train, "weights")).to_have_attribute("aria-hidden", "true")
    numbers = dialog(train).locator("code")
    expect(numbers).to_have_text(re.compile(r"^gradient = .+ × \(\|.+\| ≤ 1\) = "))
    assert train.evaluate("document.querySelector('.slow').scrollHeight <= innerHeight")
    train.keyboard.press("ArrowUp")
    rule = dialog(train).get_by_role("group", name="Rule").get_by_role("button", name="Default autograd")
    expect(rule).to_have_attribute("aria-pressed", "true")
    expect(dialog(train)).to_contain_text("No gradient arrives from above: g is already 0 before the rule.")
    train.keyboard.press("ArrowDown")

    cells = stage(train, "gradient").locator("canvas")
    cells.click(position={"x": 2, "y": 2})
    expect(heading).to_have_text("Slow motion: step 1, unit 1, example 1")
    train.keyboard.press("Shift+ArrowRight")
    train.keyboard.press("Shift+ArrowDown")
    expect(heading).to_have_text("Slow motion: step 1, unit 2, example 2")
    train.wait_for_url("**slow=gradient%2C2%2C1%2C2%2C2*")
    stage(train, "x").locator(".drawing").focus()
    train.keyboard.press("ArrowRight")
    expect(heading).to_have_text("Slow motion: step 1, unit 3, example 2")
    dialog(train).get_by_role("button", name="After w2").click()
    expect(stage(train, "input").get_by_role("heading")).to_have_text("y after w1")

    button(train, "Next step").click()
    expect(heading).to_contain_text("step 2")
    expect(metric(train, "Step")).to_contain_text("1 / 40")
    assert violations_in_both_themes(train, ".slow") == []
    train.set_viewport_size({"width": 844, "height": 390})  # a phone on its side, which has no keys
    for part in (stage(train, "gradient").locator(".drawing"), numbers, button(train, "Next stage")):
        expect(part).to_be_in_viewport(ratio=1)
    train.keyboard.press("Escape")
    expect(dialog(train)).to_have_count(0)
    expect(opener).to_be_focused()
    train.wait_for_url(lambda address: "slow=" not in address)
