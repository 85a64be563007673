"""Train in a real browser: a whole training, its buttons, and what it says."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from typing import cast
from urllib.parse import parse_qs

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, Route, ViewportSize, WebSocket, expect

from explorer.training import SETTINGS, TASKS, Run, Settings, State, Status
from explorer.ui.links.link import from_query
from explorer.ui.links.presets import TRAINING
from explorer.ui.server import answers
from explorer.ui.server.answers import _setting
from tests.browser.conftest import PHONE
from tests.browser.reading import TRACES, in_the_end, traces, until_at_rest
from tests.browser.training import (
    LONG,
    button,
    command,
    go_on,
    metric,
    press,
    requests,
    status,
    steps,
    turn_train,
    verdict,
    wait_for,
    wait_for_points,
    wait_for_rules,
    wait_for_steps,
)

GHOSTS = """[...document.querySelector(".curves .js-plotly-plot").data].filter(trace => trace.opacity < 1)"""
RANGES = """(({xaxis, yaxis}) => [xaxis.range, yaxis.range])(
    document.querySelector(".curves .js-plotly-plot")._fullLayout)"""


def set_field(page: Page, label: str, text: str) -> None:
    field = page.locator(".training").get_by_label(label, exact=True).and_(page.get_by_role("spinbutton"))
    field.fill(text)
    field.press("Enter")


def test_a_whole_training_ends_with_the_losses_of_the_run(train: Page) -> None:
    turn_train(train, "op=relu&rule=default&rule=seed_relu&steps=300&pace=full")
    assert steps(train) == 0
    press(train, "Start")
    expect(metric(train, "Step")).to_have_text("Step 300 / 300", timeout=30_000)
    expect(status(train)).to_contain_text("Finished after 300 steps.")
    run = Run(Settings(op="relu", rules=("default", "seed_relu"), steps=300))
    run.advance(300)
    snapshot = run.snapshot()
    last = int(snapshot.loss_steps["default"][-1])
    wait_for(train, f"last => {TRACES}[0]?.x.at(-1) === last", last)
    drawn = traces(train)
    assert list(drawn) == ["default", "seed_relu"]
    for rule, trace in drawn.items():
        assert trace.x.tolist() == list(snapshot.loss_steps[rule])
        assert trace.y.tolist() == np.float32(snapshot.losses[rule]).tolist()
    shown, _, of = metric(train, "Loss").inner_text().removeprefix("Loss ").replace(",", "").partition(" of ")
    assert of == "Default autograd"
    assert float(shown) == pytest.approx(snapshot.loss["default"], rel=1e-3)
    assert int(metric(train, "Steps/s").inner_text().removeprefix("Steps/s ").replace(",", "")) > 0
    expect(metric(train, "Device")).to_have_text("Device CPU")


def test_labels_of_both_axes_keep_clear_of_each_other(train: Page) -> None:
    turn_train(train, "op=identity&rule=default&steps=400&pace=full")
    press(train, "Start")
    expect(metric(train, "Step")).to_have_text("Step 400 / 400", timeout=30_000)
    boxes = "all => all.map(label => label.getBoundingClientRect().toJSON())"
    across, upwards = (train.locator(f".curves .{axis}tick text") for axis in "xy")
    expect(upwards.first).to_have_text(re.compile("^1e-[67]$"))
    first, lowest = across.evaluate_all(boxes)[0], upwards.evaluate_all(boxes)[0]
    assert lowest["right"] < first["left"]


def test_pause_step_resume_reset_and_start_then_pause_without_waiting(train: Page) -> None:
    turn_train(train, f"op=relu&rule=default&{LONG}")
    press(train, "Start")
    wait_for_steps(train, 5)
    paused = command(train, "Pause")
    expect(status(train)).to_contain_text(f"Paused at step {paused}.")
    expect(status(train)).to_contain_text("Press Resume or Step to go on.")
    train.wait_for_timeout(200)
    assert steps(train) == paused
    press(train, "Step")
    expect(metric(train, "Step")).to_have_text(f"Step {paused + 1} / 5000")
    press(train, "Step")
    expect(metric(train, "Step")).to_have_text(f"Step {paused + 2} / 5000")
    press(train, "Resume")
    wait_for_steps(train, paused + 10)
    assert command(train, "Reset") == 0
    expect(metric(train, "Loss")).to_have_text("Loss –")
    train.wait_for_timeout(200)
    assert steps(train) == 0
    press(train, "Start")  # what is pressed is done in its order, however fast
    before = command(train, "Pause")
    expect(status(train)).to_contain_text(f"Paused at step {before}.")
    train.wait_for_timeout(200)
    assert steps(train) == before


def test_step_by_step_from_the_start(train: Page) -> None:
    turn_train(train, "op=relu&rule=default&steps=3")
    for count in (1, 2):
        press(train, "Step")
        expect(metric(train, "Step")).to_have_text(f"Step {count} / 3")
    wait_for_points(train, "default", 0, 1)
    press(train, "Step")
    expect(status(train)).to_contain_text("Finished after 3 steps.")
    expect(button(train, "Step")).to_be_disabled()


# What the page shows two frames after a button has been pressed.
_PRESSED = """async name => {
    const named = text => [...document.querySelectorAll("button")].find(each => each.textContent === text);
    const frame = () => new Promise(requestAnimationFrame);
    named(name).focus();
    named(name).click();
    await frame();
    await frame();
    return [document.activeElement.textContent, named("Start").disabled];
}"""


def test_buttons_act_at_once_and_pause_keeps_the_focus(train: Page) -> None:
    """Before the server has said a word: its answers are held back."""
    turn_train(train, f"op=relu&rule=default&{LONG}")
    held: list[Route] = []
    train.route("**/runs**", lambda route: held.append(route))
    assert train.evaluate(_PRESSED, "Start") == ["Pause", True]
    assert train.evaluate(_PRESSED, "Pause") == ["Resume", True]
    assert train.evaluate(_PRESSED, "Resume") == ["Pause", True]
    train.keyboard.press("Space")
    expect(button(train, "Resume")).to_be_focused()
    (start,) = held
    start.fulfill(json={"message": "No."})
    expect(status(train)).to_contain_text("No.")


def test_no_axis_is_invented_and_none_jumps(train: Page) -> None:
    turn_train(train, "op=sign&rule=default&rule=straight_through&hidden=8&batch=8&steps=200&pace=100")
    chart = train.locator(".curves .js-plotly-plot")
    chart.get_by_text("The loss appears here with the first step").wait_for()
    assert chart.locator(".xtick, .ytick").count() == 0
    press(train, "Start")
    wait_for_steps(train, 2)
    seen = [train.evaluate(RANGES)]
    while steps(train) < 200:
        train.wait_for_timeout(100)
        seen.append(train.evaluate(RANGES))
    assert {tuple(x) for x, _ in seen} == {(0, 200)}
    assert all(low % 1 == high % 1 == 0 for _, (low, high) in seen)
    assert all(b[0] <= a[0] and b[1] >= a[1] for (_, a), (_, b) in pairwise(seen))


def test_the_learning_rate_and_the_pace_change_without_a_new_start(train: Page) -> None:
    turn_train(train, "op=relu&rule=default&steps=5000&hidden=256&batch=1024&lr=1e-9&pace=5")
    press(train, "Start")
    wait_for_steps(train, 2)
    with requests(train, "/runs") as began:
        train.get_by_label("full", exact=True).check()
        before = wait_for_steps(train, 50)
        assert "pace=full" in train.url
        set_field(train, "Learning rate lr", "1e-8")
        train.wait_for_url("**lr%3A1e-08*")  # a branch point
        assert wait_for_steps(train, before) > before
    assert [address for address in began if address.endswith("/runs")] == []


def live(page: Page, name: str) -> Locator:
    """The number beside the slider of a setting that may change in mid-run."""
    return page.locator(".training .live").get_by_role("spinbutton", name=name, exact=True)


def losses_of(page: Page, query: str, steps_: int) -> list[float]:
    """The losses that a run of a link has, computed here."""
    choice, _ = from_query(parse_qs(query))
    settings = {name: getattr(choice, name) for name in SETTINGS}
    run = Run(Settings(op=choice.op, rules=choice.rules, parameters=choice.parameters, **settings))
    run.advance(steps_)
    wait_for_points(page, choice.rules[0], *range(steps_))
    return [float(loss) for loss in run.snapshot().losses[choice.rules[0]]]


def assert_shown_is_trained(page: Page, steps_: int) -> None:
    """The page draws a run of what its address says, which may both follow a moment later."""

    def drawn() -> None:
        expected = losses_of(page, page.url.partition("?")[2], steps_)
        (trace,) = traces(page).values()
        assert trace.y.tolist() == pytest.approx(expected, rel=1e-6)

    in_the_end(page, drawn)


def type_lr(page: Page, text: str) -> None:
    live(page, "Learning rate lr").fill(text)
    live(page, "Learning rate lr").press("Enter")
    page.wait_for_url(f"**lr={text}*")


def test_start_after_a_reset_trains_with_the_learning_rate_that_is_shown(train: Page) -> None:
    turn_train(train, "op=relu&rule=default&steps=20&lr=1e-6&pace=full")
    press(train, "Start")
    expect(status(train)).to_contain_text("Finished after 20 steps.")
    type_lr(train, "1e-7")
    command(train, "Reset")
    press(train, "Start")
    expect(status(train)).to_contain_text("Finished after 20 steps.")
    assert_shown_is_trained(train, 20)
    type_lr(train, "1e-8")
    command(train, "Reset")
    for _ in range(3):
        command(train, "Step")
    assert_shown_is_trained(train, 3)


def test_start_after_a_divergence_trains_with_the_learning_rate_that_is_shown(train: Page) -> None:
    turn_train(train, "op=square&rule=default&steps=20&lr=1000&pace=full")
    press(train, "Start")
    expect(status(train)).to_contain_text("Diverged at step")
    type_lr(train, "1e-10")
    command(train, "Reset")
    press(train, "Start")
    expect(status(train)).to_contain_text("Finished after 20 steps.")
    assert_shown_is_trained(train, 20)


def test_a_link_to_another_learning_rate_takes_over_the_run_that_waits(train: Page) -> None:
    turn_train(train, "op=relu&rule=default&steps=20&lr=1e-6&pace=full")
    for count in (1, 2):
        press(train, "Step")
        expect(metric(train, "Step")).to_have_text(f"Step {count} / 20")
    command(train, "Reset")
    turn_train(train, "op=relu&rule=default&steps=20&lr=1e-8&pace=full", anew=False)
    press(train, "Start")
    expect(status(train)).to_contain_text("Finished after 20 steps.")
    assert_shown_is_trained(train, 20)


@pytest.mark.parametrize("name", ["Start", "Step", "Resume"])
def test_a_press_right_after_a_change_trains_what_is_shown(train: Page, name: str) -> None:
    """Before the page has let the run of the earlier settings go."""
    turn_train(train, "op=relu&rule=default&steps=20&pace=full")
    press(train, "Step")
    expect(metric(train, "Step")).to_have_text("Step 1 / 20")
    if name == "Start":
        command(train, "Reset")
    set_and_press = """([label, text, name]) => {
        const fields = [...document.querySelectorAll(".training .setting")];
        const field = fields.find(each => each.textContent === label).querySelector("input");
        field.value = text;
        field.dispatchEvent(new Event("change"));
        [...document.querySelectorAll("button")].find(each => each.textContent === name).click();
    }"""
    train.evaluate(set_and_press, ["Seed", "3", name])
    if name == "Step":
        expect(metric(train, "Step")).to_have_text("Step 1 / 20")
        assert_shown_is_trained(train, 1)
    else:
        expect(status(train)).to_contain_text("Finished after 20 steps.")
        assert_shown_is_trained(train, 20)


def test_a_rule_that_is_removed_in_mid_run_stays_as_a_ghost(train: Page) -> None:
    turn_train(train, f"op=relu&rule=default&rule=zero&rule=straight_through&{LONG}")
    press(train, "Start")
    wait_for_steps(train, 5)
    train.get_by_role("button", name="Remove Zero").click()
    expect(status(train)).to_contain_text("the run has started again. The faint curves are the run before.")
    wait_for_rules(train, "default", "straight_through")
    assert train.evaluate(f"{GHOSTS}.map(trace => trace.name)") == [
        "Default autograd A",
        "Zero A",
        "Straight-through A",
    ]


@pytest.mark.parametrize("state", ["ready", "running"])
def test_a_typed_number_stays_when_it_is_confirmed(train: Page, state: str) -> None:
    turn_train(train, f"op=relu&rule=default&{LONG}")

    def stays(name: str, text: str) -> None:
        """Events of the run write over nothing."""
        if state == "running":
            wait_for_steps(train, steps(train))
        expect(live(train, name)).to_have_value(text)

    if state == "running":
        press(train, "Start")
        wait_for_steps(train, 2)
    typed = (("Learning rate lr", "lr", "2e-8 3e-8 4e-8"), ("Pace", "pace", "7 9 8"))
    for name, query, texts in typed:
        for text, key in zip(texts.split(), ("Enter", "Enter", "Tab"), strict=True):
            said = f"{query}%3A{text[0]}" if (state, query) == ("running", "lr") else f"{query}={text}"
            live(train, name).fill(text)
            stays(name, text)
            live(train, name).press(key)
            train.wait_for_url(f"**{said}*")
            stays(name, text)
            assert (train.evaluate("document.activeElement.ariaLabel") == name) == (key == "Enter")


def test_arrow_keys_step_a_number_on_the_scale_of_its_slider(train: Page) -> None:
    turn_train(train, "op=relu&rule=default&lr=1e-6&pace=1")
    for name, low in (("Learning rate lr", 1e-6), ("Pace", 1.0)):
        seen = [float(live(train, name).input_value())]
        for key in ("ArrowUp", "ArrowUp", "ArrowUp", "ArrowDown", "ArrowDown"):
            before = live(train, name).input_value()
            live(train, name).press(key)
            expect(live(train, name)).not_to_have_value(before)
            seen.append(float(live(train, name).input_value()))
        assert seen[0] == low
        assert all(1.005 < b / a < 1.1 for a, b in pairwise(seen[:4]))
        assert seen[4:] == pytest.approx([seen[2], seen[1]], rel=0.01)
    live(train, "Pace").press("ArrowDown")
    live(train, "Pace").press("ArrowDown")
    expect(live(train, "Pace")).to_have_value("1")


# Whether the last label of the loss chart's x is this one, and whole.
_END = """text => {
    const last = [...document.querySelectorAll(".curves .xtick text")].at(-1);
    const right = node => node.getBoundingClientRect().right;
    return last?.textContent === text && last.getBoundingClientRect().width > 0
        && right(last) <= right(last.closest(".js-plotly-plot"));
}"""


def test_the_axis_of_steps_names_its_end(train: Page) -> None:
    for steps_ in (60, 500, 5000):
        turn_train(train, f"op=relu&rule=default&steps={steps_}&lr=1e-9&pace=full")
        press(train, "Step")
        wait_for(train, _END, str(steps_))


def test_another_rule_in_mid_run_begins_anew_and_leaves_ghosts(train: Page) -> None:
    turn_train(train, f"op=relu&rule=default&{LONG}")
    press(train, "Start")
    before = wait_for_steps(train, 15)
    train.get_by_role("button", name="Add rule").click()
    train.get_by_label("Search rules").fill("Straight-through")
    train.keyboard.press("Enter")
    expect(status(train)).to_contain_text("the run has started again. The faint curves are the run before.")
    wait_for_rules(train, "default", "straight_through")
    wait_for_points(train, "straight_through")
    trained = traces(train)
    assert trained["default"].x[0] == trained["straight_through"].x[0] == 0
    assert len(trained["default"].x) == len(trained["straight_through"].x)
    assert train.evaluate(f"{GHOSTS}.map(trace => trace.x.length)")[0] >= min(before, 15)
    wait_for_steps(train, steps(train) + 5)
    press(train, "Reset")
    wait_for(train, f"() => {GHOSTS}.length === 0")


def test_other_settings_at_rest_start_nothing(train: Page) -> None:
    turn_train(train, "op=relu&rule=default&steps=20&pace=full")
    press(train, "Start")
    expect(status(train)).to_contain_text("Finished after 20 steps.")
    set_field(train, "Seed", "3")
    expect(status(train)).to_contain_text("Other settings: press Start.")
    expect(metric(train, "Step")).to_have_text("Step 0 / 20")
    assert train.evaluate(f"{GHOSTS}.length") == 1
    assert "seed=3" in train.url


def test_a_link_restores_the_settings_and_starts_nothing(train: Page) -> None:
    with requests(train, "/runs") as asked:
        turn_train(train, "op=relu&rule=default&steps=20&hidden=4&batch=8&seed=7&lr=0.25&pace=full")
        assert_settings_are_restored(train.locator(".training"))
    assert asked == []


def assert_settings_are_restored(panel: Locator) -> None:
    for label, value in {"Steps": "20", "Hidden units": "4", "Batch": "8", "Seed": "7"}.items():
        expect(panel.get_by_label(label, exact=True)).to_have_value(value)
    expect(panel.locator(".live .exact").first).to_have_value("0.25")
    expect(panel.get_by_label("full", exact=True)).to_be_checked()
    chosen = panel.get_by_role("group", name="Task").locator("[aria-pressed=true]")
    expect(chosen).to_have_text(TASKS["documents"].label)
    assert panel.locator(".settings").get_by_label("Device").count() == 0, "there is but one"


def test_what_the_gradient_does_stands_in_a_row_a_rule_and_each_layer_has_a_norm_in_the_chart(
    train: Page,
) -> None:
    turn_train(train, "op=round&rule=default&rule=straight_through&steps=60&pace=full")
    press(train, "Start")
    expect(status(train)).to_contain_text("Finished after 60 steps.", timeout=30_000)
    rows = [row.split("\t") for row in train.locator(".measured tr").all_inner_texts()]
    assert rows[0] == [
        "Rule", "Loss", "Alignment", "w1 moved", "‖∇w1‖", "‖∇w‖, last layer",
        "Passed on, layer 1", "Blocked, layer 1", "Idle units, layer 1",
    ]  # fmt: skip
    assert (rows[1][0], rows[1][2:5], rows[1][6:]) == (
        "Default autograd", ["–", "0", "0"], ["× 0", "100 %", "100 %"],
    )  # fmt: skip
    assert (rows[2][0], rows[2][6:]) == ("Straight-through", ["× 1", "0 %", "0 %"])
    assert float(rows[2][3].replace(",", "")) > 0
    expect(verdict(train)).to_contain_text("ended lower, at")
    expect(verdict(train)).to_contain_text("With Default autograd w1 never moved")
    norms = [
        f"{rule}, {weights}" for rule in ("Default autograd", "Straight-through") for weights in ("w1", "w2")
    ]
    press(train, "Gradient norms")
    named = "document.querySelector('.curves .js-plotly-plot').data.map(t => t.name).join()"
    wait_for(train, f"norms => {named} === norms", ",".join(norms))


def test_a_diverging_training_says_at_which_step_and_what_to_do(train: Page) -> None:
    turn_train(train, "op=square&rule=default&lr=1000&steps=50")
    press(train, "Start")
    expect(status(train)).to_contain_text("Diverged at step")
    expect(status(train)).to_contain_text("Try a smaller learning rate or another rule.")
    wait_for(train, f"() => {TRACES}[0]?.x.length >= 1")  # the curve up to there is kept
    assert f"Diverged at step {steps(train)}:" in status(train).inner_text()
    ticks = train.locator(".curves .xtick").all_text_contents()
    assert ticks == [str(step) for step in range(len(ticks))]  # there is no half of a step


def test_an_op_without_a_finite_value_says_so_in_every_chart(train: Page) -> None:
    turn_train(train, "op=log&rule=default")
    press(train, "Start")
    expect(status(train)).to_contain_text("the op gave no finite number for finite inputs.")
    assert steps(train) == 0
    expect(train.locator(".curves")).to_contain_text("No loss is finite and above 0")
    press(train, "Gradient norms")
    expect(train.locator(".curves")).to_contain_text("No gradient norm is finite and above 0")
    expect(train.locator(".why .inputs .cell")).to_have_attribute(
        "data-empty", re.compile("Diverged at step 0")
    )


def test_who_diverges_at_once_is_offered_the_tasks_own_op(train: Page) -> None:
    turn_train(train, "task=spikes&op=round&rule=default")
    offer = train.get_by_role("button", name="Use the task's own op and rules")
    expect(offer).to_be_hidden()
    press(train, "Start")
    expect(status(train)).to_contain_text("numbers outgrew what float32 holds on the way forward")
    offer.click()
    wait_for(train, "() => location.search.includes('op=heaviside') || location.search.includes('op=step')")
    expect(offer).to_be_hidden()


def test_the_run_and_the_choice_stay_on_the_other_page_and_after_a_reload_and_no_script_runs(
    train: Page,
) -> None:
    turn_train(train, f"op=relu&rule=default&{LONG}")
    set_field(train, "Seed", "5")
    press(train, "Start")
    before = wait_for_steps(train, 5)
    train.get_by_role("link", name="Explore").click()
    expect(train.get_by_role("slider", name="Upstream gradient g")).to_be_visible()
    train.wait_for_url("**/?*seed=5*")
    train.get_by_role("link", name="Train").click()
    go_on(train)
    before = wait_for_steps(train, before)
    with frames_sent(train) as sent:
        train.reload()
        go_on(train)
        assert wait_for_steps(train, before) > before
        expect(button(train, "Pause")).to_be_visible()
        command(train, "Reset")
        until_at_rest(train)
        so_far = len(sent)
        press(train, "Start")
        wait_for_steps(train, 20)
        assert len(sent) == so_far > 0


@contextmanager
def frames_sent(page: Page) -> Iterator[list[str | bytes]]:
    """The messages that a page sends meanwhile by the websockets that it opens."""
    sent: list[str | bytes] = []

    def follow(socket: WebSocket) -> None:
        socket.on("framesent", lambda frame: sent.append(frame))

    page.on("websocket", follow)
    try:
        yield sent
    finally:
        page.remove_listener("websocket", follow)


def test_loss_chart_and_cards_are_in_view_together(train: Page) -> None:
    wide: ViewportSize = {"width": 1366, "height": 768}
    for size in (wide, PHONE):
        train.set_viewport_size(size)
        turn_train(train, "op=sign&rule=default&rule=straight_through")
        for part in (".curves", ".card.op", ".buttons"):
            box = train.locator(f".training {part}").first.bounding_box()
            assert box
            assert 0 <= box["x"] <= box["x"] + box["width"] <= size["width"]
            assert 0 <= box["y"] <= box["y"] + box["height"] <= size["height"]


def test_an_own_formula_is_text_whatever_it_holds(train: Page) -> None:
    turn_train(train, "op=relu&rule=formula:+g*(x%3C1)*(x%3E-1)&steps=5&pace=full")
    press(train, "Start")
    expect(status(train)).to_contain_text("Finished after 5 steps.")
    assert json.dumps(list(traces(train))) == json.dumps(["formula: g * (x < 1) * (x > -1)"])


# Where Plotly has drawn the last point of the loss, and where it lies by the axes; px.
_DRAWN = """() => {
    const chart = document.querySelector(".curves .js-plotly-plot");
    const {x, y} = chart.data.find(trace => trace.meta === "default");
    const {xaxis, yaxis} = chart._fullLayout;
    const path = chart.querySelector(".scatterlayer .js-line")?.getAttribute("d") ?? "";
    const [across, down] = (path.match(/[-\\d.]+,[-\\d.]+$/)?.[0] ?? "").split(",").map(Number);
    return [across, down, xaxis.d2p(x.at(-1)), yaxis.d2p(y.at(-1)), x.length];
}"""


def test_what_is_moved_lies_where_the_axes_say(train: Page) -> None:
    """While it moves, and drawn anew at rest."""
    turn_train(train, "op=sign&rule=default&rule=straight_through&hidden=8&batch=8&steps=2000&pace=25")
    press(train, "Start")
    wait_for_points(train, "default")
    moved = [[0.0] * 5]
    for _ in range(4):
        wait_for(train, f"before => ({_DRAWN})()[4] > Math.max(before, 1)", moved[-1][4])
        moved.append(train.evaluate(_DRAWN))
    press(train, "Pause")
    expect(status(train)).to_contain_text("Paused at step")
    wait_for(train, f"() => ({_DRAWN})()[4] === shownStep()")
    for across, down, x, y, _ in [*moved[1:], train.evaluate(_DRAWN)]:
        assert (across, down) == pytest.approx((x, y), abs=1)


def test_an_example_is_chosen_from_a_menu_and_says_what_to_see(train: Page) -> None:
    turn_train(train, "op=relu&rule=default")
    train.get_by_text("Examples", exact=True).click()
    menu = train.locator(".about .window")
    assert menu.locator("b").all_inner_texts() == [preset.name for preset in TRAINING]
    chosen = TRAINING[-1]
    menu.get_by_role("button", name=chosen.name).click()
    expect(train.locator(".about .hint")).to_have_text(chosen.hint)
    rate = train.locator(".training .live .exact").first
    expect(rate).to_have_value("0.00001")
    expect(menu).to_be_hidden()
    press(train, "Start")
    expect(status(train)).to_contain_text("Diverged at step")
    rate.fill("1e-6")
    rate.press("Enter")
    expect(train.locator(".about .hint")).not_to_have_text(chosen.hint)  # which is not so at this rate


# A document with one more setting, which each task sets itself; without one that of the server.
_DOCUMENT = """async ([folder, setting, value]) => {
    const module = name => import(new URL(`assets/${folder}/choice/${name}.js`, document.baseURI).href);
    const [{ setDocument }, { fetchDocument }] = await Promise.all(["entries", "server"].map(module));
    const { settings, tasks, ...rest } = await fetchDocument();
    const more = setting && { [setting.name]: value };
    const set = task => ({ ...task, defaults: { ...task.defaults, ...more } });
    setDocument({ ...rest, settings: settings.concat(setting ?? []), tasks: tasks.map(set) });
}"""


@pytest.fixture
def two_devices(train: Page) -> Iterator[Page]:
    """Train as it is where there is a GPU; the server has none."""
    device = _setting(replace(SETTINGS["device"], words=("cpu", "cuda")))
    train.evaluate(_DOCUMENT, [answers.folder(), device, "cuda"])
    yield train
    train.evaluate(_DOCUMENT, [answers.folder(), None, None])


def test_a_device_is_chosen_where_there_are_two(two_devices: Page) -> None:
    turn_train(two_devices, "op=relu&rule=default")
    field = two_devices.locator(".training .settings").get_by_label("Device")
    assert field.locator("option").all_inner_texts() == ["CPU", "NVIDIA GPU"]
    expect(field).to_have_value("cuda")
    field.select_option("cpu")
    two_devices.wait_for_url("**device=cpu*")
    press(two_devices, "Start")
    wait_for_steps(two_devices, 2)
    expect(metric(two_devices, "Device")).to_have_text("Device CPU")


def test_nothing_lies_beside_the_screen_of_a_phone(train: Page) -> None:
    train.set_viewport_size(PHONE)
    turn_train(train, "op=sign&rule=default&rule=straight_through&steps=60&pace=full")
    press(train, "Start")
    expect(status(train)).to_contain_text("Finished after 60 steps.")
    for part in (".measured", ".status", ".commands", ".settings", ".about"):
        wide = train.locator(f".training {part}").evaluate("part => part.scrollWidth - part.clientWidth")
        assert wide <= 0, part
    cells = train.locator(".measured td:visible")
    assert cells.count() == 16
    assert all(
        box and box["x"] + box["width"] <= 390 for box in (cell.bounding_box() for cell in cells.all())
    )


# What the next watcher is told, in place of a server.
_TELLING = """told => {
    const { EventSource } = window;
    window.EventSource = class {
        constructor() {
            window.EventSource = EventSource;
            setTimeout(() => this.onmessage({data: JSON.stringify(told)}), 50);
        }
        close() {}
    };
}"""


@pytest.mark.parametrize(
    ("state", "said", "then"),
    [
        ("waiting", "Waiting for a free place: number 7 in the queue.", "It goes on by itself."),
        ("failed", "This run failed: out of memory.", "Change a setting, or press Start to try again."),
        ("crowded", "This training is watched in 16 places already.", ""),
    ],
)
def test_states_that_are_rare_say_what_to_do(train: Page, state: str, said: str, then: str) -> None:
    turn_train(train, "op=relu&rule=default")
    fields = dataclasses.asdict(Status("x", cast("State", state), said, steps=500)) | {
        "words": [],
        "device": None,
        "judged": {},
    }
    train.evaluate(_TELLING, fields)
    train.route("**/runs", lambda route: route.fulfill(json={"id": "x", "key": "y"}))
    press(train, "Start")
    expect(train.locator(".training .status .main")).to_have_text(said)
    expect(train.locator(".training .status .next")).to_have_text(then)
    expect(train.locator(".training .status")).to_have_attribute("data-state", state)
    expect(button(train, "Start")).to_be_enabled(enabled=state != "waiting")
