"""Print the rows of ``explorer.training.ranking.quantiles``, as scipy computes them."""

import math
from functools import cache

from scipy import stats

from explorer.training.ranking.quantiles import _DEGREES, _RULES


@cache  # each takes scipy a tenth of a second
def half(rules: int, degrees: float) -> float:
    """Half of a 95 % interval for all pairs of so many rules, in standard errors of a difference."""
    if rules == 2:
        return float(stats.t.isf(0.025, degrees))
    return float(stats.studentized_range.isf(0.05, rules, degrees)) / math.sqrt(2)


if __name__ == "__main__":
    for rules in _RULES:
        print(f"{rules}: ({', '.join(f'{half(rules, degrees):.5g}' for degrees in _DEGREES)}),")
