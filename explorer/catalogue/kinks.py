"""Declared kinks of an entry: single points, and evenly spaced ones."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from explorer.formula import Formula, parse


@dataclass(frozen=True)
class Lattice:
    """Kinks at ``offset + k * spacing`` for every integer k, within ``[low, high]`` where given.

    All four are formulas in the entry's parameters.
    """

    offset: str
    spacing: str
    low: str | None = None
    high: str | None = None


Kink = str | Lattice


class TooManyKinksError(ValueError):
    """Too many kinks for a picture."""


def kink_points(
    kinks: tuple[Kink, ...], parameters: Mapping[str, float], start: float, stop: float, most: int
) -> list[float]:
    """The declared kinks within ``[start, stop]``, ascending and distinct.

    Raises TooManyKinksError where a lattice has more than ``most`` points in the interval: they could
    not be told apart in a picture.
    """
    positions: set[float] = set()
    for kink in kinks:
        if isinstance(kink, Lattice):
            positions.update(_lattice_points(kink, parameters, start, stop, most))
        else:
            positions.add(_value(kink, parameters))
    return sorted(point for point in positions if start <= point <= stop)


def _lattice_points(
    lattice: Lattice, parameters: Mapping[str, float], start: float, stop: float, most: int
) -> list[float]:
    offset, spacing = _value(lattice.offset, parameters), _value(lattice.spacing, parameters)
    low = start if lattice.low is None else max(start, _value(lattice.low, parameters))
    high = stop if lattice.high is None else min(stop, _value(lattice.high, parameters))
    if not spacing > 0:
        return []
    if not (high - low) / spacing <= most:
        raise TooManyKinksError(f"more than {most} kinks lie between {start:g} and {stop:g}")
    slack = 1e-9 * spacing
    first = -(-(low - offset - slack) // spacing)
    last = (high - offset + slack) // spacing
    if not (math.isfinite(first) and math.isfinite(last)):
        return []  # as at n = 0, where the levels are infinitely far apart
    return [offset + k * spacing for k in range(int(first), int(last) + 1)]


def _value(text: str, parameters: Mapping[str, float]) -> float:
    return _constant(text).value(parameters)


@lru_cache
def _constant(text: str) -> Formula:
    return parse(text, variables=(), parameters=None)
