"""Limits of values set by hand or by link, beside those of formulas and curves."""

from explorer.catalogue import Parameter

LARGEST_G = 1e6
LARGEST_PARAMETER = 1e6
SMALLEST_POSITIVE = 1e-6
LONGEST_QUERY = 2000
MOST_READINGS = 40  # rows of exact values that a page shows


def reach(parameter: Parameter) -> tuple[float, float]:
    """The bounds to which a slider may be widened: a parameter keeps the sign that its bounds give it."""
    lowest = min(parameter.low, SMALLEST_POSITIVE) if parameter.low >= 0 else -LARGEST_PARAMETER
    return lowest, LARGEST_PARAMETER if parameter.high > 0 else parameter.high
