"""Kinks (jumps and corners) that ops and rules declare: single points and lattices."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from explorer.formula import Formula, parse


@dataclass(frozen=True)
class Lattice:
    """Evenly spaced kinks at ``offset + k * spacing`` for every integer k, within ``[low, high]`` if set.

    All four are formulas in the parameters of the op or rule.
    """

    offset: str
    spacing: str
    low: str | None = None
    high: str | None = None


Kink = str | Lattice


class TooManyKinksError(ValueError):
    """Raised if a curve has too many kinks to plot."""


def list_kink_points(
    kinks: tuple[Kink, ...], parameters: Mapping[str, float], start: float, stop: float, max_points: int
) -> list[float]:
    """Return the declared kinks from ``start`` to ``stop`` as numbers in ascending order.

    Raises TooManyKinksError if a lattice has more than ``max_points`` points in the interval, too many to
    distinguish in a plot.
    """
    positions: set[float] = set()
    for kink in kinks:
        if isinstance(kink, Lattice):
            positions.update(_list_lattice_points(kink, parameters, start, stop, max_points))
        else:
            positions.add(_evaluate(kink, parameters))
    return sorted(point for point in positions if start <= point <= stop)


def _list_lattice_points(
    lattice: Lattice, parameters: Mapping[str, float], start: float, stop: float, max_points: int
) -> list[float]:
    offset, spacing = _evaluate(lattice.offset, parameters), _evaluate(lattice.spacing, parameters)
    low = start if lattice.low is None else max(start, _evaluate(lattice.low, parameters))
    high = stop if lattice.high is None else min(stop, _evaluate(lattice.high, parameters))
    if not spacing > 0:
        return []
    if not (high - low) / spacing <= max_points:
        raise TooManyKinksError(
            f"there are more than {max_points} kinks from {start:g} to {stop:g}: choose a narrower range"
        )
    slack = 1e-9 * spacing
    first = -(-(low - offset - slack) // spacing)
    last = (high - offset + slack) // spacing
    if not (math.isfinite(first) and math.isfinite(last)):
        return []  # spacing of quantisation levels is infinite if n = 0
    return [offset + k * spacing for k in range(int(first), int(last) + 1)]


def _evaluate(text: str, parameters: Mapping[str, float]) -> float:
    return _parse_constant(text).value(parameters)


@lru_cache
def _parse_constant(text: str) -> Formula:
    return parse(text, variables=(), parameters=None)
