"""Train and Study with ops and rules that draw: the run of Python, there and back, and what is said of it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from explorer.catalogue import OPS, judging
from explorer.training import Run, Settings
from tests.browser.reading import link
from tests.browser.test_train_machine import curve, finished, linked, scrub
from tests.browser.test_train_slow import dialog, stage
from tests.browser.training import button, press, turn_train

SMALL = "task=moons&steps=24&batch=16&hidden=8&pace=full&seeds=2"


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
    expect(train.locator(".lane-plate.of-op .curve")).to_have_count(2)
    drawn = train.locator(".lane-plate.of-op .curve").evaluate_all(
        "all => all.map(one => one.getAttribute('d'))"
    )
    assert [bool(path) for path in drawn] == [True, False], "a rule of losses has no curve in a net"
    scrub(train, 9)
    assert curve(train, "disarm") == whole["disarm"][:10]
    press(train, "Go on from step 9")
    finished(train)
    assert {rule: curve(train, rule) for rule in whole} == whole


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


@pytest.mark.parametrize("op", ["bernoulli", "gumbel_sigmoid", "dropout", "round"])
def test_how_the_net_is_judged_stands_behind_the_words_on_the_task(train: Page, op: str) -> None:
    turn_train(train, f"op={op}&rule=default&{SMALL}")
    about = train.locator(".training .about")
    expect(about).to_contain_text("half moons")
    if said := judging(OPS[op]):
        expect(about).to_contain_text(said)
    else:
        expect(about).not_to_contain_text("Judged")


def test_slow_motion_says_what_was_drawn_at_the_cell(train: Page) -> None:
    turn_train(train, f"op=bernoulli&rule=reinmax&rule=disarm&{SMALL}&slow=op,1,1,2,3")
    button(train, "Start").evaluate("start => start.click()")  # behind the window
    code = dialog(train).locator("code")
    expect(code).to_have_text(
        re.compile(r"^y = where\(0\.\d+ < sigmoid\(.+\), 1, 0\) = [01]$"), timeout=60_000
    )
    u = (code.text_content() or "").split("(")[1].split(" ")[0]
    expect(stage(train, "op")).to_contain_text(f"u = {u}")
    train.keyboard.press("ArrowDown")
    for _ in range(4):
        train.keyboard.press("ArrowRight")
    expect(stage(train, "rule")).to_have_attribute("aria-current", "step")
    expect(dialog(train)).to_contain_text("fa() the same had this layer drawn 1 − u.")
    expect(code).to_have_text(re.compile(r"^gradient = \(.+ − .+\) × \([01] − [01]\) × sigmoid"))
    train.keyboard.press("Escape")


def test_bias_stands_below_the_spread_as_python_measures_it(train: Page) -> None:
    turn_train(train, f"op=stochastic_round&rule=default&rule=straight_through&{SMALL}")
    press(train, "Start")
    finished(train)
    press(train, "Show Spread and bias")
    notes = train.locator(".why-panel.spread .cell .note")
    expect(notes).to_have_text(["Bias: w1 100 %", re.compile(r"^Bias: w1 (\d[\d.]* ± \d[\d.]* %|< \d+ %)$")])
    run = linked(train)
    (share,), (within,) = (
        run.snapshot(visible=("spread",)).measured["spread"]["straight_through"][name]
        for name in ("bias", "within")
    )
    told = float((notes.last.text_content() or "").split(" ")[2 if share else 3])
    assert told == pytest.approx(100 * (share or within), abs=1)
    press(train, "Show Spread and bias")


def test_a_study_of_what_draws_ends_with_its_figure_and_its_shares(page: Page) -> None:
    query = {"op": "bernoulli", "rule": ["sigmoid_st", "reinforce"], "task": "moons", "steps": "10"}
    page.goto(link("/study", {**query, "seeds": "2", "hidden": "8", "batch": "16"}))
    press(page, "Start")
    expect(page.locator(".study .status")).to_contain_text("Finished.", timeout=120_000)
    for label in ("Straight-through (sigmoid)", "REINFORCE"):
        row = page.get_by_role("row").filter(has_text=label)
        expect(row).to_contain_text(re.compile(r"\d %$"))
    expect(page.locator(".study")).to_contain_text("Made of losses at the start weights of seed 0")
    expect(page.locator(".study")).to_contain_text("Judged by one draw, the same at every step.")
    expect(page.locator(".study .js-plotly-plot").first).to_be_visible()


def test_a_link_keeps_the_word_of_explore_from_page_to_page(page: Page) -> None:
    page.goto(link("/", {"op": "bernoulli", "rule": "reinforce_baseline", "b": "0.5", "f": "(y - 0.3)**4"}))
    for name in ("Train", "Study", "Explore"):
        page.get_by_role("link", name=name, exact=True).click()
        page.wait_for_url(re.compile(rf"/{'' if name == 'Explore' else name.lower()}\?"))
        for word in ("op=bernoulli", "rule=reinforce_baseline", "b=0.5", "f="):
            page.wait_for_url(f"**{word}*")
    expect(page.get_by_role("textbox", name="Loss: f =")).to_have_value("(y - 0.3)**4")
