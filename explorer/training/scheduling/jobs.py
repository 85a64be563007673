"""The jobs of one kind in an engine: their leases, their quotas and the order of their turns."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from explorer.training.limits import Limits
from explorer.training.scheduling import status
from explorer.training.scheduling.fair_queue import FairQueue
from explorer.training.scheduling.ids import JobIds
from explorer.training.scheduling.job import Job
from explorer.training.scheduling.quotas import Quota, Shares

AnyJob = TypeVar("AnyJob", bound=Job)
_SWEEP_S = 0.05  # leases are checked at most this often, so that a check costs little per request


class Jobs(Generic[AnyJob]):
    """All jobs of one kind, runs or studies. An owner has at most one unfinished job of a kind.

    Such a queue only records states, under the engine's lock. It uses no thread and no tensor.

    Args:
        limits: the limits of the engine.
        clock: a monotonic clock in seconds.
        lease_clock: a clock of the seconds in which watchers could send requests; None for ``clock``.
        home: the prefix of the server, with which the ids of its jobs begin.
        is_short: a function that returns whether too little memory is left.
    """

    kind: ClassVar[str]
    statuses: ClassVar[type[status.Status]] = status.Status

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
        self._names = JobIds(home)
        self._jobs: dict[str, AnyJob] = {}
        self._active: Quota
        self._queue: FairQueue[AnyJob]
        self._forget_after_s: float
        self._open(limits)

    def _open(self, limits: Limits) -> None:
        raise NotImplementedError

    def __iter__(self) -> Iterator[AnyJob]:
        return iter(self._jobs.values())

    def get(self, identity: str) -> AnyJob | None:
        """Return the job with an id and renew its lease, or return None if there is no such job."""
        self.sweep()
        job = self._jobs.get(identity)
        if job is not None:
            job.renewed = self._lease_clock()
        return job

    def _add(self, job: AnyJob, paused: bool = False) -> None:
        """Add a new job and stop the owner's earlier one, or raise EngineFull and change nothing."""
        own_jobs = [each for each in self if job.owner is not None and each.owner == job.owner]
        self._require_room(job, [each for each in self if each not in own_jobs], paused)
        for own_job in own_jobs:
            if own_job.state in status.ACTIVE + status.IDLE:
                own_job.move("stopped", f" because another {self.kind} was started")
        if not paused:
            self._enqueue(job)
        self._jobs[job.id] = job
        self._drop_excess()
        self.admit()

    def _make_fields(self, owner: str | None, shares: Shares | None) -> dict[str, Any]:
        identity = self._names.create(self.kind)
        return {"id": identity, "owner": owner, "renewed": self._lease_clock(), "shares": shares or {}}

    def execute(self, job: AnyJob, command: status.Command) -> int:
        """Execute a user's command on a job, and return how many single steps the job must now take.

        A command that does not fit the job's state changes nothing. Raises EngineFull.
        """
        match command:
            case "pause" if job.state in status.ACTIVE:
                job.move("paused")
            case "resume" if job.state in status.IDLE:
                self._enqueue(job)
            case "stop" if job.state in status.ACTIVE + status.IDLE:
                job.move("stopped")
        self.admit()
        return 0

    def change(self, job: AnyJob, live: Mapping[str, Any]) -> None:
        """Change the settings of a job in progress. Raises ValueError for settings that cannot change."""
        if live:
            raise ValueError(f"{', '.join(live)} cannot change during a {self.kind}: start a new one")

    def sweep(self) -> None:
        """Pause jobs that nobody watches, and drop expired and surplus jobs.

        Does nothing if called again within a short time.
        """
        now = self._lease_clock()
        if now - self._swept < _SWEEP_S:
            return
        self._swept = now
        for job in list(self):
            if now - job.renewed >= self._forget_after_s:
                self._drop(job)
            elif not self._is_watched(job, now):
                job.pause_unwatched()
        self._drop_excess()

    def admit(self) -> None:
        """Start the jobs at the head of the queue while there is room."""
        raise NotImplementedError

    def tidy(self) -> None:
        """Free the memory of jobs that are over."""

    def clear(self) -> None:
        """Drop all jobs."""
        for job in list(self):
            self._drop(job)
        self.admit()

    def make_status(self, job: AnyJob) -> status.Status:
        """Return the current status of a job."""
        raise NotImplementedError

    def make_gone_status(self, identity: str) -> status.Status:
        """Return the status for the id of a job that was dropped or belonged to an earlier server process."""
        return self.statuses.make_unseen(identity, "gone", self._names.explain_missing(identity, self.kind))

    def _lock_first_free(self, jobs: list[AnyJob]) -> AnyJob | None:
        """Lock and return the first job in the order of turns whose lock is free; None if all are taken."""
        while (job := self._queue.find_first(jobs)) and not job.lock.acquire(blocking=False):
            jobs.remove(job)
        return job

    def _is_watched(self, job: AnyJob, now: float) -> bool:
        return now - job.renewed < self._limits.pause_after_s

    def _is_kept(self, job: AnyJob) -> bool:
        return False

    def _drop_excess(self) -> None:
        idle = [job for job in self if job.state not in status.ACTIVE]
        left = sorted((job for job in idle if not self._is_kept(job)), key=lambda job: job.renewed)
        for job in left[: max(0, len(idle) - self._limits.idle)]:
            self._drop(job)

    def _require_room(self, job: AnyJob, other_jobs: Sequence[AnyJob], paused: bool) -> None:
        """Raise EngineFull if a new job would exceed a quota. A paused job takes no room."""
        if not paused:
            self._active.require(
                job.shares, [each.shares for each in other_jobs if each.state in status.ACTIVE]
            )

    def _enqueue(self, job: AnyJob) -> None:
        """Set a job to "waiting". Raises EngineFull if its owner or the server has too many active jobs."""
        self._active.require(job.shares, [each.shares for each in self if each.state in status.ACTIVE])
        job.move("waiting")
        job.speed_since = None

    def _drop(self, job: AnyJob) -> None:
        del self._jobs[job.id]
        job.end("stopped")

    def _list_in_state(self, state: status.State) -> list[AnyJob]:
        return [job for job in self if job.state == state]
