"""Students' predictions: a picked answer or a drawn curve, never a text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_POINTS = 400  # of a curve
MAX_VALUE = 1e6  # largest absolute value on a curve
MAX_BODY_BYTES = 8_192  # room for a curve, whose points have several digits each

_KINDS = {int, float, type(None)}

DrawnCurve = NDArray[np.float32]
"""Values of a curve in cells of equal width over the range of a lesson, NaN where nothing is drawn."""


@dataclass(frozen=True)
class Question:
    """The question that the students of a class answer.

    Attributes:
        lesson: the key of the lesson that the question belongs to.
        answers: the number of answers to choose from.
        draws: whether students may draw a curve instead.
    """

    lesson: str
    answers: int
    draws: bool


@dataclass(frozen=True)
class Prediction:
    """The prediction of one student: either the index of an answer or a curve; the other is None."""

    picked: int | None
    drawn: DrawnCurve | None


def read_prediction(data: Mapping[str, Any], question: Question) -> Prediction:
    """Return the prediction in ``{picked, drawn}``. Raises ValueError with a sentence if it is invalid."""
    picked, drawn = data.get("picked"), data.get("drawn")
    if drawn is not None and picked is None:
        return Prediction(None, _parse_curve(drawn, question))
    if type(picked) is not int or drawn is not None or not 0 <= picked < question.answers:
        raise ValueError(f"A prediction is one of the {question.answers} answers, or a curve.")
    return Prediction(picked, None)


def _parse_curve(values: Any, question: Question) -> DrawnCurve:
    """Return the drawn curve in a list of numbers. Raises ValueError with a sentence if it is invalid."""
    if not question.draws:
        raise ValueError("This lesson asks for an answer, not for a curve.")
    curve = _parse_numbers(values)
    if curve is None:
        raise ValueError(f"A curve is 2 to {MAX_POINTS} numbers from {-MAX_VALUE:g} to {MAX_VALUE:g}.")
    if np.isnan(curve).all():
        raise ValueError("Nothing is drawn yet.")
    return curve.astype(np.float32)


def _parse_numbers(values: Any) -> NDArray[np.float64] | None:
    """Return the values, (n,), with NaN for None; None if their number, types or sizes are invalid."""
    if (
        not isinstance(values, list)
        or not 2 <= len(values) <= MAX_POINTS
        or not {*map(type, values)} <= _KINDS
    ):
        return None
    try:
        numbers = np.array(values, dtype=np.float64)
    except OverflowError:  # raised by an integer with hundreds of digits
        return None
    is_bounded = not (np.abs(numbers) > MAX_VALUE).any()
    return numbers if is_bounded and np.isnan(numbers).sum() == values.count(None) else None
