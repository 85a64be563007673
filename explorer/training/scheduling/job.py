"""A job in the books of the engine, which is a run or a study: where it stands, and what is due to it."""

import math
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from explorer.training.runs import Run, Snapshot
from explorer.training.scheduling.fair_queue import Parties
from explorer.training.scheduling.quotas import Shares, parties
from explorer.training.scheduling.status import ACTIVE, AT_REST, UNWATCHED, State
from explorer.training.settings import Settings


@dataclass(eq=False, kw_only=True)
class Job:
    """A run or a study and where it stands.

    Attributes:
        renewed: when its lease was last renewed: somebody asked about it.
        shares: whom it counts among, and how many of theirs may run or wait; the first takes turns as one.
        lock: held by the thread that computes with it.
        step: steps taken.
        slot_since: when its turn with the place among the running that it last got began, if it has.
        since: since when its speed is measured, from ``since_step`` on.
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
    since: float | None = None
    since_step: int = 0
    speed: float = 0.0

    def move(self, state: State, note: str = "") -> None:
        """Change the state; ``note`` says why."""
        self.state, self.note = state, note

    def end(self, state: State, note: str = "") -> None:
        """Change the state, and free the memory of what is computed."""
        self.move(state, note)
        self.let_go()

    def let_go(self) -> None:
        """Free the memory of what is computed."""

    def leave(self) -> None:
        """Pause a job that nobody watches."""
        if self.state in ACTIVE:
            self.move("paused", UNWATCHED)

    def measure_speed(self, now: float) -> None:
        """Note how far it is now."""
        if self.state == "running" and self.since is not None and now > self.since:
            self.speed = (self.step - self.since_step) / (now - self.since)

    @property
    def parties(self) -> Parties:
        """The visitor and the address whose turns it takes."""
        return parties(self.shares, self.owner or self.id)


@dataclass(eq=False, kw_only=True)
class RunJob(Job):
    """A run.

    Attributes:
        run: the run itself, once somebody needed it and until it is over. Who uses it holds ``lock``.
        callers: how many wait for the lock; a worker makes way for them.
        wanted: what is to be shown to somebody who asked about it since a worker last made its snapshot.
        due: when its next step is, at its pace.
        news: what was changed while it goes on and is not yet told to the run.
        origin: the run from which it goes on, its lock, and the step at which.
        alone: takes its steps by itself: together with others it went wrong.
        viewer: another run of the same settings, to look at kept states with.
    """

    settings: Settings
    run: Run | None = None
    snapshot: Snapshot | None = None
    callers: int = 0
    wanted: Collection[str] | None = None
    due: float = 0.0
    news: Mapping[str, Any] = field(default_factory=dict)
    origin: tuple[threading.RLock, Run, int] | None = None
    viewer: Run | None = None
    alone: bool = False

    def let_go(self) -> None:
        """Free the memory of its nets."""
        self.run = self.viewer = self.origin = None

    def look(self, run: Run, snapshot: Snapshot | None, now: float) -> None:
        """Note how far the run is, what was changed on its way, and whether that is its end."""
        lr, branch = run.settings.lr, run.settings.branch
        if (self.settings.lr, self.settings.branch) != (lr, branch):
            self.settings = replace(self.settings, lr=lr, branch=branch)
        self.step, self.snapshot = run.step, snapshot
        self.measure_speed(now)
        if run.finished and self.state in ACTIVE + AT_REST:
            if run.diverged:
                self.move("diverged", run.fault)
            else:
                self.move("finished")

    def take_slot(self, now: float) -> None:
        """Give it a place among the running; its turn begins when it is used."""
        self.move("running")
        self.slot_since = None
        if self.since is None:
            self.since, self.since_step, self.due = now, self.step, now

    @property
    def interval_s(self) -> float:
        """Seconds from step to step at its pace; 0 at full pace."""
        return 0.0 if isinstance(self.settings.pace, str) else 1 / self.settings.pace

    @property
    def joins(self) -> bool:
        """Whether its next steps may be taken together with those of others."""
        held = self.alone or self.callers or self.news or self.interval_s
        return self.run is not None and self.state in ACTIVE and not held

    def goes_on(self, run: Run) -> bool:
        """Return whether a run of it, which a worker is at, is to take another step now."""
        return self.run is run and self.state == "running" and not self.callers and not run.finished

    def ready(self, slice_s: float) -> float:
        """Return when its next steps are to be taken: at a fast pace the steps of a slice together."""
        return self.due + (max(0.0, slice_s - self.interval_s) if self.interval_s else 0.0)

    def owed(self, now: float, slice_s: float) -> float:
        """Return the number of steps that are due, no more than those of a slice."""
        late_s = min(now - self.due, slice_s)
        return int(late_s / self.interval_s) + 1 if self.interval_s else math.inf

    def paid(self, steps: int, now: float, slice_s: float) -> None:
        """Note steps taken; those a busy engine owes for longer than a slice are forgiven."""
        self.due = max(self.due + steps * self.interval_s, now - slice_s)


class Stepper(Protocol):
    """A computation that advances by slices. Its results are not interpreted here: they are rows."""

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""

    @property
    def done(self) -> int:
        """Steps taken."""

    @property
    def total(self) -> int:
        """Steps at the end."""

    def advance(self, seconds: float) -> Sequence[Any]:
        """Work for about so long; return the rows that are new."""


Make = Callable[[Any, Sequence[Any]], Stepper]
"""The stepper of a plan that goes on from rows."""


@dataclass(eq=False, kw_only=True)
class StudyJob(Job):
    """A study.

    Attributes:
        stepper: what computes it, once it was advanced and while somebody watches; the rows stay.
        steps: steps at the end, 0 before it was advanced.
    """

    make: Make
    plan: Any
    rows: tuple[Any, ...] = ()
    stepper: Stepper | None = None
    steps: int = 0

    def move(self, state: State, note: str = "") -> None:
        """Change the state; the stepper of a study that is over goes."""
        super().move(state, note)
        if state not in ACTIVE + AT_REST:
            self.let_go()

    def let_go(self) -> None:
        """Free the memory of its stepper."""
        self.stepper = None

    def leave(self) -> None:
        """Pause a study that nobody watches, of which only the rows stay."""
        super().leave()
        self.let_go()

    def take_slot(self, now: float) -> None:
        """Give it a place among those that are advanced."""
        self.move("running")
        self.slot_since, self.since = now, None

    def advance(self, seconds: float) -> tuple[Stepper, Sequence[Any]]:
        """Work for about so long, its lock held; return the stepper and the rows that are new."""
        stepper = self.stepper or self.make(self.plan, self.rows)
        return stepper, stepper.advance(seconds)

    def take(self, stepper: Stepper, rows: Sequence[Any], now: float) -> None:
        """Note the results of a slice, unless the study was stopped meanwhile."""
        if self.state not in ACTIVE + AT_REST:
            return
        self.rows += tuple(rows)
        self.stepper, self.step, self.steps = stepper, stepper.done, stepper.total
        if self.since is None:
            self.since, self.since_step = now, self.step
        self.measure_speed(now)
        if stepper.finished:
            self.move("finished")
