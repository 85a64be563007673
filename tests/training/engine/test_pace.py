"""Pace and rate of a run in the engine, with a clock that goes on only when it is told to."""

import dataclasses

import pytest

from explorer.training import FULL, Engine, Limits
from explorer.training.scheduling import queue
from tests.training.driving import LONG, SMALL, Clock, Watched, losses, train, turn_until_idle


@pytest.fixture
def paced():
    return Engine(Limits(workers=0), Clock(tick_s=0.0))


def pass_time(engine, seconds, tick_s=1 / 64):
    for _ in range(round(seconds / tick_s)):
        engine._clock.now += tick_s
        turn_until_idle(engine)


@pytest.mark.parametrize(("pace", "expected"), [(1, 3), (8, 17), (50, 100), (200, 400)])
def test_a_run_keeps_its_pace(paced, pace, expected):
    identity = paced.start(dataclasses.replace(LONG, pace=pace))
    pass_time(paced, 2.0)
    status = paced.snapshot(identity)
    assert status.step == pytest.approx(expected, rel=0.06)
    assert status.steps_per_second == pytest.approx(pace, rel=0.6)


def test_pace_and_lr_can_change_during_a_run(paced):
    identity = paced.start(dataclasses.replace(LONG, pace=1))
    assert paced.change(identity, pace=1.0).state == "running"
    pass_time(paced, 4.0)
    slow = paced.snapshot(identity).step
    assert paced.change(identity, pace=32, lr=1e-9).state == "running"
    pass_time(paced, 4.0)
    both = paced.snapshot(identity)
    assert both.step - slow == pytest.approx(128, rel=0.05)
    paced.change(identity, pace=FULL)
    assert paced.command(identity, "pause").state == "paused"
    slowed = both.snapshot.losses["default"][slow:]
    assert abs(slowed - slowed[0]).max() < 0.1 * slowed[0]  # a thousandth of the learning rate


def test_the_learning_rate_can_change_up_to_the_limit(engine, monkeypatch):
    identity = engine.start(SMALL, paused=True)
    rates = [1e-7 * (1 + number) for number in range(12)]
    for rate in rates:
        engine.command(identity, "step")
        status = engine.change(identity, lr=rate)
    assert status.state == "paused"
    assert status.snapshot.branch == tuple((step, "lr", rate) for step, rate in enumerate(rates, 1))
    assert engine.change(identity, lr=rates[-1]).snapshot.branch == status.snapshot.branch
    monkeypatch.setattr(queue, "MAX_BRANCHES", 12)
    with pytest.raises(ValueError, match="branches at most 12 times"):
        engine.change(identity, lr=1.0)
    assert engine.command(identity, "step").state == "paused"
    assert engine.change(identity, pace=3).state == "paused"


def test_a_reset_run_repeats_its_learning_rate_changes(engine):
    identity = engine.start(SMALL, paused=True)
    for rate in (1e-7, SMALL.lr):
        engine.command(identity, "step")
        engine.change(identity, lr=rate)
    branch = ((1, "lr", 1e-7), (2, "lr", SMALL.lr))
    assert engine.command(identity, "reset").snapshot.branch == branch
    engine.command(identity, "resume")
    turn_until_idle(engine)
    assert losses(engine.snapshot(identity)) == losses(train(dataclasses.replace(SMALL, branch=branch)))


def test_invalid_changes_of_settings_are_refused(engine):
    identity = engine.start(SMALL, paused=True)
    with pytest.raises(ValueError, match="seed cannot change during a run: start a new one"):
        engine.change(identity, seed=3)
    with pytest.raises(ValueError, match="lr must be above 0"):
        engine.change(identity, lr=-1)
    assert engine.change("elsewhere", lr=1).state == "gone"


@pytest.mark.parametrize("pauses", [True, False])
def test_a_resumed_or_delayed_run_does_not_catch_up(paced, pauses):
    identity = paced.start(dataclasses.replace(LONG, pace=100))
    pass_time(paced, 1.0)
    before = paced.command(identity, "pause").step if pauses else paced.snapshot(identity).step
    paced._clock.now += 5.0
    paced.command(identity, "resume")
    pass_time(paced, 1.0)
    status = paced.snapshot(identity)
    assert status.step - before == pytest.approx(100, abs=10)
    assert status.steps_per_second == pytest.approx(100 if pauses else 200 / 7, rel=0.1)


def test_paced_runs_need_no_slot(clock):
    engine = Engine(Limits(workers=0, running=1, waiting=9), clock)
    for _ in range(4):
        engine.start(dataclasses.replace(SMALL, pace=10))
    fast = [engine.start(LONG), engine.start(LONG)]
    states = [status.state for status in engine.list()]
    assert states == ["running"] * 5 + ["waiting"]
    assert engine.change(fast[1], pace=10).state == "running"
    assert engine.change(fast[1], pace=FULL).position == 1


def test_thirty_runs_at_full_pace_all_step_within_3_s():
    """The clock counts six seconds of one worker, which are three of two workers."""
    now = [0.0]

    def take_10_ms(_run):
        now[0] += 0.01

    make = lambda settings: Watched(settings, take_10_ms)  # noqa: E731
    engine = Engine(Limits(workers=0), lambda: now[0], make)
    class_of = [engine.start(dataclasses.replace(LONG, hidden=1, batch=1)) for _ in range(30)]
    while now[0] < 2 * 3.0:
        engine.turn()
    statuses = [engine.snapshot(identity) for identity in class_of]
    assert min(status.step for status in statuses) > 0
    assert {status.sentence for status in statuses} == {"Running, taking turns with 29 others."}
