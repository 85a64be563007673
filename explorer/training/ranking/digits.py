"""Scores as text. Scores that are compared get the same number of decimals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, stdev
from typing import Literal

from explorer.formula import with_minus

Unit = Literal["%", "R²", ""]

_MIN_DECIMALS: Mapping[Unit, int] = {"%": 1, "R²": 2, "": 2}
_MAX_DECIMALS = 4


def count_decimals(scores: Iterable[Sequence[float]], unit: Unit) -> int:
    """Return the number of decimals for several scores, so that no deviation is rounded to 0."""
    spreads = [stdev(finite) for values in scores if len(finite := _drop_nonfinite(values)) > 1]
    return count_min_decimals([spread for spread in spreads if spread], unit)


def count_min_decimals(values: Iterable[float], unit: Unit, max_decimals: int = _MAX_DECIMALS) -> int:
    """Return the fewest decimals with which none of the positive values is rounded to 0.

    At least the unit's default, and at most ``max_decimals``.
    """
    needed = [math.ceil(-math.log10(2 * scale_score(value, unit))) for value in values]
    return max([_MIN_DECIMALS[unit], *(min(n, max_decimals) for n in needed)])


def scale_score(value: float, unit: Unit) -> float:
    """Return a score in its unit. Percentages are multiplied by 100."""
    return 100 * value if unit == "%" else value


def with_unit(number: str, unit: Unit) -> str:
    """Return a number's text with "%" appended if the unit is percent."""
    return f"{number} %" if unit == "%" else number


def format_scores(scores: Mapping[str, Sequence[float]], unit: Unit) -> dict[str, str]:
    """Return the scores of each label as text, mean ± standard deviation, such as "94.6 ± 1.2 %".

    ``scores`` has one score per seed for each label, NaN if the seed diverged. A label without a finite score
    is left out. With one finite score the text is this score.
    """
    decimals = count_decimals(scores.values(), unit)
    finite = {label: _drop_nonfinite(values) for label, values in scores.items()}
    return {label: format_score(values, decimals, unit) for label, values in finite.items() if values}


def format_score(values: Sequence[float], decimals: int, unit: Unit) -> str:
    """Return finite scores as text, mean ± standard deviation, or a single score alone, such as "0.83"."""
    spread = f" ± {scale_score(stdev(values), unit):.{decimals}f}" if len(values) > 1 else ""
    return with_unit(with_minus(f"{scale_score(fmean(values), unit):.{decimals}f}{spread}"), unit)


def _drop_nonfinite(values: Sequence[float]) -> list[float]:
    return [value for value in map(float, values) if math.isfinite(value)]
