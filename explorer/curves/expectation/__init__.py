"""Means and spreads of what draws, over its u, and the exact gradient that an estimator is held to."""

from explorer.curves.expectation.corners import corners_among, slopes
from explorer.curves.expectation.expected import expected
from explorer.curves.expectation.integral import Moments, NoMeanError
from explorer.curves.expectation.pair import DrawnPair
from explorer.curves.expectation.single import Jump, has_two_outputs, is_smooth, jump

__all__ = [
    "DrawnPair",
    "Jump",
    "Moments",
    "NoMeanError",
    "corners_among",
    "expected",
    "has_two_outputs",
    "is_smooth",
    "jump",
    "slopes",
]
