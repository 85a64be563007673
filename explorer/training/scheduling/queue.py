"""The runs and studies of an engine, and the queue that decides which of them are computed.

These classes only record states, under the engine's lock. They use no thread and no tensor.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Generic, TypeVar

from explorer.training.limits import MAX_BRANCHES, MAX_FUSED_WORK, Limits
from explorer.training.runs import Run
from explorer.training.scheduling import status
from explorer.training.scheduling.fair_queue import FairQueue, weigh_once
from explorer.training.scheduling.ids import JobIds
from explorer.training.scheduling.job import Job, Make, RunJob, Stepper, StudyJob
from explorer.training.scheduling.quotas import Quota, Shares
from explorer.training.settings import Settings

AnyJob = TypeVar("AnyJob", bound=Job)
_SWEEP_S = 0.05  # leases are checked at most this often, so that a check costs little per request
_MEMORY_POLL_S = 0.5  # interval between two checks of the free memory
_ACTIVE = (
    "The server is busy: {number} runs are running or waiting. Try again in about a minute.",
    "Your network already has {number} runs running or waiting: stop one first.",
)
_EXISTING = (
    "The server is full: {number} runs are open. Try again in about a minute.",
    "Your network has {number} runs open: close one of their pages.",
)
_ACTIVE_STUDIES = (
    "The server is busy: {number} studies are running or waiting. Try again in a few minutes.",
    "Your network already has {number} studies running or waiting: stop one first.",
)


class Jobs(Generic[AnyJob]):
    """All jobs of one kind, runs or studies. An owner has at most one unfinished job of a kind.

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


class Runs(Jobs[RunJob]):
    """All training runs of one engine."""

    kind = status.RUN

    def _open(self, limits: Limits) -> None:
        limit = limits.running + limits.waiting
        self._active, self._open_quota = Quota(limit, *_ACTIVE), Quota(limit, *_EXISTING)
        self._queue = FairQueue(lambda job: job.parties)  # running and waiting runs, which take turns
        self._forget_after_s = limits.forget_after_s

    def add(
        self,
        settings: Settings,
        owner: str | None,
        paused: bool,
        shares: Shares | None = None,
        after: tuple[str, int] | None = None,
    ) -> RunJob:
        """Add a new run and stop the owner's earlier one.

        Args:
            settings: the settings of the run.
            owner: the owner, who may have one active run; None for no owner.
            paused: whether the run waits for a command.
            shares: the groups in which the run is counted, with their limits.
            after: the id of a run and a step. The new run copies the other as far as both agree up to that
                step.

        Raises:
            EngineFull: if there is no room. Then nothing has changed.
        """
        job = RunJob(settings=settings, **self._make_fields(owner, shares))
        earlier = self._jobs.get(after[0]) if after else None
        if after and earlier and earlier.run:
            job.origin = earlier.lock, earlier.run, after[1]
            job.move("paused")
        self._add(job, paused)
        return job

    def execute(self, job: RunJob, command: status.Command) -> int:
        """Execute a user's command on a run, and return how many single steps the run must now take."""
        steps = 0
        match command:
            case "step" if job.state in status.IDLE:
                job.move("paused")
                steps = 1
            case "reset":
                job.end("ready")
                job.pending, job.is_isolated = {}, False
                job.snapshot, job.step, job.speed = None, 0, 0.0
        return steps + super().execute(job, command)

    def change(self, job: RunJob, live: Mapping[str, Any]) -> None:
        """Change the settings of a run in progress. A run at full pace then queues for a new slot.

        Raises ValueError for an invalid value, or if the run has too many branch points already.
        """
        lr = job.settings.course_of(job.step).lr
        before = replace(job.settings, **{"lr": lr, **job.pending})
        if replace(before, **live) == before:
            return
        if "lr" in live and job.step and len(job.settings.branch) >= MAX_BRANCHES:
            raise ValueError(f"a run branches at most {MAX_BRANCHES} times, and this one already has")
        job.settings = replace(job.settings, **{name: live[name] for name in live if name != "lr"})
        job.speed_since = None
        job.pending = {**job.pending, **live}
        if job.state in status.ACTIVE:
            job.move("waiting")
            self.admit()

    def sweep(self) -> None:
        """Pause and drop runs as ``Jobs.sweep`` does, and keep all checkpoints within their memory limit.

        Checkpoints of runs that nobody watches are dropped first.
        """
        before = self._swept
        super().sweep()
        now = self._swept
        holders = [job for job in self if job.run and job.run.checkpoints.bytes] if now > before else []
        total = sum(job.run.checkpoints.bytes for job in holders if job.run)
        for job in sorted(holders, key=lambda job: (self._is_watched(job, now), job.renewed)):
            if total <= self._limits.checkpoint_bytes:
                return
            if job.lock.acquire(blocking=False):
                try:
                    total -= _drop_checkpoints(job.run)
                finally:
                    job.lock.release()

    def admit(self) -> None:
        """Start the runs at the head of the queue while there is room. After a full turn, a run queues again.

        A run with a pace needs no slot: it leaves most of the time to others. While little memory is left,
        runs whose nets are not made yet wait until other runs free some.
        """
        now = self._clock()
        for job in self._list_full_pace():
            if job.slot_since is not None and now - job.slot_since >= self._limits.turn_s:
                job.move("waiting")
        waiting = self._list_in_state("waiting")
        if any(job.run is None for job in waiting) and self._is_memory_short(now):
            waiting = [job for job in waiting if job.run is not None]
        for job in waiting:
            if job.interval_s:
                job.take_slot(now)
        self._queue.keep(job for job in self if job.state in status.ACTIVE)
        for _ in range(self._limits.running - len(self._list_full_pace())):
            if following := self._queue.find_first(job for job in waiting if job.state == "waiting"):
                following.take_slot(now)

    def _is_memory_short(self, now: float) -> bool:
        """Return whether too little memory is left, and other runs may free some."""
        if not any(job.run is not None for job in self):
            return False
        if now >= self._short[0] + _MEMORY_POLL_S:
            self._short = now, self._is_short()
        return self._short[1]

    def take_next(self) -> RunJob | None:
        """Lock and return the run that gets the next slice of time, or None if no run has a step due."""
        now = self._clock()
        running = [job for job in self._list_in_state("running") if not job.callers]
        job = self._lock_first_free(
            [job for job in running if job.find_ready_time(self._limits.slice_s) <= now]
        )
        if job is not None:
            job.slot_since = now if job.slot_since is None else job.slot_since
        return job

    def lock_companions(self, job: RunJob) -> list[RunJob]:
        """Lock and return other runs whose next steps can be computed together with those of this run."""
        likeness = job.run.fusion_key if job.run and job.can_fuse else None
        if likeness is None:
            return []
        companions, left, now = [], MAX_FUSED_WORK - job.settings.work, self._clock()
        alike = []
        for each in self:
            if each is job or not each.can_fuse or not each.lock.acquire(blocking=False):
                continue
            if each.run is not None and each.run.fusion_key == likeness:
                alike.append(each)
            else:
                each.lock.release()
        for other in self._queue.order(alike):
            if left <= 0:
                other.lock.release()
                continue
            companions.append(other)
            left -= other.settings.work
            other.take_slot(now)
            other.slot_since = now
        return companions

    @property
    def stay_s(self) -> float:
        """The seconds for which a worker computes one run: a slice, or at most a turn if other runs wait."""
        others = any(job.state == "waiting" for job in self)
        return min(self._limits.slice_s, self._limits.turn_s) if others else self._limits.slice_s

    def get_pause_s(self, most_s: float) -> float:
        """Return the seconds until the next run has a step due, at most ``most_s``."""
        now = self._clock()
        ready = [job.find_ready_time(self._limits.slice_s) - now for job in self._list_in_state("running")]
        return min([most_s, *(wait for wait in ready if wait > 0)])

    def tidy(self) -> None:
        """Free the nets of runs that are over, except the most recently requested ones."""
        left = self._limits.kept_numbers
        for job in sorted(self, key=lambda job: job.renewed, reverse=True):
            if job.run is None or job.state in status.ACTIVE + status.IDLE:
                continue
            left -= job.run.numbers
            if job.state not in status.ENDED or left < 0:
                job.release()

    def charge(self, job: RunJob) -> None:
        """Count a slice of time as used by a run.

        A run with a fixed pace cannot save up the turns that it does not use between its steps.
        """
        self._queue.charge(job)
        if job.interval_s:
            self._queue.catch_up(job)

    def make_status(self, job: RunJob) -> status.Status:
        """Return the current status of a run."""
        waits = job.state == "waiting"
        position = self._queue.position_of(job, self._list_in_state("waiting")) if waits else None
        words = status.describe_state(
            job.state, step=job.step, position=position, note=job.note, n_others=self._count_others(job)
        )
        steps = job.settings.steps
        return status.Status(job.id, job.state, words, position, job.step, steps, job.speed, job.snapshot)

    def _is_kept(self, job: RunJob) -> bool:
        idle = job.state not in (*status.ACTIVE, "stopped")
        return idle and self._is_watched(job, self._lease_clock())

    def _require_room(self, job: RunJob, other_jobs: Sequence[RunJob], paused: bool) -> None:
        self._open_quota.require(job.shares, [each.shares for each in other_jobs if self._is_kept(each)])
        super()._require_room(job, other_jobs, paused)

    def _count_others(self, job: RunJob) -> int:
        """Return how many runs compete with this run for the processor, 0 if it never has to wait.

        Only runs at full pace count, and only if more of them are active than may run at the same time.
        """
        if job.state not in status.ACTIVE or job.interval_s:
            return 0
        active = sum(not other.interval_s and other.state in status.ACTIVE for other in self)
        return active - 1 if active > self._limits.running else 0

    def _list_full_pace(self) -> list[RunJob]:
        return [job for job in self._list_in_state("running") if not job.interval_s]


class Studies(Jobs[StudyJob]):
    """All studies of one engine. They advance in the time that its runs leave."""

    kind = status.STUDY
    statuses = status.StudyStatus

    def _open(self, limits: Limits) -> None:
        self._active = Quota(limits.studying + limits.studies_waiting, *_ACTIVE_STUDIES)
        self._queue = FairQueue(lambda job: job.parties, weigh_once)  # running studies, which take turns
        self._forget_after_s = limits.study_forget_after_s
        self._free_at = -math.inf

    def add(self, make: Make, plan: Any, owner: str | None, shares: Shares | None = None) -> StudyJob:
        """Add a new study and stop the owner's earlier one, or raise EngineFull and change nothing."""
        job = StudyJob(make=make, plan=plan, **self._make_fields(owner, shares))
        self._add(job)
        return job

    def admit(self) -> None:
        """Start the studies at the head of the queue while there is room."""
        free = max(0, self._limits.studying - len(self._list_in_state("running")))
        for job in self._list_waiting()[:free]:
            job.take_slot(self._clock())
        self._queue.keep(self._list_in_state("running"))

    def take_next(self, busy: bool) -> StudyJob | None:
        """Lock and return the study to compute next, for one slice of time, or return None if none needs one.

        While runs are ``busy``, all studies together get only their share of the time.
        """
        if not self._jobs:
            return None
        self.sweep()
        self.admit()
        if busy and self._clock() < self._free_at:
            return None
        job = self._lock_first_free(self._list_in_state("running"))
        if job is not None:
            self._queue.charge(job)
            self._free_at = math.inf  # until the slice ends, when it is known
        return job

    def yield_to_runs(self, start: float) -> None:
        """Keep the processor free for runs, until studies have used no more than their share of the time.

        ``start`` is the clock's time at which the study's last slice began.
        """
        now = self._clock()
        self._free_at = now + (now - start) * (1 / self._limits.study_share - 1)

    def take(self, job: StudyJob, stepper: Stepper, rows: Sequence[Any]) -> None:
        """Record the rows of a study's slice, and give the slot to the study that is now first in line.

        A study whose slice ended with ``rows`` has no work in progress, and its stepper is freed while it
        waits. Of other studies, at most as many as may run at a time give up their slot at the end of a turn.
        """
        now, max_running = self._clock(), self._limits.studying
        job.take(stepper, rows, now)
        is_over = now - (job.slot_since or 0.0) >= self._limits.study_turn_s
        if is_over and (rows or self._count_begun < max_running):
            job.slot_since = now
            self._put_last(job)
        if job.state == "running" and job not in self._order_active()[:max_running]:
            job.move("waiting")
            if rows:
                job.release()
        self.admit()

    def make_status(self, job: StudyJob) -> status.StudyStatus:
        """Return the current status of a study."""
        position = self._list_waiting().index(job) + 1 if job.state == "waiting" else None
        words = status.describe_state(
            job.state, position=position, note=job.note, sentences=status.STUDY_SENTENCES
        )
        progress = (position, job.step, job.steps, job.speed, None)
        return status.StudyStatus(job.id, job.state, words, *progress, job.rows, job.plan)

    def _enqueue(self, job: StudyJob) -> None:
        super()._enqueue(job)
        self._put_last(job)

    def _put_last(self, job: StudyJob) -> None:
        self._jobs[job.id] = self._jobs.pop(job.id, job)

    @property
    def _count_begun(self) -> int:
        return sum(each.stepper is not None for each in self._list_in_state("waiting"))

    def _list_waiting(self) -> list[StudyJob]:
        return [job for job in self._order_active() if job.state == "waiting"]

    def _order_active(self) -> list[StudyJob]:
        """Return the running and waiting studies in the order in which they get slots.

        If too many waiting studies have work in progress, those go first among equals.
        """
        active = [job for job in self if job.state in status.ACTIVE]
        if self._count_begun > self._limits.studying:
            active.sort(key=lambda job: job.stepper is None)
        return self._queue.order(active, holders=())


def _drop_checkpoints(run: Run | None) -> int:
    """Drop every other checkpoint of a run except the first, and return the number of bytes freed."""
    if run is None:
        return 0
    before = run.checkpoints.bytes
    run.checkpoints.drop_excess(max(1, len(run.checkpoints.steps) // 2))
    return before - run.checkpoints.bytes
