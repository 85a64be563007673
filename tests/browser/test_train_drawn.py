"""Train with ops and rules that draw: the run of Python, there and back, and another op on its way.

The faster tests of what is thorough here: ``test_train_machine.py`` goes back and on with other rules,
``tests/training/runs`` trains what draws, and ``tests/frontend/train/state/test_history.py`` tells a branch.
"""

import re

import pytest
from playwright.sync_api import Page, expect

from explorer.catalogue import OPS
from explorer.training import Run, Settings
from tests.browser.reading import link
from tests.browser.test_train_machine import curve, finished, linked, scrub
from tests.browser.training import button, press, turn_train

SMALL = "task=moons&steps=24&batch=16&hidden=8&pace=full&seeds=2"


@pytest.mark.thorough
def test_what_draws_is_trained_as_python_trains_it_and_back_and_on_leads_to_the_same(train: Page) -> None:
    turn_train(train, f"op=bernoulli&rule=sigmoid_st&rule=disarm&{SMALL}")
    press(train, "Start")
    finished(train)
    run = Run(
        Settings(task="moons", op="bernoulli", rules=("sigmoid_st", "disarm"), steps=24, batch=16,
                 hidden=8, seeds=2)
    )  # fmt: skip
    run.advance(24)
    whole = {rule: scores.tolist() for rule, scores in run.snapshot().scores.items()}
    assert {rule: curve(train, rule) for rule in whole} == whole
    assert len({*whole["disarm"]}) > 3, "the curve moves"
    scrub(train, 9)
    assert curve(train, "disarm") == whole["disarm"][:10]
    press(train, "Go on from step 9")
    finished(train)
    assert {rule: curve(train, rule) for rule in whole} == whole


@pytest.mark.thorough
def test_from_an_op_that_is_fixed_to_one_that_draws_and_back(train: Page) -> None:
    turn_train(train, f"op=sign&rule=straight_through&{SMALL}")
    press(train, "Start")
    finished(train)
    whole = curve(train, "straight_through")
    about, caption = train.locator(".training .about"), train.locator(".plate.of-op figcaption")
    for step, op in ((8, "bernoulli"), (16, "sign")):
        scrub(train, step)
        train.locator("summary", has_text="Branch").click()
        refused = train.get_by_label("Goes on with", exact=True).locator("option[value=flip]")
        expect(refused).to_be_disabled()
        train.get_by_label("What changes").select_option("op")
        train.get_by_label("Goes on with op", exact=True).select_option(op)
        button(train, "Branch").click()
        train.wait_for_url(f"**{step}%2Cop%3A{op}*")
        finished(train)
        expect(caption).to_have_text(OPS[op].inside)
        expect(about).to_contain_text("Bernoulli unit: judged by one draw, the same at every step.")
    run = linked(train)
    assert [point[2] for point in run.settings.branch] == ["bernoulli", "sign"]
    branched = curve(train, "straight_through")
    assert branched == run.snapshot().scores["straight_through"].tolist()
    assert branched[:9] == whole[:9]
    assert branched != whole


def test_a_link_keeps_the_word_of_explore_from_page_to_page(page: Page) -> None:
    page.goto(link("/", {"op": "bernoulli", "rule": "reinforce_baseline", "b": "0.5", "f": "(y - 0.3)**4"}))
    for name in ("Train", "Study", "Explore"):
        page.get_by_role("link", name=name, exact=True).click()
        page.wait_for_url(re.compile(rf"/{'' if name == 'Explore' else name.lower()}\?"))
        for word in ("op=bernoulli", "rule=reinforce_baseline", "b=0.5", "f="):
            page.wait_for_url(f"**{word}*")
    expect(page.get_by_role("textbox", name="Loss: f =")).to_have_value("(y - 0.3)**4")
