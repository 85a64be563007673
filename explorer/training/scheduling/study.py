"""A study in the books of the engine: what it advances, where it stands, and its status.

Its results are not interpreted here: it is made, advances for a while, and gives rows, which stay.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from explorer.training.scheduling.fair_queue import Parties
from explorer.training.scheduling.quotas import Shares, parties
from explorer.training.scheduling.status import SENTENCES, State

StudyCommand = Literal["stop", "resume", "drop"]

_SENTENCES: Mapping[State, str] = {
    **SENTENCES,
    "paused": "Stopped{note}: what is done is kept.",
    "finished": "Finished.",
    "failed": "This study failed: {note}.",
    "silent": "The study is not to be seen just now: {note}.",
}


def study_words(state: State, *, position: int | None = None, note: str = "") -> str:
    """The state of a study in words; ``note`` as in ``state_words``."""
    return _SENTENCES[state].format(position=position, note=note)


class Stepper(Protocol):
    """A computation that advances by slices."""

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""

    @property
    def done(self) -> float:
        """Progress, of ``total``."""

    @property
    def total(self) -> float:
        """Progress at the end."""

    def advance(self, seconds: float) -> Sequence[Any]:
        """Work for about so long; the rows that are new."""


Make = Callable[[Any, Sequence[Any]], Stepper]
"""A study of a plan that goes on from rows."""


@dataclass(frozen=True)
class StudyStatus:
    """The status of a study, as the engine gives it.

    Attributes:
        id: what ``Studies.start`` returned.
        state: one of "waiting", "running", "paused", "finished", "failed", "gone", "silent", "crowded".
        sentence: the state in words, for the screen: plain text, never markup.
        done, total: how far it is, in a unit of its own; 0 of 0 before its first slice.
        left_s: seconds it will take at the speed it has had, or None before there is one.
        rows: all there are.
        plan: what it was started with; None where it is not there.
    """

    id: str
    state: State
    sentence: str
    done: float = 0.0
    total: float = 0.0
    left_s: float | None = None
    rows: tuple[Any, ...] = ()
    plan: Any = None


@dataclass(eq=False)
class Study:
    """A study and where it stands.

    ``rests`` says that its stepper is to go, and only the rows stay; ``placed`` when it got its place among
    those that are advanced.
    """

    id: str
    owner: str | None
    make: Make
    plan: Any
    renewed: float
    shares: Shares = field(default_factory=dict)
    state: State = "waiting"
    note: str = ""
    rows: tuple[Any, ...] = ()
    stepper: Stepper | None = None
    rests: bool = False
    done: float = 0.0
    total: float = 0.0
    since: float | None = None
    since_done: float = 0.0
    observed: float = 0.0
    placed: float = 0.0

    def end(self, state: State, note: str = "") -> None:
        """Change the state, and let the memory go that its stepper takes; ``note`` says why."""
        self.state, self.note, self.stepper = state, note, None

    def take(self, stepper: Stepper, rows: Sequence[Any], now: float) -> None:
        """Note the results of a slice."""
        self.rows += tuple(rows)
        self.done, self.total, self.observed = stepper.done, stepper.total, now
        if self.since is None:
            self.since, self.since_done = now, self.done
        self.stepper = None if self.rests else stepper
        if stepper.finished:
            self.end("finished")

    @property
    def parties(self) -> Parties:
        """The visitor and the address whose turns it takes."""
        return parties(self.shares, self.owner or self.id)

    @property
    def left_s(self) -> float | None:
        """Seconds to its end, by how long it has taken since it last began to run."""
        if self.state != "running" or self.since is None or self.done <= self.since_done:
            return None
        return (self.total - self.done) * (self.observed - self.since) / (self.done - self.since_done)
