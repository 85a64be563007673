"""Groups of an op's jumps under normal noise, so that few evaluations of the loss cover many jumps.

Jumps that change y little share evaluations: the loss is assumed linear between two values at most
``_MAX_SHARED`` standard deviations of the noise apart. Larger jumps are exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from explorer.catalogue.noises import NOISES

NOISE = NOISES["normal"]
REACH = 4.0  # noise hardly ever exceeds this many standard deviations
FINE = 32  # the number of points per standard deviation of the noise
_MAX_SHARED = 1.0  # standard deviations of the noise up to which jumps share evaluations
_ROUNDING = 1e-6


def look_up(values: Tensor, index: Tensor) -> Tensor:
    """Return the elements of a flattened tensor at given indices, as ``values.take(index)`` but faster.

    Apple's GPUs do not support ``take``.
    """
    return values.flatten().index_select(0, index.flatten()).view(index.shape)


@dataclass(frozen=True)
class Jumps:
    """The jumps of an op under normal noise, in float64.

    Attributes:
        at: the x of each jump, ascending, (jumps,).
        below, above: the op's values to the left and right of each jump, (jumps,).
        sigma: the standard deviation of the noise.
    """

    at: Tensor
    below: Tensor
    above: Tensor
    sigma: float

    @property
    def reach(self) -> float:
        """The largest noise that is considered: ``REACH`` standard deviations."""
        return REACH * self.sigma

    def compute_weights(self, x: Tensor, part: slice, shares: Tensor) -> Tensor:
        """Return sums over jumps, weighted by the density of the noise at their distance from each x.

        Densities are relative to their peak.

        Args:
            x: (points,).
            part: the jumps to sum over.
            shares: the values to sum, with a row for each jump of ``part``.
        """
        distance = (x[:, None] - self.at[part]) / self.sigma
        density: Tensor = NOISE.parsed_density.bind()(distance) / NOISE.peak
        return density @ shares


@dataclass(frozen=True)
class Groups:
    """Groups of neighbouring jumps of an op that share evaluations of the loss, in float32.

    Attributes:
        start, end: (groups,) the op's values at which the loss is evaluated.
        last: (groups,) the x of the last jump of each group.
        near: the maximum number of groups within reach of an x.
        chained: whether each group starts where the previous one ends.
        origin, spacing: (groups,) the x at which each group's weights begin, and the distance between points.
        weights: (groups, points) the factors at these x for the change from start to end; 0 at both ends.
    """

    start: Tensor
    end: Tensor
    last: Tensor
    near: int
    chained: bool
    origin: Tensor
    spacing: float
    weights: Tensor

    def compute_weight(self, x: Tensor, group: Tensor) -> Tensor:
        """Return the factor by which the change of the loss across a group of jumps counts at each x."""
        points = self.weights.shape[1]
        position = ((x - look_up(self.origin, group)) / self.spacing).nan_to_num_(0).clamp_(0, points - 1.01)
        point = position.long()
        index = torch.add(point, group, alpha=points)
        return torch.lerp(
            look_up(self.weights, index), look_up(self.weights, index + 1), position.sub_(point)
        )


def group_jumps(jumps: Jumps, device: torch.device) -> Groups:
    """Put neighbouring jumps of an op into groups in which its value changes little."""
    parts = _split_jumps(jumps.below.tolist(), jumps.above.tolist(), _MAX_SHARED * jumps.sigma)
    first, last = (torch.stack([jumps.at[part][side] for part in parts]) for side in (0, -1))
    origin, spacing = first - jumps.reach, jumps.sigma / FINE
    points = math.ceil((float((last - origin).max()) + jumps.reach) / spacing) + 2
    x = origin[:, None] + spacing * torch.arange(points)
    heights = jumps.above - jumps.below
    limits = [torch.cat([jumps.below[part], jumps.above[part]]).aminmax() for part in parts]
    # A group starts at the op's lowest value, or at the highest if the op decreases.
    ends = [
        (low, high) if heights[part].sum() >= 0 else (high, low)
        for part, (low, high) in zip(parts, limits, strict=True)
    ]
    start, end = (torch.stack(each) for each in zip(*ends, strict=True))
    weights = torch.stack(
        [jumps.compute_weights(each, part, heights[part]) for each, part in zip(x, parts, strict=True)]
    )
    weights /= (end - start)[:, None]
    weights[:, [0, -1]] = 0
    near_counts = torch.searchsorted(first, last + 2 * jumps.reach, right=True) - torch.arange(len(parts))
    chained = torch.allclose(start[1:], end[:-1], atol=_ROUNDING)
    start, end, last, origin, weights = (
        each.to(device, torch.float32) for each in (start, end, last, origin, weights)
    )
    return Groups(start, end, last, int(near_counts.max()), chained, origin, spacing, weights)


def _split_jumps(below: list[float], above: list[float], max_distance: float) -> list[slice]:
    starts: list[int] = []
    low, high = math.inf, -math.inf
    for index, values in enumerate(zip(below, above, strict=True)):
        low, high = min(low, *values), max(high, *values)
        if not starts or high - low > max_distance * (1 + _ROUNDING):
            starts.append(index)
            low, high = min(values), max(values)
    return [slice(*each) for each in pairwise([*starts, len(below)])]


@dataclass(frozen=True)
class Distances:
    """Fixed changes of each unit's output at which the loss is evaluated, for piecewise constant ops.

    All tensors are float32.

    Attributes:
        distances: (d,) the changes of the output, ascending, without 0.
        at: (jumps,) the x of the jumps, which divide all x into cells.
        left: (jumps + 1,) the x at which the points of each cell begin.
        start, end: (jumps + 1,) the indices of a cell's first and last point, as floats.
        spacing: the distance between points.
        weights: (points, d) the factors at these points for the change at each distance.
    """

    distances: Tensor
    at: Tensor
    left: Tensor
    start: Tensor
    end: Tensor
    spacing: float
    weights: Tensor

    def compute_weight(self, x: Tensor) -> Tensor:
        """Return the factor by which the change of the loss at each fixed distance counts at each x.

        The distances are the last dimension.
        """
        cell = torch.bucketize(x, self.at)
        position = (
            ((x - look_up(self.left, cell)) / self.spacing).nan_to_num_(0).add_(look_up(self.start, cell))
        )
        position = torch.minimum(position, look_up(self.end, cell)).clamp_(0, len(self.weights) - 1.01)
        point = position.long()
        return torch.lerp(self.weights[point], self.weights[point + 1], position.sub_(point).unsqueeze(-1))


def make_distances(jumps: Jumps, device: torch.device) -> Distances:
    """Return the output changes at which the loss of a piecewise constant op is evaluated."""
    at, reach, spacing = jumps.at, jumps.reach, jumps.sigma / FINE
    cell_values = torch.cat([jumps.below[:1], jumps.above])
    left, right = torch.cat([at[:1] - reach, at]), torch.cat([at, at[-1:] + reach])
    first, after = torch.searchsorted(at, left - reach), torch.searchsorted(at, right + reach, right=True)
    near = [slice(*each) for each in zip(first.tolist(), after.tolist(), strict=True)]
    below, above = (
        [ends[part] - value for part, value in zip(near, cell_values, strict=True)]
        for ends in (jumps.below, jumps.above)
    )
    distances = _choose_distances(torch.cat([*below, *above]), _MAX_SHARED * jumps.sigma)
    counts = torch.ceil((right - left) / spacing).long() + 1
    rows = [
        jumps.compute_weights(
            x + spacing * torch.arange(count),
            part,
            _compute_tents(top, distances) - _compute_tents(bottom, distances),
        )
        for x, count, part, top, bottom in zip(left, counts, near, above, below, strict=True)
    ]
    rows[0][0] = rows[-1][-1] = 0
    weights = torch.cat(rows)[:, distances != 0]
    end = counts.cumsum(0) - 1
    tensors = (distances[distances != 0], at, left, end - counts + 1, end, weights)
    distances, at, left, start, end, weights = (each.to(device, torch.float32) for each in tensors)
    return Distances(distances, at, left, start, end, spacing, weights)


def _choose_distances(leads: Tensor, max_distance: float) -> Tensor:
    """Choose a few representative changes of the output among ``leads``, in ascending order.

    The result has both signs and includes 0. Gaps that contain omitted changes are at most ``max_distance``
    wide.
    """
    selected, before = [0.0], 0.0
    for size in sorted(set(leads.abs().round(decimals=6).tolist())):
        if size - selected[-1] > max_distance * (1 + _ROUNDING) and before > selected[-1]:
            selected.append(before)
        before = size
    sizes = torch.tensor([*selected[1:], before], dtype=leads.dtype)
    return torch.cat([-sizes.flip(0), sizes.new_zeros(1), sizes])


def _compute_tents(values: Tensor, ends: Tensor) -> Tensor:
    """Return the weights, (values, points), of linear interpolation between ascending points ``ends``."""
    after = torch.bucketize(values, ends).clamp_(1, len(ends) - 1)[:, None]
    low, high = ends[after - 1], ends[after]
    share = ((values[:, None] - low) / (high - low)).clamp_(0, 1)
    return (
        values.new_zeros(len(values), len(ends)).scatter_(1, after, share).scatter_(1, after - 1, 1 - share)
    )
