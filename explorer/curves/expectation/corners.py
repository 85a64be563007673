"""The unbiased gradient, which is the slope of the mean loss; at a corner, the mean of both slopes."""

import torch
from torch import Tensor

from explorer.curves.expectation.pair import StochasticPair

_SIDE_STEP = 1e-9  # distance from a corner to the x on its sides, relative to max(|x|, 1)
_MIN_DIFFERENCE = 1e-6  # slopes whose relative difference is larger form a corner


def compute_unbiased_gradient(pair: StochasticPair, x: Tensor, corners: Tensor) -> Tensor:
    """Compute the slope of the mean loss at each x; at a corner, average the slopes on both sides.

    ``corners``, (m,), are elements of x. An x so close to a corner that float64 cannot separate them gets the
    slope on its own side.
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
    """Return the elements of x at which the mean loss has different slopes to the left and to the right."""
    before, after = _compute_side_slopes(pair, x)
    return x[(after - before).abs() > _MIN_DIFFERENCE * torch.maximum(before.abs(), after.abs())]


def _compute_side_slopes(pair: StochasticPair, x: Tensor) -> tuple[Tensor, Tensor]:
    return pair.compute_mean_slope(x - _choose_step(x)), pair.compute_mean_slope(x + _choose_step(x))


def _choose_step(x: Tensor) -> Tensor:
    return _SIDE_STEP * x.abs().clamp(min=1)
