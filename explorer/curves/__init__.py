"""Sample ops, backward rules and user-defined functions as curves with PyTorch, and locate their kinks."""

from explorer.curves.grids import MIN_RANGE, MIN_RELATIVE_RANGE, make_grid
from explorer.curves.sampling import READING_POINTS, Curves, sample, sample_curves
