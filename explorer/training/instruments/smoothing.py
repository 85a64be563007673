"""The gradient of a net whose op noise smooths: at its jumps by exact flips, elsewhere by its slope.

A unit's op on ``x + noise``, the noise N(0, σ), has a slope at every x: what its jumps change in the loss
times the density of the noise there, and the mean slope of the rest. One unit is smoothed at a time, all
others are as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from math import prod

import torch
from torch import Tensor
from torch.nn import functional

from explorer.catalogue import Op, values
from explorer.kinks import degree, kinks
from explorer.training.instruments.instrument import Nets
from explorer.training.layers import Trace

_RANGES = (64.0, 16.0, 4.0)  # of x within which jumps are known: the widest in which they can be counted
_REACH = 4.0  # standard deviations of the noise: it hardly ever goes farther
_FINE = 32  # points to a standard deviation
_LEAST_JUMP = 1e-4
_MOST_DISTANCES = 24  # between levels, of which a table is made
_FLIPS = 2**18  # numbers in one layer of one net with a unit flipped: fewer examples where units are many


@dataclass(frozen=True)
class Smoothed:
    """An op under noise.

    Attributes:
        sigma: standard deviation of the noise.
        at, below, above: (jumps,) where the op jumps, ascending, and its values on both sides.
        flat: whether it is constant between its jumps.
        start, spacing, slopes: the mean slope of what does not jump, on even x.
    """

    sigma: float
    at: Tensor
    below: Tensor
    above: Tensor
    flat: bool
    start: float
    spacing: float
    slopes: Tensor

    @cached_property
    def levels(self) -> Tensor:
        """The values of a flat op from left to right, (jumps + 1,)."""
        return torch.cat([self.below[:1], self.above])

    @cached_property
    def near(self) -> int:
        """At most so many jumps lie within reach of the noise on one side of an x."""
        ends = torch.searchsorted(self.at, self.at + _REACH * self.sigma)
        return int((ends - torch.arange(len(ends), device=ends.device)).max())

    def below_x(self, x: Tensor) -> Tensor:
        """How many jumps lie below each x."""
        if self._gap is None:
            return torch.bucketize(x, self.at)
        position = (
            ((x - self.at[0]) / self._gap).nan_to_num_(0).ceil_()
        )  # a search takes thirty times as long
        return position.clamp_(0, len(self.at)).long()

    @cached_property
    def _gap(self) -> float | None:
        """The distance from jump to jump, where all are equal."""
        gaps = self.at.diff()
        if not len(gaps):
            return 1.0
        return float(gaps[0]) if torch.allclose(gaps, gaps[:1]) else None

    def slope(self, x: Tensor) -> Tensor:
        """The mean slope at any x, between the jumps."""
        position = ((x - self.start) / self.spacing).nan_to_num_(0).clamp_(0, len(self.slopes) - 1.01)
        whole = position.long()
        return torch.lerp(self.slopes[whole], self.slopes[whole + 1], position - whole)

    def density(self, x: Tensor) -> Tensor:
        """Of the noise."""
        return (x / self.sigma).square_().mul_(-0.5).exp_().mul_(1 / (self.sigma * math.sqrt(math.tau)))


def smoothed(op: Op, parameters: Mapping[str, float], sigma: float, device: torch.device) -> Smoothed:
    """An op under the noise N(0, sigma)."""
    return _smoothed(op, tuple(sorted(values(op, None, parameters).items())), sigma, device)


@lru_cache(maxsize=16)
def _smoothed(op: Op, settled: tuple[tuple[str, float], ...], sigma: float, device: torch.device) -> Smoothed:
    parameters = dict(settled)
    evaluate = op.parsed.bind(parameters)
    at, below, above = _jumps(op, parameters, evaluate)
    spacing = sigma / _FINE
    # Off the short decimals where ops jump: there they have a value of their own.
    x = torch.arange(-_RANGES[0], _RANGES[0] + spacing, spacing, dtype=torch.float64) + spacing / math.e
    risen = torch.cat([at.new_zeros(1), (above - below).cumsum(0)])
    steady = evaluate(x) - risen[torch.bucketize(x, at)]
    slopes = _averaged(steady.diff().nan_to_num(0, 0, 0) / spacing)
    at, below, above, slopes = (each.to(device, torch.float32) for each in (at, below, above, slopes))
    flat = bool(len(at)) and degree(op.parsed.tree) == 0
    return Smoothed(sigma, at, below, above, flat, float(x[0]) + spacing / 2, spacing, slopes)


def _jumps(op: Op, parameters: Mapping[str, float], evaluate: Callable[..., Tensor]) -> tuple[Tensor, ...]:
    """Where the op jumps, and its values on both sides; none where they cannot be counted."""
    looks = (kinks(op, None, parameters, -reach, reach) for reach in _RANGES)
    at = torch.tensor(next((known for known in looks if known is not None), []), dtype=torch.float64)
    step = 1e-9 * at.abs().clamp(min=1)
    below, above = evaluate(at - step), evaluate(at + step)
    jumps = (above - below).abs() > _LEAST_JUMP
    return at[jumps], below[jumps], above[jumps]


def _averaged(slopes: Tensor) -> Tensor:
    """The mean under the noise of slopes that hold around even points, at each of them."""
    edges = torch.arange(-1.5 * _REACH * _FINE, 1.5 * _REACH * _FINE + 2, dtype=torch.float64) - 0.5
    weights = torch.special.ndtr(edges / _FINE).diff()
    ends = functional.pad(slopes[None, None], [len(weights) // 2] * 2, mode="replicate")
    return functional.conv1d(ends, weights[None, None]).flatten()


def smoothed_gradient(nets: Nets, layer: int, n: int) -> Tensor:
    """The gradient at the x of a layer with the op, of the first n examples: (lanes going, n, units)."""
    op = smoothed(nets.op, nets.settings.parameters, nets.settings.sigma, nets.x.device)
    if op.flat:
        return _flipped(nets, op, layer, n)
    smooth = op.slope(nets.now.traces[layer].op.x[:, :n]) * _upstream(nets, layer)[:, :n]
    return smooth + _flipped(nets, op, layer, n) if len(op.at) else smooth


def examples(nets: Nets) -> int:
    """How many can be looked at where each unit is flipped through all layers above."""
    sizes = [prod(nets.weights(layer + 1).shape[1:]) for layer in nets.op_layers]
    return min(nets.x.shape[1], max(1, _FLIPS // max(sizes)))


def _upstream(nets: Nets, layer: int) -> Tensor:
    """The gradient that reaches a layer's y through the op's own slope in the layers above."""
    upstream = nets.now.traces[nets.op_layers[-1]].op.upstream
    for above in reversed([each for each in nets.op_layers if each > layer]):
        passed = _slope(nets, nets.now.traces[above].op.x) * upstream
        upstream = torch.matmul(passed, nets.weights(above - 1).mT)
    return upstream


def _slope(nets: Nets, x: Tensor) -> Tensor:
    """Torch's own slope of the op."""
    leaf = x.detach().requires_grad_()
    with torch.enable_grad():
        y = nets.pairs[0][0](leaf)
        return torch.autograd.grad(y.sum(), leaf)[0] if y.requires_grad else torch.zeros_like(x)


def _flipped(nets: Nets, op: Smoothed, layer: int, n: int) -> Tensor:
    """What the loss changes at the jumps near each x, times the density there; (lanes going, n, units)."""
    flips = _Flips(nets, layer, n)
    own = op.below_x(flips.x)
    several = min(len(op.at), 2 * op.near)
    first = (own - op.near).clamp_(0, len(op.at) - several)
    if op.flat:
        at_levels = _at_levels(flips, op, own, first, several + 1)
        changes = [after - before for before, after in pairwise(at_levels)]
    else:
        changes = [
            flips.changes(op.above[first + jump]) - flips.changes(op.below[first + jump])
            for jump in range(several)
        ]
    # Where all jumps are near, each is the same for all x.
    at = [op.at[jump] if several == len(op.at) else op.at.take(first + jump) for jump in range(several)]
    weighted = [change.mul_(op.density(flips.x - jump)) for change, jump in zip(changes, at, strict=True)]
    return sum(weighted[1:], weighted[0])


def _at_levels(flips: _Flips, op: Smoothed, own: Tensor, first: Tensor, count: int) -> Sequence[Tensor]:
    """How much the loss grows where a unit is at each of so many levels from the first, not at its own."""
    levels = op.levels
    every = torch.arange(len(levels), device=levels.device)
    firsts = (every - op.near).clamp(0, len(levels) - count)
    distances = levels[firsts[:, None] + every[:count]] - levels[:, None]  # (own level, level from the first)
    lowest, highest = (int(end) for end in own.aminmax())
    seen = (distances[lowest : highest + 1] * 1e5).round() / 1e5
    short, index = torch.unique(seen, return_inverse=True)
    if flips.last and len(short) <= _MOST_DISTANCES:
        table, own = flips.table(short), own - lowest
        return [
            table.gather(-1, index[:, level].take(own).unsqueeze(-1)).squeeze(-1) for level in range(count)
        ]
    changes = flips.x.new_zeros((count, *own.shape))
    for turn in range(1, count):  # the own level is as it is
        level = (own - first + turn) % count
        changes.scatter_(0, level[None], flips.changes(levels.take(first + level))[None])
    return changes.unbind()


class _Flips:
    """What the loss does when one unit of a layer has another value and all else is as it is.

    Attributes:
        x: (lanes going, n, units), what the op of the layer sees.
        last: whether only the output follows.
    """

    def __init__(self, nets: Nets, layer: int, n: int) -> None:
        trace, output = nets.now.traces[layer].op, nets.now.output
        self.last = layer == nets.op_layers[-1]
        self.x, self._y = trace.x[:, :n].contiguous(), trace.y[:, :n]
        self._layers, self._parameters = (
            nets.lanes.layers[layer + 2 :],
            nets.lanes.parameter_views[layer + 2 :],
        )
        self._weights = nets.weights(layer + 1)
        self._above = output[:, :n] if self.last else nets.now.traces[layer + 2].op.x[:, :n]
        self._loss, self._count = nets.task.loss, output.shape[1]
        self._output, self._answers = output[:, :n], nets.y[:, :n]

    @cached_property
    def _shares(self) -> Tensor:
        return self._loss.shares(self._output, self._answers, self._count)

    def table(self, distances: Tensor) -> Tensor:
        """How much the loss grows for each of some changes of y, (lanes, n, units, distances)."""
        return self._loss.along(self._output, self._answers, self._count, self._weights, distances)

    def changes(self, y: Tensor) -> Tensor:
        """How much the loss grows for other values of the units, (lanes, n, units)."""
        lanes = range(len(y))  # one by one: what a lane needs then stays in the processor's own memory
        return torch.stack([self._changes_of(lane, y[lane] - self._y[lane]) for lane in lanes])

    def _changes_of(self, lane: int, change: Tensor) -> Tensor:
        """Of one net: each of its units takes the place of a net of its own."""
        n, units = change.shape
        ways = change.T.contiguous()[..., None], self._weights[lane][:, None]
        x = torch.addcmul(self._above[lane], *ways).view(1, units * n, -1)  # (units, n, width above)
        for layer, parameters in zip(self._layers, self._parameters, strict=True):
            x = layer.forward(x, [each[lane : lane + 1] for each in parameters], Trace())
        answers = self._answers[lane : lane + 1] if len(self._answers) > 1 else self._answers
        shares = self._loss.shares(x.view(units, n, -1), answers, self._count)
        return shares.T - self._shares[lane][:, None]
