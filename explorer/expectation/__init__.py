"""Means and spreads of what draws, over its u, and the exact gradient that an estimator is held to."""

from explorer.expectation.corners import corners_among, slopes
from explorer.expectation.expected import expected
from explorer.expectation.integral import Moments, NoMeanError
from explorer.expectation.pair import DrawnPair

__all__ = ["DrawnPair", "Moments", "NoMeanError", "corners_among", "expected", "slopes"]
