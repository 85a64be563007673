"""Jumps of an op under normal noise that are not equal, and at which values the loss is looked at for them.

Where jumps lead little farther they share looks at the loss, which is taken to be straight between two looks
that lie no more than ``_FAR`` widths of the noise apart; to jumps that lead farther it is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from explorer.catalogue.noises import NOISES

NOISE = NOISES["normal"]
REACH = 4.0  # widths of the noise: it hardly ever goes farther
FINE = 32  # points to a width
_FAR = 1.0  # widths of the noise
_ROUNDING = 1e-6


def look_up(values: Tensor, index: Tensor) -> Tensor:
    """Return ``values.take(index)``, which Apple's GPUs lack, in less time."""
    return values.flatten().index_select(0, index.flatten()).view(index.shape)


@dataclass(frozen=True)
class Jumps:
    """Jumps of an op, in float64.

    Attributes:
        at, below, above: (jumps,) their x, ascending, and the op's values on both sides.
        sigma: the width of the noise.
    """

    at: Tensor
    below: Tensor
    above: Tensor
    sigma: float

    @property
    def reach(self) -> float:
        """So far the noise goes."""
        return REACH * self.sigma

    def weights(self, x: Tensor, part: slice, shares: Tensor) -> Tensor:
        """The sum at x (points,) of shares (jumps of the part, …) by the noise's density, its peak 1."""
        away = (x[:, None] - self.at[part]) / self.sigma
        density: Tensor = NOISE.parsed_density.bind()(away) / NOISE.peak
        return density @ shares


@dataclass(frozen=True)
class Groups:
    """Neighbouring jumps with shared looks at the loss, in float32.

    Attributes:
        start, end: (groups,) the op's values at which the loss is looked at.
        last: (groups,) the x of the last jump of each.
        near: at most so many groups lie within reach of the noise of an x.
        chained: whether each starts where the one before it ends.
        origin, spacing: (groups,) the x at which the weights of each begin, and from point to point.
        weights: (groups, points) what counts at these x of the change from start to end; 0 at both ends.
    """

    start: Tensor
    end: Tensor
    last: Tensor
    near: int
    chained: bool
    origin: Tensor
    spacing: float
    weights: Tensor

    def weight(self, x: Tensor, group: Tensor) -> Tensor:
        """The weight of one group at each x."""
        points = self.weights.shape[1]
        position = ((x - look_up(self.origin, group)) / self.spacing).nan_to_num_(0).clamp_(0, points - 1.01)
        whole = position.long()
        index = torch.add(whole, group, alpha=points)
        return torch.lerp(
            look_up(self.weights, index), look_up(self.weights, index + 1), position.sub_(whole)
        )


def grouped(jumps: Jumps, device: torch.device) -> Groups:
    """Jumps in groups of neighbours."""
    parts = _parts(jumps.below.tolist(), jumps.above.tolist(), _FAR * jumps.sigma)
    first, last = (torch.stack([jumps.at[part][side] for part in parts]) for side in (0, -1))
    origin, spacing = first - jumps.reach, jumps.sigma / FINE
    points = math.ceil((float((last - origin).max()) + jumps.reach) / spacing) + 2
    x = origin[:, None] + spacing * torch.arange(points)
    start, end = torch.tensor([_ends(jumps, part) for part in parts], dtype=x.dtype).unbind(1)
    heights = jumps.above - jumps.below
    weights = torch.stack(
        [jumps.weights(each, part, heights[part]) for each, part in zip(x, parts, strict=True)]
    )
    weights /= (end - start)[:, None]
    weights[:, [0, -1]] = 0
    within = torch.searchsorted(first, last + 2 * jumps.reach, right=True) - torch.arange(len(parts))
    chained = torch.allclose(start[1:], end[:-1], atol=_ROUNDING)
    start, end, last, origin, weights = (
        each.to(device, torch.float32) for each in (start, end, last, origin, weights)
    )
    return Groups(start, end, last, int(within.max()), chained, origin, spacing, weights)


def _parts(below: list[float], above: list[float], far: float) -> list[slice]:
    """Neighbouring jumps whose values all lie within ``far`` of one another, as slices."""
    starts: list[int] = []
    low, high = math.inf, -math.inf
    for index, values in enumerate(zip(below, above, strict=True)):
        low, high = min(low, *values), max(high, *values)
        if not starts or high - low > far * (1 + _ROUNDING):
            starts.append(index)
            low, high = min(values), max(values)
    return [slice(*each) for each in pairwise([*starts, len(below)])]


def _ends(jumps: Jumps, part: slice) -> tuple[float, float]:
    """The least and the greatest value around some jumps; turned round where they fall."""
    below, above = jumps.below[part], jumps.above[part]
    low, high = (float(end) for end in torch.cat([below, above]).aminmax())
    return (low, high) if (above - below).sum() >= 0 else (high, low)


@dataclass(frozen=True)
class Distances:
    """Looks at the loss at fixed distances from each unit's own value, for an op without slopes; float32.

    Attributes:
        distances: (d,) ascending, without 0.
        at: (jumps,) their x: an x between two of them is in a cell of its own.
        left: (jumps + 1,) the x at which the points of each cell begin.
        start, end: (jumps + 1,) the first and the last of them, as floating numbers.
        spacing: from point to point.
        weights: (points, d) what counts there of the change at each distance.
    """

    distances: Tensor
    at: Tensor
    left: Tensor
    start: Tensor
    end: Tensor
    spacing: float
    weights: Tensor

    def weight(self, x: Tensor) -> Tensor:
        """The weights at each x, with the distances last."""
        cell = torch.bucketize(x, self.at)
        position = (
            ((x - look_up(self.left, cell)) / self.spacing).nan_to_num_(0).add_(look_up(self.start, cell))
        )
        position = torch.minimum(position, look_up(self.end, cell)).clamp_(0, len(self.weights) - 1.01)
        whole = position.long()
        return torch.lerp(self.weights[whole], self.weights[whole + 1], position.sub_(whole).unsqueeze(-1))


def spaced(jumps: Jumps, device: torch.device) -> Distances:
    """Distances for jumps between which the op is constant."""
    at, reach, spacing = jumps.at, jumps.reach, jumps.sigma / FINE
    own = torch.cat([jumps.below[:1], jumps.above])
    left, right = torch.cat([at[:1] - reach, at]), torch.cat([at, at[-1:] + reach])
    first, after = torch.searchsorted(at, left - reach), torch.searchsorted(at, right + reach, right=True)
    near = [slice(*each) for each in zip(first.tolist(), after.tolist(), strict=True)]
    below, above = (
        [ends[part] - value for part, value in zip(near, own, strict=True)]
        for ends in (jumps.below, jumps.above)
    )
    distances = _distances(torch.cat([*below, *above]), _FAR * jumps.sigma)
    counts = torch.ceil((right - left) / spacing).long() + 1
    rows = [
        jumps.weights(
            x + spacing * torch.arange(count), part, _tents(top, distances) - _tents(bottom, distances)
        )
        for x, count, part, top, bottom in zip(left, counts, near, above, below, strict=True)
    ]
    rows[0][0] = rows[-1][-1] = 0
    weights = torch.cat(rows)[:, distances != 0]
    end = counts.cumsum(0) - 1
    given = (distances[distances != 0], at, left, end - counts + 1, end, weights)
    distances, at, left, start, end, weights = (each.to(device, torch.float32) for each in given)
    return Distances(distances, at, left, start, end, spacing, weights)


def _distances(leads: Tensor, far: float) -> Tensor:
    """Leads of either sign and 0, ascending; those left out lie between two no more than ``far`` apart."""
    kept, before = [0.0], 0.0
    for size in sorted(set(leads.abs().round(decimals=6).tolist())):
        if size - kept[-1] > far * (1 + _ROUNDING) and before > kept[-1]:
            kept.append(before)
        before = size
    sizes = torch.tensor([*kept[1:], before], dtype=leads.dtype)
    return torch.cat([-sizes.flip(0), sizes.new_zeros(1), sizes])


def _tents(values: Tensor, ends: Tensor) -> Tensor:
    """How much of each end is in each value between two ends, (values, ends)."""
    after = torch.bucketize(values, ends).clamp_(1, len(ends) - 1)[:, None]
    low, high = ends[after - 1], ends[after]
    share = ((values[:, None] - low) / (high - low)).clamp_(0, 1)
    return (
        values.new_zeros(len(values), len(ends)).scatter_(1, after, share).scatter_(1, after - 1, 1 - share)
    )
