"""A run in the engine, on a clock of our own: commands, divergence, failures, snapshots."""

import dataclasses
import gc
import weakref

import pytest
import torch

from explorer.training import Engine, Limits, Run, Settings
from explorer.training.scheduling.status import SENTENCES, State, describe_state
from explorer.training.system import memory
from tests.training.driving import LONG, SMALL, TICK_S, Watched, losses, train_alone, turn_until_idle


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
    assert losses(done) == {rule: values.tolist() for rule, values in train_alone(SMALL).losses.items()}


def test_a_paused_run_takes_no_step_until_it_resumes(engine):
    identity = engine.start(SMALL)
    engine.turn()
    paused = engine.command(identity, "pause")
    assert (paused.state, paused.sentence) == ("paused", f"Paused at step {paused.step}.")
    assert not engine.turn()
    assert engine.command(identity, "resume").state == "running"
    turn_until_idle(engine)
    assert losses(engine.snapshot(identity)) == {"default": train_alone(SMALL).losses["default"].tolist()}


@pytest.mark.parametrize(
    ("step", "command", "fails", "left"),
    [
        (3, "pause", False, ("paused", 3)), (3, "stop", False, ("stopped", 3)),
        (3, "reset", False, ("ready", 0)), (SMALL.steps, "reset", False, ("ready", 0)),
        (3, "reset", True, ("ready", 0)),
    ],
)  # fmt: skip
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


def test_the_step_command_does_not_pause_a_running_run(engine):
    identity = engine.start(SMALL)
    assert engine.command(identity, "step").state == "running"


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
    assert losses(engine.snapshot(identity)) == {"default": train_alone(SMALL).losses["default"].tolist()}


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


def test_a_run_that_cannot_be_built_fails(clock):
    def make(_settings):
        raise MemoryError

    engine = Engine(Limits(workers=0), clock, make)
    identity = engine.start(SMALL)
    turn_until_idle(engine)
    assert engine.snapshot(identity).sentence == f"This run failed: {memory.USED_UP}."


def test_running_out_of_device_memory_fails_only_that_run(clock):
    """In the words of CUDA's allocator, in the middle of a run."""

    class Greedy(Run):
        def advance(self, steps=1):
            if self.settings.seed == 13 and self.step == 3:
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.\n…")
            super().advance(steps)

    engine = Engine(Limits(workers=0), clock, Greedy)
    greedy, other = engine.start(dataclasses.replace(SMALL, seed=13)), engine.start(SMALL)
    turn_until_idle(engine)
    failed = engine.snapshot(greedy)
    assert failed.state == "failed"
    assert failed.sentence == f"This run failed: {memory.USED_UP}."
    assert losses(engine.snapshot(other)) == {"default": train_alone(SMALL).losses["default"].tolist()}
    again = engine.start(SMALL)
    turn_until_idle(engine)
    assert engine.snapshot(again).state == "finished"


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
        engine.command(identity, "stop")
        assert [each() for each in nets] == [None] * 4
    finally:
        gc.enable()


def test_a_diverging_run_keeps_its_curve(engine):
    identity = engine.start(dataclasses.replace(SMALL, lr=1.0))
    turn_until_idle(engine)
    status = engine.snapshot(identity)
    step = status.snapshot.diverged["default"]
    assert status.state == "diverged"
    assert status.sentence.startswith(f"Diverged at step {step}: ")
    assert len(status.snapshot.losses["default"]) == step == status.step > 0


def test_a_run_whose_op_is_undefined_diverges_at_step_0(engine):
    identity = engine.start(dataclasses.replace(SMALL, op="log"), paused=True)
    assert engine.snapshot(identity).state == "ready"
    status = engine.command(identity, "step")
    assert (status.state, status.step, status.snapshot.diverged) == ("diverged", 0, {"default": 0})
    assert status.sentence == (
        "Diverged at step 0: the op returned infinity or NaN for finite inputs. "
        "No learning rate can fix a failure before the first step: choose another op or rule."
    )


def test_an_op_that_is_defined_everywhere_is_not_reported_as_undefined(engine):
    """Round's spikes may be any integer: potentials that they reset grow from time to time."""
    identity = engine.start(Settings(task="spikes", op="round", device="cpu"), paused=True)
    status = engine.command(identity, "step")
    assert (status.state, status.step) == ("diverged", 0)
    assert "values in the forward pass grew too large for float32" in status.sentence


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
