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
    """Return the elements of a flattened tensor at given indices, faster than ``values.take(index)``.

    Apple's GPUs do not support ``take``.
    """
    return values.flatten().index_select(0, index.flatten()).view(index.shape)


@dataclass(frozen=True)
class Jumps:
    """The jumps of an op under normal noise, in float64.

    Attributes:
        at: the x of each jump, ascending. Shape (jumps,).
        below, above: the op's values to the left and to the right of each jump. Shape (jumps,).
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
        """Return sums of ``shares`` over jumps, weighted by the relative density of the noise at each x.

        The density is that at the distance from x to the jump, divided by its peak.

        Args:
            x: the points. Shape (points,).
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
        start, end: the op's values at which the loss is evaluated. Shape (groups,).
        last: the x of the last jump of each group. Shape (groups,).
        max_near: the maximum number of groups within reach of an x.
        chained: whether each group starts where the previous one ends.
        origin, spacing: the x of each group's first weight, shape (groups,), and the distance between
            weights.
        weights: the factors for the loss change from start to end; 0 at both ends. Shape (groups, points).
    """

    start: Tensor
    end: Tensor
    last: Tensor
    max_near: int
    chained: bool
    origin: Tensor
    spacing: float
    weights: Tensor

    def compute_weight(self, x: Tensor, group: Tensor) -> Tensor:
        """Return the weight of the loss change across the group with index ``group``, for each x."""
        points = self.weights.shape[1]
        position = ((x - look_up(self.origin, group)) / self.spacing).nan_to_num_(0).clamp_(0, points - 1.01)
        point = position.long()
        index = torch.add(point, group, alpha=points)
        return torch.lerp(
            look_up(self.weights, index), look_up(self.weights, index + 1), position.sub_(point)
        )


def group_jumps(jumps: Jumps, device: torch.device) -> Groups:
    """Return an op's jumps in groups. Within a group the op changes by at most σ, or has a single jump."""
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

    Weights are tabulated at points along x. The jumps divide all x into cells, each with its own points. All
    tensors are float32.

    Attributes:
        distances: the changes of the output, ascending, without 0. Shape (d,).
        at: the x of the jumps. Shape (jumps,).
        left: the x at which the points of each cell begin. Shape (jumps + 1,).
        start, end: the indices of a cell's first and last point, as floats. Shape (jumps + 1,).
        spacing: the distance between points.
        weights: the factors for the change of the loss at each distance. Shape (points, d).
    """

    distances: Tensor
    at: Tensor
    left: Tensor
    start: Tensor
    end: Tensor
    spacing: float
    weights: Tensor

    def compute_weight(self, x: Tensor) -> Tensor:
        """Return the weight of the change of the loss at each fixed distance, for each x.

        The result has the shape of ``x`` with the distances as a further, last dimension.
        """
        cell = torch.bucketize(x, self.at)
        position = (
            ((x - look_up(self.left, cell)) / self.spacing).nan_to_num_(0).add_(look_up(self.start, cell))
        )
        position = torch.minimum(position, look_up(self.end, cell)).clamp_(0, len(self.weights) - 1.01)
        point = position.long()
        return torch.lerp(self.weights[point], self.weights[point + 1], position.sub_(point).unsqueeze(-1))


def make_distances(jumps: Jumps, device: torch.device) -> Distances:
    """Return the output changes at which to evaluate the loss of a piecewise constant op, with weights."""
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
    """Return weights of linear interpolation between ascending points ``ends``. Shape (values, points)."""
    after = torch.bucketize(values, ends).clamp_(1, len(ends) - 1)[:, None]
    low, high = ends[after - 1], ends[after]
    share = ((values[:, None] - low) / (high - low)).clamp_(0, 1)
    return (
        values.new_zeros(len(values), len(ends)).scatter_(1, after, share).scatter_(1, after - 1, 1 - share)
    )
