"""The status of a job, which is a run or a study: its state, a sentence for the screen, what it has done."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from explorer.training.runs import Snapshot
from explorer.training.system import memory

State = Literal[
    "ready", "waiting", "running", "paused", "finished", "diverged", "failed", "stopped", "gone", "silent",
    "crowded",
]  # fmt: skip
Command = Literal["pause", "resume", "step", "reset", "stop"]

ACTIVE: tuple[State, ...] = ("waiting", "running")
AT_REST: tuple[State, ...] = ("ready", "paused")
ENDED: tuple[State, ...] = ("finished", "diverged")
HELD: tuple[State, ...] = (*AT_REST, *ACTIVE, *ENDED, "failed", "stopped")
"""Those of the runs that an engine has; the others are of one that it has not, or that nobody may watch."""

SENTENCES: Mapping[State, str] = {
    "ready": "Ready at step 0: press Start or Step.",
    "waiting": "Waiting for a free place: number {position} in the queue.",
    "running": "Running.",
    "paused": "Paused at step {step}{note}.",
    "finished": "Finished after {step} step{plural}.",
    "diverged": "Diverged at step {step}: {note}. {advice}.",
    "failed": "This run failed: {note}.",
    "stopped": "Stopped at step {step}{note}.",
    "gone": "{note}: press Start to run it again.",
    "silent": "Training is not available just now: {note}.",
    "crowded": "{note}.",
}
OF_STUDIES: Mapping[State, str] = {
    **SENTENCES,
    "paused": "Stopped{note}: what is done is kept.",
    "finished": "Finished.",
    "failed": "This study failed: {note}.",
    "stopped": "Stopped{note}.",
    "silent": "The study is not to be seen just now: {note}.",
}
RUN, STUDY = "run", "study"  # kinds of jobs, as in their ids
AT_START = "No rate helps before the first step: choose another op or rule"
UNWATCHED = " because nobody was watching"
IN_TURN = "Running in turn with {others} other{plural}."


@dataclass(frozen=True)
class Status:
    """The status of a run, as the engine gives it.

    Attributes:
        id: what ``Engine.start`` returned.
        state: one word; "gone" for a run the engine does not have or no longer has, "silent" where the
            engine does not answer, "crowded" where too many watch already.
        sentence: the state in words, for the screen: plain text, never markup.
        position: place in the queue while waiting, 1 for the next; otherwise None.
        step: steps taken.
        steps: steps asked for; 0 when gone.
        steps_per_second: mean speed since it was last started, resumed or changed; 0.0 before the first
            step.
        snapshot: the run itself as it is now; None until its first turn.
    """

    id: str
    state: State
    sentence: str
    position: int | None = None
    step: int = 0
    steps: int = 0
    steps_per_second: float = 0.0
    snapshot: Snapshot | None = None

    sentences = SENTENCES

    @classmethod
    def told(cls, identity: str, state: State, note: str) -> Self:
        """Return the status of a job that is not seen; ``note`` says why, as in ``state_words``."""
        return cls(identity, state, state_words(state, note=note, sentences=cls.sentences))


@dataclass(frozen=True)
class StudyStatus(Status):
    """The status of a study, without a snapshot; its steps are those of all runs, 0 before its first slice.

    Attributes:
        rows: all there are.
        plan: what it was started with; None where it is not there.
    """

    rows: tuple[Any, ...] = ()
    plan: Any = None

    sentences = OF_STUDIES

    @property
    def left_s(self) -> float | None:
        """Seconds to its end at its speed until now; None before there is one, and while it does not run."""
        if self.state != "running" or not self.steps_per_second:
            return None
        return (self.steps - self.step) / self.steps_per_second


def kind_of(identity: str) -> type[Status]:
    """Return the class of the statuses of the job of this id, be it here or gone."""
    return StudyStatus if f"-{STUDY}-" in identity else Status


def state_words(
    state: State,
    *,
    step: int = 0,
    position: int | None = None,
    note: str = "",
    others: int = 0,
    sentences: Mapping[State, str] = SENTENCES,
) -> str:
    """Return the state in words.

    ``others`` is how many take turns with a run that has begun. ``note`` is why: a clause that begins
    with its own space or comma for "paused" and "stopped", the error for "failed", what happened for
    "diverged", "gone", "silent" and "crowded".
    """
    facts = {"step": step, "position": position, "note": note, "others": others}
    in_turn = state in ACTIVE and bool(step and others)
    plural = "" if (others if in_turn else step) == 1 else "s"
    # Before the first step the learning rate has done nothing yet.
    advice = "Try a smaller learning rate or another rule" if step else AT_START
    words = IN_TURN if in_turn else sentences[state]
    return words.format(**facts, plural=plural, advice=advice)


def plain(error: Exception) -> str:
    """An error as a clause for the screen: its first line, without what only a developer reads."""
    if memory.is_used_up(error):
        return memory.USED_UP
    text = str(error).strip()
    return text.splitlines()[0][:200].rstrip(".") if text else type(error).__name__
