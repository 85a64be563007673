"""In NumPy's place: the few names of it that the same modules use, whose arrays are tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .dtypes import bool_, float64, int8
from .kernel import arrays
from .tensor import Tensor, filled, joined, nextafter, tensor

__all__ = [
    "array", "bool_", "concatenate", "empty", "flatnonzero", "float64", "floating",
    "full", "int8", "linspace", "nextafter", "repeat", "sort", "unique",
]  # fmt: skip


class floating:  # noqa: N801  # NumPy's name
    """For annotations."""

    __class_getitem__ = classmethod(lambda cls, _: cls)


def array(values: Any, dtype: Any = None) -> Tensor:
    rows = list(values)
    if rows and isinstance(rows[0], Tensor):
        return joined([row[None] for row in rows], 0)
    return tensor(rows, dtype or float64)


def empty(shape: tuple[int, ...]) -> Tensor:
    return filled(shape, 0.0, float64)


def repeat(values: Tensor, times: int, axis: int) -> Tensor:
    return values.repeat_interleave(times, axis)


def full(length: int, value: float, dtype: Any) -> Tensor:
    return filled((length,), value, dtype)


def linspace(start: float, stop: float, points: int) -> Tensor:
    even = arrays.stepped(start, (stop - start) / (points - 1), points)
    found = Tensor(even, (points,), float64)
    found[-1] = stop
    return found


def concatenate(parts: Sequence[Any], axis: int = 0) -> Tensor:
    return joined([part if isinstance(part, Tensor) else array(part) for part in parts], axis)


def sort(values: Tensor) -> Tensor:
    return values.sort().values


def unique(values: Tensor, return_index: bool = False) -> Any:
    places = values.argsort()
    ordered = values[places]
    first = joined([ordered[:1] == ordered[:1], ordered[1:] != ordered[:-1]], 0)
    return (ordered[first], places[first]) if return_index else ordered[first]


def flatnonzero(values: Tensor) -> Tensor:
    return values.nonzero()[:, 0]
