"""Runs in the queue: what is held open, slots and turns, and leases."""

import pytest

from explorer.training import Engine, EngineFull, Limits, Run
from tests.training.driving import LONG, SMALL, TICK_S, turn_until_idle


def test_idle_runs_are_kept_up_to_their_limit(clock):
    engine = Engine(Limits(workers=0, idle=2), clock)
    first, forgotten, second = (engine.start(SMALL, paused=True) for _ in range(3))
    clock.now += 5.0
    engine.snapshot(first)
    engine.snapshot(second)
    clock.now += 5.0  # the one in the middle has no watcher any more
    new = engine.start(SMALL, paused=True)
    assert [engine.snapshot(identity).state for identity in (first, forgotten, second, new)] == [
        "ready", "gone", "ready", "ready",
    ]  # fmt: skip


@pytest.mark.parametrize("state", ["ready", "paused", "finished"])
def test_a_run_that_is_watched_is_never_dropped_for_others(clock, state):
    awake = [0.0]
    engine = Engine(Limits(workers=0, idle=2), clock, lease_clock=lambda: awake[0])
    watched = [engine.start(SMALL, f"visitor {number}", paused=state == "ready") for number in range(4)]
    for identity in watched:
        if state == "paused":
            engine.command(identity, "pause")
    turn_until_idle(engine)
    for number in range(20):
        awake[0] += 4.0
        for identity in watched:
            assert engine.snapshot(identity).state == state
        engine.start(SMALL, f"passer-by {number}", paused=True)  # and looks at it no more
    assert len(engine.list()) < len(watched) + 10


def test_the_number_of_open_runs_is_bounded(clock):
    engine = Engine(Limits(workers=0, running=1, waiting=1, idle=2), clock)
    held = [engine.start(SMALL, name, paused=True) for name in ("ada", "bob")]
    with pytest.raises(EngineFull, match=r"2 runs are open\. Try again in about a minute"):
        engine.start(SMALL, "eve", paused=True)
    assert engine.start(SMALL, "ada", paused=True)  # in the place of her own
    assert engine.snapshot(held[1]).state == "ready"
    clock.now += 10.0  # nobody watches
    assert engine.start(SMALL, "eve", paused=True)


def test_a_network_cannot_hold_more_runs_open_than_its_share(engine):
    for name in ("ada", "bob"):
        engine.start(LONG, name, shares={"me": 2}, paused=True)
    with pytest.raises(EngineFull, match="Your network has 2 runs open: close one of their pages"):
        engine.start(LONG, "eve", shares={"me": 2}, paused=True)
    assert engine.start(LONG, "eve", shares={"you": 2}, paused=True)


def test_watchers_of_a_suspended_server_keep_their_lease(clock):
    """A server that was stopped itself: the training went on, and its watchers could not be served."""
    awake = [0.0]
    engine = Engine(Limits(workers=0), clock, lease_clock=lambda: awake[0])
    identity = engine.start(LONG)
    clock.now += 100.0
    assert engine.turn()
    assert [status.state for status in engine.list()] == ["running"]
    awake[0] += 10.0
    assert not engine.turn()
    assert "nobody was watching" in engine.list()[0].sentence
    awake[0] += 60.0
    assert engine.snapshot(identity).state == "gone"


def test_a_waiting_run_is_not_built_yet(clock):
    built = []
    limits = Limits(workers=0, running=1, turn_s=5.0)
    engine = Engine(limits, clock, lambda settings: built.append(1) or Run(settings))
    engine.start(LONG)
    engine.start(LONG)
    for _ in range(3):
        engine.turn()
    assert len(built) == 1


def test_a_long_run_yields_its_slot_after_its_turn(clock):
    engine = Engine(Limits(workers=0, running=1, turn_s=1.0), clock)
    long, short = engine.start(LONG), engine.start(SMALL)
    engine.turn()
    clock.now += 1.0
    engine.turn()
    assert (engine.snapshot(long).position, engine.snapshot(short).state) == (1, "running")
    while engine.snapshot(short).state == "running":
        engine.turn()
    engine.turn()
    assert engine.snapshot(long).state == "running"


def test_a_reset_discards_changes_made_while_a_run_waited(clock):
    engine = Engine(Limits(workers=0, running=1), clock)
    _, waiting = engine.start(LONG), engine.start(SMALL)
    engine.change(waiting, lr=1e-9)
    assert engine.command(waiting, "reset").snapshot.lr == SMALL.lr


def test_a_slot_is_kept_until_it_is_used(clock):
    """However long others hold the worker, nobody is sent to the end of the line without a step."""
    engine = Engine(Limits(workers=0, running=1, turn_s=0.01), clock)
    identities = [engine.start(LONG) for _ in range(3)]
    for _ in range(6):
        clock.now += 1.0  # longer than a turn, between two of them
        engine.turn()
    steps = [engine.snapshot(identity).step for identity in identities]
    assert min(steps) > 0
    assert max(steps) - min(steps) <= max(steps) / 2


def test_a_turn_is_short_while_others_wait(clock):
    limits = Limits(workers=0, running=1, turn_s=4 * TICK_S, slice_s=100 * TICK_S)
    engine = Engine(limits, clock)
    alone = engine.start(LONG)
    engine.turn()
    whole = engine.snapshot(alone).step
    other = engine.start(LONG)
    engine.turn()
    assert 0 < engine.snapshot(other).step < whole / 4


def test_the_default_limits_match_the_promised_values():
    limits = Limits()
    assert (limits.running, limits.waiting) == (2, 400)
    assert limits.pause_after_s + 0.5 < 10
    assert limits.forget_after_s + 0.5 < 70
