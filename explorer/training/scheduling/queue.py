"""The training runs of an engine, and which of them is computed next."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from explorer.training.limits import MAX_BRANCHES, MAX_FUSED_WORK, Limits
from explorer.training.runs import Run
from explorer.training.scheduling import status
from explorer.training.scheduling.fair_queue import FairQueue
from explorer.training.scheduling.job import RunJob
from explorer.training.scheduling.jobs import Jobs
from explorer.training.scheduling.quotas import Quota, Shares
from explorer.training.settings import Settings

_MEMORY_POLL_S = 0.5  # interval between two checks of the free memory
_ACTIVE = (
    "The server is busy: {number} runs are running or waiting. Try again in about a minute.",
    "Your network already has {number} runs running or waiting: stop one first.",
)
_EXISTING = (
    "The server is full: {number} runs are open. Try again in about a minute.",
    "Your network has {number} runs open: close one of their pages.",
)


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


def _drop_checkpoints(run: Run | None) -> int:
    """Drop every other checkpoint of a run except the first, and return the number of bytes freed."""
    if run is None:
        return 0
    before = run.checkpoints.bytes
    run.checkpoints.drop_excess(max(1, len(run.checkpoints.steps) // 2))
    return before - run.checkpoints.bytes
