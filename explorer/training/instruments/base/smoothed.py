"""An op under normal noise: its jumps, and its mean slope between them."""

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
    grouped,
    look_up,
    spaced,
)

_RANGES = (64.0, 16.0, 4.0)  # of x within which jumps are known: the widest in which they can be counted
_LEAST_JUMP = 1e-4  # of an op with slopes, which lead elsewhere beside any kink


@dataclass(frozen=True)
class Smoothed:
    """An op under normal noise.

    Attributes:
        sigma: the width of the noise.
        at, below, above: (jumps,) the jumps of the op, ascending, and its values on both sides; float64.
        device: where the nets are.
        flat: whether it is constant between its jumps.
        start, spacing, slopes: the mean slope between the jumps, on even x.
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
        """The first jump, the distance from jump to jump and its height, where both are equal for all."""
        if not self.flat:
            return None
        widths, heights = self.at.diff(), self.above - self.below
        even = all(torch.allclose(each, each[:1], atol=1e-6) for each in (widths, heights) if len(each))
        width = float(widths.mean()) if len(widths) else 1.0
        return (float(self.at[0]), width, float(heights.mean())) if even else None

    @cached_property
    def groups(self) -> Groups:
        """Its jumps, with neighbours that lead little farther."""
        return grouped(Jumps(self.at, self.below, self.above, self.sigma), self.device)

    @cached_property
    def distances(self) -> Distances:
        """The distances of its jumps, from each x; for an op that is flat."""
        return spaced(Jumps(self.at, self.below, self.above, self.sigma), self.device)

    @cached_property
    def near(self) -> int:
        """At most so many jumps lie within reach of the noise on one side of an x."""
        ends = torch.searchsorted(self.at, self.at + REACH * self.sigma)
        return int((ends - torch.arange(len(ends))).max())

    def slope(self, x: Tensor) -> Tensor:
        """The mean slope at any x, between the jumps."""
        position = ((x - self.start) / self.spacing).nan_to_num_(0).clamp_(0, len(self.slopes) - 1.01)
        whole = position.long()
        return torch.lerp(look_up(self.slopes, whole), look_up(self.slopes, whole + 1), position - whole)

    def density(self, x: Tensor) -> Tensor:
        """The density of the noise relative to its peak, written into x: its formula, in place."""
        return x.square_().mul_(-0.5 / self.sigma**2).exp_()

    @property
    def densest(self) -> float:
        """The greatest density of the noise."""
        return NOISE.peak / self.sigma


def smoothed(op: Op, parameters: Mapping[str, float], sigma: float, device: torch.device) -> Smoothed:
    """An op under normal noise of width sigma."""
    return _smoothed(op, tuple(sorted(resolve_values(op, None, parameters).items())), sigma, device)


@lru_cache(maxsize=16)
def _smoothed(op: Op, settled: tuple[tuple[str, float], ...], sigma: float, device: torch.device) -> Smoothed:
    parameters = dict(settled)
    evaluate = op.parsed.bind(parameters)
    flat = find_degree(op.parsed.tree) == 0
    at, below, above = _jumps(op, parameters, evaluate, 0 if flat else _LEAST_JUMP)
    spacing = sigma / FINE
    # Off the short decimals where ops jump: there they have a value of their own.
    x = torch.arange(-_RANGES[0], _RANGES[0] + spacing, spacing, dtype=torch.float64) + spacing / math.e
    risen = torch.cat([at.new_zeros(1), (above - below).cumsum(0)])
    steady = evaluate(x) - risen[torch.bucketize(x, at)]
    slopes = _averaged(steady.diff().nan_to_num(0, 0, 0) / spacing)
    start, slopes = float(x[0]) + spacing / 2, slopes.to(device, torch.float32)
    return Smoothed(sigma, at, below, above, device, flat and len(at) > 0, start, spacing, slopes)


def _jumps(
    op: Op, parameters: Mapping[str, float], evaluate: Callable[..., Tensor], least: float
) -> tuple[Tensor, ...]:
    """The jumps of the op that are higher, and its values on both sides; none if too many."""
    looks = (find_kinks(op, None, parameters, -reach, reach) for reach in _RANGES)
    at = torch.tensor(next((known for known in looks if known is not None), []), dtype=torch.float64)
    step = 1e-9 * at.abs().clamp(min=1)
    below, above = evaluate(at - step), evaluate(at + step)
    jumps = (above - below).abs() > least
    return at[jumps], below[jumps], above[jumps]


def _averaged(slopes: Tensor) -> Tensor:
    """The mean under the noise of slopes that hold around even points, at each of them."""
    edges = torch.arange(-1.5 * REACH * FINE, 1.5 * REACH * FINE + 2, dtype=torch.float64) - 0.5
    weights = NOISE.parsed_distribution.bind()(edges / FINE).diff()
    ends = functional.pad(slopes[None, None], [len(weights) // 2] * 2, mode="replicate")
    return functional.conv1d(ends, weights[None, None]).flatten()
