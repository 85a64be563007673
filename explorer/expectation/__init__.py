"""Means and spreads of what draws, over its u, and the exact gradient that an estimator is held to."""

from explorer.expectation.corners import corners_among, slopes
from explorer.expectation.expected import expected
from explorer.expectation.integral import Moments, NoMeanError
from explorer.expectation.pair import DrawnPair
from explorer.expectation.single import Jump, has_two_outputs, is_smooth, jump

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
