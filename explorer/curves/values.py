"""The values of curves."""

from collections.abc import Mapping
from typing import NamedTuple

from explorer.curves.sampled import Floats


class CurveValues(NamedTuple):
    """Values of curves at shared x, (n,) each of x's dtype; means over the draws if stochastic.

    ``spreads`` holds standard deviations by curve, ``unbiased`` the unbiased gradient, both only if
    stochastic.
    """

    y: Floats
    gradients: dict[str, Floats]
    spreads: Mapping[str, Floats]
    unbiased: Floats | None
