"""The roster: which runs there are, which of them run, and in what order the others wait.

It only keeps the books: no thread, no lock, no tensor. The engine calls it under its lock.
"""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from explorer.training.limits import Limits
from explorer.training.picture import ACTIVE, AT_REST, Command, Picture, State, sentence
from explorer.training.run import Run, Snapshot
from explorer.training.settings import Settings

GONE = "This run is gone"
LOST = "The training process stopped unexpectedly and this run is lost"


class EngineFull(RuntimeError):  # noqa: N818  # a state of affairs, not a mistake
    """No room for another run now; the message is a sentence for the screen."""


@dataclass
class Entry:
    """One run and where it stands.

    Attributes:
        asked: when somebody last asked about it.
        turn: its number in whatever line it stands in; the lowest is next.
        run: the run itself, from its first slice until it is over; only the worker who has the
            entry, which is then ``busy``, touches it.
        rebuild: to be built afresh from the settings before anything else.
        single_steps: steps asked for one by one, still to be taken.
        placed: when it last got a place among the running, and ``placed_step`` at which step.
    """

    id: str
    owner: str | None
    settings: Settings
    asked: float
    turn: int
    state: State = "ready"
    note: str = ""
    run: Run | None = None
    snapshot: Snapshot | None = None
    busy: bool = False
    rebuild: bool = True
    single_steps: int = 0
    placed: float = 0.0
    placed_step: int = 0
    speed: float = 0.0

    @property
    def step(self) -> int:
        """Steps taken, as far as it was last seen."""
        return self.snapshot.step if self.snapshot else 0

    @property
    def has_errand(self) -> bool:
        """Whether something is to be done that is no slice of running."""
        return self.state != "waiting" and (self.rebuild or self.single_steps > 0)

    def move(self, state: State, note: str = "") -> None:
        """Change the state; ``note`` says why."""
        self.state, self.note = state, note

    def end(self, state: State, note: str = "") -> None:
        """Change to a state in which nothing more is done, and let the run's memory go."""
        self.move(state, note)
        self.run, self.rebuild, self.single_steps = None, False, 0

    def show(self, snapshot: Snapshot, now: float) -> None:
        """Take over a new snapshot, and with it the end of the run."""
        self.snapshot = snapshot
        if self.state == "running" and now > self.placed:
            self.speed = (snapshot.step - self.placed_step) / (now - self.placed)
        if snapshot.finished:
            self.end("diverged" if None not in snapshot.diverged.values() else "finished")


class Roster:
    """All runs of one engine. ``clock``: seconds, monotonic."""

    def __init__(self, limits: Limits, clock: Callable[[], float]) -> None:
        self._limits = limits
        self._clock = clock
        self._name = secrets.token_hex(4)
        self._entries: dict[str, Entry] = {}
        self._turns = itertools.count()

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __contains__(self, entry: Entry) -> bool:
        return self._entries.get(entry.id) is entry

    def get(self, identity: str) -> Entry | None:
        """The run of this id, its lease renewed; None when gone."""
        self.sweep()
        entry = self._entries.get(identity)
        if entry is not None:
            entry.asked = self._clock()
        return entry

    def add(self, settings: Settings, owner: str | None, paused: bool) -> Entry:
        """A new run; the owner's earlier one stops. Raises EngineFull, and then nothing has changed."""
        mine = [entry for entry in self if owner is not None and entry.owner == owner]
        if not paused:
            self._require_room(sum(entry.state in ACTIVE for entry in mine))
        for entry in mine:
            if entry.state in ACTIVE + AT_REST:
                entry.end("stopped", " because another run was started")
        identity = f"{self._name}-{secrets.token_hex(8)}"
        entry = Entry(identity, owner, settings, self._clock(), next(self._turns))
        if not paused:
            self._line_up(entry)
        self._entries[identity] = entry
        self.sweep()
        self.admit()
        return entry

    def obey(self, entry: Entry, command: Command) -> None:
        """Carry out a command; one that does not fit the state changes nothing. Raises EngineFull."""
        match command:
            case "pause" if entry.state in ACTIVE:
                entry.move("paused")
            case "resume" if entry.state in AT_REST:
                self._line_up(entry)
            case "step" if entry.state in AT_REST:
                entry.move("paused")
                entry.single_steps += 1
            case "stop" if entry.state in ACTIVE + AT_REST:
                entry.end("stopped")
            case "reset":
                entry.end("ready")
                entry.rebuild, entry.snapshot, entry.speed = True, None, 0.0
        self.admit()

    def sweep(self) -> None:
        """Pause runs that nobody asks about, drop those long forgotten and those too many."""
        now = self._clock()
        for entry in list(self):
            if now - entry.asked >= self._limits.forget_after_s:
                self._drop(entry)
            elif now - entry.asked >= self._limits.pause_after_s and entry.state in ACTIVE:
                entry.move("paused", " because nobody was watching")
        idle = sorted((entry for entry in self if entry.state not in ACTIVE), key=lambda entry: entry.asked)
        for entry in idle[: max(0, len(idle) - self._limits.idle)]:
            self._drop(entry)

    def admit(self) -> None:
        """Let the first in the queue run where there is room; after a full turn a run queues again."""
        now = self._clock()
        for entry in self._in_state("running"):
            if now - entry.placed >= self._limits.turn_s:
                entry.move("waiting")
                self.requeue(entry)
        room = self._limits.running - len(self._in_state("running"))
        for entry in self._waiting()[: max(0, room)]:
            entry.move("running")
            entry.placed, entry.placed_step = now, entry.step

    def next(self) -> Entry | None:
        """A run with an errand, else the running one whose last slice is longest ago."""
        free = [entry for entry in self if not entry.busy]
        errands = [entry for entry in free if entry.has_errand]
        running = [entry for entry in free if entry.state == "running"]
        return min(errands or running, key=lambda entry: entry.turn, default=None)

    def requeue(self, entry: Entry) -> None:
        """Put a run at the end of its line."""
        entry.turn = next(self._turns)

    def clear(self) -> None:
        """Let every run go."""
        for entry in list(self):
            self._drop(entry)

    def picture(self, entry: Entry) -> Picture:
        """What is shown of a run."""
        position = self._waiting().index(entry) + 1 if entry.state == "waiting" else None
        diverged = entry.snapshot.diverged.values() if entry.snapshot else ()
        return Picture(
            id=entry.id,
            state=entry.state,
            sentence=sentence(
                entry.state,
                step=entry.step,
                position=position,
                diverged=max((step for step in diverged if step is not None), default=None),
                note=entry.note,
            ),
            position=position,
            step=entry.step,
            steps=entry.settings.steps,
            steps_per_second=entry.speed,
            snapshot=entry.snapshot,
        )

    def gone(self, identity: str) -> Picture:
        """What is shown of a run that is not here: forgotten, or lost with the engine before this one."""
        note = GONE if identity.startswith(self._name) else LOST
        return Picture(identity, "gone", sentence("gone", note=note))

    def _require_room(self, leaving: int = 0) -> None:
        """Raise EngineFull where no further run can be taken on once so many active ones have left."""
        waiting, running = len(self._waiting()), len(self._in_state("running"))
        if waiting + running - leaving >= self._limits.waiting + self._limits.running:
            raise EngineFull(f"{waiting} runs are waiting already: try again in about a minute.")

    def _line_up(self, entry: Entry) -> None:
        self._require_room()
        entry.move("waiting")
        self.requeue(entry)

    def _drop(self, entry: Entry) -> None:
        del self._entries[entry.id]
        entry.end("stopped")

    def _in_state(self, state: State) -> list[Entry]:
        return [entry for entry in self if entry.state == state]

    def _waiting(self) -> list[Entry]:
        return sorted(self._in_state("waiting"), key=lambda entry: entry.turn)
