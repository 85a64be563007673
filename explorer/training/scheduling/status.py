"""The status of a run or study: its state, a sentence for the user, and its progress."""

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
IDLE: tuple[State, ...] = ("ready", "paused")
ENDED: tuple[State, ...] = ("finished", "diverged")
EXISTING: tuple[State, ...] = (*IDLE, *ACTIVE, *ENDED, "failed", "stopped")
"""States of existing jobs; the other states are those of missing, unreachable or unwatchable jobs."""

SENTENCES: Mapping[State, str] = {
    "ready": "Ready at step 0: press Start or Step.",
    "waiting": "Waiting in the queue: number {position}.",
    "running": "Running.",
    "paused": "Paused at step {step}{note}.",
    "finished": "Finished after {step} step{plural}.",
    "diverged": "Diverged at step {step}: {note}. {advice}.",
    "failed": "This run failed: {note}.",
    "stopped": "Stopped at step {step}{note}.",
    "gone": "{note}: press Start to run it again.",
    "silent": "Training is unavailable: {note}.",
    "crowded": "{note}.",
}
STUDY_SENTENCES: Mapping[State, str] = {
    **SENTENCES,
    "paused": "Stopped{note}: finished runs are kept.",
    "finished": "Finished.",
    "failed": "This study failed: {note}.",
    "stopped": "Stopped{note}.",
    "silent": "The study is unavailable: {note}.",
}
RUN, STUDY = "run", "study"  # kinds of jobs, also used in their ids
ADVICE_AT_START = "No learning rate can fix a failure before the first step: choose another op or rule"
UNWATCHED = " because nobody was watching"
TAKING_TURNS = "Running, taking turns with {others} other{plural}."


@dataclass(frozen=True)
class Status:
    """The status of a training run, as reported by the engine.

    Attributes:
        id: the id that ``Engine.start`` returned.
        state: the state as one word; "gone" if the engine has no such run, "silent" if the engine does not
            respond, "crowded" if too many pages watch already.
        sentence: the state as a sentence for the screen: plain text, never markup.
        position: the position in the queue while waiting, 1 for the next; otherwise None.
        step: the number of steps taken.
        steps: the number of steps requested; 0 if the run is gone.
        steps_per_second: the mean speed since the last start, resume or change; 0.0 before the first step.
        snapshot: the current snapshot of the run; None until its first turn.
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
    def make_unseen(cls, identity: str, state: State, note: str) -> Self:
        """Return the status of a job that cannot be observed, such as "gone"; ``note`` is the reason."""
        return cls(identity, state, describe_state(state, note=note, sentences=cls.sentences))


@dataclass(frozen=True)
class StudyStatus(Status):
    """The status of a study, which has no snapshot. Steps are summed over all of its runs.

    ``steps`` is 0 before the first slice.

    Attributes:
        rows: the rows of all finished runs.
        plan: the plan of the study; None if the study does not exist.
    """

    rows: tuple[Any, ...] = ()
    plan: Any = None

    sentences = STUDY_SENTENCES

    @property
    def left_s(self) -> float | None:
        """The estimated seconds to the end of the study, or None if it does not run or has no speed yet."""
        if self.state != "running" or not self.steps_per_second:
            return None
        return (self.steps - self.step) / self.steps_per_second


def get_status_class(identity: str) -> type[Status]:
    """Return the class of status, of a run or of a study, for an id. The job itself may not exist."""
    return StudyStatus if f"-{STUDY}-" in identity else Status


def describe_state(
    state: State,
    *,
    step: int = 0,
    position: int | None = None,
    note: str = "",
    n_others: int = 0,
    sentences: Mapping[State, str] = SENTENCES,
) -> str:
    """Return a sentence for the user on the state of a job.

    ``n_others`` is the number of runs that take turns with a run that has begun. ``note`` is the reason: a
    clause that begins with its own space or comma for "paused" and "stopped", the error for "failed", the
    event for "diverged", "gone", "silent" and "crowded".
    """
    facts = {"step": step, "position": position, "note": note, "others": n_others}
    takes_turns = state in ACTIVE and bool(step and n_others)
    plural = "" if (n_others if takes_turns else step) == 1 else "s"
    # Not at step 0, where the learning rate has had no effect yet.
    advice = "Try a smaller learning rate or another rule" if step else ADVICE_AT_START
    words = TAKING_TURNS if takes_turns else sentences[state]
    return words.format(**facts, plural=plural, advice=advice)


def format_error(error: Exception) -> str:
    """Return the first line of an error as a clause for the user, without details for developers."""
    if memory.is_used_up(error):
        return memory.USED_UP
    text = str(error).strip()
    return text.splitlines()[0][:200].rstrip(".") if text else type(error).__name__
