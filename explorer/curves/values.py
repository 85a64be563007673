"""The data class of values that evaluators of curves return."""

from collections.abc import Mapping
from typing import NamedTuple

from explorer.curves.sampled import Floats


class CurveValues(NamedTuple):
    """The values of an op and of its gradients by several backward rules, all at the same x.

    For a stochastic op or rule, they are means over random numbers, and ``spreads`` holds the standard
    deviation of each curve. Otherwise it is empty, and the gradient ``unbiased`` is None.
    """

    y: Floats
    gradients: dict[str, Floats]
    spreads: Mapping[str, Floats]
    unbiased: Floats | None
