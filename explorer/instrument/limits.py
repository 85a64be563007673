"""Limits of values that a user or a link may set. Those of formulas and curves are in other modules."""

import math

from explorer.catalogue import Parameter

MAX_G = 1e6
MAX_PARAMETER = 1e6
MIN_POSITIVE = 1e-6
MAX_QUERY = 2000
_BISECTIONS, _DECIMALS = 64, 6
MAX_READINGS = 40  # maximum number of rows in the page's table of exact values


def find_reach(parameter: Parameter) -> tuple[float, float]:
    """Return the bounds to which a parameter's slider can be extended, within its domain and sign."""
    lowest = min(parameter.low, MIN_POSITIVE) if parameter.low >= 0 else -MAX_PARAMETER
    highest = MAX_PARAMETER if parameter.high > 0 else parameter.high
    return _find_admitted(parameter, parameter.low, lowest), _find_admitted(
        parameter, parameter.high, highest
    )


def _find_admitted(parameter: Parameter, inside: float, outside: float) -> float:
    """Return the number nearest to ``outside`` that a parameter accepts. It accepts ``inside``."""
    if parameter.is_valid(outside):
        return outside
    admitted, rejected = inside, outside
    for _ in range(_BISECTIONS):
        middle = (admitted + rejected) / 2
        admitted, rejected = (middle, rejected) if parameter.is_valid(middle) else (admitted, middle)
    is_wider = abs(admitted - inside) > 2 * MIN_POSITIVE
    return round(admitted - math.copysign(MIN_POSITIVE, outside - inside), _DECIMALS) if is_wider else inside
