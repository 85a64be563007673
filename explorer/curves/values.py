"""The values of curves."""

from collections.abc import Mapping
from typing import NamedTuple

from explorer.curves.sampled import Floats


class CurveValues(NamedTuple):
    """The values of curves at the same x, (n,) each of its dtype; of what draws they are means.

    ``spreads`` are the standard deviations of what draws, ``unbiased`` its gradient without bias.
    """

    y: Floats
    gradients: dict[str, Floats]
    spreads: Mapping[str, Floats]
    unbiased: Floats | None
