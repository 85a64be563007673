"""The gradient of a net whose op noise smooths: at its jumps by exact flips, elsewhere by its slope.

A unit's op on ``x + noise``, normal noise of width σ, has a slope at every x: what its jumps change in the
loss times the density of the noise there, and the mean slope of the rest. One unit is smoothed at a time,
all others are as they are. The jumps' part is exact, but that unequal ones which together lead no farther
than σ share looks at the loss (``jumps``): formats of numbers are up to 8 % off, 0.7 % in the last layer with
the op (digits; σ from 0.25 to 1). The rest takes the loss to be straight along a slope, and is 2 to 7 % off
at σ = 0.25, 6 to 24 % at σ = 0.5 (digits; ReLU, a clamp, tanh, a parabola): exact, it would cost a look at
the loss for each point of a quadrature, where it costs one now.
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
from explorer.curves.kinks import kinks
from explorer.formula.pieces import degree
from explorer.training.instruments.base.instrument import Nets
from explorer.training.instruments.base.jumps import (
    FINE,
    NOISE,
    REACH,
    Distances,
    Groups,
    Jumps,
    grouped,
    spaced,
)
from explorer.training.nets import Layer

_RANGES = (64.0, 16.0, 4.0)  # of x within which jumps are known: the widest in which they can be counted
_LEAST_JUMP = 1e-4  # of an op with slopes, which lead elsewhere beside any kink
_FLIPS = 2**18  # numbers in one layer of one net with a unit flipped: fewer examples where units are many
_MOST_DISTANCES = 64  # that one product is made for
_AT_ONCE = 2**21  # numbers in one call: 8 MB


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
        return torch.lerp(self.slopes.take(whole), self.slopes.take(whole + 1), position - whole)

    def density(self, x: Tensor) -> Tensor:
        """The density of the noise relative to its peak, written into x: its formula, in place."""
        return x.square_().mul_(-0.5 / self.sigma**2).exp_()

    @property
    def densest(self) -> float:
        """The greatest density of the noise."""
        return NOISE.peak / self.sigma


def smoothed(op: Op, parameters: Mapping[str, float], sigma: float, device: torch.device) -> Smoothed:
    """An op under normal noise of width sigma."""
    return _smoothed(op, tuple(sorted(values(op, None, parameters).items())), sigma, device)


@lru_cache(maxsize=16)
def _smoothed(op: Op, settled: tuple[tuple[str, float], ...], sigma: float, device: torch.device) -> Smoothed:
    parameters = dict(settled)
    evaluate = op.parsed.bind(parameters)
    flat = degree(op.parsed.tree) == 0
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
    looks = (kinks(op, None, parameters, -reach, reach) for reach in _RANGES)
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


def smoothed_gradient(nets: Nets, layer: int, n: int) -> Tensor:
    """The gradient at the x of a layer with the op, of the first n examples: (members going, n, units).

    Jumps farther than ``REACH`` widths from an x may be left out of it: each would add less
    than 0.0004 of what it adds at the jump itself.
    """
    op = smoothed(nets.op, nets.settings.parameters, nets.settings.sigma, nets.x.device)
    if op.flat:
        return _flipped(nets, op, layer, n).mT
    smooth = op.slope(nets.now.traces[layer].op.x[:, :n]) * _upstream(nets, layer)[:, :n]
    return smooth + _flipped(nets, op, layer, n).mT if len(op.at) else smooth


def examples(nets: Nets) -> int:
    """The number of examples for which each unit can be flipped through all layers above."""
    return min(nets.x.shape[1], max(1, _FLIPS // _largest(nets.ensemble.layers)))


def is_too_wide(layers: Sequence[Layer]) -> bool:
    """Whether the flips of one layer's units change too many numbers above it, for one example alone."""
    return _largest(layers) > _FLIPS


def _largest(layers: Sequence[Layer]) -> int:
    """The most numbers of one example that the flips of one layer's units change above it."""
    units = [layer.shapes[0][1] * layer.uses for layer in layers if layer.shapes]
    return max(map(prod, pairwise(units)))


def _upstream(nets: Nets, layer: int) -> Tensor:
    """The gradient that reaches a layer's y through the op's own slope in the layers above."""
    upstream = nets.now.traces[nets.op_layers[-1]].op.upstream
    for below, above in reversed(list(enumerate(nets.op_layers[1:]))):
        if above > layer:
            passed = _slope(nets, nets.now.traces[above].op.x) * upstream
            upstream = torch.matmul(passed, nets.products[below].weights.mT)
    return upstream


def _slope(nets: Nets, x: Tensor) -> Tensor:
    leaf = x.detach().requires_grad_()
    with torch.enable_grad():
        y = nets.joined.pairs[0][0](leaf)
        return torch.autograd.grad(y.sum(), leaf)[0] if y.requires_grad else torch.zeros_like(x)


def _flipped(nets: Nets, op: Smoothed, layer: int, n: int) -> Tensor:
    """The change of the loss at the jumps near each x, times the density there: (members going, units, n)."""
    flips = _Flips(nets, layer, n)
    if op.steps is None:
        few = flips.last and op.flat and len(op.distances.distances) <= _MOST_DISTANCES
        change = (_along_jumps if few else _at_jumps)(flips, op)
    elif len(op.at) == 1:
        change = _at_one_step(flips, op, *op.steps)
    else:
        change = (_along_steps if flips.last else _at_steps)(flips, op, *op.steps)
    return change.mul_(op.densest)


def _at_jumps(flips: _Flips, op: Smoothed) -> Tensor:
    """The change for any op: the loss at both ends of each group of jumps."""
    groups, total = op.groups, torch.zeros_like(flips.x)
    first = torch.searchsorted(groups.last, flips.x - REACH * op.sigma).clamp_(
        max=len(groups.last) - groups.near
    )
    ended = None
    for number in range(groups.near):
        group = first + number
        if ended is None or not groups.chained:
            ended = flips.changes(groups.start.take(group) - flips.y)
        started, ended = ended, flips.changes(groups.end.take(group) - flips.y)
        total.addcmul_(ended - started, groups.weight(flips.x, group))
    return total


def _along_jumps(flips: _Flips, op: Smoothed) -> Tensor:
    """The change for an op without slopes below the output: one product for all of its jumps."""
    known = op.distances
    parts = [
        (flips.table(known.distances, part).movedim(1, -1) * known.weight(flips.x[part])).sum(-1)
        for part in _parts(flips, len(known.distances))
    ]
    return torch.cat(parts)


def _at_one_step(flips: _Flips, op: Smoothed, first: float, _width: float, height: float) -> Tensor:
    """The change for a single step: the loss on its other side."""
    over = flips.x > first
    if flips.last:
        rise, fall = flips.table(over.new_tensor([height, -height], dtype=flips.x.dtype)).unbind(1)
    else:
        rise = fall = flips.changes((0.5 - over.to(flips.x.dtype)).mul_(2 * height))
    return torch.where(over, -fall, rise).mul_(op.density(flips.x - first))


def _along_steps(flips: _Flips, op: Smoothed, first: float, width: float, height: float) -> Tensor:
    """The change for equal steps below the output: one product for all of them."""
    parts = _parts(flips, 2 * op.near + 1)
    return torch.cat([_along(flips, part, op, first, width, height) for part in parts])


def _parts(flips: _Flips, looks: int) -> list[slice]:
    """The members, so many at a time as so many looks for each allow."""
    most = max(1, _AT_ONCE // (flips.x[0].numel() * looks))
    return [slice(start, start + most) for start in range(0, len(flips.x), most)]


def _along(flips: _Flips, members: slice, op: Smoothed, first: float, width: float, height: float) -> Tensor:
    """The change for some members; one's result does not depend on their number."""
    x = flips.x[members]
    own = _steps_below(x, op, first, width)
    total = torch.zeros_like(x)
    most = max(1, _AT_ONCE // x[0].numel() - 1)
    for start in range(-op.near, op.near, most):
        jumps = range(start, min(start + most, op.near))
        distances = own.new_tensor([height * jump for jump in (*jumps, jumps[-1] + 1)])
        growths = flips.table(distances, members).diff(dim=1)
        total += growths.mul_(_densities(x, own, op, first, width, jumps)).sum(1)
    return total


def _at_steps(flips: _Flips, op: Smoothed, first: float, width: float, height: float) -> Tensor:
    """The change for equal steps: the loss at each level near the unit's own.

    Where there are few, a level above the own one is for others a level below: they go together.
    """
    own, levels = _steps_below(flips.x, op, first, width), len(op.at) + 1
    densities = _densities(flips.x, own, op, first, width, range(-op.near, op.near))
    weights = -functional.pad(densities, (0, 0, 0, 0, 1, 1)).diff(dim=1)
    total = torch.zeros_like(flips.x)
    for up, group in _together(op.near, levels).items():
        away = (
            torch.remainder(own + up, levels).sub_(own) if len(group) > 1 else torch.full_like(own, group[0])
        )
        weight = weights[:, [op.near + offset for offset in group]].sum(1)
        total.addcmul_(flips.changes(away.mul_(height)), weight)
    return total


def _together(near: int, levels: int) -> dict[int, list[int]]:
    """Offsets from −near to near but 0, grouped by their remainder modulo so many levels."""
    groups: dict[int, list[int]] = {}
    for offset in (*range(-near, 0), *range(1, near + 1)):
        if abs(offset) < levels:
            groups.setdefault(offset % levels, []).append(offset)
    return groups


def _steps_below(x: Tensor, op: Smoothed, first: float, width: float) -> Tensor:
    """The number of jumps below each x, like x."""
    return ((x - first) / width).nan_to_num_(0).ceil_().clamp_(0, len(op.at))


def _densities(x: Tensor, own: Tensor, op: Smoothed, first: float, width: float, jumps: range) -> Tensor:
    """The density of the noise at jumps counted from the first above x, (members, jumps, units, n); 0 where
    there is none."""
    offsets = x.new_tensor([first + width * jump for jump in jumps])[:, None, None]
    densities = op.density(torch.sub(x, own, alpha=width)[:, None] - offsets)
    lowest, highest = (int(end) for end in own.aminmax())
    for index, jump in enumerate(jumps):
        if lowest + jump < 0:
            densities[:, index].mul_(own >= -jump)
        if highest + jump >= len(op.at):
            densities[:, index].mul_(own < len(op.at) - jump)
    return densities


class _Flips:
    """The loss with another value of one unit of a layer, all else unchanged.

    Examples come last in all tensors: what is done to many of them at once is fastest then.

    Attributes:
        x, y: (members going, units, n), what the op of the layer sees and returns.
        last: whether only the output follows.
    """

    def __init__(self, nets: Nets, layer: int, n: int) -> None:
        trace, self._output = nets.now.traces[layer].op, nets.now.output[:, :n].mT
        self.last = layer == nets.op_layers[-1]
        self.x, self.y = trace.x[:, :n].mT.contiguous(), trace.y[:, :n].mT
        index = nets.op_layers.index(layer)
        (self._weights, _), *self._products = nets.products[index:]
        above = None if self.last else nets.op_layers[index + 1]
        self._above = self._output if above is None else nets.now.traces[above].op.x[:, :n].mT
        self._op = nets.joined.pairs[0][0]
        self._loss, self._answers, self._count = nets.task.loss, nets.y[:, :n], nets.now.output.shape[1]

    @cached_property
    def _shares(self) -> Tensor:
        return self._loss.shares(self._output.unsqueeze(2), self._answers, self._count)

    def table(self, distances: Tensor, members: slice = slice(None)) -> Tensor:
        """The growth of some members' loss for each change of y, (members, distances, units, n)."""
        answers = self._answers_of(members)
        return self._loss.along(
            self._output[members], answers, self._count, self._weights[members], distances
        )

    def _answers_of(self, members: slice) -> Tensor:
        return self._answers[members] if len(self._answers) > 1 else self._answers

    def changes(self, change: Tensor) -> Tensor:
        """The growth of the loss for these changes of each unit's y, both (members, units, n)."""
        members, units, n = change.shape
        most = max(1, _AT_ONCE // (self._above.shape[1] * units * n))
        parts = [self._changes(slice(start, start + most), change) for start in range(0, members, most)]
        return torch.cat(parts) if len(parts) > 1 else parts[0]

    def _changes(self, members: slice, change: Tensor) -> Tensor:
        change = change[members]
        ways = self._weights[members].mT.contiguous()[..., None], change[:, None]
        x = torch.addcmul(
            self._above[members].contiguous()[:, :, None], *ways
        )  # (members, width above, units, n)
        x = x.flatten(2)
        for weights, biases in self._products:
            x = torch.bmm(weights[members].mT, self._op(x))
            for each in biases:
                x += each[members].mT
        answers = self._answers_of(members)
        shares = self._loss.shares(x.view(*x.shape[:2], *change.shape[1:]), answers, self._count)
        return shares.sub_(self._shares[members])
