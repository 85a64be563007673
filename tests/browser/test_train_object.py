"""The net on Train as a first visitor has it: an object, a lane a rule, examples, and the chosen task.

What lanes, bands and undone tasks say is tested without a page, in ``tests/frontend/train/page`` and
``tests/frontend/train/state``.
"""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from explorer.catalogue import RULES
from explorer.ui.server import answers
from tests.browser.access import violations_in_both_themes
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


def choose_task(page: Page, name: str) -> None:
    page.locator(".task-chip").click()
    page.get_by_role("group", name="Task").get_by_role("button", name=name, exact=True).click()


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
    assert dead.evaluate(_BANDS)[0] == [0, "× 0", "dashed"]
    left, text, style = clipped.evaluate(_BANDS)[0]
    assert (text, style) == (f"× {left:.2g}", "none")
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


@pytest.mark.thorough(part=1)  # faster: frontend/train/test_reads_data, training/instruments/test_reads
def test_the_decisions_of_each_net_are_drawn_while_it_trains(first_train: First) -> None:
    query = "task=moons&op=sign&rule=default&rule=clipped&steps=5000&pace=20&seeds=1"
    page = first_train(query)
    expect(page.locator(".reads circle").first).to_be_visible()
    press(page, "Start")
    planes = page.locator(".reads .planes > div")
    expect(planes).to_have_count(2)
    expect(page.locator(".reads circle")).to_have_count(0)
    for rule in ("default", "clipped"):
        plane = page.locator(f'.reads [data-rule="{rule}"]')
        expect(plane.locator("canvas").first).to_be_visible()
        before = plane.locator("canvas").first.evaluate("canvas => canvas.toDataURL()")
        wait_for(
            page,
            """([rule, before]) =>
                document.querySelector(`.reads [data-rule=${rule}] canvas`).toDataURL() !== before""",
            [rule, before],
        )
    page = first_train(f"{query}&rule=approx_sign")
    press(page, "Start")
    expect(planes).to_have_count(1)
    page.locator(".card.rule").last.hover()
    expect(planes).to_have_attribute("data-rule", "approx_sign")


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
    [
        pytest.param({}, id="a laptop"),
        pytest.param(A_PHONE, marks=pytest.mark.thorough(part=2), id="a phone"),
    ],
)
def test_the_longest_names_of_rules_fit_their_lanes(first_train: First, device: dict[str, Any]) -> None:
    page = first_train("&".join(["task=moons&op=sign", *(f"rule={key}" for key in LONG_NAMES)]), **device)
    expect(page.locator(".card.rule h2")).to_have_text([RULES[key].label for key in LONG_NAMES])
    expect(page.locator(".card.rule .lane-plate")).not_to_have_count(0)
    wait_for(page, f"() => !({CUT_NAMES})().length")


@pytest.mark.thorough  # faster: tests/frontend/train/state/test_tasks.py
def test_a_new_task_keeps_the_op_or_asks_and_can_be_undone(first_train: First) -> None:
    page = first_train("task=digits&op=sign&rule=clipped&c=0.5&lr=0.02")
    choose_task(page, "Circles")
    page.wait_for_url("**task=circles*")
    assert "op=sign&rule=clipped" in page.url
    assert "c=0.5" in page.url
    choose_task(page, "Spikes")
    asks = page.locator(".asks")
    expect(asks).to_contain_text("Spikes has an op and rules of its own.")
    assert "task=circles" in page.url
    asks.get_by_role("button", name="Keep sign").click()
    page.wait_for_url("**task=spikes*")
    assert "op=sign&rule=clipped" in page.url
    asks.get_by_role("button", name="Undo").click()
    page.wait_for_url("**task=circles*")
    choose_task(page, "Spikes")
    asks.get_by_role("button", name="Use its own").click()
    page.wait_for_url("**op=step*")
    press(page, "Undo")
    page.wait_for_url("**op=sign*c=0.5*")


@pytest.mark.thorough(part=3)  # faster: frontend/train/test_reads_data, training/tasks/test_survey
def test_inputs_without_a_picture_are_drawn_before_the_first_step(first_train: First) -> None:
    page = first_train("task=documents&op=relu&rule=default&steps=20")
    wall = page.get_by_role("img", name="Examples")
    expect(wall.locator("canvas")).to_have_count(24)
    expect(page.locator(".race")).to_be_hidden()
    choose_task(page, "Your data")
    expect(page.get_by_text("Which of the two will learn your table?")).to_be_visible()
    expect(page.locator(".net")).to_be_hidden()
    press(page, "Example: petals of irises")
    expect(wall.locator("canvas")).to_have_count(24)
    expect(page.locator(".net")).to_be_in_viewport(ratio=1)
    species = page.get_by_role("radio", name="Learn species")
    expect(species).to_be_checked()
    assert violations_in_both_themes(page, ".training") == []
    press(page, "Start")
    expect(species).to_be_hidden()
    press(page, "Change the table")
    expect(species).to_be_visible()


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
