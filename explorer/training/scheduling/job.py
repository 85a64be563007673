"""A job, which is a run or a study, as the engine keeps it: its state and its schedule."""

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
    """A run or a study and its state.

    Attributes:
        renewed: time of the last request about the job, which renews its lease.
        shares: groups in which the job is counted, with their limits; members of the first take turns as one.
        lock: held by the thread that computes with the job.
        step: number of steps taken.
        slot_since: start of the current turn in a slot for running jobs, None if there was none yet.
        speed_since: start of the measurement of the speed, at step ``speed_since_step``.
        speed: steps a second since then.
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
        """Set the state; ``note`` gives the reason."""
        self.state, self.note = state, note

    def end(self, state: State, note: str = "") -> None:
        """Set the final state and free the memory of the computation."""
        self.move(state, note)
        self.release()

    def release(self) -> None:
        """Release the memory of the computation."""

    def pause_unwatched(self) -> None:
        """Pause the job if it runs or waits: nobody watches it."""
        if self.state in ACTIVE:
            self.move("paused", UNWATCHED)

    def measure_speed(self, now: float) -> None:
        """Update the speed."""
        if self.state == "running" and self.speed_since is not None and now > self.speed_since:
            self.speed = (self.step - self.speed_since_step) / (now - self.speed_since)

    @property
    def parties(self) -> Parties:
        """The visitor and the address that take turns."""
        return make_parties(self.shares, self.owner or self.id)


@dataclass(eq=False, kw_only=True)
class RunJob(Job):
    """A run.

    Attributes:
        run: the run itself, made when first needed and dropped at the end; ``lock`` guards it.
        callers: number of threads that wait for the lock; a worker yields to them.
        wanted: instruments for the next snapshot, if requested since the last one, else None.
        due_at: time of the next step at the run's pace.
        news: changed settings, not applied to the run yet.
        origin: lock and run to continue from, and the step; None for a run from scratch.
        is_isolated: whether it takes its steps alone, because a group with it failed.
        viewer: second run of equal settings, which loads checkpoints for snapshots and measurements.
    """

    settings: Settings
    run: Run | None = None
    snapshot: Snapshot | None = None
    callers: int = 0
    wanted: Collection[str] | None = None
    due_at: float = 0.0
    news: Mapping[str, Any] = field(default_factory=dict)
    origin: tuple[threading.RLock, Run, int] | None = None
    viewer: Run | None = None
    is_isolated: bool = False

    def release(self) -> None:
        """Release the memory of the nets."""
        self.run = self.viewer = self.origin = None

    def update(self, run: Run, snapshot: Snapshot | None, now: float) -> None:
        """Copy progress and changed settings from the run, and set the final state if it has ended."""
        lr, branch = run.settings.lr, run.settings.branch
        if (self.settings.lr, self.settings.branch) != (lr, branch):
            self.settings = replace(self.settings, lr=lr, branch=branch)
        self.step, self.snapshot = run.step, snapshot
        self.measure_speed(now)
        if run.finished and self.state in ACTIVE + IDLE:
            if run.diverged:
                self.move("diverged", run.fault)
            else:
                self.move("finished")

    def take_slot(self, now: float) -> None:
        """Give the run a slot among the running jobs; its turn begins with its next slice."""
        self.move("running")
        self.slot_since = None
        if self.speed_since is None:
            self.speed_since, self.speed_since_step, self.due_at = now, self.step, now

    @property
    def interval_s(self) -> float:
        """Seconds between steps at the run's pace; 0 at full pace."""
        return 0.0 if isinstance(self.settings.pace, str) else 1 / self.settings.pace

    @property
    def joins(self) -> bool:
        """Whether the engine may advance this run together with other runs, in shared steps."""
        is_busy = self.is_isolated or self.callers or self.news or self.interval_s
        return self.run is not None and self.state in ACTIVE and not is_busy

    def should_continue(self, run: Run) -> bool:
        """Return whether a worker should take another step of this run now."""
        return self.run is run and self.state == "running" and not self.callers and not run.finished

    def find_ready_time(self, slice_s: float) -> float:
        """Return the time of the next slice; at a fast pace a slice has several steps."""
        return self.due_at + (max(0.0, slice_s - self.interval_s) if self.interval_s else 0.0)

    def count_owed(self, now: float, slice_s: float) -> float:
        """Return the number of steps that are due, at most those of one slice."""
        late_s = min(now - self.due_at, slice_s)
        return int(late_s / self.interval_s) + 1 if self.interval_s else math.inf

    def record_steps(self, steps: int, now: float, slice_s: float) -> None:
        """Record steps taken. Steps overdue by more than a slice, when the engine is busy, are forgiven."""
        self.due_at = max(self.due_at + steps * self.interval_s, now - slice_s)


class Stepper(Protocol):
    """A computation that advances in slices and returns rows, which are not interpreted here."""

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""

    @property
    def done(self) -> int:
        """The number of steps taken."""

    @property
    def total(self) -> int:
        """The total number of steps."""

    def advance(self, seconds: float) -> Sequence[Any]:
        """Advance for about this many seconds; return the new rows."""


Make = Callable[[Any, Sequence[Any]], Stepper]
"""Makes the stepper of a plan, which continues after the given rows."""


@dataclass(eq=False, kw_only=True)
class StudyJob(Job):
    """A study.

    Attributes:
        stepper: computes the study; None before the first slice and while nobody watches. The rows are kept.
        steps: total number of steps, 0 before the first slice.
    """

    make: Make
    plan: Any
    rows: tuple[Any, ...] = ()
    stepper: Stepper | None = None
    steps: int = 0

    def move(self, state: State, note: str = "") -> None:
        """Set the state; free the stepper of a study that is over."""
        super().move(state, note)
        if state not in ACTIVE + IDLE:
            self.release()

    def release(self) -> None:
        """Release the memory of the stepper."""
        self.stepper = None

    def pause_unwatched(self) -> None:
        """Pause the study, which nobody watches, and free its stepper; the rows are kept."""
        super().pause_unwatched()
        self.release()

    def take_slot(self, now: float) -> None:
        """Give the study a slot among the running studies."""
        self.move("running")
        self.slot_since, self.speed_since = now, None

    def advance(self, seconds: float) -> tuple[Stepper, Sequence[Any]]:
        """Advance for about this many seconds, with the lock held; return the stepper and the new rows."""
        stepper = self.stepper or self.make(self.plan, self.rows)
        return stepper, stepper.advance(seconds)

    def take(self, stepper: Stepper, rows: Sequence[Any], now: float) -> None:
        """Record the results of a slice, unless the study was stopped during the slice."""
        if self.state not in ACTIVE + IDLE:
            return
        self.rows += tuple(rows)
        self.stepper, self.step, self.steps = stepper, stepper.done, stepper.total
        if self.speed_since is None:
            self.speed_since, self.speed_since_step = now, self.step
        self.measure_speed(now)
        if stepper.finished:
            self.move("finished")
