"""The engine's record of a job, which is a training run or a study: its state and its schedule."""

import math
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from explorer.training.runs import Run, Snapshot
from explorer.training.scheduling.fair_queue import Parties
from explorer.training.scheduling.quotas import Shares, make_parties
from explorer.training.scheduling.status import ACTIVE, IDLE, UNWATCHED, State
from explorer.training.settings import Settings


@dataclass(eq=False, kw_only=True)
class Job:
    """A job of the engine, which is a training run or a study.

    Attributes:
        renewed: the time of the last request about the job, which renewed its lease.
        shares: the groups in which the job is counted, with their limits. Jobs of the first group share
            turns.
        lock: a lock held by the thread that computes with the job.
        step: number of steps taken.
        slot_since: start of the current turn in a slot for running jobs, None if there was none yet.
        speed_since: the start of the measurement of the speed, at step ``speed_since_step``.
        speed: the number of steps per second since then.
    """

    id: str
    owner: str | None
    renewed: float
    shares: Shares
    state: State = "ready"
    note: str = ""
    lock: threading.RLock = field(default_factory=threading.RLock)
    step: int = 0
    slot_since: float | None = None
    speed_since: float | None = None
    speed_since_step: int = 0
    speed: float = 0.0

    def move(self, state: State, note: str = "") -> None:
        """Set the job's state, and ``note`` as the reason that its page shows."""
        self.state, self.note = state, note

    def end(self, state: State, note: str = "") -> None:
        """Set the job's final state and free the memory of its computation."""
        self.move(state, note)
        self.release()

    def release(self) -> None:
        """Free the memory that the job's computation uses."""

    def pause_unwatched(self) -> None:
        """Pause a job that runs or waits although nobody watches it."""
        if self.state in ACTIVE:
            self.move("paused", UNWATCHED)

    def measure_speed(self, now: float) -> None:
        """Update the measured speed of the job, in steps per second."""
        if self.state == "running" and self.speed_since is not None and now > self.speed_since:
            self.speed = (self.step - self.speed_since_step) / (now - self.speed_since)

    @property
    def parties(self) -> Parties:
        """The visitor and the IP address whose share of computing time this job uses."""
        return make_parties(self.shares, self.owner or self.id)


@dataclass(eq=False, kw_only=True)
class RunJob(Job):
    """A training run as a job of the engine.

    Attributes:
        run: the run, which is made when first needed and dropped at the end; ``lock`` guards it.
        callers: the number of threads that wait for the lock; a worker yields to them.
        requested: the instruments of the next snapshot, if one was asked for since the last; else None.
        due_at: the time of the next step at the run's pace.
        pending: the changed settings that are not applied to the run yet.
        origin: the lock and the run to continue from, and the step; None for a run from scratch.
        is_isolated: whether the run takes its steps alone, because a group with it failed.
        viewer: a second run of equal settings, which loads checkpoints for snapshots and measurements.
    """

    settings: Settings
    run: Run | None = None
    snapshot: Snapshot | None = None
    callers: int = 0
    requested: Collection[str] | None = None
    due_at: float = 0.0
    pending: Mapping[str, Any] = field(default_factory=dict)
    origin: tuple[threading.RLock, Run, int] | None = None
    viewer: Run | None = None
    is_isolated: bool = False

    def release(self) -> None:
        """Free the memory of the run's nets."""
        self.run = self.viewer = self.origin = None

    def update(self, run: Run, snapshot: Snapshot | None, now: float) -> None:
        """Copy the progress and settings of a run into its job, and the final state if the run has ended."""
        lr, branch = run.settings.lr, run.settings.branch
        if (self.settings.lr, self.settings.branch) != (lr, branch):
            self.settings = replace(self.settings, lr=lr, branch=branch)
        self.step, self.snapshot = run.step, snapshot
        self.measure_speed(now)
        if run.finished and self.state in ACTIVE + IDLE:
            if run.diverged:
                self.move("diverged", run.describe_fault())
            else:
                self.move("finished")

    def take_slot(self, now: float) -> None:
        """Set a waiting run to "running". Its turn begins with its next slice of time."""
        self.move("running")
        self.slot_since = None
        if self.speed_since is None:
            self.speed_since, self.speed_since_step, self.due_at = now, self.step, now

    @property
    def interval_s(self) -> float:
        """The number of seconds between two steps at the run's pace, or 0 at full pace."""
        return 0.0 if isinstance(self.settings.pace, str) else 1 / self.settings.pace

    @property
    def can_fuse(self) -> bool:
        """Whether the run's next steps may be computed in the same tensor operations as other runs'."""
        is_busy = self.is_isolated or self.callers or self.pending or self.interval_s
        return self.run is not None and self.state in ACTIVE and not is_busy

    def should_continue(self, run: Run) -> bool:
        """Return whether a worker thread should compute another step of this run before other work."""
        return self.run is run and self.state == "running" and not self.callers and not run.finished

    def find_ready_time(self, slice_s: float) -> float:
        """Return when the run's next slice of time is due. At a fast pace a slice has several steps."""
        return self.due_at + (max(0.0, slice_s - self.interval_s) if self.interval_s else 0.0)

    def count_owed(self, now: float, slice_s: float) -> float:
        """Return how many steps the run is behind its pace, at most those of one slice; ∞ at full pace."""
        late_s = min(now - self.due_at, slice_s)
        return int(late_s / self.interval_s) + 1 if self.interval_s else math.inf

    def record_steps(self, steps: int, now: float, slice_s: float) -> None:
        """Record that the run has taken steps, so that the next ones are due at the run's pace.

        If a busy engine is late by more than a slice, the missed steps are dropped.
        """
        self.due_at = max(self.due_at + steps * self.interval_s, now - slice_s)


class Stepper(Protocol):
    """A computation that advances in slices of time and returns rows of results."""

    @property
    def finished(self) -> bool:
        """Whether the computation is complete."""

    @property
    def done(self) -> int:
        """The number of steps taken so far."""

    @property
    def total(self) -> int:
        """The number of steps in the whole computation."""

    def advance(self, seconds: float) -> Sequence[Any]:
        """Compute for about this many seconds and return the new rows."""


Make = Callable[[Any, Sequence[Any]], Stepper]
"""Makes the stepper of a plan, which continues after the given rows."""


@dataclass(eq=False, kw_only=True)
class StudyJob(Job):
    """A study as a job of the engine.

    Attributes:
        stepper: the study's stepper; None before the first slice and while nobody watches. The rows are kept.
        steps: the total number of steps, 0 before the first slice.
    """

    make: Make
    plan: Any
    rows: tuple[Any, ...] = ()
    stepper: Stepper | None = None
    steps: int = 0

    def move(self, state: State, note: str = "") -> None:
        """Change the study's state, and free its stepper if the study is over."""
        super().move(state, note)
        if state not in ACTIVE + IDLE:
            self.release()

    def release(self) -> None:
        """Free the memory of the study's stepper."""
        self.stepper = None

    def pause_unwatched(self) -> None:
        """Pause a study that nobody watches, and free its stepper. The rows are kept."""
        super().pause_unwatched()
        self.release()

    def take_slot(self, now: float) -> None:
        """Give the study a slot among the running studies."""
        self.move("running")
        self.slot_since, self.speed_since = now, None

    def advance(self, seconds: float) -> tuple[Stepper, Sequence[Any]]:
        """Compute for about this many seconds under the job's lock; return the stepper and the new rows."""
        stepper = self.stepper or self.make(self.plan, self.rows)
        return stepper, stepper.advance(seconds)

    def take(self, stepper: Stepper, rows: Sequence[Any], now: float) -> None:
        """Record the rows of a slice, unless the study was stopped in the meantime."""
        if self.state not in ACTIVE + IDLE:
            return
        self.rows += tuple(rows)
        self.stepper, self.step, self.steps = stepper, stepper.done, stepper.total
        if self.speed_since is None:
            self.speed_since, self.speed_since_step = now, self.step
        self.measure_speed(now)
        if stepper.finished:
            self.move("finished")
