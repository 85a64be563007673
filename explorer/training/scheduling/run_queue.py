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
from explorer.training.scheduling.job import Entry
from explorer.training.scheduling.quotas import Room, Shares
from explorer.training.scheduling.status import ACTIVE, AT_REST, ENDED, Command, State, Status, state_words
from explorer.training.settings import Settings

_SWEEP_S = 0.05  # between two looks at all leases: what a turn or a question costs is not the looking
_ACTIVE = (
    "{number} runs are running or waiting already: try again in about a minute.",
    "{number} runs from where you are run or wait already: stop one of them first.",
)
_HELD = (
    "{number} runs are held open already: try again in about a minute.",
    "{number} runs from where you are are held open: close the page of one of them.",
)


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
        self._queue = FairQueue[Entry](lambda entry: entry.parties)  # of those that run or wait, in slices

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
        entry = Entry(identity, owner, settings, self._lease_clock(), shares or {})
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
        held = [entry for entry in self if entry.run and entry.run.checkpoints.bytes]
        total = sum(entry.run.checkpoints.bytes for entry in held if entry.run)
        if total <= self._limits.checkpoint_bytes:
            return
        for entry in sorted(held, key=lambda entry: (self._is_watched(entry, now), entry.renewed)):
            if entry.lock.acquire(blocking=False):
                try:
                    total -= _halved(entry.run)
                finally:
                    entry.lock.release()
            if total <= self._limits.checkpoint_bytes:
                return

    def admit(self) -> None:
        """Let the first in the queue run where there is room; after a full turn a run queues again.

        A run that keeps a pace needs no slot: it leaves most of the time to the others.
        """
        now = self._clock()
        for entry in self._at_full_pace():
            if entry.slot_since is not None and now - entry.slot_since >= self._limits.turn_s:
                entry.move("waiting")
        waiting = self._in_state("waiting")
        for entry in waiting:
            if entry.interval_s:
                entry.take_slot(now)
        self._queue.keep(entry for entry in self if entry.state in ACTIVE)
        for _ in range(self._limits.running - len(self._at_full_pace())):
            if following := self._queue.first(entry for entry in waiting if entry.state == "waiting"):
                following.take_slot(now)

    def next(self) -> Entry | None:
        """The running one with steps to take whose last slice is longest ago, its lock held; or None."""
        now = self._clock()
        running = [entry for entry in self._in_state("running") if not entry.callers]
        ready = [entry for entry in running if entry.ready(self._limits.slice_s) <= now]
        while (entry := self._queue.first(ready)) and not entry.lock.acquire(blocking=False):
            ready.remove(entry)
        if entry is not None:
            entry.slot_since = now if entry.slot_since is None else entry.slot_since
        return entry

    def companions(self, entry: Entry) -> list[Entry]:
        """Others that take their next steps together with one that is next, in line or not; locks held."""
        mine = entry.run.likeness if entry.run and entry.joins else None
        if mine is None:
            return []
        others, left, now = [], MOST_TOGETHER - entry.settings.work, self._clock()
        alike = [each for each in self if each is not entry and each.joins and _locked_if(each, mine)]
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

    def charge(self, entry: Entry) -> None:
        """Note that a run had a slice; one that keeps a pace saves up none until its next step."""
        self._queue.charge(entry)
        if entry.interval_s:
            self._queue.catch_up(entry)

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

    def _drop(self, entry: Entry) -> None:
        del self._entries[entry.id]
        entry.end("stopped")

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
        return self._queue.position(entry, self._in_state("waiting"))


def _locked_if(entry: Entry, likeness: Hashable) -> bool:
    """Take the lock of a run if it is free and its nets are of this likeness; whether it was taken."""
    if not entry.lock.acquire(blocking=False):
        return False
    if entry.run is not None and entry.run.likeness == likeness:
        return True
    entry.lock.release()
    return False


def _halved(run: Run | None) -> int:
    """Let go of every other state that a run keeps, but for the first; the bytes that are free now."""
    if run is None:
        return 0
    before = run.checkpoints.bytes
    run.checkpoints.thin(max(1, len(run.checkpoints.steps) // 2))
    return before - run.checkpoints.bytes
