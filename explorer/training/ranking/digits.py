"""Scores as people read them: those that are compared all have the same number of decimals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, stdev
from typing import Literal

Unit = Literal["%", "R²", ""]

_USUAL: Mapping[Unit, int] = {"%": 1, "R²": 2, "": 2}
_MOST = 4


def decimals(scores: Iterable[Sequence[float]], unit: Unit) -> int:
    """How many decimals suit scores that are compared: the least of their spreads is not written as 0."""
    spreads = [stdev(kept) for values in scores if len(kept := _finite(values)) > 1]
    return least_decimals([spread for spread in spreads if spread], unit)


def least_decimals(values: Iterable[float], unit: Unit, most: int = _MOST) -> int:
    """With how many decimals none of these values above 0 is written as 0, and at least the usual ones."""
    needed = [math.ceil(-math.log10(2 * scaled(value, unit))) for value in values]
    return max([_USUAL[unit], *(min(each, most) for each in needed)])


def scaled(value: float, unit: Unit) -> float:
    """A value as it is written: in percent where that is the unit."""
    return 100 * value if unit == "%" else value


def with_unit(number: str, unit: Unit) -> str:
    """A number's text, and "%" after it where that is the unit."""
    return f"{number} %" if unit == "%" else number


def texts(scores: Mapping[str, Sequence[float]], unit: Unit) -> dict[str, str]:
    """Scores that stand beside one another, with the same decimals: "94.6 ± 1.2 %" of some seeds.

    ``scores``: label -> one score a seed, NaN where one diverged; a label without a finite one is left out.
    Mean ± standard deviation, the mean alone of one seed.
    """
    digits = decimals(scores.values(), unit)
    finite = {label: _finite(values) for label, values in scores.items()}
    return {label: text(values, digits, unit) for label, values in finite.items() if values}


def text(values: Sequence[float], digits: int, unit: Unit) -> str:
    """Finite scores of some seeds with so many decimals: "94.6 ± 1.2 %", "0.83" of one alone."""
    spread = f" ± {scaled(stdev(values), unit):.{digits}f}" if len(values) > 1 else ""
    return with_unit(f"{scaled(fmean(values), unit):.{digits}f}{spread}", unit)


def _finite(values: Sequence[float]) -> list[float]:
    return [value for value in map(float, values) if math.isfinite(value)]
