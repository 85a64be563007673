"""What holds of runs and of studies: quotas, places, leases, and what is told of those that are gone."""

import threading
from dataclasses import dataclass

import pytest

from explorer.training import Engine, EngineFull, Limits
from tests.training.driving import LONG, Clock
from tests.training.scheduling.counting import Counting, make_counting


@dataclass(frozen=True)
class Kind:
    """A kind of jobs: its word, its limits by the words of runs, and how one is started."""

    word: str
    plural: str
    names: dict[str, str]

    def engine(self, clock: Clock, **limits: float) -> Engine:
        return Engine(Limits(workers=0, **{self.names.get(key, key): limits[key] for key in limits}), clock)

    def start(self, engine: Engine, owner: str | None = None, shares: dict[str, int] | None = None) -> str:
        if self.word == "run":
            return engine.start(LONG, owner, shares=shares)
        return engine.start_study(make_counting(engine._clock, total=500), "plan", owner, shares=shares)


STUDY_NAMES = {
    "running": "studying", "waiting": "studies_waiting", "turn_s": "study_turn_s",
    "forget_after_s": "study_forget_after_s",
}  # fmt: skip
KINDS = [Kind("run", "runs", {}), Kind("study", "studies", STUDY_NAMES)]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.word)
def kind(request):
    return request.param


def states_of(engine, identities):
    return [status.state for status in engine.snapshots(dict.fromkeys(identities, ()))]


def test_jobs_beyond_the_running_and_waiting_limits_are_refused(kind, clock):
    engine = kind.engine(clock, running=2, waiting=2)
    started = [kind.start(engine) for _ in range(4)]
    assert states_of(engine, started) == ["running", "running", "waiting", "waiting"]
    assert [engine.snapshot(each).position for each in started] == [None, None, 1, 2]
    assert engine.snapshot(started[3]).sentence == "Waiting in the queue: number 2."
    with pytest.raises(EngineFull, match=f"4 {kind.plural} are running or waiting. Try again in"):
        kind.start(engine)
    engine.command(started[0], "stop")
    assert states_of(engine, started) == ["stopped", "running", "running", "waiting"]
    assert kind.start(engine)


def test_a_refused_start_does_not_change_the_earlier_run(kind, clock):
    engine = kind.engine(clock, running=1, waiting=1)
    mine = kind.start(engine, "ada")
    engine.turn()
    before = engine.command(mine, "pause")
    others = [kind.start(engine), kind.start(engine)]
    for act in (lambda: kind.start(engine, "ada"), lambda: engine.command(mine, "resume")):
        with pytest.raises(EngineFull):
            act()
    assert engine.snapshot(mine) == before
    assert before.step > 0
    for other in others:
        engine.command(other, "stop")
    engine.command(mine, "resume")
    for _ in range(3):
        engine.turn()
    assert engine.snapshot(mine).step > before.step


def test_a_new_job_in_a_full_queue_replaces_its_owners_earlier_one(kind, clock):
    engine = kind.engine(clock, running=1, waiting=1)
    first, other = kind.start(engine, "ada"), kind.start(engine, "bob")
    second = kind.start(engine, "ada")
    stopped = engine.snapshot(first)
    assert stopped.state == "stopped"
    assert stopped.sentence.endswith(f" because another {kind.word} was started.")
    assert states_of(engine, [other, second]) == ["running", "waiting"]


def test_an_owner_may_have_a_run_and_a_study(clock):
    engine = KINDS[0].engine(clock)
    both = [kind.start(engine, "ada") for kind in KINDS]
    assert states_of(engine, both) == ["running", "running"]


def test_a_job_beyond_the_quota_of_a_share_is_refused(kind, clock):
    engine = kind.engine(clock)
    mine, all_here = {"me": 2, "here": 9}, {"you": 9, "here": 2}
    started = [kind.start(engine, name, mine) for name in ("ada", "bob")]
    words = f"Your network already has 2 {kind.plural} running or waiting: stop one first"
    for shares in (mine, all_here):
        with pytest.raises(EngineFull, match=words):
            kind.start(engine, "eve", shares)
    assert kind.start(engine, "ada", mine)  # in the place of her own
    assert kind.start(engine, "eve", {"she": 2, "there": 2})
    engine.command(started[1], "pause")
    kind.start(engine, "cyn", mine)
    with pytest.raises(EngineFull, match=words):
        engine.command(started[1], "resume")


def test_an_unwatched_job_pauses_and_is_forgotten_later(kind, clock):
    engine = kind.engine(clock, forget_after_s=100)
    identity = kind.start(engine)
    engine.turn()
    clock.now += 10.0
    assert not engine.turn()
    paused = engine.snapshot(identity)
    assert (paused.state, "because nobody was watching" in paused.sentence) == ("paused", True)
    clock.now += 99.0
    assert engine.snapshot(identity).state == "paused"
    clock.now += 100.0
    for gone in (engine.snapshot(identity), engine.command(identity, "resume")):
        assert gone.state == "gone"
        assert gone.sentence == f"This {kind.word} no longer exists: press Start to run it again."


def test_a_job_of_an_earlier_engine_is_reported_as_lost(kind, clock):
    lost = kind.engine(clock).snapshot(kind.start(kind.engine(clock)))
    said = f"The training process stopped unexpectedly, so this {kind.word} is lost"
    assert lost.sentence == f"{said}: press Start to run it again."


def test_a_stopped_job_cannot_resume(kind, clock):
    engine = kind.engine(clock)
    identity = kind.start(engine)
    engine.turn()
    assert engine.command(identity, "stop").state == "stopped"
    assert engine.command(identity, "resume").state == "stopped"
    assert not engine.turn()


def test_a_visitor_with_many_owners_gets_the_turns_of_one(kind, clock):
    engine = kind.engine(clock, running=2, waiting=99, turn_s=0.0)
    for number in range(8):
        kind.start(engine, f"owner {number}", {"many": 99, "there": 99})
    one = kind.start(engine, "ada", {"one": 99, "here": 99})
    for _ in range(300):
        engine.turn()
    jobs = engine._runs if kind.word == "run" else engine._studies
    steps = {job.id: job.step for job in jobs}
    assert steps.pop(one) == pytest.approx(sum(steps.values()), rel=0.15)
    engine.command(one, "stop")
    engine.turn()
    assert one not in {job.id for job in jobs._queue._present}
    engine.close()
    assert not engine.turn()
    assert (len(jobs._queue), states_of(engine, [one])) == (0, ["gone"])


def test_invalid_commands_to_a_study_change_nothing_or_are_refused(clock):
    engine = KINDS[0].engine(clock)
    identity = KINDS[1].start(engine)
    for command in ("step", "reset"):
        assert engine.command(identity, command).state == "running"
    assert engine.change(identity).state == "running"
    with pytest.raises(ValueError, match="lr cannot change during a study"):
        engine.change(identity, lr=1.0)
    with pytest.raises(ValueError, match=r"is gone|is lost"):
        engine.measure(identity, "line_search")


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
        status = engine.snapshot(identity)  # which waits for who keeps the books
        assert (status.state, status.rows) == ("finished", tuple(range(12)))
    finally:
        engine.close()
