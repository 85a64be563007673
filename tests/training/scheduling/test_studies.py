"""Studies in the engine: what is done is kept, places go round, and runs have the time they want."""

import math
from collections import Counter
from dataclasses import replace

import pytest

from explorer.training import Engine, Limits
from tests.training.driving import LONG, TICK_S, turn_until_idle
from tests.training.scheduling.counting import Chunk, Counting, make_counting

FULL_PACE = replace(LONG, pace="full")


def engine_of(clock, **limits):
    return Engine(Limits(workers=0, **limits), clock)


def test_a_study_runs_from_start_to_finish(clock):
    engine = engine_of(clock)
    identity = engine.start_study(make_counting(clock), "plan")
    begun = engine.snapshot(identity)
    assert (begun.state, begun.sentence, begun.rows, begun.steps) == ("running", "Running.", (), 0)
    for _ in range(5):
        assert engine.turn()
    half = engine.snapshot(identity)
    assert (half.step, half.steps, half.rows) == (5, 12, tuple(range(5)))
    assert half.left_s == pytest.approx(7 * 0.01, rel=0.9, abs=7 * 8 * TICK_S)
    turn_until_idle(engine)
    done = engine.snapshot(identity)
    found = (done.state, done.sentence, done.rows, done.left_s)
    assert found == ("finished", "Finished.", tuple(range(12)), None)


@pytest.mark.parametrize("leaves", [False, True], ids=["stopped", "not watched"])
def test_a_paused_study_continues_where_it_stopped(clock, leaves):
    made = []
    engine = engine_of(clock)
    identity = engine.start_study(
        lambda _plan, rows: made.append(tuple(rows)) or Counting(tuple(rows), clock), "plan"
    )
    for _ in range(3):
        engine.turn()
    if leaves:
        clock.now += 10
        assert not engine.turn()
    else:
        assert engine.command(identity, "pause").sentence == "Stopped: finished runs are kept."
    paused = engine.snapshot(identity)
    assert (paused.state, paused.rows, engine.turn()) == ("paused", (0, 1, 2), False)
    assert engine.command(identity, "resume").state == "running"
    turn_until_idle(engine)
    assert engine.snapshot(identity).rows == tuple(range(12))
    assert made == ([(), (0, 1, 2)] if leaves else [()])  # of what nobody watches only the rows stay


def test_finished_studies_are_kept_up_to_their_limit(clock):
    engine = engine_of(clock, idle=2)
    started = [engine.start_study(make_counting(clock, total=1), "plan") for _ in range(4)]
    turn_until_idle(engine)
    assert Counter(engine.snapshot(each).state for each in started) == {"gone": 2, "finished": 2}


def test_an_error_ends_only_its_study(clock):
    class Broken(Counting):
        def advance(self, seconds):
            raise RuntimeError("the disk is on fire.\n  traceback, and more")

    engine = engine_of(clock)
    broken = engine.start_study(lambda _plan, _rows: Broken(), "plan")
    sound = engine.start_study(make_counting(clock), "plan")
    turn_until_idle(engine)
    assert engine.snapshot(broken).sentence == "This study failed: the disk is on fire."
    assert engine.snapshot(sound).state == "finished"


@pytest.mark.parametrize("cost_s", [0.1, 0.5])
def test_a_study_gets_its_share_next_to_runs_for_any_slice_length(clock, cost_s):
    spent = 0.0

    class Greedy(Counting):
        def advance(self, seconds):
            nonlocal spent
            before = self.clock.now
            super().advance(seconds)
            spent += self.clock.now - before
            return ()

    engine = engine_of(clock, pause_after_s=math.inf, forget_after_s=math.inf)
    runs = [engine.start(FULL_PACE, str(number)) for number in range(3)]
    engine.start_study(lambda _plan, _rows: Greedy(clock=clock, total=10**9, cost_s=cost_s), "plan")
    begun = clock.now
    while clock.now - begun < 20:
        assert engine.turn()
    assert 0.1 < spent / (clock.now - begun) < 0.16
    assert min(engine.snapshot(run).step for run in runs) > 0


def test_a_study_starts_immediately_next_to_busy_runs(engine, clock):
    engine.start(FULL_PACE)
    identity = engine.start_study(make_counting(clock), "plan")
    engine.turn()
    assert len(engine.snapshot(identity).rows) == 1


@pytest.mark.parametrize("kind", [Counting, Chunk])
def test_studies_that_take_turns_lose_no_work(clock, kind):
    engine = engine_of(clock, studying=2, study_turn_s=0.1, pause_after_s=math.inf)
    made = 0

    def make(_plan, rows):
        nonlocal made
        made += not rows
        return kind(tuple(rows), clock, total=30)

    started = [engine.start_study(make, "plan", each, shares={each: 2}) for each in ("me", "you", "they")]
    for _ in range(40):
        engine.turn()
    assert all(engine.snapshot(each).step > 0 for each in started)
    turns = 0
    while engine.turn():
        turns += 1
    assert {engine.snapshot(each).state for each in started} == {"finished"}
    assert (made, turns) == (3, 3 * 30 - 40)


def of(visitor: str, address: str) -> dict[str, int]:
    """The shares of a visitor at an address."""
    return {visitor: 4, address: 99}


@pytest.mark.parametrize("names", [("many",) * 6, tuple(f"name {number}" for number in range(6))])
def test_an_address_that_holds_every_place_yields_one_to_another(clock, names):
    engine = engine_of(clock, studying=2)
    for number, name in enumerate(names):
        shares = {name: 9, "there": 99}
        engine.start_study(make_counting(clock), "plan", f"owner {number}", shares=shares)
    one = engine.start_study(make_counting(clock), "plan", "me", shares=of("me", "here"))
    assert engine.snapshot(one).sentence == "Waiting in the queue: number 1."
    for _ in range(2):
        engine.turn()  # at most a slice of each that has a place
    assert engine.snapshot(one).state == "running"
    while engine.turn():
        if engine.snapshot(one).state != "finished":
            places = [job.parties.address for job in engine._studies if job.state == "running"]
            assert sorted(places) == ["here", "there"]
    assert {job.state for job in engine._studies} == {"finished"}


def test_another_address_gets_a_place_at_once_and_no_work_is_lost(clock):
    """Begun studies that wait stay bounded as well, though one newcomer after another leaves again."""
    engine = engine_of(clock, studying=2, study_turn_s=0.1, pause_after_s=math.inf)
    studies, made, most = engine._studies, [], 0

    def make(plan, rows):
        made.append(plan)
        return Chunk(tuple(rows), clock, total=150)

    names = [engine.start_study(make, each, str(each), shares=of(str(each), "there")) for each in range(8)]
    for _ in range(100):
        engine.turn()
    assert studies._count_begun == 2
    for number in range(20):
        one = engine.start_study(make, "mine", "me", shares=of("me", f"address {number}"))
        for _ in range(4):
            engine.turn()
        assert engine.snapshot(one).step > 0
        most = max(most, studies._count_begun)
        engine.command(one, "stop")
    assert most == 3
    turn_until_idle(engine)
    assert {engine.snapshot(each).state for each in names} == {"finished"}
    assert (made.count("mine"), len(made)) == (20, 28)
