import dataclasses

import pytest

from explorer.training import Engine, EngineFull, Limits, Run
from tests.training.driving import LONG, SMALL, TICK_S, states, turn_until_idle


def test_limits_at_two(clock):
    engine = Engine(Limits(workers=0, running=2, waiting=2), clock)
    identities = [engine.start(SMALL) for _ in range(4)]
    assert states(engine) == ["running", "running", "waiting", "waiting"]
    assert [engine.snapshot(identity).position for identity in identities] == [None, None, 1, 2]
    assert engine.snapshot(identities[3]).sentence == "Waiting for a free place: number 2 in the queue."
    with pytest.raises(
        EngineFull, match="4 runs are running or waiting already: try again in about a minute"
    ):
        engine.start(SMALL)
    engine.command(identities[0], "stop")
    assert engine.snapshot(identities[2]).state == "running"
    assert engine.snapshot(identities[3]).position == 1
    engine.start(SMALL)
    turn_until_idle(engine)
    assert states(engine) == ["stopped", *["finished"] * 4]


def test_a_refused_start_leaves_the_earlier_run_as_it_was(clock):
    engine = Engine(Limits(workers=0, running=1, waiting=1), clock)
    mine = engine.start(LONG, "ada")
    engine.turn()
    before = engine.command(mine, "pause")
    others = [engine.start(LONG), engine.start(LONG)]
    with pytest.raises(EngineFull):
        engine.start(SMALL, "ada")
    assert engine.snapshot(mine) == before
    assert before.step > 0
    assert states(engine) == ["paused", "running", "waiting"]
    engine.command(others[0], "stop")
    engine.command(mine, "resume")
    engine.command(others[1], "stop")
    engine.turn()
    assert engine.snapshot(mine).step > before.step


def test_a_new_run_takes_the_place_of_its_owners_earlier_one_in_a_full_house(clock):
    engine = Engine(Limits(workers=0, running=1, waiting=1), clock)
    first, _ = engine.start(LONG, "ada"), engine.start(LONG, "bob")
    second = engine.start(SMALL, "ada")
    assert engine.snapshot(first).sentence == "Stopped at step 0 because another run was started."
    assert states(engine) == ["stopped", "running", "waiting"]
    assert engine.snapshot(second).position == 1


def test_resume_is_refused_while_too_many_wait(clock):
    engine = Engine(Limits(workers=0, running=1, waiting=1), clock)
    paused = engine.start(SMALL, paused=True)
    engine.start(LONG)
    engine.start(LONG)
    with pytest.raises(EngineFull):
        engine.command(paused, "resume")
    assert engine.snapshot(paused).state == "ready"


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


def test_what_is_held_open_is_bounded(clock):
    """Nobody can fill the memory with runs that are begun and left at rest."""
    engine = Engine(Limits(workers=0, running=1, waiting=1, idle=2), clock)
    held = [engine.start(SMALL, name, paused=True) for name in ("ada", "bob")]
    with pytest.raises(EngineFull, match="2 runs are held open already: try again in about a minute"):
        engine.start(SMALL, "eve", paused=True)
    assert engine.start(SMALL, "ada", paused=True)  # in the place of her own
    assert engine.snapshot(held[1]).state == "ready"
    clock.now += 10.0  # nobody watches
    assert engine.start(SMALL, "eve", paused=True)


def test_a_third_run_of_a_share_is_refused_and_others_come_in(clock):
    engine = Engine(Limits(workers=0), clock)
    mine, all_here = {"me": 2, "here": 9}, {"you": 9, "here": 2}
    for name in ("ada", "bob"):
        engine.start(LONG, name, shares=mine)
    words = "2 runs from your network already run or wait: stop one of them first"
    for shares in (mine, all_here):
        with pytest.raises(EngineFull, match=words):
            engine.start(LONG, "eve", shares=shares)
    assert engine.start(LONG, "eve", shares={"she": 2, "there": 2})
    paused = engine.start(LONG, "bob", shares=mine, paused=True)  # her own earlier one ends
    engine.start(LONG, "cyn", shares=mine)
    with pytest.raises(EngineFull, match=words):
        engine.command(paused, "resume")


def test_of_a_share_no_more_are_held_open(clock):
    engine = Engine(Limits(workers=0), clock)
    for name in ("ada", "bob"):
        engine.start(LONG, name, shares={"me": 2}, paused=True)
    with pytest.raises(EngineFull, match="2 runs from your network are held open: close the page of one"):
        engine.start(LONG, "eve", shares={"me": 2}, paused=True)
    assert engine.start(LONG, "eve", shares={"you": 2}, paused=True)


@pytest.fixture
def timed():
    """An engine on a clock of its own, on which every step takes a millisecond."""
    now = [0.0]

    class Timed(Run):
        def advance(self, steps=1):
            super().advance(steps)
            now[0] += 0.001

    return Engine(Limits(workers=0), lambda: now[0], Timed)


def test_visitors_take_turns_and_not_their_runs(timed):
    """Whoever invents eighty owners gets the turns of one visitor."""
    engine, small = timed, dataclasses.replace(LONG, hidden=1, batch=1)
    for number in range(80):
        engine.start(small, f"owner {number}", shares={"many": 99})
    one = engine.start(small, "ada", shares={"one": 99})
    for _ in range(400):
        engine.turn()
    steps = [status.step for status in engine.list()]
    assert steps[80] == pytest.approx(sum(steps[:80]), rel=0.1)
    assert max(steps[:80]) - min(steps[:80]) <= 4
    engine.command(one, "stop")
    engine.turn()
    assert len(engine._roster._queue) == 80
    engine._roster.clear()
    assert not engine.turn()
    assert not len(engine._roster._queue)


def test_who_could_not_ask_loses_no_lease(clock):
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


def test_a_reset_forgets_what_was_changed_while_a_run_waited(clock):
    engine = Engine(Limits(workers=0, running=1), clock)
    _, waiting = engine.start(LONG), engine.start(SMALL)
    engine.change(waiting, lr=1e-9)
    assert engine.command(waiting, "reset").snapshot.lr == SMALL.lr


def test_who_has_a_slot_keeps_it_until_it_was_used(clock):
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


def test_a_forgotten_run_pauses_and_then_goes(engine, clock):
    identity = engine.start(LONG)
    engine.turn()
    clock.now += 10.0
    assert not engine.turn()
    (status,) = engine.list()
    assert status.sentence == f"Paused at step {status.step} because nobody was watching."
    clock.now += 60.0
    assert engine.list() == ()
    gone = engine.snapshot(identity)
    assert (gone.state, gone.sentence) == ("gone", "This run is gone: press Start to run it again.")
    assert engine.command(identity, "step").state == "gone"


def test_a_run_that_nobody_knows_is_gone(engine):
    gone = engine.command("elsewhere-1", "pause")
    assert gone.state == "gone"
    assert "lost" in gone.sentence


def test_promises_of_the_default_limits():
    limits = Limits()
    assert (limits.running, limits.waiting) == (2, 400)
    assert limits.pause_after_s + 0.5 < 10
    assert limits.forget_after_s + 0.5 < 70
