"""The session's run: whatever is pressed in whatever order, the page stays and says what is the case."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest

from explorer.training import Engine, Limits, Picture, Run, Settings
from explorer.ui import trainer
from tests.training.driving import LONG, SMALL, Clock, turn_until_idle

MIDDLE = replace(SMALL, steps=200)
FORGOTTEN_S = 100.0
UNLUCKY = 13  # a seed
PRESSES = {
    "Start": trainer.start,
    "Pause": trainer.pause,
    "Resume": trainer.resume,
    "Step": trainer.step,
    "Reset": trainer.reset,
}


@pytest.fixture
def engine(clock, monkeypatch):
    by_hand = Engine(Limits(workers=0), clock, _made)
    monkeypatch.setattr(trainer, "shared_engine", lambda: by_hand)
    return by_hand


def _made(settings: Settings) -> Run:
    if settings.seed == UNLUCKY:
        raise MemoryError("no room for the net")
    return Run(settings)


@pytest.fixture
def session(monkeypatch):
    """A session without a page."""
    state = {}
    monkeypatch.setattr(trainer, "st", SimpleNamespace(session_state=state))
    return state


# What a press does, as a table: from a state and the step reached, to a state and how the step changes.
AT_REST = {"Start": ("running", "on"), "Pause": ("same", "same"), "Resume": ("running", "on"),
           "Step": ("paused", "one more"), "Reset": ("ready", "0")}  # fmt: skip
OVER = {"Start": ("running", "anew"), "Pause": ("same", "same"), "Resume": ("same", "same"),
        "Step": ("same", "same"), "Reset": ("ready", "0")}  # fmt: skip
LOST = OVER | {"Step": ("paused", "1"), "Reset": ("none", "0")}
RUNNING = {"Start": ("running", "on"), "Pause": ("paused", "same"), "Resume": ("running", "on"),
           "Step": ("paused", "one more"), "Reset": ("ready", "0")}  # fmt: skip
TABLE = {
    "none": {"Start": ("running", "anew"), "Pause": ("none", "0"), "Resume": ("none", "0"),
             "Step": ("paused", "1"), "Reset": ("none", "0")},
    "ready": AT_REST, "paused": AT_REST, "running": RUNNING, "finished": OVER, "diverged": OVER,
    "gone": LOST, "failed": LOST | {"Reset": ("ready", "0")}, "stopped": LOST | {"Reset": ("ready", "0")},
}  # fmt: skip


def _stands() -> tuple[str, int]:
    picture = trainer.current()
    if picture is None:
        return "none", 0
    return picture.state, picture.snapshot.step if picture.snapshot else 0


def _turns(engine, count: int = 3) -> None:
    for _ in range(count):
        engine.turn()


def _assert_as_in_the_table(engine, name: str, ends: tuple[str, ...] = ()) -> None:
    """``ends``: how a run of these settings may have ended meanwhile."""
    state, step = _stands()
    expected, move = TABLE[state][name]
    PRESSES[name]()
    _turns(engine)
    now, reached = _stands()
    if now in ends and expected != "none":
        return
    assert now == (state if expected == "same" else expected)
    assert {
        "same": reached == step,
        "0": reached == 0,
        "1": reached == 1,
        "one more": reached == step + 1,
        "on": reached > step,
        "anew": reached > 0,
    }[move]


@pytest.mark.parametrize("names", list(itertools.product(PRESSES, repeat=3)), ids=" ".join)
def test_presses_in_any_order(engine, session, names: tuple[str, ...]):
    trainer.reconcile(LONG)
    for name in names:
        _assert_as_in_the_table(engine, name)


def _to_the_end(engine, clock, **changed) -> None:
    trainer.reconcile(replace(MIDDLE, **changed))
    trainer.start()
    turn_until_idle(engine)


def _taken_over(engine, clock) -> None:
    trainer.reconcile(MIDDLE)
    trainer.start()
    engine.start(MIDDLE, trainer._visitor())


def _left_alone(engine, clock) -> None:
    trainer.reconcile(MIDDLE)
    trainer.start()
    _turns(engine)
    trainer.pause()
    trainer.current()
    clock.now += FORGOTTEN_S


ENDS = {
    "finished": _to_the_end,
    "diverged": partial(_to_the_end, lr=1e3),
    "failed": partial(_to_the_end, seed=UNLUCKY),
    "stopped": _taken_over,
    "gone": _left_alone,
}


@pytest.mark.parametrize("names", list(itertools.product(PRESSES, repeat=2)), ids=" ".join)
@pytest.mark.parametrize("state", ENDS)
def test_presses_after_the_end(engine, clock, session, state: str, names: tuple[str, ...]):
    ENDS[state](engine, clock)
    assert _stands()[0] == state
    assert trainer.interval_s(trainer.current()) is None
    for name in names:
        _assert_as_in_the_table(engine, name, ends=tuple({state} & {"diverged", "failed"}))


@pytest.mark.parametrize("state", ["finished", "diverged"])
@pytest.mark.parametrize("name", PRESSES)
def test_a_run_that_ended_and_was_forgotten(engine, clock, session, state: str, name: str):
    """Its last picture stays; Reset and Start do what they always do."""
    ENDS[state](engine, clock)
    last = trainer.current()
    clock.now += FORGOTTEN_S
    assert engine.snapshot(last.id).state == "gone"
    assert trainer.current() == last
    PRESSES[name]()
    expected = {"Start": ("running", 0), "Reset": ("none", 0)}.get(name, (state, last.snapshot.step))
    assert _stands() == expected


def test_the_sentence_after_a_reset_of_a_forgotten_run(engine, clock, session):
    _to_the_end(engine, clock)
    clock.now += FORGOTTEN_S
    trainer.reset()
    assert trainer.state_words(trainer.current()) == "Ready: press Start."


def test_step_after_the_end_says_how_to_go_on(engine, clock, session):
    _to_the_end(engine, clock)
    trainer.step()
    said = trainer.state_words(trainer.current())
    assert said == f"Finished after {MIDDLE.steps} steps. Press Start or Reset to step again."
    assert trainer.state_words(trainer.current()) == f"Finished after {MIDDLE.steps} steps."


def test_a_paused_run_that_was_forgotten_keeps_its_curve(engine, clock, session):
    _left_alone(engine, clock)
    picture = trainer.current()
    assert picture.state == "gone"
    assert picture.sentence == "This run is gone: press Start to run it again."
    assert picture.snapshot.step > 0


@pytest.mark.parametrize(
    ("state", "interval_s"),
    [
        *((state, trainer.UPDATE_S) for state in ("waiting", "running")),
        *((state, trainer.KEEP_S) for state in ("ready", "paused")),
        *((state, None) for state in ("finished", "diverged", "failed", "stopped", "gone")),
    ],
)
def test_how_often_a_run_is_looked_at(state: str, interval_s: float | None):
    assert trainer.interval_s(Picture("a", state, "")) == interval_s


def test_looks_are_as_frequent_as_is_promised():
    assert trainer.interval_s(None) is None
    assert trainer.UPDATE_S <= 1 / 10
    assert 10 * trainer.UPDATE_S < trainer.KEEP_S < Limits().forget_after_s / 2


def test_a_full_house_speaks_for_itself(monkeypatch, session):
    full = Engine(Limits(workers=0, running=0, waiting=0), Clock())
    monkeypatch.setattr(trainer, "shared_engine", lambda: full)
    trainer.reconcile(SMALL)
    trainer.start()
    assert trainer.state_words(trainer.current()) == (
        "0 runs are waiting already: try again in about a minute."
    )
    assert trainer.current() is None
