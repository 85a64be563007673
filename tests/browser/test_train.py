"""Train in a real browser: a whole training, its buttons, and what it says."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer.training import Run, Settings
from tests.browser.conftest import Open
from tests.browser.reading import TRACES, traces
from tests.browser.training import (
    LONG,
    button,
    metric,
    open_train,
    press,
    status,
    steps,
    wait_for_rules,
    wait_for_steps,
)

GHOSTS = """[...document.querySelector(".loss .js-plotly-plot").data].filter(trace => trace.opacity < 1)"""
RANGES = """(({xaxis, yaxis}) => [xaxis.range, yaxis.range])(
    document.querySelector(".loss .js-plotly-plot")._fullLayout)"""


def set_field(page: Page, label: str, text: str) -> None:
    field = page.locator(".training").get_by_label(label, exact=True).and_(page.get_by_role("spinbutton"))
    field.fill(text)
    field.press("Enter")


def test_a_whole_training_ends_with_the_losses_of_the_run(page: Page) -> None:
    open_train(page, "op=relu&rule=default&rule=seed_relu&steps=300&pace=full")
    assert steps(page) == 0
    press(page, "Start")
    expect(metric(page, "Step")).to_have_text("Step 300 / 300", timeout=30_000)
    expect(status(page)).to_contain_text("Finished after 300 steps.")
    run = Run(Settings(op="relu", rules=("default", "seed_relu"), steps=300))
    run.advance(300)
    snapshot = run.snapshot()
    last = int(snapshot.loss_steps["default"][-1])
    page.wait_for_function(f"last => {TRACES}[0]?.x.at(-1) === last", arg=last)
    drawn = traces(page)
    assert list(drawn) == ["default", "seed_relu"]
    for rule, trace in drawn.items():
        assert trace.x.tolist() == list(snapshot.loss_steps[rule])
        assert trace.y.tolist() == np.float32(snapshot.losses[rule]).tolist()
    shown = float(metric(page, "Loss").inner_text().removeprefix("Loss ").replace(",", ""))
    assert shown == pytest.approx(snapshot.loss["default"], rel=1e-3)
    assert int(metric(page, "Steps/s").inner_text().removeprefix("Steps/s ").replace(",", "")) > 0
    expect(metric(page, "Device")).to_have_text("Device CPU")


def test_pause_step_resume_and_reset(page: Page) -> None:
    open_train(page, f"op=relu&rule=default&{LONG}")
    press(page, "Start")
    wait_for_steps(page, 5)
    press(page, "Pause")
    expect(status(page)).to_contain_text("Paused at step")
    expect(status(page)).to_contain_text("Press Resume or Step to go on.")
    page.wait_for_timeout(300)
    paused = steps(page)
    page.wait_for_timeout(500)
    assert steps(page) == paused
    press(page, "Step")
    expect(metric(page, "Step")).to_have_text(f"Step {paused + 1} / 5000")
    press(page, "Step")
    expect(metric(page, "Step")).to_have_text(f"Step {paused + 2} / 5000")
    press(page, "Resume")
    wait_for_steps(page, paused + 10)
    press(page, "Reset")
    expect(metric(page, "Step")).to_have_text("Step 0 / 5000")
    expect(metric(page, "Loss")).to_have_text("Loss –")
    page.wait_for_timeout(500)
    assert steps(page) == 0


def test_step_by_step_from_the_start(page: Page) -> None:
    open_train(page, "op=relu&rule=default&steps=3")
    for count in (1, 2):
        press(page, "Step")
        expect(metric(page, "Step")).to_have_text(f"Step {count} / 3")
    assert list(traces(page)["default"].x) == [0, 1]
    press(page, "Step")
    expect(status(page)).to_contain_text("Finished after 3 steps.")
    expect(button(page, "Step")).to_be_disabled()


def test_buttons_act_at_once_and_pause_keeps_the_focus(page: Page) -> None:
    """Before the server has said a word: its answers are held back."""
    open_train(page, f"op=relu&rule=default&{LONG}")
    page.route("**/runs**", lambda _route: None)
    button(page, "Start").focus()
    page.keyboard.press("Enter")
    expect(button(page, "Start")).to_be_disabled(timeout=100)
    expect(button(page, "Pause")).to_be_focused(timeout=100)
    page.keyboard.press("Space")
    expect(button(page, "Resume")).to_be_focused(timeout=100)
    expect(button(page, "Start")).to_be_disabled(timeout=100)
    page.keyboard.press("Space")
    expect(button(page, "Pause")).to_be_focused(timeout=100)


def test_start_then_pause_without_waiting(page: Page) -> None:
    """What is pressed is done in its order, however fast."""
    open_train(page, f"op=relu&rule=default&{LONG}")
    press(page, "Start")
    press(page, "Pause")
    expect(status(page)).to_contain_text("Paused at step")
    page.wait_for_timeout(500)
    before = steps(page)
    page.wait_for_timeout(500)
    assert steps(page) == before


def test_no_axis_is_invented_and_none_jumps(page: Page) -> None:
    open_train(page, "op=sign&rule=default&rule=straight_through&steps=200&pace=100")
    chart = page.locator(".loss .js-plotly-plot")
    chart.get_by_text("The loss appears here with the first step").wait_for()
    assert chart.locator(".xtick, .ytick").count() == 0
    press(page, "Start")
    wait_for_steps(page, 2)
    seen = []
    while steps(page) < 200:
        seen.append(page.evaluate(RANGES))
        page.wait_for_timeout(100)
    assert {tuple(x) for x, _ in seen} == {(0, 199)}
    assert all(low % 1 == high % 1 == 0 for _, (low, high) in seen)
    assert all(b[0] <= a[0] and b[1] >= a[1] for (_, a), (_, b) in pairwise(seen))


def test_the_learning_rate_and_the_pace_change_without_a_new_start(page: Page) -> None:
    open_train(page, "op=relu&rule=default&steps=2000&pace=5")
    press(page, "Start")
    wait_for_steps(page, 2)
    began = []
    page.on("request", lambda request: began.append(request.url) if request.url.endswith("/runs") else None)
    page.get_by_label("full", exact=True).check()
    before = wait_for_steps(page, 50)
    assert "pace=full" in page.url
    set_field(page, "Learning rate lr", "1e-9")
    page.wait_for_url("**lr=1e-9*")
    assert wait_for_steps(page, before) > before
    assert began == []


def test_another_rule_in_mid_run_begins_anew_and_leaves_ghosts(page: Page) -> None:
    open_train(page, f"op=relu&rule=default&{LONG}")
    press(page, "Start")
    before = wait_for_steps(page, 40)
    page.get_by_role("button", name="Add rule").click()
    page.get_by_label("Search rules").fill("Straight-through")
    page.keyboard.press("Enter")
    expect(status(page)).to_contain_text("the run has begun anew. The faint curves are the one before.")
    wait_for_rules(page, "default", "straight_through")
    trained = traces(page)
    assert trained["default"].x[0] == trained["straight_through"].x[0] == 0
    assert len(trained["default"].x) == len(trained["straight_through"].x)
    assert page.evaluate(f"{GHOSTS}.map(trace => trace.x.length)")[0] >= min(before, 40)
    wait_for_steps(page, steps(page) + 5)
    press(page, "Reset")
    page.wait_for_function(f"() => {GHOSTS}.length === 0")


def test_other_settings_at_rest_start_nothing(page: Page) -> None:
    open_train(page, "op=relu&rule=default&steps=20&pace=full")
    press(page, "Start")
    expect(status(page)).to_contain_text("Finished after 20 steps.")
    set_field(page, "Seed", "3")
    expect(status(page)).to_contain_text("Other settings: press Start.")
    expect(metric(page, "Step")).to_have_text("Step 0 / 20")
    assert page.evaluate(f"{GHOSTS}.length") == 1
    assert "seed=3" in page.url


def test_a_link_restores_the_settings_and_starts_nothing(page: Page) -> None:
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/runs" in request.url else None)
    open_train(page, "op=relu&rule=default&steps=20&hidden=4&batch=8&seed=7&lr=0.25&pace=full")
    panel = page.locator(".training")
    for label, value in {"Steps": "20", "Hidden units": "4", "Batch": "8", "Seed": "7"}.items():
        expect(panel.get_by_label(label, exact=True)).to_have_value(value)
    expect(panel.locator(".live .exact").first).to_have_value("0.25")
    expect(panel.get_by_label("full", exact=True)).to_be_checked()
    expect(panel.get_by_label("Task")).to_have_value("documents")
    expect(panel.get_by_label("Task").locator("option:checked")).to_have_text("Two-layer net on random data")
    assert asked == []


def test_what_the_gradient_does_stands_in_a_row_a_rule(page: Page) -> None:
    open_train(page, "op=round&rule=default&rule=straight_through&steps=60&pace=full")
    press(page, "Start")
    expect(status(page)).to_contain_text("Finished after 60 steps.", timeout=30_000)
    rows = [row.split("\t") for row in page.locator(".measured tr").all_inner_texts()]
    assert rows[0] == ["Rule", "Loss", "w1 moved", "‖∇w1‖", "‖∇w2‖", "Passed on", "Blocked", "Idle units"]
    assert (rows[1][0], rows[1][2:4], rows[1][5:]) == (
        "Default autograd", ["0", "0"], ["× 0", "100 %", "100 %"],
    )  # fmt: skip
    assert (rows[2][0], rows[2][5:]) == ("Straight-through", ["× 1", "0 %", "0 %"])
    assert float(rows[2][2].replace(",", "")) > 0
    conclusion = status(page).inner_text()
    assert "With Default autograd w1 never moved" in conclusion
    assert "ended lower, at" in conclusion


def test_the_histogram_lies_under_the_curve_of_the_chosen_rule(page: Page) -> None:
    open_train(page, "op=round&rule=default&rule=straight_through&steps=60&pace=full")
    press(page, "Start")
    expect(status(page)).to_contain_text("Finished after 60 steps.", timeout=30_000)
    read = """() => {
        const [curve, zero, passed] = document.querySelector(".preactivations .js-plotly-plot").data;
        const sum = counts => counts.reduce((all, one) => all + one, 0);
        return [Math.max(...curve.y), sum(zero.y), sum(passed.y), curve.x[0] <= zero.x[0]];
    }"""
    assert page.evaluate(read) == [0, 6400, 0, True]
    page.locator(".measured").get_by_role("button", name="Straight-through").click()
    page.wait_for_function(f"() => ({read})()[0] === 1")
    assert page.evaluate(read) == [1, 0, 6400, True]
    norms = page.evaluate("document.querySelector('.norms .js-plotly-plot').data.map(t => t.name)")
    assert norms == [
        "Default autograd, w1",
        "Default autograd, w2",
        "Straight-through, w1",
        "Straight-through, w2",
    ]


def test_a_diverging_training_says_at_which_step_and_what_to_do(page: Page) -> None:
    open_train(page, "op=square&rule=default&lr=1000&steps=50")
    press(page, "Start")
    expect(status(page)).to_contain_text("Diverged at step")
    expect(status(page)).to_contain_text("Try a smaller learning rate.")
    page.wait_for_function(f"() => {TRACES}[0]?.x.length >= 1")  # the curve up to there is kept


def test_the_run_stays_while_the_other_page_is_shown_and_after_a_reload(page: Page) -> None:
    open_train(page, f"op=relu&rule=default&{LONG}")
    press(page, "Start")
    before = wait_for_steps(page, 5)
    page.get_by_role("link", name="Explore").click()
    expect(page.get_by_role("slider", name="Upstream gradient g")).to_be_visible()
    page.get_by_role("link", name="Train").click()
    before = wait_for_steps(page, before)
    page.reload()
    assert wait_for_steps(page, before) > before
    expect(button(page, "Pause")).to_be_visible()


def test_a_choice_made_on_train_is_there_on_explore(page: Page) -> None:
    open_train(page, "op=relu&rule=default")
    set_field(page, "Seed", "5")
    page.get_by_role("link", name="Explore").click()
    expect(page.get_by_role("slider", name="Upstream gradient g")).to_be_visible()
    page.wait_for_url("**/?*seed=5*")


def test_no_script_runs_while_a_training_is_watched(page: Page) -> None:
    sent: list[str | bytes] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    open_train(page, "op=relu&rule=default&pace=100&steps=300")
    page.get_by_test_id("stApp").and_(page.locator("[data-test-script-state=notRunning]")).wait_for()
    before = len(sent)
    press(page, "Start")
    expect(status(page)).to_contain_text("Finished after 300 steps.", timeout=30_000)
    assert len(sent) == before


def test_loss_chart_and_cards_are_in_view_together(new_page: Open) -> None:
    for size in ({"width": 1366, "height": 768}, {"width": 390, "height": 844}):
        page = new_page(viewport=size)
        open_train(page, "op=sign&rule=default&rule=straight_through")
        for part in (".loss", ".card.op", ".buttons"):
            box = page.locator(f".training {part}").first.bounding_box()
            assert box
            assert 0 <= box["x"] <= box["x"] + box["width"] <= size["width"]
            assert 0 <= box["y"] <= box["y"] + box["height"] <= size["height"]


def test_an_own_formula_is_text_whatever_it_holds(page: Page) -> None:
    open_train(page, "op=relu&rule=formula:+g*(x%3C1)*(x%3E-1)&steps=5&pace=full")
    press(page, "Start")
    expect(status(page)).to_contain_text("Finished after 5 steps.")
    assert json.dumps(list(traces(page))) == json.dumps(["formula: g * (x < 1) * (x > -1)"])
