"""In the browser in place of NumPy: as much of it as words on curves need, on lists of numbers.

Names and arguments mean what they mean in NumPy. An array has one dimension and no dtype; what is not here
raises AttributeError.
"""

from __future__ import annotations

import builtins
import math
import operator
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from itertools import accumulate
from types import SimpleNamespace
from typing import Any

inf, nan, spacing = math.inf, math.nan, math.ulp
floating, float64, int8, bool_ = list, float, int, bool


class Array:
    """Numbers or truths in a row."""

    dtype = float
    __hash__ = None  # type: ignore[assignment]  # it is compared element by element

    def __init__(self, values: Iterable[Any]) -> None:
        self.items = list(values)

    def __len__(self) -> int:
        return len(self.items)

    def astype(self, _dtype: Any) -> Array:
        """The same numbers, which are float64."""
        return Array(self.items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Array(self.items[index])
        if isinstance(index, Array | list):
            return Array(self.items[at] for at in _positions(index))
        return self.items[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        for at in range(len(self))[index] if isinstance(index, slice) else _positions(index):
            self.items[at] = value

    def __invert__(self) -> Array:
        return Array(not item for item in self.items)

    def __neg__(self) -> Array:
        return Array(-item for item in self.items)

    def tolist(self) -> list[Any]:
        return list(self.items)

    def any(self) -> bool:
        return any(self.items)

    def all(self) -> bool:
        return all(self.items)

    def sum(self) -> Any:
        return builtins.sum(self.items)

    def min(self) -> Any:
        return min(self.items)

    def max(self) -> Any:
        return nan if any(item != item for item in self.items) else max(self.items)


def _positions(index: Iterable[Any]) -> list[int]:
    """Where a mask is true, or an index as it is."""
    items = list(index)
    return flatnonzero(items).items if items and isinstance(items[0], bool) else items


def _both(act: Callable[[Any, Any], Any], one: Any, other: Any) -> Array:
    """An operation on two arrays of a length, or on an array and a number."""
    if not isinstance(other, Array):
        return Array(act(item, other) for item in one)
    if not isinstance(one, Array):
        return Array(act(one, item) for item in other)
    return Array(map(act, one, other))


for _name in ("add", "sub", "mul", "truediv", "pow", "and", "or"):
    _act = getattr(operator, f"{_name}_" if _name in ("and", "or") else _name)
    setattr(Array, f"__{_name}__", lambda self, other, act=_act: _both(act, self, other))
    setattr(Array, f"__r{_name}__", lambda self, other, act=_act: _both(act, other, self))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _act = getattr(operator, _name)
    setattr(Array, f"__{_name}__", lambda self, other, act=_act: _both(act, self, other))


def _each(act: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of a number or of each in an array."""
    return lambda value: Array(map(act, value)) if isinstance(value, Array) else act(value)


isfinite, isinf, isnan = map(_each, (math.isfinite, math.isinf, math.isnan))
abs = _each(builtins.abs)
sum = Array.sum


def array(values: Iterable[Any], dtype: Any = None) -> Array:
    return Array(values)


asarray = array


def zeros(count: int, dtype: Any = float) -> Array:
    return Array([dtype(0)] * count)


def arange(start: int, stop: int | None = None) -> Array:
    return Array(range(start) if stop is None else range(start, stop))


def linspace(start: float, stop: float, count: int) -> Array:
    step = (stop - start) / (count - 1)
    return Array([*(start + step * place for place in range(count - 1)), stop])


def concatenate(parts: Iterable[Iterable[Any]]) -> Array:
    return Array(item for part in parts for item in part)


def append(first: Any, second: Any) -> Array:
    return concatenate(part if isinstance(part, Array) else [part] for part in (first, second))


def add(one: Array, other: Iterable[float]) -> Array:
    return _both(operator.add, one, Array(other))


def diff(values: Array) -> Array:
    act = operator.ne if len(values) and isinstance(values[0], bool) else operator.sub
    return _both(act, values[1:], values[:-1])


def unique(values: Array) -> Array:
    return Array(sorted(set(values)))


def searchsorted(values: Array, wanted: Any) -> Any:
    if isinstance(wanted, Array | list):
        return Array(bisect_left(values.items, item) for item in wanted)
    return bisect_left(values.items, wanted)


def flatnonzero(mask: Iterable[Any]) -> Array:
    return Array(place for place, holds in enumerate(mask) if holds)


def ptp(values: Array) -> Any:
    return values.max() - values.min()


def argmax(values: Array) -> int:
    return values.items.index(max(values))


def argmin(values: Array) -> int:
    return values.items.index(min(values))


def where(test: Array, yes: Any, no: Any) -> Array:
    sides = [side if isinstance(side, Array) else [side] * len(test) for side in (yes, no)]
    return Array(one if holds else other for holds, one, other in zip(test, *sides, strict=True))


def clip(values: Array, low: float, high: float) -> Array:
    return Array(min(max(item, low), high) for item in values)


def isclose(one: Any, other: Any, *, rtol: float, atol: float, equal_nan: bool = False) -> Any:
    def near(a: float, b: float) -> bool:
        both = equal_nan and a != a and b != b
        return both or a == b or (math.isfinite(b) and math.fabs(a - b) <= atol + rtol * math.fabs(b))

    return Array(map(near, one, other)) if isinstance(one, Array) else near(one, other)


class _Maximum:
    def __call__(self, one: Array, other: Array) -> Array:
        return Array(map(max, one, other))

    def accumulate(self, values: Array) -> Array:
        return Array(accumulate(values, max))


maximum = _Maximum()


def errstate(**_: str) -> Any:
    return nullcontext()  # Python's floats warn of nothing


def _leggauss(count: int) -> tuple[Array, Array]:
    """Nodes and weights of Gauss-Legendre quadrature, by Newton's method."""
    nodes = [_node(count, place) for place in range(count)]
    slopes = [_legendre(count, node)[1] for node in nodes]
    weights = [2 / ((1 - node**2) * slope**2) for node, slope in zip(nodes, slopes, strict=True)]
    return Array(nodes), Array(weights)


def _node(count: int, place: int) -> float:
    node = -math.cos(math.pi * (place + 0.75) / (count + 0.5))
    for _ in range(8):  # Newton doubles the digits each time
        value, slope = _legendre(count, node)
        node -= value / slope
    return node


def _legendre(degree: int, x: float) -> tuple[float, float]:
    """A Legendre polynomial and its derivative at x."""
    before, value = 1.0, x
    for n in range(2, degree + 1):
        before, value = value, ((2 * n - 1) * x * value - (n - 1) * before) / n
    return value, degree * (x * value - before) / (x * x - 1)


polynomial = SimpleNamespace(legendre=SimpleNamespace(leggauss=_leggauss))
