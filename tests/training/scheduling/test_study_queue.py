"""Studies in the engine: what stays, when one goes, and the time that runs leave. They only count here."""

import math
import threading
from dataclasses import dataclass, field, replace

import pytest

from explorer.training import Engine, EngineFull, Limits
from explorer.training.scheduling.study_queue import Studies
from tests.training.driving import LONG, SMALL, TICK_S, Clock

FULL_PACE = replace(LONG, pace="full")


@dataclass
class Counting:
    """A study of so many rows, one each slice; ``cost_s`` passes on the clock meanwhile."""

    rows: tuple[int, ...] = ()
    clock: Clock = field(default_factory=Clock)
    total: float = 12
    cost_s: float = 0.01

    @property
    def done(self) -> float:
        return len(self.rows)

    @property
    def finished(self) -> bool:
        return self.done == self.total

    def advance(self, seconds: float) -> tuple[int, ...]:
        self.clock.now += self.cost_s
        self.rows += (len(self.rows),)
        return self.rows[-1:]


def studies_of(clock: Clock, **limits: float) -> Studies:
    return Studies(Limits(workers=0, **limits), clock)


def counting(clock: Clock, **more):
    return lambda _plan, rows: Counting(tuple(rows), clock, **more)


def test_a_study_from_start_to_finish(clock):
    studies = studies_of(clock)
    identity = studies.start(counting(clock), "plan")
    begun = studies.snapshot(identity)
    assert (begun.state, begun.sentence, begun.rows, begun.total) == ("running", "Running.", (), 0)
    for _ in range(5):
        assert studies.turn(busy=False)
    half = studies.snapshot(identity)
    assert (half.done, half.total, half.rows) == (5, 12, tuple(range(5)))
    assert half.left_s == pytest.approx(7 * 0.01, rel=0.9, abs=7 * 5 * TICK_S)
    while studies.turn(busy=False):
        pass
    done = studies.snapshot(identity)
    found = (done.state, done.sentence, done.rows, done.left_s)
    assert found == ("finished", "Finished.", tuple(range(12)), None)


def test_stop_and_go_on_lose_nothing(clock):
    studies = studies_of(clock)
    identity = studies.start(counting(clock), "plan")
    for _ in range(3):
        studies.turn(busy=False)
    stopped = studies.command(identity, "stop")
    found = (stopped.state, stopped.sentence, len(stopped.rows))
    assert found == ("paused", "Stopped: what is done is kept.", 3)
    assert not studies.turn(busy=False)
    assert studies.command(identity, "stop").state == "paused"
    assert studies.command(identity, "resume").state == "running"
    while studies.turn(busy=False):
        pass
    assert studies.snapshot(identity).rows == tuple(range(12))


def test_one_that_nobody_watches_stops_goes_on_where_it_was_and_is_gone_much_later(clock):
    made = []

    def make(_plan, rows):
        made.append(tuple(rows))
        return Counting(tuple(rows), clock)

    studies = studies_of(clock)
    identity = studies.start(make, "plan")
    for _ in range(3):
        studies.turn(busy=False)
    clock.now += 10
    assert not studies.turn(busy=False)
    stopped = studies.snapshot(identity)
    assert stopped.sentence == "Stopped because nobody was watching: what is done is kept."
    assert stopped.rows == (0, 1, 2)
    studies.command(identity, "resume")
    while studies.turn(busy=False):
        pass
    assert (made, studies.snapshot(identity).rows) == ([(), (0, 1, 2)], tuple(range(12)))
    clock.now += Limits().study_forget_after_s - 60
    assert studies.snapshot(identity).state == "finished"
    clock.now += Limits().study_forget_after_s + 1
    gone = studies.snapshot(identity)
    assert (gone.state, gone.sentence) == ("gone", "This study is gone: press Start to run it again.")


def test_a_study_of_another_engine_was_lost_with_it(clock):
    lost = studies_of(clock).snapshot(studies_of(clock).start(counting(clock), "plan"))
    assert "stopped unexpectedly" in lost.sentence
    assert lost.sentence.endswith("press Start to run it again.")


def test_so_many_at_once_then_so_many_wait_then_one_is_refused(clock):
    studies = studies_of(clock, studying=2, studies_waiting=2)
    started = [studies.start(counting(clock), "plan") for _ in range(4)]
    assert [each.state for each in studies.snapshots(started)] == ["running"] * 2 + ["waiting"] * 2
    assert studies.snapshot(started[3]).sentence == "Waiting for a free place: number 2 in the queue."
    with pytest.raises(EngineFull, match="4 studies are running or waiting already: try again"):
        studies.start(counting(clock), "plan")
    studies.command(started[0], "drop")
    assert [each.state for each in studies.snapshots(started)] == ["gone", "running", "running", "waiting"]


def test_a_third_study_of_a_share_is_refused_and_others_come_in(clock):
    studies = studies_of(clock)
    mine = {"me": 2, "here": 9}
    started = [studies.start(counting(clock), "plan", owner, mine) for owner in ("ada", "bob")]
    words = "2 studies from your network already run or wait: stop one of them first"
    with pytest.raises(EngineFull, match=words):
        studies.start(counting(clock), "plan", "eve", mine)
    assert studies.start(counting(clock), "plan", "ada", mine)  # in the place of her own
    assert studies.start(counting(clock), "plan", "eve", {"you": 2})
    studies.command(started[1], "stop")
    studies.start(counting(clock), "plan", "cyn", mine)
    with pytest.raises(EngineFull, match=words):
        studies.command(started[1], "resume")


def test_only_so_many_that_rest_are_kept(clock):
    studies = studies_of(clock, idle=2)
    started = [studies.start(counting(clock, total=1), "plan") for _ in range(4)]
    while studies.turn(busy=False):
        pass
    assert [each.state for each in studies.snapshots(started)] == ["gone", "gone", "finished", "finished"]


def test_what_goes_wrong_ends_that_study_and_no_other(clock):
    class Broken(Counting):
        def advance(self, seconds):
            raise RuntimeError("the disk is on fire.\n  traceback, and more")

    studies = studies_of(clock)
    broken, sound = (
        studies.start(lambda _plan, _rows: Broken(), "plan"),
        studies.start(counting(clock), "plan"),
    )
    while studies.turn(busy=False):
        pass
    assert studies.snapshot(broken).sentence == "This study failed: the disk is on fire."
    assert studies.snapshot(sound).state == "finished"


def test_an_unknown_command_is_said(clock):
    with pytest.raises(ValueError, match="unknown command 'explode': use one of stop, resume, drop"):
        studies_of(clock).command("a", "explode")


@pytest.mark.parametrize("cost_s", [0.1, 0.5])
def test_where_runs_want_the_time_a_study_gets_its_share_however_long_its_slices_are(clock, cost_s):
    spent = 0.0

    class Greedy(Counting):
        def advance(self, seconds):
            nonlocal spent
            before = self.clock.now
            super().advance(seconds)
            spent += self.clock.now - before
            return ()

    watched = {"pause_after_s": math.inf, "forget_after_s": math.inf}
    engine = Engine(Limits(workers=0, **watched), clock)
    runs = [engine.start(FULL_PACE, str(number)) for number in range(3)]
    engine.start_study(lambda _plan, _rows: Greedy(clock=clock, total=1e9, cost_s=cost_s), "plan")
    begun = clock.now
    while clock.now - begun < 20:
        assert engine.turn()
    assert 0.1 < spent / (clock.now - begun) < 0.16
    assert min(engine.snapshot(run).step for run in runs) > 0


def test_a_study_begins_at_once_beside_runs_that_never_rest(engine, clock):
    engine.start(FULL_PACE)
    identity = engine.start_study(counting(clock), "plan")
    engine.turn()
    assert len(engine.studies([identity])[0].rows) == 1


def test_a_closed_engine_has_no_study(clock):
    engine = Engine(Limits(workers=0), clock)
    identity = engine.start_study(counting(clock), "plan")
    engine.close()
    assert engine.studies([identity])[0].state == "gone"


def test_a_worker_finishes_a_study_by_itself():
    over = threading.Event()

    class Watched(Counting):
        @property
        def finished(self) -> bool:
            if super().finished:
                over.set()
            return super().finished

    engine = Engine(Limits(workers=1))
    identity = engine.start_study(lambda _plan, rows: Watched(rows), "plan")
    try:
        assert over.wait(10)
        (status,) = engine.studies([identity])  # which waits for who keeps the books
        assert (status.state, status.rows) == ("finished", tuple(range(12)))
    finally:
        engine.close()


def test_small_runs_are_what_they_were():
    """A study beside them changes no bit of a run."""

    def losses(beside: bool):
        clock = Clock()
        engine = Engine(Limits(workers=0), clock)
        identity = engine.start(SMALL)
        if beside:
            engine.start_study(counting(clock), "plan")
        while engine.turn():
            pass
        return engine.snapshot(identity).snapshot.losses["default"].tolist()

    assert losses(beside=True) == losses(beside=False)
