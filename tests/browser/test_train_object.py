"""The net on Train as a first visitor has it: an object, a lane a rule, examples, and the chosen task.

What lanes, bands and undone tasks say is tested without a page, in ``tests/frontend/train/page`` and
``tests/frontend/train/state``.
"""

import re
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import expect

from explorer.catalogue import RULES
from explorer.ui.server import answers
from tests.browser.reading import choose
from tests.browser.training import press, status, wait_for
from tests.browser.visitors import A_PHONE, First

LONG_NAMES = sorted(RULES, key=lambda key: -len(RULES[key].label))[:6]


# Whether a card has another page's node that it got before its contents.
_HOLD = """async folder => {
    const { createCard } = await import(new URL(`assets/${folder}/cards/card.js`, document.baseURI).href);
    const [picker, held] = ["i", "hr"].map(tag => document.createElement(tag));
    const card = createCard({ kind: "rule", buttons: [], picker: { element: picker, update: () => {} } });
    card.hold([held]);
    card.update({ entry: { key: "a", label: "A", formula: "g" }, controls: [], learning: [] });
    return card.element.contains(held);
}"""


# Of a lane what its bands are: as tall as their share, with their number, and dashed where none passes.
_BANDS = """lane => [...lane.querySelectorAll(".band")].map(band => [
    Number(band.style.getPropertyValue("--left")), band.textContent,
    getComputedStyle(band.querySelector("i")).borderTopStyle])"""


def test_the_net_has_a_lane_per_rule_with_the_remaining_gradient(first_train: First) -> None:
    page = first_train("task=digits&op=sign&rule=default&rule=clipped&steps=5000&pace=20&seeds=1")
    net = page.locator(".net")
    expect(net.locator(".plate")).to_have_text(
        [re.compile(text) for text in ("64 pixels", "w1", "sign", "w2", "6")]
    )
    for part in (".of-inputs canvas", ".of-weights canvas", ".of-op path.curve", ".of-op ellipse"):
        expect(net.locator(part).first).to_be_visible()
    dead, clipped = page.locator(".card.rule").all()
    assert dead.evaluate(_BANDS)[0] == [0, "0\xa0%", "dashed"]
    left, text, style = clipped.evaluate(_BANDS)[0]
    assert (text, style) == (f"{100 * left:.2g}\xa0%", "none")
    assert 0.4 < left < 0.9
    assert clipped.evaluate(_BANDS)[1:] == [[1, "", "none"], [1, "", "none"]]
    for lane in (dead, clipped):
        expect(lane.locator(".lane-plate")).to_have_count(3)
        for drawn in ("data", "curve"):
            expect(lane.locator(f".of-op path.{drawn}")).to_have_attribute("d", re.compile("^M"))
    assert page.evaluate(_HOLD, answers.get_folder())
    press(page, "Start")  # and it is live
    expect(clipped.locator(".lane-plate").first).to_have_text(re.compile(r"^w1by [\d.]+$"))
    expect(dead.locator(".lane-plate").first).to_have_text("w1still")
    expect(status(page)).to_have_attribute("data-state", "running")
    assert clipped.evaluate(_BANDS)[0][0] != left


# The names of lanes, ends of curves, rows of the table and folded layers that are cut.
CUT_NAMES = """() => [...document.querySelectorAll(
    ".card.rule h2, .ends span, .holder, .lane-plate, .net .fold")]
    .filter(node => node.checkVisibility())
    .filter(node => node.scrollWidth > node.clientWidth + 1 || node.scrollHeight > node.clientHeight + 1
        || node.getBoundingClientRect().right > innerWidth)
    .map(node => node.textContent)"""


# Faster for a phone: test_train_lab and test_train_calm, each with Train on a phone.
@pytest.mark.parametrize(
    "device",
    [pytest.param({}, id="laptop"), pytest.param(A_PHONE, marks=pytest.mark.thorough(part=2), id="phone")],
)
def test_the_longest_names_of_rules_fit_their_lanes(first_train: First, device: dict[str, Any]) -> None:
    own = "op=formula: sign(x) - 0.01 * tanh(3 * x) * clamp(x, -1, 1) * exp(-x * x) - 0.001 * sin(x)"
    page = first_train("&".join([f"task=moons&{own}", *(f"rule={key}" for key in LONG_NAMES)]), **device)
    expect(page.locator(".card.rule h2")).to_have_text([RULES[key].label for key in LONG_NAMES])
    expect(page.locator(".card.rule .lane-plate")).not_to_have_count(0)
    wait_for(page, f"() => !({CUT_NAMES})().length")
    captions = page.locator(".plate:is(.of-weights, .of-op) figcaption > :first-child").all()
    boxes = [box for caption in captions if (box := caption.bounding_box())]
    assert all(one["x"] + one["width"] <= other["x"] for one, other in pairwise(boxes))


def test_the_script_of_a_training_follows_its_settings(first_train: First) -> None:
    page = first_train("task=digits&op=round&rule=straight_through")
    press(page, "Code")
    script = page.get_by_role("region", name="PyTorch script")
    expect(script).to_contain_text("torch.round")
    expect(script).to_be_in_viewport()
    expect(page.locator(".net")).to_be_in_viewport(ratio=1)
    choose(page, "Op", "floor")
    expect(script).to_contain_text("torch.floor")
    press(page, "Code")
    expect(script).to_be_hidden()
