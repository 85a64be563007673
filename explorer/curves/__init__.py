"""Curves that torch samples: of ops and rules, of any table, and of anybody's functions; and their kinks."""

from explorer.curves.grids import LEAST_RANGE, NARROWEST_RANGE, grid
from explorer.curves.pointed import pointed
from explorer.curves.sampling import READING_POINTS, Curves, readings, sample, sample_curves

__all__ = [
    "LEAST_RANGE", "NARROWEST_RANGE", "READING_POINTS", "Curves", "grid", "pointed", "readings", "sample",
    "sample_curves",
]  # fmt: skip
