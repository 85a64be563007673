"""The studies of an engine, which share the time that its runs leave."""

import math
from collections.abc import Sequence
from typing import Any

from explorer.training.limits import Limits
from explorer.training.scheduling import status
from explorer.training.scheduling.fair_queue import FairQueue, weigh_once
from explorer.training.scheduling.job import Make, Stepper, StudyJob
from explorer.training.scheduling.jobs import Jobs
from explorer.training.scheduling.quotas import Quota, Shares

_ACTIVE = (
    "The server is busy: {number} studies are running or waiting. Try again in a few minutes.",
    "Your network already has {number} studies running or waiting: stop one first.",
)


class Studies(Jobs[StudyJob]):
    """All studies of one engine. They advance in the time that its runs leave."""

    kind = status.STUDY
    statuses = status.StudyStatus

    def _open(self, limits: Limits) -> None:
        self._active = Quota(limits.studying + limits.studies_waiting, *_ACTIVE)
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
