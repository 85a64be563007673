"""Formulas at one point after another, in Python's own float64: without torch, as in the browser."""

import math
from collections.abc import Callable, Mapping
from functools import lru_cache

from explorer.catalogue import COUNT
from explorer.formula import Formula
from explorer.formula.constants import PYTHON, ieee_step
from explorer.formula.operands import casts, counted, reductions
from explorer.formula.operators import operation
from explorer.formula.tree import Binary, Call, Name, Node, Number, Unary, children, names
from explorer.reading.exercises.cases import ELEMENTS
from explorer.reading.exercises.exercise import Exercise

_ORDERING = frozenset(["sign", "relu", "clamp", "clamp_min", "clamp_max", "min", "max"])  # NaN has no place

Point = Mapping[str, float]
"""The values of all names of a formula."""

# What Python has under another name, exact as in torch where no argument is NaN.
_EXACT: Mapping[str, Callable[..., float]] = {
    **PYTHON,
    "sign": lambda a: (a > 0) - (a < 0),
    "round": round,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "relu": lambda a: max(a, 0.0),
    "clamp": lambda a, low, high: min(max(a, low), high),
    "clamp_min": max,
    "clamp_max": min,
    "where": lambda condition, a, b: a if condition else b,
}

MEANS = "Its {} takes a mean over all elements, which is not judged here."
DRAWN = "Its {} draws at random, which is not judged here."
UNKNOWN = "Its {} depends on {}, which is no input of it."


class UnreadError(Exception):
    """Something that decides is not known; the message says what."""


@lru_cache(maxsize=64)
def parsed(exercise: Exercise, text: str) -> Formula:
    """A formula of an exercise."""
    return exercise.formula(text)


def values(exercise: Exercise, text: str) -> Callable[..., float]:
    """A formula of the exercise as a function of x, y, g and N."""
    return values_of(exercise, parsed(exercise, text))


def values_of(exercise: Exercise, formula: Formula, what: str = "") -> Callable[..., float]:
    """A formula as a function of x, y, g and N; raises UnreadError for what depends on anything else.

    ``what`` it is the formula of, for the sentence.
    """
    tree = counted(formula.tree, COUNT)
    if reductions(tree):
        raise UnreadError(MEANS.format(what))
    if formula.draws:
        raise UnreadError(DRAWN.format(what))
    unknown = set(names(tree)).difference(exercise.values, ("x", "y", "g", COUNT, "pi", "e"))
    if unknown:
        raise UnreadError(UNKNOWN.format(what, sorted(unknown)[0]))
    evaluate, arguments = compiled(tree), {COUNT: ELEMENTS[0], **exercise.values}
    return lambda **given: float(evaluate({**arguments, **given}))


@lru_cache(maxsize=512)
def compiled(node: Node) -> Callable[[Point], float]:
    """A tree as a function of the values of its names."""
    match node:
        case Number(value):
            return lambda _: value
        case Name("pi" | "e" as name):
            constant = float(getattr(math, name))
            return lambda _: constant
        case Name(name):
            return lambda point: point[name]
    operands = [_operand(*pair) for pair in zip(children(node), casts(node), strict=True)]
    step = _step(node)
    orders = isinstance(node, Call) and node.function in _ORDERING

    def computed(point: Point) -> float:
        values = [operand(point) for operand in operands]
        try:
            known = not orders or all(each == each for each in values)
            return step(*values) if known else ieee_step(node, values)
        except (ArithmeticError, ValueError):
            return ieee_step(node, values)

    return computed


def _operand(node: Node, cast: bool) -> Callable[[Point], float]:
    evaluate = compiled(node)
    return (lambda point: float(evaluate(point))) if cast else evaluate


def _step(node: Node) -> Callable[..., float]:
    match node:
        case Unary("~"):
            return lambda a: not a
        case Binary("**"):
            return math.pow
        case Call(function):
            return _EXACT.get(function) or (lambda *values: ieee_step(node, list(values)))
        case _:
            return operation(node)
