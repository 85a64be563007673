"""The unbiased gradient at corners of the mean loss, where the mean loss has two slopes."""

import torch
from torch import Tensor

from explorer.curves.expectation.pair import StochasticPair

_SIDE_STEP = 1e-9  # of |x|, at least of 1: distance from a corner to the x on its sides
_MIN_DIFFERENCE = 1e-6  # relative difference of two slopes, above which there is a corner


def compute_unbiased_gradient(pair: StochasticPair, x: Tensor, corners: Tensor) -> Tensor:
    """Return the unbiased gradient at x, (n,) float64; at a corner the mean of its two slopes.

    ``corners``, (m,), are some of x. An x too close to a corner for float64 to separate their slopes gets the
    slope of its side.
    """
    if not len(corners):
        return pair.compute_mean_slope(x)
    nearest = corners[(x[:, None] - corners).abs().argmin(1)]
    offset, step = x - nearest, _choose_step(nearest)
    gradient = pair.compute_mean_slope(torch.where(offset.abs() < step, nearest + offset.sign() * step, x))
    is_corner = offset == 0
    before, after = _compute_side_slopes(pair, x[is_corner])
    gradient[is_corner] = (before + after) / 2
    return gradient


def find_corners(pair: StochasticPair, x: Tensor) -> Tensor:
    """Return those x, from (n,) float64, at which the mean loss has two slopes."""
    before, after = _compute_side_slopes(pair, x)
    return x[(after - before).abs() > _MIN_DIFFERENCE * torch.maximum(before.abs(), after.abs())]


def _compute_side_slopes(pair: StochasticPair, x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the unbiased gradients on the left and on the right of each x."""
    return pair.compute_mean_slope(x - _choose_step(x)), pair.compute_mean_slope(x + _choose_step(x))


def _choose_step(x: Tensor) -> Tensor:
    return _SIDE_STEP * x.abs().clamp(min=1)
