"""The roster: which runs there are, which of them run, and in what order the others wait.

It only keeps the books, under the engine's lock: no thread, no tensor.
"""

import heapq
import itertools
import math
import threading
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from explorer.training.limits import MAX_BRANCHES, MOST_TOGETHER, Limits
from explorer.training.names import Names
from explorer.training.room import Room, Shares, parties
from explorer.training.run import Run
from explorer.training.settings import Settings
from explorer.training.snapshot import Snapshot
from explorer.training.status import ACTIVE, AT_REST, ENDED, Command, State, Status, state_words

_SWEEP_S = 0.05  # between two looks at all leases: what a turn or a question costs is not the looking
_ACTIVE = (
    "{number} runs are running or waiting already: try again in about a minute.",
    "{number} runs from where you are run or wait already: stop one of them first.",
)
_HELD = (
    "{number} runs are held open already: try again in about a minute.",
    "{number} runs from where you are are held open: close the page of one of them.",
)


@dataclass(eq=False)
class Entry:
    """One run and where it stands.

    Attributes:
        renewed: when its lease was last renewed: somebody asked about it.
        turn: its place in whatever line it stands in, a round and a number; the lowest is next.
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
    turn: tuple[int, int]
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
            self.move("diverged" if run.diverged else "finished")

    def take_slot(self, now: float) -> None:
        """Give it a slot among the running."""
        self.move("running")
        self.slot_since = None
        if self.since is None:
            self.since, self.since_step, self.due = now, self.step, now

    @property
    def visitor(self) -> Hashable:
        """Who takes turns with others."""
        return parties(self.shares, self.owner or self.id)[0]

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


class Roster:
    """All runs of one engine.

    Args:
        limits: what it takes on.
        clock: seconds, monotonic.
        lease_clock: seconds in which who watches could have asked.
        home: of the server, with which the names of its runs begin.
    """

    def __init__(
        self,
        limits: Limits,
        clock: Callable[[], float],
        lease_clock: Callable[[], float] | None = None,
        home: str = "",
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._lease_clock = lease_clock or clock
        self._swept = -math.inf
        most = limits.running + limits.waiting
        self._active, self._held = Room(most, *_ACTIVE), Room(most, *_HELD)
        self._names = Names(home)
        self._entries: dict[str, Entry] = {}
        self._numbers = itertools.count()
        self._round = 0  # of who had a turn last
        self._rounds: dict[Hashable, int] = {}  # by visitor the one that was given last

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def get(self, identity: str) -> Entry | None:
        """The run of this id, its lease renewed; None when gone."""
        self.sweep()
        entry = self._entries.get(identity)
        if entry is not None:
            entry.renewed = self._lease_clock()
        return entry

    def add(
        self,
        settings: Settings,
        owner: str | None,
        paused: bool,
        shares: Shares | None = None,
        after: tuple[str, int] | None = None,
    ) -> Entry:
        """A new run; the owner's earlier one stops. Raises EngineFull, and then nothing has changed.

        ``after``: the run and the step from which it goes on, as far as both did the same until then.
        """
        mine = [entry for entry in self if owner is not None and entry.owner == owner]
        others = [entry for entry in self if entry not in mine]
        self._held.require(shares or {}, [entry.shares for entry in others if self._is_kept(entry)])
        if not paused:
            self._active.require(shares or {}, [entry.shares for entry in others if entry.state in ACTIVE])
        for entry in mine:
            if entry.state in ACTIVE + AT_REST:
                entry.move("stopped", " because another run was started")
        identity = self._names.new()
        turn = (self._round, next(self._numbers))
        entry = Entry(identity, owner, settings, self._lease_clock(), turn, shares or {})
        earlier = self._entries.get(after[0]) if after else None
        if after and earlier and earlier.run:
            entry.origin = earlier.lock, earlier.run, after[1]
            entry.move("paused")
        if not paused:
            self._line_up(entry)
        self._entries[identity] = entry
        self._drop_those_too_many()
        self.admit()
        return entry

    def obey(self, entry: Entry, command: Command) -> int:
        """Carry out a command; one that does not fit the state changes nothing. Raises EngineFull.

        Returns how many single steps the run is to take now.
        """
        steps = 0
        match command:
            case "pause" if entry.state in ACTIVE:
                entry.move("paused")
            case "resume" if entry.state in AT_REST:
                self._line_up(entry)
            case "step" if entry.state in AT_REST:
                entry.move("paused")
                steps = 1
            case "stop" if entry.state in ACTIVE + AT_REST:
                entry.move("stopped")
            case "reset":
                entry.end("ready")
                entry.news, entry.alone = {}, False
                entry.snapshot, entry.step, entry.speed = None, 0, 0.0
        self.admit()
        return steps

    def change(self, entry: Entry, live: Mapping[str, Any]) -> None:
        """Go on with other values; at full pace it needs a slot. Raises ValueError for what cannot be."""
        lr = entry.settings.course(entry.step).lr
        before = replace(entry.settings, **{"lr": lr, **entry.news})
        if replace(before, **live) == before:
            return
        if "lr" in live and entry.step and len(entry.settings.branch) >= MAX_BRANCHES:
            raise ValueError(f"a run branches at most {MAX_BRANCHES} times, and this one has")
        entry.settings = replace(entry.settings, **{name: live[name] for name in live if name != "lr"})
        entry.since = None
        entry.news = {**entry.news, **live}
        if entry.state in ACTIVE:
            entry.move("waiting")
            self.admit()

    def sweep(self) -> None:
        """Pause runs that nobody watches, drop those long forgotten and those too many; now and then."""
        now = self._lease_clock()
        if now - self._swept < _SWEEP_S:
            return
        self._swept = now
        for entry in list(self):
            if now - entry.renewed >= self._limits.forget_after_s:
                self._drop(entry)
            elif entry.state in ACTIVE and not self._is_watched(entry, now):
                entry.move("paused", " because nobody was watching")
        self._drop_those_too_many()
        self._thin(now)

    def _thin(self, now: float) -> None:
        """Keep what all runs can go back to within its limit, at the cost of those nobody watches first."""
        held = [entry for entry in self if entry.run and entry.run.kept.bytes]
        total = sum(entry.run.kept.bytes for entry in held if entry.run)
        if total <= self._limits.kept_bytes:
            return
        for entry in sorted(held, key=lambda entry: (self._is_watched(entry, now), entry.renewed)):
            if entry.lock.acquire(blocking=False):
                try:
                    total -= _halved(entry.run)
                finally:
                    entry.lock.release()
            if total <= self._limits.kept_bytes:
                return

    def admit(self) -> None:
        """Let the first in the queue run where there is room; after a full turn a run queues again.

        A run that keeps a pace needs no slot: it leaves most of the time to the others.
        """
        now = self._clock()
        for entry in self._at_full_pace():
            if entry.slot_since is not None and now - entry.slot_since >= self._limits.turn_s:
                entry.move("waiting")
                entry.turn = (entry.turn[0], next(self._numbers))
        waiting = self._in_state("waiting")
        for entry in waiting:
            if entry.interval_s:
                entry.take_slot(now)
        room = self._limits.running - len(self._at_full_pace())
        queue = (entry for entry in waiting if not entry.interval_s)
        for entry in heapq.nsmallest(room, queue, key=_by_turn):
            entry.take_slot(now)

    def next(self) -> Entry | None:
        """The running one with steps to take whose last slice is longest ago, its lock held; or None."""
        now = self._clock()
        running = [entry for entry in self._in_state("running") if not entry.callers]
        ready = [entry for entry in running if entry.ready(self._limits.slice_s) <= now]
        in_order = sorted(ready, key=_by_turn)
        entry = next((entry for entry in in_order if entry.lock.acquire(blocking=False)), None)
        if entry is not None:
            self._round = max(self._round, entry.turn[0])
            entry.slot_since = now if entry.slot_since is None else entry.slot_since
        return entry

    def companions(self, entry: Entry) -> list[Entry]:
        """Others that take their next steps together with one that is next, in line or not; locks held."""
        mine = entry.run.likeness if entry.run and entry.joins else None
        if mine is None:
            return []
        others, room, now = [], MOST_TOGETHER - entry.settings.work, self._clock()
        for other in sorted((each for each in self if each is not entry and each.joins), key=_by_turn):
            if room <= 0:
                break
            if not other.lock.acquire(blocking=False):
                continue
            if other.run is None or other.run.likeness != mine:
                other.lock.release()
                continue
            others.append(other)
            room -= other.settings.work
            other.take_slot(now)
            other.slot_since = now
        return others

    @property
    def stay_s(self) -> float:
        """How long a worker stays with a run: no longer than its turn where others wait for one."""
        others = any(entry.state == "waiting" for entry in self)
        return min(self._limits.slice_s, self._limits.turn_s) if others else self._limits.slice_s

    def pause_s(self, most_s: float) -> float:
        """How long until the next run is ready that is not yet."""
        now = self._clock()
        ready = [entry.ready(self._limits.slice_s) - now for entry in self._in_state("running")]
        return min([most_s, *(wait for wait in ready if wait > 0)])

    def tidy(self) -> None:
        """Let the nets of runs go that are over, but for some that were asked about last."""
        room = self._limits.kept_numbers
        for entry in sorted(self, key=lambda entry: entry.renewed, reverse=True):
            if entry.run is None or entry.state in ACTIVE + AT_REST:
                continue
            room -= entry.run.numbers
            if entry.state not in ENDED or room < 0:
                entry.let_go()

    def requeue(self, entry: Entry) -> None:
        """Put a run at the end of its line: in a round each visitor has one turn, however many the runs."""
        self._rounds[entry.visitor] = max(self._round, self._rounds.get(entry.visitor, 0)) + 1
        entry.turn = (self._rounds[entry.visitor], next(self._numbers))

    def clear(self) -> None:
        """Let every run go."""
        for entry in list(self):
            self._drop(entry)

    def status(self, entry: Entry) -> Status:
        """What is said of a run."""
        position = self._position(entry) if entry.state == "waiting" else None
        return Status(
            id=entry.id,
            state=entry.state,
            sentence=state_words(
                entry.state,
                step=entry.step,
                position=position,
                note=entry.note,
                others=self._others(entry),
            ),
            position=position,
            step=entry.step,
            steps=entry.settings.steps,
            steps_per_second=entry.speed,
            snapshot=entry.snapshot,
        )

    def gone(self, identity: str) -> Status:
        """What is said of a run that is not here: forgotten, or lost with the engine before this one."""
        note = self._names.why_gone(identity, "run")
        return Status(identity, "gone", state_words("gone", note=note))

    def _is_watched(self, entry: Entry, now: float) -> bool:
        return now - entry.renewed < self._limits.pause_after_s

    def _is_kept(self, entry: Entry) -> bool:
        """Whether a run that neither runs nor waits stays, however many there are: somebody looks at it."""
        idle = entry.state not in (*ACTIVE, "stopped")
        return idle and self._is_watched(entry, self._lease_clock())

    def _drop_those_too_many(self) -> None:
        """Of the runs that neither run nor wait nor are watched, drop those forgotten longest."""
        idle = [entry for entry in self if entry.state not in ACTIVE]
        left = sorted((entry for entry in idle if not self._is_kept(entry)), key=lambda entry: entry.renewed)
        for entry in left[: max(0, len(idle) - self._limits.idle)]:
            self._drop(entry)

    def _line_up(self, entry: Entry) -> None:
        self._active.require(entry.shares, [each.shares for each in self if each.state in ACTIVE])
        entry.move("waiting")
        entry.since = None
        self.requeue(entry)

    def _drop(self, entry: Entry) -> None:
        del self._entries[entry.id]
        entry.end("stopped")
        if all(other.visitor != entry.visitor for other in self):
            self._rounds.pop(entry.visitor, None)

    def _others(self, entry: Entry) -> int:
        """With how many it takes turns: all at full pace, where they are more than may run at once."""
        if entry.state not in ACTIVE or entry.interval_s:
            return 0
        active = sum(not other.interval_s and other.state in ACTIVE for other in self)
        return active - 1 if active > self._limits.running else 0

    def _in_state(self, state: State) -> list[Entry]:
        return [entry for entry in self if entry.state == state]

    def _at_full_pace(self) -> list[Entry]:
        return [entry for entry in self._in_state("running") if not entry.interval_s]

    def _position(self, entry: Entry) -> int:
        return 1 + sum(other.state == "waiting" and other.turn < entry.turn for other in self)


def _halved(run: Run | None) -> int:
    """Let go of every other state that a run keeps, but for the first; the bytes that are free now."""
    if run is None:
        return 0
    before = run.kept.bytes
    run.kept.thin(max(1, len(run.kept.steps) // 2))
    return before - run.kept.bytes


def _by_turn(entry: Entry) -> tuple[int, int]:
    return entry.turn
