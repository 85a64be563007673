"""One check at a time, with a time limit: an exception becomes a sentence."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from explorer.checks.curve import Curve
from explorer.checks.result import Finding, unknown
from explorer.foreign import TIME_LIMIT_S, UntriedError, said

TRACING_LIMIT_S = 180.0  # torch imports for seconds before it traces for the first time


@dataclass(frozen=True)
class Check:
    """One check: its name, its question, and the function of a curve that answers it.

    ``in_app``: whether it applies to formulas and is quick, so that the page shows it. ``if_learned``:
    whether it needs a rule with gradients for parameters. ``repeats``: whether it compares gradients, so that
    nothing is known where two of the same x and g differ. ``of``: whether it asks about pairs that draw,
    about those that do not, or about all, of which one that draws is tried with the same u for each element.
    """

    name: str
    question: str
    look: Callable[[Curve], Finding]
    in_app: bool = False
    if_learned: bool = False
    repeats: bool = True
    limit_s: float = TIME_LIMIT_S
    of: Literal["all", "fixed", "drawn"] = "all"


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
