"""Compute the slope of an op's mean under noise, d/dx E op(x + noise).

The contributions of jumps, weighted by the density of the noise, and of straight pieces, weighted by its
distribution, are exact. Curved pieces are integrated by Gauss-Legendre quadrature between all kinks of op and
density, and the rise of the op that the nodes miss is distributed evenly.
"""

from __future__ import annotations

import torch
from torch import Tensor

from explorer.catalogue.noises import Noise
from explorer.measures.lens.parts import NODES, WEIGHTS, Parts

_MAX_NUMBERS = 2**22  # the maximum number of elements in one array
_MAX_CUTS = 32
_CONTACT = 1e-9  # relative to the noise's range; a gap this far beyond it still counts


def compute_mean_slope(parts: Parts, noise: Noise, width: float, reach: float, x: Tensor) -> Tensor:
    """Return d/dx E op(x + noise) at each x, NaN where the noise reaches a hole or pole of the op.

    ``reach`` is the distance in x up to which the noise is followed.
    """
    block_size = max(1, _MAX_NUMBERS // max(1, parts.curved.shape[1] * _MAX_CUTS))
    blocks = [_sum_curved(parts, noise, width, reach, block) for block in torch.split(x, block_size)]
    jumps = noise.parsed_density.bind()((parts.jumps - x[:, None]) / width) @ parts.heights / width
    mean = jumps + _sum_straight(parts, noise, width, reach, x) + torch.cat(blocks)
    low, high = parts.holes[..., None]
    near = reach * (1 + _CONTACT)
    touching = (high >= x - near) & (low <= x + near)
    return torch.where(touching.any(0), torch.nan, mean)


def _sum_straight(parts: Parts, noise: Noise, width: float, reach: float, x: Tensor) -> Tensor:
    low, high, slope = parts.straight
    if noise.tail == "power":  # noise with heavy tails, in which pieces beyond the range would count
        low, high = low.clamp(min=x.min() - reach), high.clamp(max=x.max() + reach)
    distribution = noise.parsed_distribution.bind()
    ends = ((end - x[:, None]) / width for end in (high, low))
    above, below = map(distribution, ends)
    mean: Tensor = (above - below) @ slope
    return mean


def _sum_curved(parts: Parts, noise: Noise, width: float, reach: float, x: Tensor) -> Tensor:
    """Return how an op's curved cells, split at kinks of the density, contribute to the slope at each x."""
    cuts = list_cuts(noise, width, reach, x)  # shape (n, cuts)
    low = torch.maximum(parts.curved[0, :, None], cuts[:, None, :-1])  # shape (n, cells, stretches)
    high = torch.minimum(parts.curved[1, :, None], cuts[:, None, 1:])
    at = (high > low).nonzero(as_tuple=True)
    low, high = low[at], high[at]
    if not len(low):
        return torch.zeros_like(x)
    s = low + NODES[:, None] * (high - low)
    slopes = parts.slope(s)
    rise = parts.y(high) - parts.y(low)
    slopes = torch.where(slopes.isfinite().all(0), slopes, 0.0)
    slopes = slopes + rise / (high - low) - WEIGHTS @ slopes
    density = noise.parsed_density.bind()((s - x[at[0]]) / width) / width
    pieces = (WEIGHTS @ (slopes * density)) * (high - low)
    return torch.zeros_like(x).index_add_(0, at[0], pieces)


def list_cuts(noise: Noise, width: float, reach: float, x: Tensor) -> Tensor:
    """Return ascending positions around each x, (n, cuts), between which the noise density is smooth."""
    cuts = [0.0]
    while noise.smooth and cuts[-1] < reach:
        cuts.append(min(cuts[-1] + max(noise.smooth * width, cuts[-1] / 2), reach))
    offsets = {width * kink for kink in noise.kinks} | {*cuts, *(-cut for cut in cuts)}
    return x[:, None] + torch.tensor(sorted(offsets), dtype=torch.float64)
