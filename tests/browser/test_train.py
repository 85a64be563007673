"""Train in a real browser: a whole training, its buttons, and what it says.

What is offered and said in each state and how axes grow: ``tests/frontend/train``, without a page.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from playwright.sync_api import Page, Route, WebSocket, expect

from explorer.training import Run, Settings
from tests.browser import training
from tests.browser.reading import TRACES, enter, number, traces, wait_until_at_rest
from tests.browser.training import LONG, command, metric, press, status, turn_train, wait_for, wait_for_steps
from tests.browser.visitors import PHONE

GHOSTS = """[...document.querySelector(".curves .js-plotly-plot").data].filter(trace => trace.opacity < 1)"""
ROUND = "op=round&rule=default&rule=straight_through&steps=300&pace=full"
# Whether the last label of the loss chart's x is this one, and whole, and no label of x touches one of y.
_END = """text => {
    const [across, upwards] = [..."xy"].map(axis =>
        [...document.querySelectorAll(`.curves .${axis}tick text`)].filter(label => label.checkVisibility()));
    const box = node => node.getBoundingClientRect();
    const last = across.at(-1);
    return last?.textContent === text && box(last).right <= box(last.closest(".js-plotly-plot")).right
        && upwards.every(label => box(label).right < box(across[0]).left);
}"""


def test_a_finished_training_shows_the_numbers_of_its_run_and_fits_a_phone(train: Page) -> None:
    training.finish(train, ROUND)
    expect(metric(train, "Step")).to_have_text("Step 300 / 300")
    run = Run(Settings(op="round", rules=("default", "straight_through"), steps=300))
    run.advance(300)
    snapshot = run.snapshot()
    last = int(snapshot.loss_steps["default"][-1])
    wait_for(train, f"last => {TRACES}[0]?.x.at(-1) === last", last)
    drawn = traces(train)
    assert list(drawn) == ["default", "straight_through"]
    for rule, trace in drawn.items():
        assert trace.x.tolist() == list(snapshot.loss_steps[rule])
        assert trace.y.tolist() == np.float32(snapshot.losses[rule]).tolist()
    shown, _, of = metric(train, "Loss").inner_text().removeprefix("Loss ").replace(",", "").partition(" of ")
    assert of == "Default autograd"
    assert float(shown) == pytest.approx(snapshot.loss["default"], rel=1e-3)
    assert int(metric(train, "Steps/s").inner_text().removeprefix("Steps/s ").replace(",", "")) > 0
    expect(metric(train, "Device")).to_have_text("Device CPU")
    rows = [row.split("\t") for row in train.locator(".measured tr").all_inner_texts()]
    assert rows[0] == ["Rule", "Loss", "Alignment", "w1 moved", "‖∇w1‖", "‖∇w‖, last layer"]
    assert (rows[1][0], rows[1][2:5]) == ("Default autograd", ["–", "0", "0"])
    assert rows[2][0] == "Straight-through"
    assert float(rows[2][3].replace(",", "")) > 0
    expect(training.verdict(train)).to_contain_text("ended lower, at")
    press(train, "Gradient norms")
    norms = [f"{rule}, {of}" for rule in ("Default autograd", "Straight-through") for of in ("w1", "w2")]
    named = "document.querySelector('.curves .js-plotly-plot').data.map(t => t.name).join()"
    wait_for(train, f"norms => {named} === norms", ",".join(norms))
    press(train, "Loss")
    fits_a_phone_and_waits_after_a_change(train)


def fits_a_phone_and_waits_after_a_change(train: Page) -> None:
    wait_for(train, _END, "300")
    train.set_viewport_size(PHONE)
    for part in (".measured", ".status", ".commands", ".settings", ".about"):
        wide = train.locator(f".training {part}").evaluate("part => part.scrollWidth - part.clientWidth")
        assert wide <= 0, part
    cells = train.locator(".measured td:visible").all()
    assert len(cells) == 10
    assert all(box and box["x"] + box["width"] <= 390 for box in (cell.bounding_box() for cell in cells))
    enter(number(train.locator(".training"), "Seed"), "3")
    expect(status(train)).to_contain_text("These settings are not trained yet: press Start.")
    expect(metric(train, "Step")).to_have_text("Step 0 / 300")
    assert train.evaluate(f"{GHOSTS}.length") == 2
    assert "seed=3" in train.url


# Where Plotly has drawn the last point of the loss, and where it lies by the axes; px. The axis of steps.
_DRAWN = """() => {
    const chart = document.querySelector(".curves .js-plotly-plot");
    const {x, y} = chart.data.find(trace => trace.meta === "default");
    const {xaxis, yaxis} = chart._fullLayout;
    const path = chart.querySelector(".scatterlayer .js-line")?.getAttribute("d") ?? "";
    const [across, down] = (path.match(/[-\\d.]+,[-\\d.]+$/)?.[0] ?? "").split(",").map(Number);
    return [across, down, xaxis.d2p(x.at(-1)), yaxis.d2p(y.at(-1)), x.length, ...xaxis.range];
}"""


def test_the_buttons_of_a_run_pause_step_resume_and_reset_it(train: Page) -> None:
    turn_train(train, f"op=relu&rule=default&{LONG}")
    chart = train.locator(".curves .js-plotly-plot")
    chart.get_by_text("The loss appears here").wait_for()
    assert chart.locator(".xtick, .ytick").count() == 0, "no axis is invented"
    press(train, "Start")
    wait_for_steps(train, 5)
    wait_for(train, f"() => ({_DRAWN})()[4] > 1")
    moving = train.evaluate(_DRAWN)
    paused = command(train, "Pause")
    expect(status(train)).to_contain_text(f"Paused at step {paused}.")
    expect(status(train)).to_contain_text("Press Resume to go on.")
    wait_for(train, f"() => ({_DRAWN})()[4] === shownStep()")
    for across, down, x, y, _, low, high in (moving, train.evaluate(_DRAWN)):
        assert (across, down) == pytest.approx((x, y), abs=1)
        assert (low, high) == (0, 5000)
    assert training.steps(train) == paused
    for more in (1, 2):
        press(train, "Step")
        expect(metric(train, "Step")).to_have_text(f"Step {paused + more} / 5000")
    press(train, "Resume")
    wait_for_steps(train, paused + 10)
    assert command(train, "Reset") == 0
    expect(metric(train, "Loss")).to_have_text("Loss –")
    press(train, "Start")  # what is pressed is done in its order, however fast
    before = command(train, "Pause")
    expect(status(train)).to_contain_text(f"Paused at step {before}.")
    train.wait_for_timeout(200)
    assert training.steps(train) == before


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
    expect(training.button(train, "Resume")).to_be_focused()
    (start,) = held
    start.fulfill(json={"message": "No."})
    expect(status(train)).to_contain_text("No.")


def test_adding_a_rule_during_a_run_restarts_it_and_leaves_ghosts(train: Page) -> None:
    turn_train(train, f"op=relu&rule=default&{LONG}")
    press(train, "Start")
    before = wait_for_steps(train, 15)
    train.get_by_role("button", name="Add rule").click()
    train.get_by_label("Search rules").fill("Straight-through")
    train.keyboard.press("Enter")
    expect(status(train)).to_contain_text("the run has started again.")
    expect(train.locator(".past")).to_contain_text("the run before. Since then: Straight-through added.")
    wait_for(train, f"() => {TRACES}.map(t => t.meta).join() === 'default,straight_through'")
    training.wait_for_points(train, "straight_through")
    trained = traces(train)
    assert trained["default"].x[0] == trained["straight_through"].x[0] == 0
    assert len(trained["default"].x) == len(trained["straight_through"].x)
    assert train.evaluate(f"{GHOSTS}.map(trace => trace.x.length)")[0] >= min(before, 15)


def test_a_run_survives_another_page_and_a_reload_without_a_script(train: Page) -> None:
    turn_train(train, f"op=relu&rule=default&{LONG}")
    enter(number(train.locator(".training"), "Seed"), "5")
    press(train, "Start")
    before = wait_for_steps(train, 5)
    train.get_by_role("link", name="Explore").click()
    expect(train.get_by_role("slider", name="Upstream gradient g")).to_be_visible()
    train.wait_for_url("**/?*seed=5*")
    train.get_by_role("link", name="Train", exact=True).click()
    training.resume_if_unwatched(train)
    before = wait_for_steps(train, before)
    with frames_sent(train) as sent:
        train.reload()
        training.resume_if_unwatched(train)
        assert wait_for_steps(train, before) > before
        expect(training.button(train, "Pause")).to_be_visible()
        command(train, "Reset")
        wait_until_at_rest(train)
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
