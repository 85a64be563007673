"""The mean slope of an op under noise: the slope of E op(x + noise).

Jumps count by the density of the noise there, straight pieces by its distribution, both exactly; curved
ones by Gauss and Legendre's nodes between all kinks of op and density, with what these miss of the op's rise
made good.
"""

from __future__ import annotations

import torch
from torch import Tensor

from explorer.catalogue.noises import Noise
from explorer.measures.lens.parts import NODES, WEIGHTS, Parts

_AT_ONCE = 2**22  # numbers in one array
_MOST_CUTS = 32
_TOUCHING = 1e-9  # of the reach: as near as that a hole is met


def smoothed(parts: Parts, noise: Noise, width: float, reach: float, x: Tensor) -> Tensor:
    """d/dx E op(x + noise) at x (n,), float64; NaN where the noise reaches a stretch or pole without a value.

    ``reach``: as far as the noise goes, in x.
    """
    most = max(1, _AT_ONCE // max(1, parts.curved.shape[1] * _MOST_CUTS))
    blocks = [_curved(parts, noise, width, reach, some) for some in torch.split(x, most)]
    mean = _jumping(parts, noise, width, x) + _straight(parts, noise, width, reach, x) + torch.cat(blocks)
    low, high = parts.holes[..., None]
    near = reach * (1 + _TOUCHING)
    touching = (high >= x - near) & (low <= x + near)
    return torch.where(touching.any(0), torch.nan, mean)


def _jumping(parts: Parts, noise: Noise, width: float, x: Tensor) -> Tensor:
    density = noise.parsed_density.bind()
    mean: Tensor = density((parts.at - x[:, None]) / width) @ parts.heights / width
    return mean


def _straight(parts: Parts, noise: Noise, width: float, reach: float, x: Tensor) -> Tensor:
    low, high, slope = parts.straight
    if noise.tail == "power":  # what an op without jumps would be farther out is no part of a bounded one
        low, high = low.clamp(min=x.min() - reach), high.clamp(max=x.max() + reach)
    distribution = noise.parsed_distribution.bind()
    ends = ((end - x[:, None]) / width for end in (high, low))
    above, below = map(distribution, ends)
    mean: Tensor = (above - below) @ slope
    return mean


def _curved(parts: Parts, noise: Noise, width: float, reach: float, x: Tensor) -> Tensor:
    """The part of cells: each is cut where the density, moved to x, is not smooth."""
    cuts = cuts_of(noise, width, reach, x)  # (n, cuts)
    low = torch.maximum(parts.curved[0, :, None], cuts[:, None, :-1])  # (n, cells, stretches)
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


def cuts_of(noise: Noise, width: float, reach: float, x: Tensor) -> Tensor:
    """The x between which the density around x is smooth, the farther the wider; (n, cuts) ascending."""
    cuts = [0.0]
    while noise.smooth and cuts[-1] < reach:
        cuts.append(min(cuts[-1] + max(noise.smooth * width, cuts[-1] / 2), reach))
    own = {width * kink for kink in noise.kinks} | {*cuts, *(-cut for cut in cuts)}
    return x[:, None] + torch.tensor(sorted(own), dtype=torch.float64)
