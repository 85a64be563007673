"""Steps of a run that are kept: looked at, gone on from, branched at, taken away."""

import dataclasses

import pytest

from explorer.training import Engine, Limits, Run, Settings
from tests.training.driving import SMALL, Clock, losses, train, turn_until_idle

BRANCHING = dataclasses.replace(SMALL, rules=("default", "straight_through"))


def finished(engine, settings=BRANCHING, **more):
    identity = engine.start(settings, **more)
    turn_until_idle(engine)
    return identity


def test_slow_motion_shows_the_first_step_of_a_run_at_rest():
    engine = Engine(Limits(workers=0), Clock())
    identity = engine.start(SMALL, paused=True)
    assert engine.measure(identity, "slow_motion", layer=0)["default"]["stages"]
    status = engine.snapshot(identity)
    assert (status.state, status.step) == ("ready", 0)
    waiting = Engine(Limits(workers=0, running=0), Clock())
    identity = waiting.start(SMALL)
    assert waiting.snapshot(identity).state == "waiting"
    with pytest.raises(ValueError, match="no nets to measure"):
        waiting.measure(identity, "slow_motion", layer=0)


def test_a_finished_run_can_be_measured_while_its_nets_are_kept():
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


def test_looking_at_a_checkpoint_does_not_change_the_run(engine):
    identity = finished(engine)
    there = train(BRANCHING, 11)
    seen = engine.look(identity, 11, ("causes",))
    assert (seen.step, engine.snapshot(identity).step) == (11, 40)
    assert repr(seen.losses) == repr(there.snapshot().losses)
    assert set(seen.measured) >= {"causes"}
    asked, expected = engine.measure(identity, "line_search", 11), there.measure("line_search")
    assert repr(asked) == repr(expected)
    assert repr(asked) != repr(engine.measure(identity, "line_search"))
    with pytest.raises(ValueError, match="press Start"):
        engine.look("elsewhere", 3)
    with pytest.raises(ValueError, match="This run no longer exists"):
        engine.export(f"{identity}0", "history")


def test_a_checkpoint_can_be_viewed_while_its_run_continues(engine):
    identity = engine.start(BRANCHING, paused=True)
    for step in range(12):
        if step == 6:
            engine.change(identity, lr=1e-7, sigma=1.0)
        engine.command(identity, "step")
        if step:
            assert engine.look(identity, step - 1).step == step - 1
    seen = engine.look(identity, 9)
    assert (seen.sigma, seen.branch) == (1.0, ((6, "lr", 1e-7),))
    now = engine.snapshot(identity).snapshot.losses
    assert repr(seen.losses) == repr({k: each[:9] for k, each in now.items()})


@pytest.mark.parametrize("branch", [None, (15, "lr", 1e-7), (15, "default", "zero"), (15, "op", "tanh")])
def test_continuing_from_a_kept_step_or_branching_there_equals_an_uninterrupted_run(engine, branch):
    identity = finished(engine, owner="me")
    settings = dataclasses.replace(BRANCHING, branch=[branch] if branch else [])
    expected = losses(train(settings))
    branched = engine.start(settings, "me", paused=True, after=(identity, 15))
    status = engine.command(branched, "step")
    assert (status.state, status.step) == ("paused", 16)
    assert engine.look(branched, 3).step == 3
    engine.command(branched, "resume")
    turn_until_idle(engine)
    assert losses(engine.snapshot(branched)) == expected
    engine.command(branched, "reset")
    assert engine.snapshot(branched).step == 0
    engine.command(branched, "resume")
    turn_until_idle(engine)
    assert losses(engine.snapshot(branched)) == expected


@pytest.mark.parametrize("gone", [True, False])
def test_a_run_without_a_usable_predecessor_starts_at_step_0(engine, gone):
    identity = finished(engine, owner="me")
    other = dataclasses.replace(BRANCHING, seed=4)
    again = engine.start(other, "me", paused=True, after=("elsewhere" if gone else identity, 15))
    assert engine.command(again, "step").step == 1


def test_checkpoints_of_all_runs_stay_within_the_memory_limit(clock):
    size = train(BRANCHING).checkpoints.bytes
    engine = Engine(Limits(workers=0, checkpoint_bytes=2 * size), clock)
    runs = [finished(engine) for _ in range(3)]
    for _ in range(9):
        clock.now += 0.1
        engine.list()
    counts = [len(engine.snapshot(each).snapshot.checkpoints) for each in runs]
    held = [entry.run.checkpoints.bytes for entry in engine._runs]
    assert sum(held) <= 2 * size
    assert counts[0] < counts[2] == 40
    for identity in runs:
        assert engine.look(identity, 0).step == 0
