"""A run in the engine, on a clock of our own: commands, divergence, failures, snapshots."""

import dataclasses
import gc
import weakref

import pytest

from explorer.training import Engine, Limits, Run, Settings
from explorer.training.scheduling.status import SENTENCES, State, describe_state
from explorer.training.system import memory
from tests.training.driving import LONG, SMALL, TICK_S, Watched, losses, train, turn_until_idle


def test_a_run_trains_from_start_to_finish(engine):
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
    assert losses(done) == losses(train(SMALL))


def test_a_paused_run_takes_no_step_until_it_resumes(engine):
    identity = engine.start(SMALL)
    engine.turn()
    paused = engine.command(identity, "pause")
    assert (paused.state, paused.sentence) == ("paused", f"Paused at step {paused.step}.")
    assert not engine.turn()
    for command in ("resume", "step"):
        assert engine.command(identity, command).state == "running"
    turn_until_idle(engine)
    assert losses(engine.snapshot(identity)) == losses(train(SMALL))


@pytest.mark.parametrize(("step", "command", "fails", "left"), [
    (3, "pause", False, ("paused", 3)), (3, "stop", False, ("stopped", 3)),
    (3, "reset", False, ("ready", 0)), (SMALL.steps, "reset", False, ("ready", 0)),
    (3, "reset", True, ("ready", 0)),
])  # fmt: skip
def test_a_command_during_a_slice_takes_effect_after_the_step(clock, step, command, fails, left):
    """After a reset it begins afresh, whatever goes wrong with the run that was taken away."""

    def during(run):
        if run.step == step:
            engine.command(identity, command)
            if fails:
                raise RuntimeError("of the run that was taken away")

    engine = Engine(Limits(workers=0, slice_s=10.0), clock, lambda settings: Watched(settings, during))
    identity = engine.start(SMALL)
    turn_until_idle(engine)
    (seen,) = engine.list()
    assert (seen.state, seen.step) == left
    assert engine.snapshot(identity).snapshot.step == seen.step


def test_the_step_command_advances_a_paused_run_by_one_step(engine):
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


@pytest.mark.parametrize("turns", [0, 1, 100])
def test_reset_returns_a_run_to_its_start_at_any_time(engine, turns):
    identity = engine.start(SMALL)
    for _ in range(turns):
        engine.turn()
    assert engine.command(identity, "reset").step == 0
    turn_until_idle(engine)
    status = engine.snapshot(identity)
    assert (status.state, status.step, status.steps_per_second) == ("ready", 0, 0.0)
    engine.command(identity, "resume")
    turn_until_idle(engine)
    assert losses(engine.snapshot(identity)) == losses(train(SMALL))


def test_an_unknown_command_is_refused(engine):
    with pytest.raises(ValueError, match="unknown command 'explode': use one of pause, resume"):
        engine.command(engine.start(SMALL), "explode")


def test_a_run_that_cannot_be_built_fails(clock):
    def make(_settings):
        raise MemoryError

    engine = Engine(Limits(workers=0), clock, make)
    identity = engine.start(SMALL)
    turn_until_idle(engine)
    assert engine.snapshot(identity).sentence == f"This run failed: {memory.USED_UP}."


@pytest.mark.parametrize("task", ["documents", "digits", "spikes", "digits convolution"])
def test_a_stopped_run_frees_its_memory_at_once(clock, task):
    """Without Python's search for circles of references, which may come much later."""
    nets = []

    def make(settings):
        run = Run(settings)
        nets.extend(map(weakref.ref, (run, run.nets, run.nets.ensemble, run.nets.ensemble.parameters)))
        return run

    engine = Engine(Limits(workers=0), clock, make)
    gc.disable()
    try:
        identity = engine.start(Settings(task=task, device="cpu", pace="full"))
        for _ in range(3):
            engine.turn()
        engine.snapshot(identity, ("causes", "norms"))
        assert all(each() is not None for each in nets)
        stopped = engine.command(identity, "stop")
        assert stopped.sentence == f"Stopped at step {stopped.step}."
        assert [each() for each in nets] == [None] * 4
    finally:
        gc.enable()


@pytest.mark.parametrize(("settings", "words"), [
    (dataclasses.replace(SMALL, op="log"), "the op returned infinity or NaN for finite inputs"),
    # Round's spikes may be any integer: potentials that they reset grow from time to time.
    (Settings(task="spikes", op="round", rules=("default",), device="cpu"),
     "values in the forward pass grew too large for float32"),
])  # fmt: skip
def test_a_run_that_cannot_begin_diverges_at_step_0_with_its_reason(engine, settings, words):
    identity = engine.start(settings, paused=True)
    assert engine.snapshot(identity).state == "ready"
    status = engine.command(identity, "step")
    assert (status.state, status.step, status.snapshot.diverged) == ("diverged", 0, {"default": 0})
    advice = "No learning rate can fix a failure before the first step: choose another op or rule."
    assert status.sentence == f"Diverged at step 0: {words}. {advice}"


def test_snapshots_are_made_only_after_a_request(clock):
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


def test_a_slow_snapshot_does_not_delay_other_statuses(clock):
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


def test_every_state_has_a_sentence(subtests):
    assert set(SENTENCES) == set(State.__args__)
    for state in SENTENCES:
        with subtests.test(state):
            words = describe_state(state, step=3, position=2, note="why")
            assert words[0].isupper() or words.startswith("why")
            assert words.endswith(".")
            assert "{" not in words
