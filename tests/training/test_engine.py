import dataclasses
import threading
import time

import pytest

from explorer.training import Engine, Limits, Run, Settings
from explorer.training.picture import SENTENCES, State, sentence
from tests.training.driving import LONG, SMALL, TICK_S, turn_until_idle


class Watched(Run):
    """A run that calls ``during`` after each step it takes in a slice."""

    def __init__(self, settings, during):
        super().__init__(settings)
        self.during = during

    def advance(self, steps=1):
        super().advance(steps)
        if steps:
            self.during(self)


def losses(picture):
    return {rule: values.tolist() for rule, values in picture.snapshot.losses.items()}


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
    picture = engine.snapshot(identity)
    assert (picture.state, picture.step) == (state, 3)


@pytest.mark.parametrize("step", [3, SMALL.steps])
def test_reset_in_the_middle_of_a_slice_begins_afresh(clock, step):
    def during(run):
        if run.step == step:
            engine.command(identity, "reset")

    engine = Engine(Limits(workers=0, slice_s=10.0), clock, lambda settings: Watched(settings, during))
    identity = engine.start(SMALL)
    turn_until_idle(engine)
    picture = engine.snapshot(identity)
    assert (picture.state, picture.step, picture.snapshot.step) == ("ready", 0, 0)


def test_step_by_step(engine):
    identity = engine.start(SMALL, paused=True)
    assert engine.snapshot(identity).sentence == "Ready at step 0: press Start or Step."
    turn_until_idle(engine)
    assert engine.snapshot(identity).snapshot.step == 0
    engine.command(identity, "step")
    engine.command(identity, "step")
    turn_until_idle(engine)
    picture = engine.snapshot(identity)
    assert (picture.state, picture.step) == ("paused", 2)
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
    picture = engine.snapshot(identity)
    assert (picture.state, picture.step, picture.steps_per_second) == ("ready", 0, 0.0)
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
    assert engine.snapshot(identity).sentence == "This run failed: MemoryError."


def test_a_diverging_run_keeps_its_curve(engine):
    identity = engine.start(dataclasses.replace(SMALL, lr=1.0))
    turn_until_idle(engine)
    picture = engine.snapshot(identity)
    step = picture.snapshot.diverged["default"]
    assert picture.state == "diverged"
    assert picture.sentence.startswith(f"Diverged at step {step}: ")
    assert len(picture.snapshot.losses["default"]) == step > 0


def test_one_rule_diverging_does_not_end_the_run(engine):
    identity = engine.start(dataclasses.replace(SMALL, rules=("default", "formula: g / 0")))
    turn_until_idle(engine)
    assert engine.snapshot(identity).state == "finished"


@pytest.mark.parametrize("state", State.__args__)
def test_every_state_has_a_sentence(state):
    words = sentence(state, step=3, position=2, diverged=5, note="why")
    assert set(SENTENCES) == set(State.__args__)
    assert words[0].isupper() or words.startswith("why")
    assert words.endswith(".")
    assert "{" not in words


# With real threads.


@pytest.fixture
def threaded():
    engine = Engine(Limits(slice_s=0.02))
    yield engine
    engine.close()


def watch(engine, identity, state, most_s=30.0):
    end = time.monotonic() + most_s
    while (picture := engine.snapshot(identity)).state != state and time.monotonic() < end:
        time.sleep(0.005)
    assert picture.state == state
    return picture


def test_threads_give_the_same_bits(threaded):
    races = [dataclasses.replace(SMALL, steps=300, seed=seed) for seed in range(4)]
    identities = [threaded.start(settings) for settings in races]
    for settings, identity in zip(races, identities, strict=True):
        done = watch(threaded, identity, "finished")
        assert losses(done) == {"default": alone(settings).losses["default"].tolist()}


def test_pause_stops_within_200_ms(threaded):
    identity = threaded.start(Settings(steps=5000, device="cpu"))
    while threaded.snapshot(identity).step == 0:
        time.sleep(0.005)
    begun = time.monotonic()
    paused = threaded.command(identity, "pause")
    assert time.monotonic() - begun < 0.2
    assert paused.state == "paused"
    assert paused.snapshot.step == paused.step > 0
    time.sleep(0.1)
    assert threaded.snapshot(identity).step == paused.step


def test_a_command_shows_its_effect(threaded):
    identity = threaded.start(SMALL, paused=True)
    assert threaded.command(identity, "step").step == 1
    assert threaded.command(identity, "step").step == 2
    reset = threaded.command(identity, "reset")
    assert (reset.state, reset.snapshot.step) == ("ready", 0)


def test_close_ends_the_threads_and_the_runs():
    engine = Engine(Limits(workers=1))
    identity = engine.start(LONG)
    engine.close()
    assert engine.snapshot(identity).state == "gone"
    assert not [thread for thread in threading.enumerate() if thread.name == "training-0"]
