"""Train in a real browser: a whole training, its buttons, and what it says."""

from __future__ import annotations

import numpy as np
from playwright.sync_api import Page, expect

from explorer.training import Run, Settings
from tests.browser.reading import TRACES, choose, metric, traces

# As much work as a link may ask for, so that there is time to press a button before the end.
LONG = "steps=5000&hidden=256&batch=1024&lr=1e-9"


def open_train(page: Page, query: str) -> None:
    page.goto(f"/train?{query}")
    expect(page.get_by_role("button", name="Start")).to_be_visible(timeout=30_000)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def steps(page: Page) -> int:
    """Steps taken, as the page says it."""
    return int(metric(page, "Step").inner_text().split(" / ")[0])


def wait_for_steps(page: Page, more_than: int) -> int:
    """Wait until more steps than these have been taken; how many then."""
    page.wait_for_function(
        """more => [...document.querySelectorAll('[data-testid="stMetricValue"]')]
            .some(value => Number(value.textContent.match(/^(\\d+) \\/ /)?.[1]) > more)""",
        arg=more_than,
    )
    return steps(page)


def test_a_whole_training_ends_with_the_losses_of_the_run(page: Page) -> None:
    open_train(page, "op=relu&rule=default&rule=seed_relu&steps=300")
    assert steps(page) == 0
    press(page, "Start")
    expect(metric(page, "Step")).to_have_text("300 / 300", timeout=30_000)
    expect(page.get_by_text("Finished after 300 steps.")).to_be_visible()
    run = Run(Settings(op="relu", rules=("default", "seed_relu"), steps=300))
    run.advance(300)
    snapshot = run.snapshot()
    last = int(snapshot.loss_steps["default"][-1])
    page.wait_for_function(f"last => {TRACES}[0]?.x.at(-1) === last", arg=last)
    for rule, trace in traces(page).items():
        assert trace.x.tolist() == list(snapshot.loss_steps[rule])
        assert trace.y.tobytes() == np.float32(snapshot.losses[rule]).tobytes()
    expect(metric(page, "Loss")).to_have_text(f"{snapshot.loss['default']:.4g}")
    assert int(metric(page, "Steps/s").inner_text().replace(",", "")) > 0
    expect(metric(page, "Device")).to_have_text(snapshot.device)


def test_pause_step_resume_and_reset(page: Page) -> None:
    open_train(page, f"op=relu&rule=default&{LONG}")
    press(page, "Start")
    wait_for_steps(page, 5)
    press(page, "Pause")
    expect(page.get_by_text("Paused at step")).to_be_visible()
    paused = steps(page)
    page.wait_for_timeout(500)
    assert steps(page) == paused
    press(page, "Step")
    expect(metric(page, "Step")).to_have_text(f"{paused + 1} / 5000")
    press(page, "Step")
    expect(metric(page, "Step")).to_have_text(f"{paused + 2} / 5000")
    press(page, "Resume")
    wait_for_steps(page, paused + 10)
    press(page, "Reset")
    expect(metric(page, "Step")).to_have_text("0 / 5000")
    expect(metric(page, "Loss")).to_have_text("–")
    page.wait_for_timeout(500)
    assert steps(page) == 0


def test_step_by_step_from_the_start(page: Page) -> None:
    open_train(page, "op=relu&rule=default")
    press(page, "Step")
    expect(metric(page, "Step")).to_have_text("1 / 500")
    run = Run(Settings())
    run.advance(1)
    expect(metric(page, "Loss")).to_have_text(f"{run.snapshot().loss['default']:.4g}")


def test_another_rule_during_training_starts_it_anew(page: Page) -> None:
    open_train(page, f"op=relu&rule=default&{LONG}")
    press(page, "Start")
    before = wait_for_steps(page, 40)
    choose(page, "Backward rules", "Straight-through")
    page.wait_for_function(f"""{TRACES}.map(trace => trace.meta).join() === "default,straight_through" """)
    trained = traces(page)
    assert trained["default"].x[0] == trained["straight_through"].x[0] == 0
    assert len(trained["default"].x) == len(trained["straight_through"].x)
    assert steps(page) < before + 200
    wait_for_steps(page, steps(page) + 5)


def test_round_with_autograds_own_rule_leaves_w1_where_it_was(page: Page) -> None:
    open_train(page, "op=round&rule=default&rule=straight_through&steps=60")
    press(page, "Start")
    expect(metric(page, "Step")).to_have_text("60 / 60", timeout=30_000)
    words = page.get_by_text("Default autograd:")
    expect(words).to_contain_text("w1 has not moved")
    assert "w1 has moved" in words.inner_text().split("Straight-through:")[1]


def test_a_diverging_training_says_at_which_step(page: Page) -> None:
    open_train(page, "op=square&rule=default&lr=1000&steps=50")
    press(page, "Start")
    expect(page.get_by_text("Diverged at step").first).to_be_visible()
    page.wait_for_function(f"{TRACES}[0]?.x.length >= 1")  # the curve up to there is kept


def test_the_run_stays_while_the_other_page_is_shown(page: Page) -> None:
    open_train(page, f"op=relu&rule=default&{LONG}")
    press(page, "Start")
    before = wait_for_steps(page, 5)
    page.get_by_role("link", name="Explore").click()
    expect(page.get_by_label("Upstream gradient g", exact=True)).to_be_visible()
    page.get_by_role("link", name="Train").click()
    assert wait_for_steps(page, before) > before
