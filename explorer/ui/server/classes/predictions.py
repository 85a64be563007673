"""Predictions of students: an answer that was picked, or a curve that was drawn; never a text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_POINTS = 400  # of a drawing
LARGEST = 1e6  # value of a drawing
LONGEST_BODY = 8_192  # bytes of a prediction: each point of a drawing has some digits

_KINDS = {int, float, type(None)}

Drawn = NDArray[np.float32]
"""The values of a curve in cells of one width over the range of a lesson, NaN where nothing was drawn."""


@dataclass(frozen=True)
class Question:
    """The question that a class answers.

    Attributes:
        lesson: the key of the lesson whose prediction it is.
        answers: how many there are to pick from.
        draws: whether a curve can be drawn instead.
    """

    lesson: str
    answers: int
    draws: bool


@dataclass(frozen=True)
class Prediction:
    """The prediction of one student: the index of an answer, or a curve; the other is None."""

    picked: int | None
    drawn: Drawn | None


def read_prediction(data: Mapping[str, Any], question: Question) -> Prediction:
    """The prediction in ``{picked, drawn}``. Raises ValueError with a sentence where it cannot be one."""
    picked, drawn = data.get("picked"), data.get("drawn")
    if drawn is not None and picked is None:
        return Prediction(None, _curve(drawn, question))
    if type(picked) is not int or drawn is not None or not 0 <= picked < question.answers:
        raise ValueError(f"A prediction is one of the {question.answers} answers, or a curve.")
    return Prediction(picked, None)


def _curve(values: Any, question: Question) -> Drawn:
    if not question.draws:
        raise ValueError("This lesson asks for an answer, not for a curve.")
    curve = _numbers(values)
    if curve is None:
        raise ValueError(f"A curve is 2 to {MOST_POINTS} numbers from {-LARGEST:g} to {LARGEST:g}.")
    if np.isnan(curve).all():
        raise ValueError("Nothing is drawn yet.")
    return curve.astype(np.float32)


def _numbers(values: Any) -> NDArray[np.float64] | None:
    """The values with NaN for None; None where they are not as many numbers, or not of that size."""
    if (
        not isinstance(values, list)
        or not 2 <= len(values) <= MOST_POINTS
        or not {*map(type, values)} <= _KINDS
    ):
        return None
    try:
        numbers = np.array(values, dtype=np.float64)
    except OverflowError:  # a whole number of hundreds of digits
        return None
    is_bounded = not (np.abs(numbers) > LARGEST).any()
    return numbers if is_bounded and np.isnan(numbers).sum() == values.count(None) else None
