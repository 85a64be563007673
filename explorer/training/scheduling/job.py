"""A run in the books of the engine: where it stands, and what is due to it."""

import math
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from explorer.training.runs import Run, Snapshot
from explorer.training.scheduling.fair_queue import Parties
from explorer.training.scheduling.quotas import Shares, parties
from explorer.training.scheduling.status import ACTIVE, AT_REST, State
from explorer.training.settings import Settings


@dataclass(eq=False)
class Job:
    """One run and where it stands.

    Attributes:
        renewed: when its lease was last renewed: somebody asked about it.
        shares: whom it counts among, and how many of theirs may run or wait; the first takes turns as one.
        run: the run itself, once somebody needed it and until it is over. Who uses it holds ``lock``.
        callers: how many wait for the lock; a worker makes way for them.
        wanted: what is to be shown to somebody who asked about it since a worker last made its snapshot.
        slot_since: since when it has used the slot among the running that it last got, if it has.
        since: when it first did since it was started, resumed or changed, and ``since_step`` at which step.
        due: when its next step is, at its pace.
        news: what was changed while it goes on and is not yet told to the run.
        origin: the run from which it goes on, its lock, and the step at which.
        alone: takes its steps by itself: together with others it went wrong.
        viewer: another run of the same settings, to look at kept states with.
    """

    id: str
    owner: str | None
    settings: Settings
    renewed: float
    shares: Shares
    state: State = "ready"
    note: str = ""
    run: Run | None = None
    snapshot: Snapshot | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)
    callers: int = 0
    wanted: Collection[str] | None = None
    step: int = 0
    slot_since: float | None = None
    since: float | None = None
    since_step: int = 0
    due: float = 0.0
    speed: float = 0.0
    news: Mapping[str, Any] = field(default_factory=dict)
    origin: tuple[threading.RLock, Run, int] | None = None
    viewer: Run | None = None
    alone: bool = False

    def move(self, state: State, note: str = "") -> None:
        """Change the state; ``note`` says why."""
        self.state, self.note = state, note

    def end(self, state: State, note: str = "") -> None:
        """Change the state, and let the run's memory go."""
        self.move(state, note)
        self.let_go()

    def let_go(self) -> None:
        """Let the memory go that its nets take."""
        self.run = self.viewer = self.origin = None

    def look(self, run: Run, snapshot: Snapshot | None, now: float) -> None:
        """Note how far the run is, what was changed on its way, and whether that is its end."""
        lr, branch = run.settings.lr, run.settings.branch
        if (self.settings.lr, self.settings.branch) != (lr, branch):
            self.settings = replace(self.settings, lr=lr, branch=branch)
        self.step, self.snapshot = run.step, snapshot
        if self.state == "running" and self.since is not None and now > self.since:
            self.speed = (self.step - self.since_step) / (now - self.since)
        if run.finished and self.state in ACTIVE + AT_REST:
            if run.diverged:
                self.move("diverged", run.fault)
            else:
                self.move("finished")

    def take_slot(self, now: float) -> None:
        """Give it a slot among the running."""
        self.move("running")
        self.slot_since = None
        if self.since is None:
            self.since, self.since_step, self.due = now, self.step, now

    @property
    def parties(self) -> Parties:
        """The visitor and the address whose turns it takes."""
        return parties(self.shares, self.owner or self.id)

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
        """Whether a run of it, which a worker is at, is to take another step now."""
        return self.run is run and self.state == "running" and not self.callers and not run.finished

    def ready(self, slice_s: float) -> float:
        """When its next steps are to be taken: at a fast pace the steps of a slice together."""
        return self.due + (max(0.0, slice_s - self.interval_s) if self.interval_s else 0.0)

    def owed(self, now: float, slice_s: float) -> float:
        """Steps that are due, no more than those of a slice."""
        late_s = min(now - self.due, slice_s)
        return int(late_s / self.interval_s) + 1 if self.interval_s else math.inf

    def paid(self, steps: int, now: float, slice_s: float) -> None:
        """Note steps taken; those a busy engine owes for longer than a slice are forgiven."""
        self.due = max(self.due + steps * self.interval_s, now - slice_s)
