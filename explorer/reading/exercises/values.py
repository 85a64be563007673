"""Evaluate formulas at single points in Python's own float64, without torch, as in the browser."""

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache

from explorer.catalogue import COUNT
from explorer.formula import Formula
from explorer.formula.constants import compute_ieee, evaluate_constant
from explorer.formula.operands import find_reductions, replace_counts
from explorer.formula.tree import Call, Node, find_names
from explorer.reading.exercises.cases import ELEMENTS
from explorer.reading.exercises.exercise import Exercise

_ORDERING = frozenset(["sign", "relu", "clamp", "clamp_min", "clamp_max", "min", "max"])  # wrong for NaN

# Python's equivalents of torch functions. They are equal unless an argument is NaN.
_EXACT: Mapping[str, Callable[..., float]] = {
    "sign": lambda a: (a > 0) - (a < 0),
    "round": round,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "relu": lambda a: max(a, 0.0),
    "clamp": lambda a, low, high: min(max(a, low), high),
    "clamp_min": max,
    "clamp_max": min,
}

MEANS = "Its {} takes a mean over all elements, which is not judged here."
STOCHASTIC = "Its {} draws at random, which is not judged here."
UNKNOWN = "Its {} depends on {}, which is no input of it."


class UnreadError(Exception):
    """Raised if a result depends on a value that is unknown. The message names the value."""


@lru_cache(maxsize=64)
def parse_text(exercise: Exercise, text: str) -> Formula:
    """Parse a formula in x, y, g, the exercise's arguments and N, the number of elements."""
    return exercise.parse_formula(text)


def compile_text(exercise: Exercise, text: str) -> Callable[..., float]:
    """Return a function ``(*, x, y, g, N) -> float`` that evaluates the text of a formula."""
    return compile_formula(exercise, parse_text(exercise, text))


def compile_formula(exercise: Exercise, formula: Formula, subject: str = "") -> Callable[..., float]:
    """Return a function that evaluates a formula for the keywords x, y, g and N, the number of elements.

    ``subject``, such as "gradient", names the formula in error messages. Raises UnreadError for a formula
    with a mean, a random number or an unknown name.
    """
    tree = replace_counts(formula.tree, COUNT)
    if find_reductions(tree):
        raise UnreadError(MEANS.format(subject))
    if formula.random_names:
        raise UnreadError(STOCHASTIC.format(subject))
    unknown = set(find_names(tree)).difference(exercise.values, ("x", "y", "g", COUNT, "pi", "e"))
    if unknown:
        raise UnreadError(UNKNOWN.format(subject, sorted(unknown)[0]))
    arguments = {COUNT: ELEMENTS[0], **exercise.values}
    return lambda **given: float(evaluate_constant(tree, {**arguments, **given}, _compute_step))


def _compute_step(node: Node, values: list[float]) -> float:
    if isinstance(node, Call) and (exact := _EXACT.get(node.function)):
        is_ordered = node.function not in _ORDERING or all(each == each for each in values)
        with suppress(ArithmeticError, ValueError):
            return exact(*values) if is_ordered else compute_ieee(node, values)
    return compute_ieee(node, values)
