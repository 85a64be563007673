"""The jobs of an engine: which runs and studies there are, which are computed, in what order others wait.

It only keeps the books, under the engine's lock: no thread, no tensor.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Generic, TypeVar

from explorer.training.limits import MAX_BRANCHES, MOST_TOGETHER, Limits
from explorer.training.runs import Run
from explorer.training.scheduling.fair_queue import FairQueue, one
from explorer.training.scheduling.ids import Names
from explorer.training.scheduling.job import Job, Make, RunJob, Stepper, StudyJob
from explorer.training.scheduling.quotas import Quota, Shares
from explorer.training.scheduling.status import (
    ACTIVE,
    AT_REST,
    ENDED,
    OF_STUDIES,
    RUN,
    STUDY,
    Command,
    State,
    Status,
    StudyStatus,
    kind_of,
    state_words,
)
from explorer.training.settings import Settings

AnyJob = TypeVar("AnyJob", bound=Job)
_SWEEP_S = 0.05  # between two looks at all leases: what a turn or a question costs is not the looking
_LOOK_S = 0.5  # between two looks at the memory that is left
_ACTIVE = (
    "{number} runs are running or waiting already: try again in about a minute.",
    "{number} runs from your network already run or wait: stop one of them first.",
)
_HELD = (
    "{number} runs are held open already: try again in about a minute.",
    "{number} runs from your network are held open: close the page of one of them.",
)
_ACTIVE_STUDIES = (
    "{number} studies are running or waiting already: try again in some minutes.",
    "{number} studies from your network already run or wait: stop one of them first.",
)


class Jobs(Generic[AnyJob]):
    """All jobs of one kind; an owner has one of them that is not over.

    Args:
        limits: what the engine takes on.
        clock: seconds, monotonic.
        lease_clock: seconds in which who watches could have asked; None is ``clock``.
        home: of the server, with which the names of its jobs begin.
        is_short: whether little memory is left.
    """

    kind: ClassVar[str]
    statuses: ClassVar[type[Status]] = Status

    def __init__(
        self,
        limits: Limits,
        clock: Callable[[], float],
        lease_clock: Callable[[], float] | None = None,
        home: str = "",
        is_short: Callable[[], bool] = lambda: False,
    ) -> None:
        self._limits, self._clock, self._lease_clock = limits, clock, lease_clock or clock
        self._is_short, self._short = is_short, (-math.inf, False)
        self._swept = -math.inf
        self._names = Names(home)
        self._jobs: dict[str, AnyJob] = {}
        self._active: Quota
        self._queue: FairQueue[AnyJob]
        self._forget_after_s: float
        self._open(limits)

    def _open(self, limits: Limits) -> None:
        """Set quota, queue and lease of jobs of this kind."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[AnyJob]:
        return iter(self._jobs.values())

    def names(self, identity: str) -> bool:
        """Return whether an id is that of a job of this kind, be it here or gone."""
        return kind_of(identity) is self.statuses

    def get(self, identity: str) -> AnyJob | None:
        """Return the job of this id and renew its lease; None when gone."""
        self.sweep()
        job = self._jobs.get(identity)
        if job is not None:
            job.renewed = self._lease_clock()
        return job

    def _add(self, job: AnyJob, paused: bool = False) -> None:
        """Take on a new job; the owner's earlier one stops. Raises EngineFull: then nothing has changed."""
        mine = [each for each in self if job.owner is not None and each.owner == job.owner]
        self._require_room(job, [each for each in self if each not in mine], paused)
        for each in mine:
            if each.state in ACTIVE + AT_REST:
                each.move("stopped", f" because another {self.kind} was started")
        if not paused:
            self._line_up(job)
        self._jobs[job.id] = job
        self._drop_those_too_many()
        self.admit()

    def _new(self, owner: str | None, shares: Shares | None) -> dict[str, Any]:
        """Return the fields that a new job of any kind begins with."""
        identity = self._names.new(self.kind)
        return {"id": identity, "owner": owner, "renewed": self._lease_clock(), "shares": shares or {}}

    def obey(self, job: AnyJob, command: Command) -> int:
        """Carry out a command; one that does not fit the state changes nothing. Raises EngineFull.

        Returns how many single steps the job is to take now.
        """
        match command:
            case "pause" if job.state in ACTIVE:
                job.move("paused")
            case "resume" if job.state in AT_REST:
                self._line_up(job)
            case "stop" if job.state in ACTIVE + AT_REST:
                job.move("stopped")
        self.admit()
        return 0

    def change(self, job: AnyJob, live: Mapping[str, Any]) -> None:
        """Go on with other values. Raises ValueError for what cannot be."""
        if live:
            raise ValueError(f"{', '.join(live)} cannot change in a {self.kind}: start a new one")

    def sweep(self) -> None:
        """Pause jobs that nobody watches, drop those long forgotten and those too many; now and then."""
        now = self._lease_clock()
        if now - self._swept < _SWEEP_S:
            return
        self._swept = now
        for job in list(self):
            if now - job.renewed >= self._forget_after_s:
                self._drop(job)
            elif not self._is_watched(job, now):
                job.leave()
        self._drop_those_too_many()

    def admit(self) -> None:
        """Let the first in the queue be computed where there is room."""
        raise NotImplementedError

    def tidy(self) -> None:
        """Free the memory of jobs that are over."""

    def clear(self) -> None:
        """Let every job go."""
        for job in list(self):
            self._drop(job)
        self.admit()

    def status(self, job: AnyJob) -> Status:
        """Return the status of a job."""
        raise NotImplementedError

    def gone(self, identity: str) -> Status:
        """Return the status of a job that was forgotten, or lost with the engine before this one."""
        return self.statuses.told(identity, "gone", self._names.why_gone(identity, self.kind))

    def _first_free(self, jobs: list[AnyJob]) -> AnyJob | None:
        """Return the next of some jobs that no thread computes with, its lock held; or None."""
        while (job := self._queue.first(jobs)) and not job.lock.acquire(blocking=False):
            jobs.remove(job)
        return job

    def _is_watched(self, job: AnyJob, now: float) -> bool:
        return now - job.renewed < self._limits.pause_after_s

    def _is_kept(self, job: AnyJob) -> bool:
        """Return whether a job that neither runs nor waits stays, however many there are."""
        return False

    def _drop_those_too_many(self) -> None:
        """Of the jobs that neither run nor wait nor are kept, drop those forgotten longest."""
        idle = [job for job in self if job.state not in ACTIVE]
        left = sorted((job for job in idle if not self._is_kept(job)), key=lambda job: job.renewed)
        for job in left[: max(0, len(idle) - self._limits.idle)]:
            self._drop(job)

    def _require_room(self, job: AnyJob, others: Sequence[AnyJob], paused: bool) -> None:
        """Raise EngineFull where a job that begins, unless it is paused, is one too many beside others."""
        if not paused:
            self._active.require(job.shares, [each.shares for each in others if each.state in ACTIVE])

    def _line_up(self, job: AnyJob) -> None:
        """Put a job in line. Raises EngineFull."""
        self._active.require(job.shares, [each.shares for each in self if each.state in ACTIVE])
        job.move("waiting")
        job.since = None

    def _drop(self, job: AnyJob) -> None:
        del self._jobs[job.id]
        job.end("stopped")

    def _in_state(self, state: State) -> list[AnyJob]:
        return [job for job in self if job.state == state]


class Runs(Jobs[RunJob]):
    """All runs of one engine."""

    kind = RUN

    def _open(self, limits: Limits) -> None:
        most = limits.running + limits.waiting
        self._active, self._held = Quota(most, *_ACTIVE), Quota(most, *_HELD)
        self._queue = FairQueue(lambda job: job.parties)  # of those that run or wait, in slices
        self._forget_after_s = limits.forget_after_s

    def add(
        self,
        settings: Settings,
        owner: str | None,
        paused: bool,
        shares: Shares | None = None,
        after: tuple[str, int] | None = None,
    ) -> RunJob:
        """Return a new run; the owner's earlier one stops. Raises EngineFull, and then nothing has changed.

        ``after``: the run and the step from which it goes on, as far as both did the same until then.
        """
        job = RunJob(settings=settings, **self._new(owner, shares))
        earlier = self._jobs.get(after[0]) if after else None
        if after and earlier and earlier.run:
            job.origin = earlier.lock, earlier.run, after[1]
            job.move("paused")
        self._add(job, paused)
        return job

    def obey(self, job: RunJob, command: Command) -> int:
        """Carry out a command; see ``Jobs.obey``."""
        steps = 0
        match command:
            case "step" if job.state in AT_REST:
                job.move("paused")
                steps = 1
            case "reset":
                job.end("ready")
                job.news, job.alone = {}, False
                job.snapshot, job.step, job.speed = None, 0, 0.0
        return steps + super().obey(job, command)

    def change(self, job: RunJob, live: Mapping[str, Any]) -> None:
        """Go on with other values; at full pace it needs a slot. Raises ValueError for what cannot be."""
        lr = job.settings.course(job.step).lr
        before = replace(job.settings, **{"lr": lr, **job.news})
        if replace(before, **live) == before:
            return
        if "lr" in live and job.step and len(job.settings.branch) >= MAX_BRANCHES:
            raise ValueError(f"a run branches at most {MAX_BRANCHES} times, and this one has")
        job.settings = replace(job.settings, **{name: live[name] for name in live if name != "lr"})
        job.since = None
        job.news = {**job.news, **live}
        if job.state in ACTIVE:
            job.move("waiting")
            self.admit()

    def sweep(self) -> None:
        """Sweep as ``Jobs`` do, and keep what all runs can go back to within its limit.

        States of runs that nobody watches go first.
        """
        before = self._swept
        super().sweep()
        now = self._swept
        held = [job for job in self if job.run and job.run.checkpoints.bytes] if now > before else []
        total = sum(job.run.checkpoints.bytes for job in held if job.run)
        for job in sorted(held, key=lambda job: (self._is_watched(job, now), job.renewed)):
            if total <= self._limits.checkpoint_bytes:
                return
            if job.lock.acquire(blocking=False):
                try:
                    total -= _halved(job.run)
                finally:
                    job.lock.release()

    def admit(self) -> None:
        """Let the first in the queue run where there is room; after a full turn a run queues again.

        A run that keeps a pace needs no slot: it leaves most of the time to the others. While little memory
        is left, one whose nets are not made yet waits for what others give back.
        """
        now = self._clock()
        for job in self._at_full_pace():
            if job.slot_since is not None and now - job.slot_since >= self._limits.turn_s:
                job.move("waiting")
        waiting = self._in_state("waiting")
        if any(job.run is None for job in waiting) and self._is_narrow(now):
            waiting = [job for job in waiting if job.run is not None]
        for job in waiting:
            if job.interval_s:
                job.take_slot(now)
        self._queue.keep(job for job in self if job.state in ACTIVE)
        for _ in range(self._limits.running - len(self._at_full_pace())):
            if following := self._queue.first(job for job in waiting if job.state == "waiting"):
                following.take_slot(now)

    def _is_narrow(self, now: float) -> bool:
        """Return whether little memory is left that others may give back; looked up now and then."""
        if not any(job.run is not None for job in self):
            return False
        if now >= self._short[0] + _LOOK_S:
            self._short = now, self._is_short()
        return self._short[1]

    def next(self) -> RunJob | None:
        """Return the running job with steps due whose last slice is longest ago, its lock held; or None."""
        now = self._clock()
        running = [job for job in self._in_state("running") if not job.callers]
        job = self._first_free([job for job in running if job.ready(self._limits.slice_s) <= now])
        if job is not None:
            job.slot_since = now if job.slot_since is None else job.slot_since
        return job

    def companions(self, job: RunJob) -> list[RunJob]:
        """Return other runs that take their next steps together with the next one; their locks are held."""
        mine = job.run.likeness if job.run and job.joins else None
        if mine is None:
            return []
        others, left, now = [], MOST_TOGETHER - job.settings.work, self._clock()
        alike = [each for each in self if each is not job and each.joins and _locked_if(each, mine)]
        for other in self._queue.order(alike):
            if left <= 0:
                other.lock.release()
                continue
            others.append(other)
            left -= other.settings.work
            other.take_slot(now)
            other.slot_since = now
        return others

    @property
    def stay_s(self) -> float:
        """How long a worker stays with a run: no longer than its turn where others wait for one."""
        others = any(job.state == "waiting" for job in self)
        return min(self._limits.slice_s, self._limits.turn_s) if others else self._limits.slice_s

    def pause_s(self, most_s: float) -> float:
        """Return the seconds until the next run is ready, ``most_s`` at most."""
        now = self._clock()
        ready = [job.ready(self._limits.slice_s) - now for job in self._in_state("running")]
        return min([most_s, *(wait for wait in ready if wait > 0)])

    def tidy(self) -> None:
        """Let the nets of runs go that are over, but for some that were asked about last."""
        left = self._limits.kept_numbers
        for job in sorted(self, key=lambda job: job.renewed, reverse=True):
            if job.run is None or job.state in ACTIVE + AT_REST:
                continue
            left -= job.run.numbers
            if job.state not in ENDED or left < 0:
                job.let_go()

    def charge(self, job: RunJob) -> None:
        """Note that a run had a slice; one that keeps a pace saves up none until its next step."""
        self._queue.charge(job)
        if job.interval_s:
            self._queue.catch_up(job)

    def status(self, job: RunJob) -> Status:
        """Return the status of a run."""
        waits = job.state == "waiting"
        position = self._queue.position(job, self._in_state("waiting")) if waits else None
        words = state_words(
            job.state, step=job.step, position=position, note=job.note, others=self._others(job)
        )
        steps = job.settings.steps
        return Status(job.id, job.state, words, position, job.step, steps, job.speed, job.snapshot)

    def _is_kept(self, job: RunJob) -> bool:
        """Return whether somebody looks at a run that neither runs nor waits, so that it stays."""
        idle = job.state not in (*ACTIVE, "stopped")
        return idle and self._is_watched(job, self._lease_clock())

    def _require_room(self, job: RunJob, others: Sequence[RunJob], paused: bool) -> None:
        self._held.require(job.shares, [each.shares for each in others if self._is_kept(each)])
        super()._require_room(job, others, paused)

    def _others(self, job: RunJob) -> int:
        """Return the number of runs it takes turns with: all at full pace, if more than may run at once."""
        if job.state not in ACTIVE or job.interval_s:
            return 0
        active = sum(not other.interval_s and other.state in ACTIVE for other in self)
        return active - 1 if active > self._limits.running else 0

    def _at_full_pace(self) -> list[RunJob]:
        return [job for job in self._in_state("running") if not job.interval_s]


class Studies(Jobs[StudyJob]):
    """All studies of one engine, which are advanced in the time that its runs leave, a slice at a time."""

    kind = STUDY
    statuses = StudyStatus

    def _open(self, limits: Limits) -> None:
        self._active = Quota(limits.studying + limits.studies_waiting, *_ACTIVE_STUDIES)
        self._queue = FairQueue(lambda job: job.parties, one)  # of those that run, in slices
        self._forget_after_s = limits.study_forget_after_s
        self._free_at = -math.inf

    def add(self, make: Make, plan: Any, owner: str | None, shares: Shares | None = None) -> StudyJob:
        """Return a new study; the owner's earlier one stops. Raises EngineFull: then nothing has changed."""
        job = StudyJob(make=make, plan=plan, **self._new(owner, shares))
        self._add(job)
        return job

    def admit(self) -> None:
        """Let the first in the queue be advanced where there is room."""
        free = max(0, self._limits.studying - len(self._in_state("running")))
        for job in self._waiting()[:free]:
            job.take_slot(self._clock())
        self._queue.keep(self._in_state("running"))

    def next(self, busy: bool) -> StudyJob | None:
        """Return the study that is to have a slice now, its lock held; None where none needs one.

        Where runs are ``busy`` all studies together take their share of the time, and no more.
        """
        if not self._jobs:
            return None
        self.sweep()
        self.admit()
        if busy and self._clock() < self._free_at:
            return None
        job = self._first_free(self._in_state("running"))
        if job is not None:
            self._queue.charge(job)
            self._free_at = math.inf  # until its slice is over
        return job

    def rest(self, begun: float) -> None:
        """Leave the time to runs, after a slice that began then, until studies have had only their share."""
        now = self._clock()
        self._free_at = now + (now - begun) * (1 / self._limits.study_share - 1)

    def take(self, job: StudyJob, stepper: Stepper, rows: Sequence[Any]) -> None:
        """Note the results of a slice; another study gets the place where that is first in line now.

        A study after whose slice there are ``rows`` has nothing else, and its stepper goes while it waits. Of
        the others only as many as are advanced at a time give up their place because their turn is over.
        """
        now, most = self._clock(), self._limits.studying
        job.take(stepper, rows, now)
        is_over = now - (job.slot_since or 0.0) >= self._limits.study_turn_s
        if is_over and (rows or self._kept < most):
            job.slot_since = now
            self._put_last(job)
        if job.state == "running" and job not in self._in_line()[:most]:
            job.move("waiting")
            if rows:
                job.let_go()
        self.admit()

    def status(self, job: StudyJob) -> StudyStatus:
        """Return the status of a study."""
        position = self._waiting().index(job) + 1 if job.state == "waiting" else None
        words = state_words(job.state, position=position, note=job.note, sentences=OF_STUDIES)
        progress = (position, job.step, job.steps, job.speed, None)
        return StudyStatus(job.id, job.state, words, *progress, job.rows, job.plan)

    def _line_up(self, job: StudyJob) -> None:
        super()._line_up(job)
        self._put_last(job)

    def _put_last(self, job: StudyJob) -> None:
        self._jobs[job.id] = self._jobs.pop(job.id, job)

    @property
    def _kept(self) -> int:
        """The number of those waiting that have begun something."""
        return sum(each.stepper is not None for each in self._in_state("waiting"))

    def _waiting(self) -> list[StudyJob]:
        return [job for job in self._in_line() if job.state == "waiting"]

    def _in_line(self) -> list[StudyJob]:
        """Return the studies that run or wait, in the order in which they are to have places.

        Where too many that wait have begun something, of equals they go before those that have not.
        """
        active = [job for job in self if job.state in ACTIVE]
        if self._kept > self._limits.studying:
            active.sort(key=lambda job: job.stepper is None)
        return self._queue.order(active, holders=())


def _locked_if(job: RunJob, likeness: Hashable) -> bool:
    """Take the lock of a run if it is free and its nets are of this likeness; return whether it was taken."""
    if not job.lock.acquire(blocking=False):
        return False
    if job.run is not None and job.run.likeness == likeness:
        return True
    job.lock.release()
    return False


def _halved(run: Run | None) -> int:
    """Drop every other state that a run keeps, but for the first; return the bytes that are free now."""
    if run is None:
        return 0
    before = run.checkpoints.bytes
    run.checkpoints.thin(max(1, len(run.checkpoints.steps) // 2))
    return before - run.checkpoints.bytes
