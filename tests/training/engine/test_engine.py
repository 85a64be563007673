import dataclasses
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from explorer.training import FULL, Engine, Limits, Run, Settings
from explorer.training.runs.fused import Together
from explorer.training.scheduling import run_queue as roster
from explorer.training.scheduling.run_queue import Roster
from explorer.training.scheduling.status import SENTENCES, State, state_words
from explorer.training.system import memory
from tests.training.driving import LONG, SMALL, TICK_S, Clock, turn_until_idle


class Watched(Run):
    """A run that calls ``during`` after each step it takes in a slice."""

    def __init__(self, settings, during):
        super().__init__(settings)
        self.during = during

    def advance(self, steps=1):
        super().advance(steps)
        if steps:
            self.during(self)


def losses(status):
    return {rule: values.tolist() for rule, values in status.snapshot.losses.items()}


def alone(settings):
    run = Run(settings)
    run.advance(settings.steps)
    return run.snapshot()


def breaking(settings, at=3):
    """Raises at a step, for the seed 13 only."""

    def during(run):
        if settings.seed == 13 and run.step == at:
            raise RuntimeError("the disk is on fire.\n  traceback, and more")

    return Watched(settings, during)


def test_a_run_from_start_to_finish(engine):
    identity = engine.start(SMALL)
    begun = engine.snapshot(identity)
    assert (begun.state, begun.step, begun.steps, begun.snapshot) == ("running", 0, 40, None)
    engine.turn()
    middle = engine.snapshot(identity)
    assert 0 < middle.step < 40
    assert middle.step == middle.snapshot.step
    assert middle.steps_per_second == pytest.approx(1 / TICK_S, rel=0.7)
    turn_until_idle(engine)
    done = engine.snapshot(identity)
    assert (done.state, done.step, done.sentence) == ("finished", 40, "Finished after 40 steps.")
    assert losses(done) == {rule: values.tolist() for rule, values in alone(SMALL).losses.items()}


def test_pause_and_resume(engine):
    identity = engine.start(SMALL)
    engine.turn()
    paused = engine.command(identity, "pause")
    assert (paused.state, paused.sentence) == ("paused", f"Paused at step {paused.step}.")
    assert not engine.turn()
    assert engine.command(identity, "resume").state == "running"
    turn_until_idle(engine)
    assert losses(engine.snapshot(identity)) == {"default": alone(SMALL).losses["default"].tolist()}


@pytest.mark.parametrize(("command", "state"), [("pause", "paused"), ("stop", "stopped")])
def test_a_command_in_the_middle_of_a_slice_is_heard_after_the_step(clock, command, state):
    def during(run):
        if run.step == 3:
            engine.command(identity, command)

    engine = Engine(Limits(workers=0, slice_s=10.0), clock, lambda settings: Watched(settings, during))
    identity = engine.start(LONG)
    turn_until_idle(engine)
    status = engine.snapshot(identity)
    assert (status.state, status.step) == (state, 3)


@pytest.mark.parametrize("step", [3, SMALL.steps])
def test_reset_in_the_middle_of_a_slice_begins_afresh(clock, step):
    def during(run):
        if run.step == step:
            engine.command(identity, "reset")

    engine = Engine(Limits(workers=0, slice_s=10.0), clock, lambda settings: Watched(settings, during))
    identity = engine.start(SMALL)
    turn_until_idle(engine)
    status = engine.snapshot(identity)
    assert (status.state, status.step, status.snapshot.step) == ("ready", 0, 0)


def test_what_goes_wrong_after_a_reset_does_not_end_the_run_that_begins_afresh(clock):
    def during(run):
        if run.step == 3:
            engine.command(identity, "reset")
            raise RuntimeError("of the run that was taken away")

    engine = Engine(Limits(workers=0, slice_s=10.0), clock, lambda settings: Watched(settings, during))
    identity = engine.start(SMALL)
    turn_until_idle(engine)
    (seen,) = engine.list()
    assert (seen.state, seen.step, seen.sentence) == ("ready", 0, "Ready at step 0: press Start or Step.")


def test_a_run_that_was_reset_takes_no_further_step(clock):
    """Not even when the run that took its place is resumed at once."""
    left = []

    def during(run):
        if not left and run.step == 3:
            left.append(run)
            engine.command(identity, "reset")
            engine.command(identity, "resume")

    engine = Engine(Limits(workers=0, slice_s=10.0), clock, lambda settings: Watched(settings, during))
    identity = engine.start(SMALL)
    turn_until_idle(engine)
    assert left[0].step == 3
    assert losses(engine.snapshot(identity)) == {"default": alone(SMALL).losses["default"].tolist()}


def test_step_by_step(engine):
    identity = engine.start(SMALL, paused=True)
    assert engine.snapshot(identity).sentence == "Ready at step 0: press Start or Step."
    turn_until_idle(engine)
    assert engine.snapshot(identity).snapshot.step == 0
    engine.command(identity, "step")
    engine.command(identity, "step")
    turn_until_idle(engine)
    status = engine.snapshot(identity)
    assert (status.state, status.step) == ("paused", 2)
    for _ in range(38):
        engine.command(identity, "step")
    turn_until_idle(engine)
    assert engine.snapshot(identity).state == "finished"


def test_step_while_running_changes_nothing(engine):
    identity = engine.start(SMALL)
    assert engine.command(identity, "step").state == "running"


@pytest.mark.parametrize("turns", [0, 1, 100])
def test_reset_goes_back_to_the_start_from_anywhere(engine, turns):
    identity = engine.start(SMALL)
    for _ in range(turns):
        engine.turn()
    assert engine.command(identity, "reset").step == 0
    turn_until_idle(engine)
    status = engine.snapshot(identity)
    assert (status.state, status.step, status.steps_per_second) == ("ready", 0, 0.0)
    engine.command(identity, "resume")
    turn_until_idle(engine)
    assert losses(engine.snapshot(identity)) == {"default": alone(SMALL).losses["default"].tolist()}


def test_stop_ends_a_run(engine):
    identity = engine.start(SMALL)
    engine.turn()
    stopped = engine.command(identity, "stop")
    assert stopped.sentence == f"Stopped at step {stopped.step}."
    assert engine.command(identity, "resume").state == "stopped"
    assert not engine.turn()


def test_an_unknown_command_is_refused(engine):
    with pytest.raises(ValueError, match="unknown command 'explode': use one of pause, resume"):
        engine.command(engine.start(SMALL), "explode")


def test_a_failing_run_reports_and_hurts_nobody(clock):
    engine = Engine(Limits(workers=0), clock, breaking)
    bad, good = engine.start(dataclasses.replace(SMALL, seed=13)), engine.start(SMALL)
    turn_until_idle(engine)
    assert engine.snapshot(bad).state == "failed"
    assert engine.snapshot(bad).sentence == "This run failed: the disk is on fire."
    assert losses(engine.snapshot(good)) == {"default": alone(SMALL).losses["default"].tolist()}


def test_a_run_that_cannot_be_built_fails(clock):
    def make(_settings):
        raise MemoryError

    engine = Engine(Limits(workers=0), clock, make)
    identity = engine.start(SMALL)
    turn_until_idle(engine)
    assert engine.snapshot(identity).sentence == f"This run failed: {memory.USED_UP}."


def test_a_diverging_run_keeps_its_curve(engine):
    identity = engine.start(dataclasses.replace(SMALL, lr=1.0))
    turn_until_idle(engine)
    status = engine.snapshot(identity)
    step = status.snapshot.diverged["default"]
    assert status.state == "diverged"
    assert status.sentence.startswith(f"Diverged at step {step}: ")
    assert len(status.snapshot.losses["default"]) == step == status.step > 0


def test_an_op_that_is_undefined_from_the_start_takes_no_step(engine):
    identity = engine.start(dataclasses.replace(SMALL, op="log"), paused=True)
    assert engine.snapshot(identity).state == "ready"
    status = engine.command(identity, "step")
    assert (status.state, status.step, status.snapshot.diverged) == ("diverged", 0, {"default": 0})
    assert status.sentence == (
        "Diverged at step 0: the op gave no finite number for finite inputs. "
        "No rate helps before the first step: choose another op or rule."
    )


def test_an_op_that_is_defined_everywhere_is_not_said_to_be_undefined(engine):
    """Round's spikes may be any integer: potentials that they reset grow from time to time."""
    identity = engine.start(Settings(task="spikes", op="round", device="cpu"), paused=True)
    status = engine.command(identity, "step")
    assert (status.state, status.step) == ("diverged", 0)
    assert "numbers outgrew what float32 holds on the way forward" in status.sentence


def test_one_rule_diverging_does_not_end_the_run(engine):
    identity = engine.start(dataclasses.replace(SMALL, rules=("default", "formula: g / 0")))
    turn_until_idle(engine)
    assert engine.snapshot(identity).state == "finished"


class Broken(Run):
    """Raises where it is told to, once it has gone three steps."""

    def __init__(self, settings, where):
        super().__init__(settings)
        self.where = where

    def advance(self, steps=1):
        super().advance(steps)
        self._break("advance")

    def snapshot(self, shown=()):
        self._break("snapshot")
        return super().snapshot()

    @property
    def finished(self):
        self._break("finished")
        return super().finished

    def _break(self, where):
        if where == self.where and self.step >= 3:
            raise RuntimeError("a bug of ours")


@pytest.mark.parametrize("where", ["advance", "snapshot", "finished"])
def test_an_exception_anywhere_ends_the_run_and_not_the_worker(where):
    engine = Engine(Limits(workers=1), make=lambda s: Broken(s, where) if s.seed == 13 else Run(s))
    try:
        bad, good = engine.start(dataclasses.replace(SMALL, seed=13)), engine.start(SMALL)
        watch(engine, good, "finished")
        assert watch(engine, bad, "failed").sentence == "This run failed: a bug of ours."
    finally:
        engine.close()


def test_an_exception_that_belongs_to_no_run_ends_no_worker(monkeypatch):
    sweep, failures = Roster.sweep, [RuntimeError("a bug of ours")] * 3

    def failing(roster):
        if failures and threading.current_thread().name == "training-0":
            raise failures.pop()
        sweep(roster)

    monkeypatch.setattr(Roster, "sweep", failing)
    engine = Engine(Limits(workers=1))
    try:
        watch(engine, engine.start(SMALL), "finished")
    finally:
        engine.close()
    assert failures == []


def test_snapshots_are_made_when_somebody_asks(clock):
    made = []

    class Counted(Run):
        def snapshot(self, shown=()):
            made.append(self.step)
            return super().snapshot()

    engine = Engine(Limits(workers=0), clock, Counted)
    identity = engine.start(LONG)
    engine.turn()
    engine.turn()
    engine.list()
    assert made == []
    first = engine.snapshot(identity)
    assert first.snapshot is engine.snapshot(identity).snapshot
    assert made == [first.step]
    engine.turn()  # who asked will ask again: it is made while nobody waits
    engine.turn()
    assert len(made) == 2
    assert first.step < made[1] < engine.snapshot(identity).step


def test_a_heavy_run_does_not_hold_who_watches_another(clock):
    class Heavy(Run):
        def snapshot(self, shown=()):
            clock.now += 1.0
            return super().snapshot(shown)

    engine = Engine(Limits(workers=0), clock, Heavy)
    identities = [engine.start(SMALL, name, paused=True) for name in "abc"]
    begun = clock.now
    first, *others = engine.snapshots(dict.fromkeys(identities, ()))
    assert clock.now - begun < 2
    assert (first.snapshot.step, [other.snapshot for other in others]) == (0, [None, None])
    assert [other.state for other in others] == ["ready", "ready"]
    for _ in others:
        last = engine.snapshots(dict.fromkeys(identities, ()))
    assert [status.snapshot.step for status in last] == [0, 0, 0]
    assert engine.snapshots({"nobody-knows": (), identities[0]: ()})[0].state == "gone"


# Pace: with a clock that goes on only when it is told to.


class Still:
    """A clock that stands."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def still():
    return Still()


@pytest.fixture
def paced(still):
    return Engine(Limits(workers=0), still)


def pass_time(engine, still, seconds, tick_s=1 / 64):
    for _ in range(round(seconds / tick_s)):
        still.now += tick_s
        turn_until_idle(engine)


@pytest.mark.parametrize(("pace", "expected"), [(1, 3), (8, 17), (50, 100), (1000, 2000)])
def test_a_run_keeps_its_pace(paced, still, pace, expected):
    identity = paced.start(dataclasses.replace(LONG, pace=pace))
    pass_time(paced, still, 2.0)
    status = paced.snapshot(identity)
    assert status.step == pytest.approx(expected, rel=0.06)
    assert status.steps_per_second == pytest.approx(pace, rel=0.6)


def test_the_first_step_does_not_wait(paced):
    identity = paced.start(dataclasses.replace(LONG, pace=1))
    paced.turn()
    assert paced.snapshot(identity).step == 1


def test_pace_and_lr_change_while_it_runs(paced, still):
    identity = paced.start(dataclasses.replace(LONG, pace=1))
    assert paced.change(identity, pace=1.0).state == "running"
    pass_time(paced, still, 4.0)
    slow = paced.snapshot(identity).step
    assert paced.change(identity, pace=32, lr=1e-9).state == "running"
    pass_time(paced, still, 4.0)
    both = paced.snapshot(identity)
    assert both.step - slow == pytest.approx(128, rel=0.05)
    paced.change(identity, pace=FULL)
    assert paced.command(identity, "pause").state == "paused"
    slowed = both.snapshot.losses["default"][slow:]
    assert abs(slowed - slowed[0]).max() < 0.1 * slowed[0]  # a thousandth of the learning rate


def test_a_changed_learning_rate_holds_from_there_on(engine):
    identity = engine.start(SMALL, paused=True)
    expected = Run(SMALL)
    for lr in (1e-6, 1e-7):
        engine.change(identity, lr=lr)
        engine.command(identity, "step")
        expected.settings = dataclasses.replace(SMALL, lr=lr)
        expected.advance()
    engine.command(identity, "step")
    expected.advance()
    assert losses(engine.snapshot(identity)) == {"default": expected.snapshot().losses["default"].tolist()}


def test_a_learning_rate_may_change_as_often_as_somebody_turns_it(engine, monkeypatch):
    identity = engine.start(SMALL, paused=True)
    rates = [1e-7 * (1 + number) for number in range(12)]
    for rate in rates:
        engine.command(identity, "step")
        status = engine.change(identity, lr=rate)
    assert status.state == "paused"
    assert status.snapshot.branch == tuple((step, "lr", rate) for step, rate in enumerate(rates, 1))
    assert engine.change(identity, lr=rates[-1]).snapshot.branch == status.snapshot.branch
    monkeypatch.setattr(roster, "MAX_BRANCHES", 12)
    with pytest.raises(ValueError, match="branches at most 12 times"):
        engine.change(identity, lr=1.0)
    assert engine.command(identity, "step").state == "paused"
    assert engine.change(identity, pace=3).state == "paused"


def test_a_reset_run_changes_where_it_did_before_and_back_to_the_first_rate(engine):
    identity = engine.start(SMALL, paused=True)
    for rate in (1e-7, SMALL.lr):
        engine.command(identity, "step")
        engine.change(identity, lr=rate)
    branch = ((1, "lr", 1e-7), (2, "lr", SMALL.lr))
    assert engine.command(identity, "reset").snapshot.branch == branch
    engine.command(identity, "resume")
    turn_until_idle(engine)
    assert losses(engine.snapshot(identity)) == curves(dataclasses.replace(SMALL, branch=branch))


def test_what_cannot_change_is_said(engine):
    identity = engine.start(SMALL, paused=True)
    with pytest.raises(ValueError, match="seed cannot change while a run goes on: start a new one"):
        engine.change(identity, seed=3)
    with pytest.raises(ValueError, match="lr must be above 0"):
        engine.change(identity, lr=-1)
    assert engine.change("elsewhere", lr=1).state == "gone"


def test_after_a_pause_nothing_is_made_up_for(paced, still):
    identity = paced.start(dataclasses.replace(LONG, pace=10))
    pass_time(paced, still, 1.0)
    paused = paced.command(identity, "pause").step
    still.now += 5.0
    paced.command(identity, "resume")
    pass_time(paced, still, 1.0)
    assert paced.snapshot(identity).step - paused == pytest.approx(10, abs=1)


def test_a_run_the_engine_was_too_busy_for_does_not_rush(paced, still):
    identity = paced.start(dataclasses.replace(LONG, pace=100))
    pass_time(paced, still, 1.0)
    before = paced.snapshot(identity).step
    still.now += 5.0
    pass_time(paced, still, 1.0)
    assert paced.snapshot(identity).step - before == pytest.approx(100, abs=10)


def test_runs_that_keep_a_pace_need_no_slot(clock):
    engine = Engine(Limits(workers=0, running=1, waiting=9), clock)
    for _ in range(4):
        engine.start(dataclasses.replace(SMALL, pace=10))
    fast = [engine.start(LONG), engine.start(LONG)]
    states = [status.state for status in engine.list()]
    assert states == ["running"] * 5 + ["waiting"]
    assert engine.change(fast[1], pace=10).state == "running"
    assert engine.change(fast[1], pace=FULL).position == 1


def test_a_class_at_full_pace_sees_its_first_steps_soon():
    """Two seconds of one worker's work, and there are two workers."""
    now = [0.0]

    def two_milliseconds(_run):
        now[0] += 0.002

    make = lambda settings: Watched(settings, two_milliseconds)  # noqa: E731
    engine = Engine(Limits(workers=0), lambda: now[0], make)
    class_of = [engine.start(dataclasses.replace(LONG, hidden=1, batch=1)) for _ in range(30)]
    while now[0] < 2 * 3.0:
        engine.turn()
    statuses = [engine.snapshot(identity) for identity in class_of]
    assert min(status.step for status in statuses) > 0
    assert {status.sentence for status in statuses} == {"Running in turn with 29 others."}


@pytest.mark.parametrize("state", State.__args__)
def test_every_state_has_a_sentence(state):
    words = state_words(state, step=3, position=2, note="why")
    assert set(SENTENCES) == set(State.__args__)
    assert words[0].isupper() or words.startswith("why")
    assert words.endswith(".")
    assert "{" not in words


# With real threads.


@pytest.fixture
def threaded():
    engine = Engine(Limits(slice_s=0.02, pause_after_s=60.0))  # on a slow machine nobody has left
    yield engine
    engine.close()


def watch(engine, identity, state, most_s=30.0):
    end = time.monotonic() + most_s
    while (status := engine.snapshot(identity)).state != state and time.monotonic() < end:
        time.sleep(0.005)
    assert status.state == state
    return status


def watch_all(engine, identities, state, most_s=60.0):
    """Look at each again and again: what nobody looks at is paused after a while."""
    end = time.monotonic() + most_s
    while {engine.snapshot(each).state for each in identities} != {state} and time.monotonic() < end:
        time.sleep(0.005)
    assert [engine.snapshot(each).state for each in identities] == [state] * len(identities)


def test_threads_give_the_same_bits(threaded):
    races = [dataclasses.replace(SMALL, steps=300, seed=seed) for seed in range(4)]
    identities = [threaded.start(settings) for settings in races]
    watch_all(threaded, identities, "finished")
    for settings, identity in zip(races, identities, strict=True):
        done = threaded.snapshot(identity)
        assert losses(done) == {"default": alone(settings).losses["default"].tolist()}


def test_pause_stops_within_200_ms(threaded):
    identity = threaded.start(dataclasses.replace(Settings(), steps=5000, pace=FULL, device="cpu"))
    while threaded.snapshot(identity).step == 0:
        time.sleep(0.005)
    begun = time.monotonic()
    paused = threaded.command(identity, "pause")
    assert time.monotonic() - begun < 0.2
    assert paused.state == "paused"
    assert paused.snapshot.step == paused.step > 0
    time.sleep(0.1)
    assert threaded.snapshot(identity).step == paused.step


def test_a_question_does_not_wait_for_the_end_of_a_slice():
    engine = Engine(Limits(workers=1, slice_s=60.0))
    identity = engine.start(LONG)
    try:
        while engine.snapshot(identity).step == 0:
            time.sleep(0.005)
        assert engine.snapshot(identity).state == "running"
    finally:
        engine.close()


def test_a_command_shows_its_effect(threaded):
    identity = threaded.start(SMALL, paused=True)
    assert threaded.command(identity, "step").step == 1
    assert threaded.command(identity, "step").step == 2
    reset = threaded.command(identity, "reset")
    assert (reset.state, reset.snapshot.step) == ("ready", 0)


def test_reset_while_running_from_another_thread(threaded):
    """Whatever a worker is doing, what is shown after a reset is a run that has not begun."""
    identity = threaded.start(LONG)
    for _ in range(30):
        reset = threaded.command(identity, "reset")
        assert (reset.state, reset.step, reset.snapshot.step) == ("ready", 0, 0)
        assert threaded.snapshot(identity).snapshot.losses["default"].size == 0
        threaded.command(identity, "resume")
        time.sleep(0.002)
    threaded.command(identity, "stop")


def test_many_who_ask_and_command_at_once(threaded):
    """Every answer is a whole one: its curve is as long as its step says."""
    identity = threaded.start(dataclasses.replace(LONG, steps=2000))

    def visit(command):
        for _ in range(40):
            status = threaded.command(identity, command) if command else threaded.snapshot(identity)
            if status.snapshot:
                assert status.step == status.snapshot.step
                assert status.snapshot.loss_steps["default"].size <= 500
                assert [*status.snapshot.loss_steps["default"]][-1:] == [status.step - 1][: status.step]
        return True

    with ThreadPoolExecutor(6) as visitors:
        assert all(visitors.map(visit, [None, None, "pause", "resume", "step", "reset"]))


def test_close_ends_the_threads_and_the_runs():
    engine = Engine(Limits(workers=1))
    identity = engine.start(LONG)
    engine.close()
    assert engine.snapshot(identity).state == "gone"
    assert not [thread for thread in threading.enumerate() if thread.name == "training-0"]


def test_the_first_step_of_a_run_at_rest_can_be_looked_at_before_it_is_taken():
    engine = Engine(Limits(workers=0), Clock())
    identity = engine.start(SMALL, paused=True)
    assert engine.measure(identity, "slow_motion", layer=0)["default"]["stages"]
    status = engine.snapshot(identity)
    assert (status.state, status.step) == ("ready", 0)
    waiting = Engine(Limits(workers=0, running=0), Clock())
    identity = waiting.start(SMALL)
    assert waiting.snapshot(identity).state == "waiting"
    with pytest.raises(ValueError, match="nothing to measure yet"):
        waiting.measure(identity, "slow_motion", layer=0)


def test_a_run_that_is_over_can_be_asked_what_it_learnt_while_there_is_room():
    """The nets of the run that was asked about last are kept, those of the one before are let go."""
    lab = Settings(task="circles", rules=("clipped",), hidden=4, steps=1, pace="full", device="cpu")
    room = 3 * Run(lab).numbers // 2
    engine = Engine(Limits(workers=0, kept_numbers=room), Clock())
    first = engine.start(lab, "one")
    turn_until_idle(engine)
    assert engine.snapshot(first, ("causes",)).state == "finished"
    assert len(engine.measure(first, "line_search")["clipped"]["losses"]) == 21
    assert engine.change(first, sigma=2.0).snapshot.sigma == 2.0
    second = engine.start(lab, "two")
    turn_until_idle(engine)
    engine.snapshot(second)
    assert engine.measure(second, "unit", layer=0, cause=0)
    with pytest.raises(ValueError, match="press Start"):
        engine.measure(first, "line_search")
    with pytest.raises(ValueError, match="this run is lost"):
        engine.measure("nobody-knows", "line_search")


BRANCHING = dataclasses.replace(SMALL, rules=("default", "straight_through"))


def curves(settings):
    return {rule: series.tolist() for rule, series in alone(settings).losses.items()}


def finished(engine, settings=BRANCHING, **more):
    identity = engine.start(settings, **more)
    turn_until_idle(engine)
    return identity


def test_a_kept_step_is_looked_at_while_the_run_stays_as_it_is(engine):
    identity = finished(engine)
    there = Run(BRANCHING)
    there.advance(11)
    seen = engine.look(identity, 11, ("causes",))
    assert (seen.step, engine.snapshot(identity).step) == (11, 40)
    assert repr(seen.losses) == repr(there.snapshot().losses)
    assert set(seen.measured) >= {"causes"}
    asked, expected = engine.measure(identity, "line_search", 11), there.measure("line_search")
    assert repr(asked) == repr(expected)
    assert repr(asked) != repr(engine.measure(identity, "line_search"))
    with pytest.raises(ValueError, match="press Start"):
        engine.look("elsewhere", 3)


def test_a_kept_step_is_looked_at_while_the_run_goes_on_and_was_changed(engine):
    identity = engine.start(BRANCHING, paused=True)
    for step in range(12):
        if step == 6:
            engine.change(identity, lr=1e-7, sigma=1.0)
        engine.command(identity, "step")
        if step:
            assert engine.look(identity, step - 1).step == step - 1
    seen = engine.look(identity, 9)
    assert (seen.sigma, seen.branch) == (1.0, ((6, "lr", 1e-7),))
    assert repr(seen.losses) == repr(
        {k: each[:9] for k, each in engine.snapshot(identity).snapshot.losses.items()}
    )


def test_who_goes_on_from_a_kept_step_is_uninterrupted(engine):
    identity = finished(engine, owner="me")
    again = engine.start(BRANCHING, "me", after=(identity, 15))
    assert engine.list()[1].state == "running"
    turn_until_idle(engine)
    status = engine.snapshot(again)
    assert (status.state, status.step) == ("finished", 40)
    assert losses(status) == curves(BRANCHING)


@pytest.mark.parametrize("branch", [((15, "lr", 1e-7),), ((15, "default", "zero"),), ((15, "op", "tanh"),)])
def test_a_branch_takes_its_steps_alone_and_is_its_settings_run(engine, branch):
    identity = finished(engine, owner="me")
    settings = dataclasses.replace(BRANCHING, branch=branch)
    branched = engine.start(settings, "me", paused=True, after=(identity, 15))
    status = engine.command(branched, "step")
    assert (status.state, status.step) == ("paused", 16)
    assert engine.look(branched, 3).step == 3
    engine.command(branched, "resume")
    turn_until_idle(engine)
    assert losses(engine.snapshot(branched)) == curves(settings)
    engine.command(branched, "reset")
    assert engine.snapshot(branched).step == 0
    engine.command(branched, "resume")
    turn_until_idle(engine)
    assert losses(engine.snapshot(branched)) == curves(settings)


@pytest.mark.parametrize("gone", [True, False])
def test_of_a_run_that_is_gone_or_did_something_else_it_begins_at_the_start(engine, gone):
    identity = finished(engine, owner="me")
    other = dataclasses.replace(BRANCHING, seed=4)
    again = engine.start(other, "me", paused=True, after=("elsewhere" if gone else identity, 15))
    assert engine.command(again, "step").step == 1


def test_no_more_states_are_kept_than_there_is_room_for_two_runs(clock):
    size = finished_bytes()
    engine = Engine(Limits(workers=0, checkpoint_bytes=2 * size), clock)
    runs = [finished(engine) for _ in range(3)]
    for _ in range(9):
        clock.now += 0.1
        engine.list()
    counts = [len(engine.snapshot(each).snapshot.checkpoints) for each in runs]
    held = [entry.run.checkpoints.bytes for entry in engine._roster]
    assert sum(held) <= 2 * size
    assert counts[0] < counts[2] == 40
    for identity in runs:
        assert engine.look(identity, 0).step == 0


def finished_bytes():
    run = Run(BRANCHING)
    run.advance(40)
    return run.checkpoints.bytes


def test_what_is_taken_away_is_what_the_run_did(engine):
    identity = engine.start(SMALL, paused=True)
    _, history = engine.taken(identity, "history")
    assert history["step"].tolist() == [0]
    with pytest.raises(ValueError, match="This run is gone"):
        engine.taken(f"{identity}0", "history")
    engine.command(identity, "step")
    engine.change(identity, lr=1e-9)
    engine.command(identity, "step")
    settings, history = engine.taken(identity, "history")
    assert settings.branch == ((1, "lr", 1e-9),)
    assert history["step"].tolist() == [0, 1, 2]
    _, weights = engine.taken(identity, "weights")
    assert set(weights) == {"default.0.0.weight", "default.0.1.weight"}


CLASS = Settings(task="digits", steps=30, pace=FULL, device="cpu")


def class_at(engine, count=5):
    return {seed: engine.start(dataclasses.replace(CLASS, seed=seed), str(seed)) for seed in range(count)}


def assert_all_ended_as_alone(engine, runs):
    for seed, identity in runs.items():
        status = engine.snapshot(identity)
        own = alone(dataclasses.replace(CLASS, seed=seed))
        assert (status.state, losses(status)) == ("finished", {k: v.tolist() for k, v in own.losses.items()})
        assert np.array_equal(own.score["default"], status.snapshot.score["default"])


def test_a_class_on_one_task_goes_together(clock, monkeypatch):
    """A turn takes all of them on, however few may run at once, and each has what it would have alone."""
    sizes = []

    class Counted(Together):
        def __init__(self, runs):
            super().__init__(runs)
            sizes.append(len(self.runs))

    monkeypatch.setattr("explorer.training.engine.engine.Together", Counted)
    engine = Engine(Limits(workers=0, running=2), clock)
    runs = class_at(engine)
    other = engine.start(LONG)
    while max(sizes, default=0) < 5:
        engine.turn()
    before = [engine.snapshot(identity).step for identity in runs.values()]
    engine.turn()
    if engine.snapshot(runs[0]).step == before[0]:
        engine.turn()
    assert all(engine.snapshot(run).step > step for run, step in zip(runs.values(), before, strict=True))
    assert engine.snapshot(other).step > 0
    engine.command(other, "stop")
    turn_until_idle(engine)
    assert_all_ended_as_alone(engine, runs)


def test_who_pauses_or_goes_at_a_pace_leaves_the_class(clock):
    engine = Engine(Limits(workers=0), clock)
    runs = class_at(engine)
    for _ in range(8):
        engine.turn()
    paused = engine.command(runs[1], "pause")
    engine.change(runs[2], lr=1.0)
    engine.change(runs[3], pace=1.0)
    while engine.list()[4].step < 20:
        engine.turn()
    assert engine.snapshot(runs[1]).step == paused.step
    assert engine.snapshot(runs[4]).step > engine.snapshot(runs[3]).step
    assert engine.snapshot(runs[2]).snapshot.branch[0][1:] == ("lr", 1.0)


def test_what_goes_wrong_together_ends_nobody(clock, monkeypatch, caplog):
    def broken(_together):
        raise RuntimeError("no memory for so many")

    monkeypatch.setattr(Together, "advance", broken)
    engine = Engine(Limits(workers=0), clock)
    runs = class_at(engine)
    turn_until_idle(engine)
    assert_all_ended_as_alone(engine, runs)
    assert "runs failed together" in caplog.text


def test_a_step_that_not_all_have_noted_ends_who_went_together(clock, monkeypatch):
    took = Run.took

    def broken(run, numbers):
        if run.settings.seed == 2 and run.step == 3:
            raise RuntimeError("the series is full")
        return took(run, numbers)

    engine = Engine(Limits(workers=0), clock)
    runs, other = class_at(engine), engine.start(SMALL)
    monkeypatch.setattr(Run, "took", broken)
    turn_until_idle(engine)
    failed = [status for run in runs.values() if (status := engine.snapshot(run)).state == "failed"]
    assert len(failed) > 1
    assert {status.sentence for status in failed} == {"This run failed: the series is full."}
    assert engine.snapshot(other).state == "finished"


def test_who_asks_for_several_has_them_stand_still_until_all_are_seen(engine):
    runs = class_at(engine)
    for _ in range(6):
        engine.turn()
    seen = []
    roster = engine._roster
    original = roster.status

    def status(entry):
        seen.append([each.callers for each in roster])
        return original(entry)

    roster.status = status
    engine.snapshots(dict.fromkeys(runs.values(), ()))
    assert all(all(callers) for callers in seen)
    assert not any(entry.callers for entry in roster)
