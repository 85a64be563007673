"""The exact gradient where the mean loss may have corners: two slopes at one x."""

import torch
from torch import Tensor

from explorer.curves.expectation.pair import DrawnPair

_SIDE = 1e-9  # of |x|, or of 1: from a corner to its sides
_APART = 1e-6  # of the slopes: more is a corner


def slopes(pair: DrawnPair, x: Tensor, corners: Tensor) -> Tensor:
    """The exact gradient at x, (n,) float64; at a corner the middle of its two slopes.

    corners: (m,), some of x. An x so near to one of them that the slopes cannot be told apart has that of its
    own side.
    """
    if not len(corners):
        return pair.exact(x)
    nearest = corners[(x[:, None] - corners).abs().argmin(1)]
    away, step = x - nearest, _side(nearest)
    found = pair.exact(torch.where(away.abs() < step, nearest + away.sign() * step, x))
    at = away == 0
    before, after = _both(pair, x[at])
    found[at] = (before + after) / 2
    return found


def corners_among(pair: DrawnPair, x: Tensor) -> Tensor:
    """Those of x, (n,) float64, at which the mean loss has two slopes."""
    before, after = _both(pair, x)
    return x[(after - before).abs() > _APART * torch.maximum(before.abs(), after.abs())]


def _both(pair: DrawnPair, x: Tensor) -> tuple[Tensor, Tensor]:
    """The exact gradients on both sides of each x."""
    return pair.exact(x - _side(x)), pair.exact(x + _side(x))


def _side(x: Tensor) -> Tensor:
    return _SIDE * x.abs().clamp(min=1)
