"""Limits of values set by hand or by link, beside those of formulas and curves."""

import math

from explorer.catalogue import Parameter

LARGEST_G = 1e6
LARGEST_PARAMETER = 1e6
SMALLEST_POSITIVE = 1e-6
LONGEST_QUERY = 2000
_HALVINGS, _PLACES = 64, 6
MOST_READINGS = 40  # rows of exact values that a page shows


def reach(parameter: Parameter) -> tuple[float, float]:
    """The bounds to which a slider may be widened: the sign that its bounds give it, within its domain."""
    lowest = min(parameter.low, SMALLEST_POSITIVE) if parameter.low >= 0 else -LARGEST_PARAMETER
    highest = LARGEST_PARAMETER if parameter.high > 0 else parameter.high
    return _admitted(parameter, parameter.low, lowest), _admitted(parameter, parameter.high, highest)


def _admitted(parameter: Parameter, inside: float, outside: float) -> float:
    """The number nearest to ``outside`` that a parameter admits, a little inside of where its domain ends."""
    if parameter.is_valid(outside):
        return outside
    last, beyond = inside, outside
    for _ in range(_HALVINGS):
        middle = (last + beyond) / 2
        last, beyond = (middle, beyond) if parameter.is_valid(middle) else (last, middle)
    further = abs(last - inside) > 2 * SMALLEST_POSITIVE
    return round(last - math.copysign(SMALLEST_POSITIVE, outside - inside), _PLACES) if further else inside
