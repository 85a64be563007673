"""The roster: which runs there are, which of them run, and in what order the others wait.

It only keeps the books, under the engine's lock: no thread, no tensor.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from explorer.training.limits import MAX_BRANCHES, MOST_TOGETHER, Limits
from explorer.training.runs import Run
from explorer.training.scheduling.fair_queue import FairQueue
from explorer.training.scheduling.ids import Names
from explorer.training.scheduling.job import Job
from explorer.training.scheduling.quotas import Quota, Shares
from explorer.training.scheduling.status import (
    ACTIVE,
    AT_REST,
    ENDED,
    UNWATCHED,
    Command,
    State,
    Status,
    state_words,
)
from explorer.training.settings import Settings

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


class Roster:
    """All runs of one engine.

    Args:
        limits: what it takes on.
        clock: seconds, monotonic.
        lease_clock: seconds in which who watches could have asked.
        home: of the server, with which the names of its runs begin.
        is_short: whether little memory is left.
    """

    def __init__(
        self,
        limits: Limits,
        clock: Callable[[], float],
        lease_clock: Callable[[], float] | None = None,
        home: str = "",
        is_short: Callable[[], bool] = lambda: False,
    ) -> None:
        self._is_short, self._short = is_short, (-math.inf, False)
        self._limits = limits
        self._clock = clock
        self._lease_clock = lease_clock or clock
        self._swept = -math.inf
        most = limits.running + limits.waiting
        self._active, self._held = Quota(most, *_ACTIVE), Quota(most, *_HELD)
        self._names = Names(home)
        self._jobs: dict[str, Job] = {}
        self._queue = FairQueue[Job](lambda job: job.parties)  # of those that run or wait, in slices

    def __iter__(self) -> Iterator[Job]:
        return iter(self._jobs.values())

    def get(self, identity: str) -> Job | None:
        """The run of this id, its lease renewed; None when gone."""
        self.sweep()
        job = self._jobs.get(identity)
        if job is not None:
            job.renewed = self._lease_clock()
        return job

    def add(
        self,
        settings: Settings,
        owner: str | None,
        paused: bool,
        shares: Shares | None = None,
        after: tuple[str, int] | None = None,
    ) -> Job:
        """A new run; the owner's earlier one stops. Raises EngineFull, and then nothing has changed.

        ``after``: the run and the step from which it goes on, as far as both did the same until then.
        """
        mine = [job for job in self if owner is not None and job.owner == owner]
        others = [job for job in self if job not in mine]
        self._held.require(shares or {}, [job.shares for job in others if self._is_kept(job)])
        if not paused:
            self._active.require(shares or {}, [job.shares for job in others if job.state in ACTIVE])
        for job in mine:
            if job.state in ACTIVE + AT_REST:
                job.move("stopped", " because another run was started")
        identity = self._names.new()
        job = Job(identity, owner, settings, self._lease_clock(), shares or {})
        earlier = self._jobs.get(after[0]) if after else None
        if after and earlier and earlier.run:
            job.origin = earlier.lock, earlier.run, after[1]
            job.move("paused")
        if not paused:
            self._line_up(job)
        self._jobs[identity] = job
        self._drop_those_too_many()
        self.admit()
        return job

    def obey(self, job: Job, command: Command) -> int:
        """Carry out a command; one that does not fit the state changes nothing. Raises EngineFull.

        Returns how many single steps the run is to take now.
        """
        steps = 0
        match command:
            case "pause" if job.state in ACTIVE:
                job.move("paused")
            case "resume" if job.state in AT_REST:
                self._line_up(job)
            case "step" if job.state in AT_REST:
                job.move("paused")
                steps = 1
            case "stop" if job.state in ACTIVE + AT_REST:
                job.move("stopped")
            case "reset":
                job.end("ready")
                job.news, job.alone = {}, False
                job.snapshot, job.step, job.speed = None, 0, 0.0
        self.admit()
        return steps

    def change(self, job: Job, live: Mapping[str, Any]) -> None:
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
        """Pause runs that nobody watches, drop those long forgotten and those too many; now and then."""
        now = self._lease_clock()
        if now - self._swept < _SWEEP_S:
            return
        self._swept = now
        for job in list(self):
            if now - job.renewed >= self._limits.forget_after_s:
                self._drop(job)
            elif job.state in ACTIVE and not self._is_watched(job, now):
                job.move("paused", UNWATCHED)
        self._drop_those_too_many()
        self._thin(now)

    def _thin(self, now: float) -> None:
        """Keep what all runs can go back to within its limit, at the cost of those nobody watches first."""
        held = [job for job in self if job.run and job.run.checkpoints.bytes]
        total = sum(job.run.checkpoints.bytes for job in held if job.run)
        if total <= self._limits.checkpoint_bytes:
            return
        for job in sorted(held, key=lambda job: (self._is_watched(job, now), job.renewed)):
            if job.lock.acquire(blocking=False):
                try:
                    total -= _halved(job.run)
                finally:
                    job.lock.release()
            if total <= self._limits.checkpoint_bytes:
                return

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
        """Whether little memory is left that others may give back; looked up now and then."""
        if not any(job.run is not None for job in self):
            return False
        if now >= self._short[0] + _LOOK_S:
            self._short = now, self._is_short()
        return self._short[1]

    def next(self) -> Job | None:
        """The running one with steps to take whose last slice is longest ago, its lock held; or None."""
        now = self._clock()
        running = [job for job in self._in_state("running") if not job.callers]
        ready = [job for job in running if job.ready(self._limits.slice_s) <= now]
        while (job := self._queue.first(ready)) and not job.lock.acquire(blocking=False):
            ready.remove(job)
        if job is not None:
            job.slot_since = now if job.slot_since is None else job.slot_since
        return job

    def companions(self, job: Job) -> list[Job]:
        """Others that take their next steps together with one that is next, in line or not; locks held."""
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
        """How long until the next run is ready that is not yet."""
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

    def charge(self, job: Job) -> None:
        """Note that a run had a slice; one that keeps a pace saves up none until its next step."""
        self._queue.charge(job)
        if job.interval_s:
            self._queue.catch_up(job)

    def clear(self) -> None:
        """Let every run go."""
        for job in list(self):
            self._drop(job)

    def status(self, job: Job) -> Status:
        """The status of a run."""
        waits = job.state == "waiting"
        position = self._queue.position(job, self._in_state("waiting")) if waits else None
        return Status(
            id=job.id,
            state=job.state,
            sentence=state_words(
                job.state,
                step=job.step,
                position=position,
                note=job.note,
                others=self._others(job),
            ),
            position=position,
            step=job.step,
            steps=job.settings.steps,
            steps_per_second=job.speed,
            snapshot=job.snapshot,
        )

    def gone(self, identity: str) -> Status:
        """The status of a run that is not here: forgotten, or lost with the engine before this one."""
        note = self._names.why_gone(identity, "run")
        return Status(identity, "gone", state_words("gone", note=note))

    def _is_watched(self, job: Job, now: float) -> bool:
        return now - job.renewed < self._limits.pause_after_s

    def _is_kept(self, job: Job) -> bool:
        """Whether a run that neither runs nor waits stays, however many there are: somebody looks at it."""
        idle = job.state not in (*ACTIVE, "stopped")
        return idle and self._is_watched(job, self._lease_clock())

    def _drop_those_too_many(self) -> None:
        """Of the runs that neither run nor wait nor are watched, drop those forgotten longest."""
        idle = [job for job in self if job.state not in ACTIVE]
        left = sorted((job for job in idle if not self._is_kept(job)), key=lambda job: job.renewed)
        for job in left[: max(0, len(idle) - self._limits.idle)]:
            self._drop(job)

    def _line_up(self, job: Job) -> None:
        self._active.require(job.shares, [each.shares for each in self if each.state in ACTIVE])
        job.move("waiting")
        job.since = None

    def _drop(self, job: Job) -> None:
        del self._jobs[job.id]
        job.end("stopped")

    def _others(self, job: Job) -> int:
        """With how many it takes turns: all at full pace, where they are more than may run at once."""
        if job.state not in ACTIVE or job.interval_s:
            return 0
        active = sum(not other.interval_s and other.state in ACTIVE for other in self)
        return active - 1 if active > self._limits.running else 0

    def _in_state(self, state: State) -> list[Job]:
        return [job for job in self if job.state == state]

    def _at_full_pace(self) -> list[Job]:
        return [job for job in self._in_state("running") if not job.interval_s]


def _locked_if(job: Job, likeness: Hashable) -> bool:
    """Take the lock of a run if it is free and its nets are of this likeness; whether it was taken."""
    if not job.lock.acquire(blocking=False):
        return False
    if job.run is not None and job.run.likeness == likeness:
        return True
    job.lock.release()
    return False


def _halved(run: Run | None) -> int:
    """Let go of every other state that a run keeps, but for the first; the bytes that are free now."""
    if run is None:
        return 0
    before = run.checkpoints.bytes
    run.checkpoints.thin(max(1, len(run.checkpoints.steps) // 2))
    return before - run.checkpoints.bytes
