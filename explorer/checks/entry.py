"""The entry of a check in ``CHECKS``, and how it is applied to a curve: an exception becomes a sentence."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from explorer.checks.curve import Curve
from explorer.checks.result import Result, unknown
from explorer.curves.foreign import TIME_LIMIT_S, UntriedError, describe_error

TRACING_LIMIT_S = 180.0  # before torch traces for the first time it imports for some seconds


@dataclass(frozen=True)
class Check:
    """One check: its name, its question, and the functions that answer it for a curve.

    Attributes:
        name: as in results. question: what it asks, for readers of ``CHECKS``.
        run: the function that answers it for an elementwise subject.
        run_on_lines: the same for a subject whose y at one x depends on others; None to use ``run``.
        run_on_average: the same for a subject that draws at random; None to use ``run``.
        in_app: whether it applies to formulas and is quick, so that the page shows it.
        needs_learned: whether it applies only to a rule that has gradients for parameters.
        works_without_gradient: whether it can be tried although the backward fails.
        needs_repeatable: whether it compares gradients, so that two backwards of the same x and g must agree.
        limit_s: the time it may take for a user's function, in seconds.
        pairs: "fixed" for pairs without draws, "drawn" for pairs with draws, "all" for both. One that draws
            is tried with the same u for each element.
    """

    name: str
    question: str
    run: Callable[[Curve], Result]
    run_on_lines: Callable[[Curve], Result] | None = None
    run_on_average: Callable[[Curve], Result] | None = None
    in_app: bool = False
    needs_learned: bool = False
    works_without_gradient: bool = False
    needs_repeatable: bool = True
    limit_s: float = TIME_LIMIT_S
    pairs: Literal["all", "fixed", "drawn"] = "all"


def run_check(check: Check, curve: Curve) -> Result:
    """Return the result of a check without its name; "unknown" with the reason if it raises."""
    try:
        traits = curve.traits
        if (traits.failure or traits.no_path) and not check.works_without_gradient:
            return unknown("Not tried, because backward returns no gradient for x.")
        if check.needs_repeatable and not curve.is_repeatable:
            return unknown("Two backwards of the same x and g differ, so none can be compared.")
        run = check.run
        if traits.draws and check.run_on_average:
            run = check.run_on_average
        elif traits.dependence and check.run_on_lines:
            run = check.run_on_lines
        return run(curve)
    except UntriedError as error:
        return unknown(f"It could not be tried: {error}.")
    except Exception as error:
        return unknown(f"It could not be tried: it raises {describe_error(error)}.")
