"""Parameters that learn, on the page of trainings: their values, and the curve that moves with them."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.reading import box_of
from tests.browser.test_train_learned import cell
from tests.browser.training import press, turn_train, wait_for_steps

QUERY = (
    "task=digits&op=clamp&rule=default&rule=pact&hi=0.1&lo=0&learn=pact.hi&optimiser=momentum&lr=0.1&steps=60"
)

# How far right a curve is at its highest, in thousandths of its frame: until the kink at hi.
KINK = r"""cell => {
    const d = cell.querySelector("path.curve").getAttribute("d");
    const points = [...d.matchAll(/[ML](-?[\d.]+),(-?[\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)]);
    const highest = Math.min(...points.map(([, y]) => y));
    return points.findLast(([, y]) => y === highest)[0];
}"""


@pytest.mark.thorough(part=2)  # faster: training/instruments/test_learned, frontend/train/panels
def test_a_curve_moves_with_the_parameter_that_its_rule_learns(train: Page) -> None:
    """On a phone in the dark: PACT's bound goes out, under the data too, and the other rule's stays."""
    train.set_viewport_size({"width": 390, "height": 844})
    train.emulate_media(color_scheme="dark")
    turn_train(train, QUERY)
    card = train.get_by_role("group", name="Clamp", exact=True)
    begun = card.bounding_box()
    press(train, "Step")
    wait_for_steps(train, 0)
    learned, fixed = (cell(train, "parameters", rule) for rule in ("pact", "default"))
    expect(fixed).to_contain_text("It does not learn by this rule.")
    expect(learned.get_by_text(re.compile("^gradient "))).to_be_visible()
    expect(fixed.get_by_text(re.compile("^gradient "))).to_have_count(0)
    kinks = {rule: cell(train, "inputs", rule).evaluate(KINK) for rule in ("pact", "default")}
    press(train, "Resume")
    wait_for_steps(train, 59)
    expect(learned.locator("p").first).to_have_text(re.compile(r"^hi = [1-9]"))
    expect(fixed.locator("p").first).to_have_text("hi = 0.1")
    expect(card.get_by_text(re.compile(r"^now [1-9]"))).to_be_visible()
    grown = card.bounding_box()
    assert begun
    assert grown
    assert grown["height"] == begun["height"]
    after = {rule: cell(train, "inputs", rule).evaluate(KINK) for rule in ("pact", "default")}
    assert after["pact"] > kinks["pact"] + 100
    assert after["default"] == kinks["default"]
    for panel in (learned, fixed):
        box = box_of(panel)
        assert 0 <= box["x"] < box["x"] + box["width"] <= 390
