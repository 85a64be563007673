"""One check at a time, with a time limit: an exception becomes a sentence."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from explorer.checks.curve import Curve
from explorer.checks.result import Result, unknown
from explorer.curves.foreign import TIME_LIMIT_S, UntriedError, describe_error

TRACING_LIMIT_S = 180.0  # torch imports for seconds before it traces for the first time


@dataclass(frozen=True)
class Check:
    """One check: its name, its question, and the function of a curve that answers it.

    Attributes:
        name, question: as shown.
        look: the function that answers it for an elementwise subject.
        look_along: the same for a subject whose y at one x depends on others; None to use ``look``.
        look_on_average: the same for a subject that draws at random; None to use ``look``.
        in_app: whether it applies to formulas and is quick, so that the page shows it.
        if_learned: whether it needs a rule with gradients for parameters.
        without_gradient: whether it can be tried although the backward fails.
        repeats: whether it compares gradients, so that two backwards of the same x and g must agree.
        limit_s: the time that it may take.
        of: "fixed" for pairs without draws, "drawn" for pairs with draws, "all" for both. A pair that draws
            is tried with the same u for each element.
    """

    name: str
    question: str
    look: Callable[[Curve], Result]
    look_along: Callable[[Curve], Result] | None = None
    look_on_average: Callable[[Curve], Result] | None = None
    in_app: bool = False
    if_learned: bool = False
    without_gradient: bool = False
    repeats: bool = True
    limit_s: float = TIME_LIMIT_S
    of: Literal["all", "fixed", "drawn"] = "all"


def find_result(check: Check, curve: Curve) -> Result:
    """Return the finding of a check; "unknown" with the reason if it raises."""
    try:
        nature = curve.nature
        if (nature.failure or nature.cut) and not check.without_gradient:
            return unknown("Not tried, because backward returns no gradient for x.")
        if check.repeats and not curve.repeats:
            return unknown("Two backwards of the same x and g differ, so none can be compared.")
        look = check.look
        if nature.draws and check.look_on_average:
            look = check.look_on_average
        elif nature.dependence and check.look_along:
            look = check.look_along
        return look(curve)
    except UntriedError as error:
        return unknown(f"It could not be tried: {error}.")
    except Exception as error:
        return unknown(f"It could not be tried: it raises {describe_error(error)}.")
