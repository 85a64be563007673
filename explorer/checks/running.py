"""One check at a time, with a time limit: an exception becomes a sentence."""

from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

from explorer.checks.curve import Curve
from explorer.checks.result import Finding, unknown
from explorer.checks.subject import UntriedError, said

Answer = TypeVar("Answer")
TIME_LIMIT_S = 10.0
TRACING_LIMIT_S = 180.0  # torch imports for seconds before it traces for the first time


class HungError(Exception):
    """A check did not come back in time."""


@dataclass(frozen=True)
class Check:
    """One check: its name, its question, and the function of a curve that answers it.

    ``in_app``: whether it applies to formulas and is quick, so that the page shows it. ``if_learned``:
    whether it needs a rule with gradients for parameters. ``repeats``: whether it compares gradients, so that
    nothing is known where two of the same x and g differ.
    """

    name: str
    question: str
    look: Callable[[Curve], Finding]
    in_app: bool = False
    if_learned: bool = False
    repeats: bool = True
    limit_s: float = TIME_LIMIT_S


def result_of(check: Check, curve: Curve) -> Finding:
    """The finding of a check; "unknown" with the reason where it raises."""
    try:
        if check.repeats and not curve.repeats:
            return unknown("Two backwards of the same x and g differ, so that none can be compared.")
        return check.look(curve)
    except UntriedError as error:
        return unknown(f"It could not be tried: {error}.")
    except Exception as error:
        return unknown(f"It could not be tried: it raises {said(error)}.")


def within(limit_s: float, work: Callable[[], Answer]) -> Answer:
    """Return the result of ``work``; raise HungError after ``limit_s``, leaving it in a daemon thread."""
    answers: SimpleQueue[Answer | BaseException] = SimpleQueue()

    def run() -> None:
        try:
            answers.put(work())
        except BaseException as error:  # a thread must hand on whatever ends it
            answers.put(error)

    Thread(target=run, daemon=True, name="explorer.check").start()
    try:
        answer = answers.get(timeout=limit_s)
    except Empty:
        raise HungError(
            f"did not come back within {limit_s:g} s and is left behind in a daemon thread"
        ) from None
    if isinstance(answer, BaseException):
        raise UntriedError(f"it raises {said(answer)}") from answer
    return answer
