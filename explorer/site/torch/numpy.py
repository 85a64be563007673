"""In NumPy's place: the names of it that the same modules use, whose arrays are tensors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from .dtypes import DType, MissingError, bool_, float64, int8, int_
from .dtypes import finfo as finfo
from .dtypes import float32 as float32
from .kernel import arrays
from .tensor import Tensor, elementwise, filled, joined, missing, nextafter, tensor

__all__ = [
    "abs", "add", "append", "arange", "argmax", "argmin", "array", "asarray", "bool_", "clip", "concatenate",
    "diff", "empty", "errstate", "finfo", "flatnonzero", "float32", "float64", "floating", "full",
    "full_like", "inf", "int8", "isclose", "isfinite", "isinf", "isnan", "linspace", "maximum", "nan",
    "nextafter", "pad", "polynomial", "repeat", "searchsorted", "sort", "spacing", "sum", "unique", "where",
    "zeros",
]  # fmt: skip

inf, nan = math.inf, math.nan
_KINDS: dict[type, DType] = {bool: bool_, int: int_, float: float64}


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return missing(f"numpy.{name}")


class floating:  # noqa: N801  # NumPy's name
    """For annotations."""

    __class_getitem__ = classmethod(lambda cls, _: cls)


# Arrays.


def array(values: Any, dtype: Any = None) -> Tensor:
    rows = [row.item() if isinstance(row, Tensor) and not row.shape else row for row in values]
    if rows and isinstance(rows[0], Tensor):
        return joined([row[None] for row in rows], 0)
    kinds = [_KINDS.get(type(row), float64) for row in rows] or [float64]
    return tensor(rows, _dtype(dtype) or max(kinds, key=lambda kind: kind.rank))


def asarray(values: Any, dtype: Any = None) -> Tensor:
    if not isinstance(values, Tensor):
        return array(values, dtype)
    return values.to(_dtype(dtype) or values.dtype)


def _dtype(given: Any) -> Any:
    """A dtype, which may be one of Python's types."""
    return _KINDS[given] if isinstance(given, type) else given


def empty(shape: tuple[int, ...]) -> Tensor:
    return filled(shape, 0.0, float64)


def zeros(length: int, dtype: Any = float64) -> Tensor:
    return full(length, 0.0, dtype)


def full(length: int, value: float, dtype: Any) -> Tensor:
    return filled((length,), value, _dtype(dtype))


def full_like(like: Tensor, value: float) -> Tensor:
    return filled(like.shape, value, like.dtype)


def arange(start: int, stop: int | None = None) -> Tensor:
    first, last = (0, start) if stop is None else (start, stop)
    count = max(int(last) - int(first), 0)
    return Tensor(arrays.stepped(int(first), 1, count), (count,), int_)


def linspace(start: Any, stop: Any, points: int) -> Tensor:
    first, last = float(start), float(stop)
    found = Tensor(arrays.stepped(first, (last - first) / (points - 1), points), (points,), float64)
    found[-1] = last
    return found


def concatenate(parts: Sequence[Any], axis: int = 0) -> Tensor:
    return joined([part if isinstance(part, Tensor) else array(part) for part in parts], axis)


def append(values: Any, more: Any) -> Tensor:
    return concatenate([part if isinstance(part, Tensor) else [part] for part in (values, more)])


def pad(values: Tensor, width: int) -> Tensor:
    edge = filled((width,), 0.0, values.dtype)
    return joined([edge, values, edge], 0)


def repeat(values: Tensor, times: int, axis: int) -> Tensor:
    return values.repeat_interleave(times, axis)


def diff(values: Tensor) -> Tensor:
    if values.dtype is bool_:
        raise MissingError("the differences of conditions")
    return values.diff()


# Orders and places.


def _whole(places: Tensor) -> Tensor:
    return places.to(int_)


def sort(values: Tensor) -> Tensor:
    return values.sort().values


def unique(values: Tensor, return_index: bool = False) -> Any:
    places = _whole(values.argsort())
    ordered = values[places]
    first = joined([ordered[:1] == ordered[:1], ordered[1:] != ordered[:-1]], 0)
    return (ordered[first], places[first]) if return_index else ordered[first]


def flatnonzero(values: Tensor) -> Tensor:
    return _whole(values.nonzero()[:, 0])


def searchsorted(values: Tensor, wanted: Any) -> Any:
    """Before which of ascending numbers each would stand; an int for one number."""
    if isinstance(wanted, list) or (isinstance(wanted, Tensor) and wanted.shape):
        given = asarray(wanted)
        return Tensor(arrays.placesOf(values.data, given.data), given.shape, int_)
    return int(arrays.placesOf(values.data, arrays.listed(float(wanted)))[0])


def argmax(values: Tensor) -> int:
    return int(values.argmax())


def argmin(values: Tensor) -> int:
    return int(values.argmin())


# Of each number.


def abs(values: Any) -> Any:
    return values.__abs__()


def isfinite(values: Any) -> Any:
    return values.isfinite() if isinstance(values, Tensor) else math.isfinite(values)


def isinf(values: Any) -> Any:
    return values.isinf() if isinstance(values, Tensor) else math.isinf(values)


def isnan(values: Any) -> Any:
    return values.isnan() if isinstance(values, Tensor) else math.isnan(values)


def isclose(one: Any, other: Any, *, rtol: float, atol: float, equal_nan: bool = False) -> Any:
    """Numbers give a bool, arrays an array."""
    if not isinstance(one, Tensor):
        return bool(isclose(array([one]), array([other]), rtol=rtol, atol=atol, equal_nan=equal_nan)[0])
    near = (one == other) | (other.isfinite() & ((one - other).abs() <= atol + rtol * other.abs()))
    return near | (one.isnan() & other.isnan()) if equal_nan else near


def add(one: Tensor, other: Any) -> Tensor:
    return one + asarray(other)


def clip(values: Tensor, low: Any, high: Any) -> Tensor:
    return values.clamp(low, high)


def where(test: Tensor, yes: Any, no: Any) -> Tensor:
    from . import where as chosen

    numbers = not isinstance(yes, Tensor) and not isinstance(no, Tensor)
    return chosen(test, array([yes]) if numbers else yes, no)


def spacing(value: float) -> float:
    return math.ulp(value)


class _Maximum:
    """The larger of two, or the largest up to each place of a row."""

    def __call__(self, one: Tensor, other: Any) -> Tensor:
        return elementwise("max", one, other)

    def accumulate(self, values: Tensor) -> Tensor:
        return Tensor(arrays.highest(values.data), values.shape, values.dtype)


maximum = _Maximum()


def sum(values: Tensor) -> Any:
    return values.sum().item()


@contextmanager
def errstate(**_: str) -> Iterator[None]:
    """Nothing warns here."""
    yield


# Gauss's rule.


def _leggauss(count: int) -> tuple[Tensor, Tensor]:
    """The nodes, ascending, and the weights of so many points on −1 to 1."""
    nodes = [_node(count, place) for place in range(count)]
    slopes = [_legendre(count, node)[1] for node in nodes]
    weights = [2 / ((1 - node**2) * slope**2) for node, slope in zip(nodes, slopes, strict=True)]
    return array(nodes), array(weights)


def _node(count: int, place: int) -> float:
    """A zero of a Legendre polynomial, by Newton's method."""
    node = -math.cos(math.pi * (place + 0.75) / (count + 0.5))
    for _ in range(8):
        value, slope = _legendre(count, node)
        node -= value / slope
    return node


def _legendre(degree: int, x: float) -> tuple[float, float]:
    """The value of a Legendre polynomial and its slope."""
    before, value = 1.0, x
    for n in range(2, degree + 1):
        before, value = value, ((2 * n - 1) * x * value - (n - 1) * before) / n
    return value, degree * (x * value - before) / (x * x - 1)


polynomial = SimpleNamespace(legendre=SimpleNamespace(leggauss=_leggauss))
