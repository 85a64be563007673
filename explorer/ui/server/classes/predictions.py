"""Predictions that students make in a class: a chosen answer or a drawn curve, never a text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_POINTS = 400  # the maximum number of points of a drawn curve
MAX_VALUE = 1e6  # largest absolute value on a curve
MAX_BODY_BYTES = 8_192  # room for a curve, whose points have several digits each

_KINDS = {int, float, type(None)}

DrawnCurve = NDArray[np.float32]
"""Values of a curve in cells of equal width over the range of a lesson, NaN where nothing is drawn."""


@dataclass(frozen=True)
class Question:
    """The question of a lesson that a class answers.

    Attributes:
        lesson: the key of the lesson.
        answers: the number of answers to choose from.
        draws: whether students may draw a curve instead.
    """

    lesson: str
    answers: int
    draws: bool


@dataclass(frozen=True)
class Prediction:
    """A student's prediction, which is either the index of an answer or a drawn curve. The other is None."""

    picked: int | None
    drawn: DrawnCurve | None


def read_prediction(data: Mapping[str, Any], question: Question) -> Prediction:
    """Parse a student's prediction from ``{picked, drawn}``. Raises ValueError if it is invalid."""
    picked, drawn = data.get("picked"), data.get("drawn")
    if drawn is not None and picked is None:
        return Prediction(None, _parse_curve(drawn, question))
    if type(picked) is not int or drawn is not None or not 0 <= picked < question.answers:
        raise ValueError(f"A prediction must be one of the {question.answers} answers or a curve.")
    return Prediction(picked, None)


def _parse_curve(values: Any, question: Question) -> DrawnCurve:
    """Parse a drawn curve from a list of numbers. Raises ValueError if it is invalid."""
    if not question.draws:
        raise ValueError("This lesson asks for an answer, not for a curve.")
    curve = _parse_numbers(values)
    if curve is None:
        raise ValueError(f"A curve is 2 to {MAX_POINTS} numbers from {-MAX_VALUE:g} to {MAX_VALUE:g}.")
    if np.isnan(curve).all():
        raise ValueError("Nothing is drawn yet: draw a curve first.")
    return curve.astype(np.float32)


def _parse_numbers(values: Any) -> NDArray[np.float64] | None:
    """Return a list of numbers as an array, with NaN in place of None.

    Returns None if their number, types or sizes are invalid.
    """
    if (
        not isinstance(values, list)
        or not 2 <= len(values) <= MAX_POINTS
        or not {*map(type, values)} <= _KINDS
    ):
        return None
    try:
        numbers = np.array(values, dtype=np.float64)
    except OverflowError:  # an integer with hundreds of digits
        return None
    is_bounded = not (np.abs(numbers) > MAX_VALUE).any()
    return numbers if is_bounded and np.isnan(numbers).sum() == values.count(None) else None
