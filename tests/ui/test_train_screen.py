"""The Train page while its run comes and goes: what stands on the screen, and how often it is drawn."""

from __future__ import annotations

import random

import pytest
import streamlit as st

from explorer.training import Run, Settings
from explorer.ui import trainer
from tests.training.driving import turn_until_idle
from tests.ui.pages import chart_of, curves_of, labelled, metric, opened, press, sound, words_of

QUERY = "op=relu&rule=default&rule=zero&hidden=4&batch=8"
MANY_STEPS = 5000
FORGOTTEN_S = 100.0
BROKEN = "the training process does not answer: try again in a moment"


def _turns(engine, count: int = 3) -> None:
    for _ in range(count):
        engine.turn()


@pytest.fixture
def armed(monkeypatch) -> list[float | None]:
    """The intervals at which the page asked to be drawn again."""
    asked: list[float | None] = []
    fragment = st.fragment

    def recorded(*, run_every):
        asked.append(run_every)
        return fragment(run_every=run_every)

    monkeypatch.setattr(st, "fragment", recorded)
    return asked


def test_the_page_looks_as_often_as_the_run_needs(engine, armed):
    test = opened(f"{QUERY}&steps=20", "train")
    assert armed == [None]
    for label, turns, interval_s in (
        ("Start", 1, trainer.UPDATE_S),
        ("Pause", 1, trainer.KEEP_S),
        ("Resume", 99, None),
        ("Reset", 1, trainer.KEEP_S),
    ):
        press(test, label)
        _turns(engine, turns)
        sound(test.run())
        assert armed[-1] == interval_s


def test_a_paused_run_is_kept_by_looking_now_and_then(engine, clock):
    test = opened(f"{QUERY}&steps=200", "train")
    for label in ("Start", "Pause"):
        press(test, label)
        _turns(engine, 1)
    for _ in range(10):
        clock.now += trainer.KEEP_S
        sound(test.run())
    assert "Paused at step" in words_of(test)


def test_the_screen_of_a_run_on_its_way(engine):
    test = press(opened(f"{QUERY}&steps=40", "train"), "Start")
    engine.turn()
    sound(test.run())
    (picture,) = engine.list()
    assert 0 < picture.step < 40
    assert metric(test, "Step") == f"{picture.step} / 40"
    assert test.get("progress")[0].value == int(100 * picture.step / 40)
    assert metric(test, "Loss") == f"{picture.snapshot.loss['default']:.4g}"
    assert metric(test, "Steps/s") == f"{picture.steps_per_second:,.0f}" != "0"
    assert metric(test, "Device") == "cpu"
    turn_until_idle(engine)
    sound(test.run())
    assert test.get("progress")[0].value == 100


@pytest.mark.parametrize("query", [QUERY, f"{QUERY}&rule=formula:+g*x**2*k", "rule=formula:+g&op=formula:+x"])
def test_the_help_of_the_loss_is_ours(engine, query: str):
    assert labelled(opened(query, "train").metric, "Loss").help == "Of the first rule; all stand below."


def test_other_settings_restart_a_run_that_is_trained(engine):
    test = press(opened(f"{QUERY}&steps={MANY_STEPS}", "train"), "Start")
    _turns(engine)
    labelled(test.number_input, "Seed").set_value(7)
    sound(test.run())
    stopped, running = engine.list()
    assert (stopped.state, running.state) == ("stopped", "running")
    assert metric(test, "Step") == f"0 / {MANY_STEPS}"
    _turns(engine)
    sound(test.run())
    expected = Run(
        Settings(op="relu", rules=("default", "zero"), steps=MANY_STEPS, hidden=4, batch=8, seed=7)
    )
    expected.advance(engine.list()[1].step)
    losses = expected.snapshot().losses["default"].astype("float32").tolist()
    assert list(curves_of(test)["default"].values()) == losses


def test_another_rule_joins_a_run_that_is_trained(engine):
    test = press(opened(f"{QUERY}&steps={MANY_STEPS}", "train"), "Start")
    _turns(engine)
    labelled(test.multiselect, "Backward rules").select("straight_through")
    sound(test.run())
    _turns(engine)
    sound(test.run())
    assert list(curves_of(test)) == ["default", "zero", "straight_through"]
    assert [picture.state for picture in engine.list()] == ["stopped", "running"]


@pytest.mark.parametrize("label", ["Pause", "Reset"])
def test_other_settings_drop_a_run_at_rest(engine, label: str):
    test = press(opened(f"{QUERY}&steps={MANY_STEPS}", "train"), "Start")
    _turns(engine)
    press(test, label)
    labelled(test.number_input, "Seed").set_value(7)
    sound(test.run())
    assert [picture.state for picture in engine.list()] == ["stopped"]
    assert "Ready: press Start." in words_of(test)
    assert curves_of(test) == {}


def test_other_settings_drop_a_run_that_has_finished_and_was_forgotten(engine, clock):
    test = press(opened(f"{QUERY}&steps=20", "train"), "Start")
    turn_until_idle(engine)
    sound(test.run())
    clock.now += FORGOTTEN_S
    sound(test.run())
    assert (metric(test, "Step"), list(curves_of(test))) == ("20 / 20", ["default", "zero"])
    assert "Finished after 20 steps." in words_of(test)
    labelled(test.number_input, "Seed").set_value(7)
    sound(test.run())
    assert (metric(test, "Step"), curves_of(test)) == ("0 / 20", {})


def test_the_page_after_a_reset_of_a_forgotten_run(engine, clock):
    test = press(opened(f"{QUERY}&steps=20", "train"), "Start")
    turn_until_idle(engine)
    sound(test.run())
    clock.now += FORGOTTEN_S
    press(test, "Reset")
    assert (metric(test, "Step"), metric(test, "Loss")) == ("0 / 20", "–")
    assert "Ready: press Start." in words_of(test)
    assert test.get("progress")[0].value == 0


def test_pause_after_reset_starts_nothing(engine):
    test = press(opened(f"{QUERY}&steps=20", "train"), "Start")
    _turns(engine, 1)
    for label in ("Reset", "Pause"):
        press(test, label)
        turn_until_idle(engine)
        sound(test.run())
        assert metric(test, "Step") == "0 / 20"
    assert engine.list()[0].state == "ready"


def test_a_page_that_is_clicked_at_random(engine, clock):
    rng = random.Random(6)
    test = opened(f"{QUERY}&steps=30", "train")
    for _ in range(40):
        labels = [button.label for button in test.button]
        assert labels in (["Start", "Pause", "Step", "Reset"], ["Start", "Resume", "Step", "Reset"])
        press(test, rng.choice(labels))
        _turns(engine, rng.randrange(4))
        clock.now += rng.choice([0, 0, 0, FORGOTTEN_S])
        _assert_consistent(sound(test.run()))


def _assert_consistent(test) -> None:
    step = int(metric(test, "Step").removesuffix(" / 30"))
    assert test.get("progress")[0].value == int(100 * step / 30)
    lengths = {len(points) for points in curves_of(test).values()}
    assert lengths <= {step}
    assert (metric(test, "Loss") == "–") == (step == 0)


class _Broken:
    """An engine of which some methods raise, as when its process does not answer."""

    def __init__(self, engine, methods: tuple[str, ...]):
        self._engine, self.methods = engine, methods

    def __getattr__(self, name: str):
        def refuse(*_arguments, **_named):
            raise RuntimeError(BROKEN)

        return refuse if name in self.methods else getattr(self._engine, name)


# Which method fails, and the presses that meet it: before a run, or in the middle of one.
MET = {
    "start": ("Start", "Step"),
    "command": ("Pause", "Step", "Reset"),
    "snapshot": ("Start", "Pause", "Step", "Reset"),
}


@pytest.mark.parametrize(("method", "label"), [(method, label) for method in MET for label in MET[method]])
def test_an_engine_that_does_not_answer(engine, monkeypatch, method: str, label: str):
    """The controls stay, a sentence says what is the case, and Start is all it takes later."""
    broken = _Broken(engine, ())
    monkeypatch.setattr(trainer, "shared_engine", lambda: broken)
    test = opened(f"{QUERY}&steps={MANY_STEPS}", "train")
    if method != "start":
        press(test, "Start")
        _turns(engine)
    broken.methods = (method,)
    press(test, label)
    assert f"Training is not available just now: {BROKEN}." in words_of(test)
    assert len(test.button) == 4
    assert labelled(test.selectbox, "Task").value == "documents"
    assert chart_of(test)["layout"]
    broken.methods = ()
    press(test, "Start")
    _turns(engine)
    sound(test.run())
    assert int(metric(test, "Step").split(" / ")[0]) > 0
    assert BROKEN not in words_of(test)
