"""An op under normal noise: its jumps, and its slope between them averaged over the noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

import torch
from torch import Tensor
from torch.nn import functional

from explorer.catalogue import Op, resolve_values
from explorer.curves.kinks import find_kinks
from explorer.formula.pieces import find_degree
from explorer.training.instruments.base.jumps import (
    FINE,
    NOISE,
    REACH,
    Distances,
    Groups,
    Jumps,
    group_jumps,
    look_up,
    make_distances,
)

_RANGES = (64.0, 16.0, 4.0)  # jumps are searched in the widest range that does not have too many
_MIN_JUMP = 1e-4  # smaller differences across a kink come from the op's slope


@dataclass(frozen=True)
class SmoothedOp:
    """An op with normal noise on its input, split into its jumps and a continuous rest.

    Attributes:
        sigma: the standard deviation of the noise.
        at: the x of each jump up to |x| = 64, or 16 or 4 if there are too many, ascending. Shape (jumps,),
            float64.
        below, above: the op's values to the left and to the right of each jump. Shape (jumps,), float64.
        device: the device of the nets.
        flat: whether the op is piecewise constant and has at least one jump.
        slopes: the slope of the continuous rest, averaged over the noise. Shape (points,), float32.
        start, spacing: the x of the first entry of ``slopes``, and the distance in x between two entries.
    """

    sigma: float
    at: Tensor
    below: Tensor
    above: Tensor
    device: torch.device
    flat: bool
    start: float
    spacing: float
    slopes: Tensor

    @cached_property
    def steps(self) -> tuple[float, float, float] | None:
        """The x of the first jump, the distance between jumps (1 for a single one) and their height.

        None if the op is not piecewise constant, or if its jumps differ in distance or height.
        """
        if not self.flat:
            return None
        widths, heights = self.at.diff(), self.above - self.below
        even = all(torch.allclose(each, each[:1], atol=1e-6) for each in (widths, heights) if len(each))
        width = float(widths.mean()) if len(widths) else 1.0
        return (float(self.at[0]), width, float(heights.mean())) if even else None

    @cached_property
    def groups(self) -> Groups:
        """The jumps in groups of neighbours that share evaluations of the loss."""
        return group_jumps(Jumps(self.at, self.below, self.above, self.sigma), self.device)

    @cached_property
    def distances(self) -> Distances:
        """The changes of the op's output at which to evaluate the loss, if the op is piecewise constant."""
        return make_distances(Jumps(self.at, self.below, self.above, self.sigma), self.device)

    @cached_property
    def max_near(self) -> int:
        """The largest number of jumps within four standard deviations of the noise on one side of an x."""
        ends = torch.searchsorted(self.at, self.at + REACH * self.sigma)
        return int((ends - torch.arange(len(ends))).max())

    def get_slope(self, x: Tensor) -> Tensor:
        """Return the slope of the continuous rest at each x, averaged over the noise."""
        position = ((x - self.start) / self.spacing).nan_to_num_(0).clamp_(0, len(self.slopes) - 1.01)
        point = position.long()
        return torch.lerp(look_up(self.slopes, point), look_up(self.slopes, point + 1), position - point)

    def compute_density(self, x: Tensor) -> Tensor:
        """Return the probability density of the noise at each x, relative to its peak. Overwrites ``x``."""
        return x.square_().mul_(-0.5 / self.sigma**2).exp_()

    @property
    def max_density(self) -> float:
        """The probability density of the noise at 0, which is its peak."""
        return NOISE.peak / self.sigma


def smooth_op(op: Op, parameters: Mapping[str, float], sigma: float, device: torch.device) -> SmoothedOp:
    """Return an op with normal noise of standard deviation ``sigma`` on its input. Results are cached."""
    return _smooth_op(op, tuple(sorted(resolve_values(op, None, parameters).items())), sigma, device)


@lru_cache(maxsize=16)
def _smooth_op(
    op: Op, items: tuple[tuple[str, float], ...], sigma: float, device: torch.device
) -> SmoothedOp:
    parameters = dict(items)
    evaluate = op.parsed.bind(parameters)
    flat = find_degree(op.parsed.tree) == 0
    at, below, above = _find_jumps(op, parameters, evaluate, 0 if flat else _MIN_JUMP)
    spacing = sigma / FINE
    # The grid avoids short decimals, at which ops jump and may have a separate value.
    x = torch.arange(-_RANGES[0], _RANGES[0] + spacing, spacing, dtype=torch.float64) + spacing / math.e
    jump_sums = torch.cat([at.new_zeros(1), (above - below).cumsum(0)])
    continuous = evaluate(x) - jump_sums[torch.bucketize(x, at)]
    slopes = continuous.diff().nan_to_num(0, 0, 0) / spacing
    # The slopes are averaged over normal noise around each x.
    edges = torch.arange(-1.5 * REACH * FINE, 1.5 * REACH * FINE + 2, dtype=torch.float64) - 0.5
    weights = NOISE.parsed_distribution.bind()(edges / FINE).diff()
    padded = functional.pad(slopes[None, None], [len(weights) // 2] * 2, mode="replicate")
    slopes = functional.conv1d(padded, weights[None, None]).flatten().to(device, torch.float32)
    start = float(x[0]) + spacing / 2
    return SmoothedOp(sigma, at, below, above, device, flat and len(at) > 0, start, spacing, slopes)


def _find_jumps(
    op: Op, parameters: Mapping[str, float], evaluate: Callable[..., Tensor], min_height: float
) -> tuple[Tensor, ...]:
    """Return the x of the op's jumps higher than ``min_height``, and its values to their left and right.

    Each tensor has shape (jumps,) and is float64, in ascending order of x. All are empty if the op has too
    many jumps.
    """
    candidates = (find_kinks(op, None, parameters, -reach, reach) for reach in _RANGES)
    at = torch.tensor(
        next((positions for positions in candidates if positions is not None), []), dtype=torch.float64
    )
    step = 1e-9 * at.abs().clamp(min=1)
    below, above = evaluate(at - step), evaluate(at + step)
    jumps = (above - below).abs() > min_height
    return at[jumps], below[jumps], above[jumps]
