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

import torch
from torch import Tensor
from torch.nn import functional

from explorer.training.instruments.base.flips import AT_ONCE, Flips
from explorer.training.instruments.base.instrument import Nets
from explorer.training.instruments.base.jumps import REACH, look_up
from explorer.training.instruments.base.smoothed import Smoothed, smoothed

_MOST_DISTANCES = 64  # that one product is made for


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
    flips = Flips(nets, layer, n)
    if op.steps is None:
        few = flips.last and op.flat and len(op.distances.distances) <= _MOST_DISTANCES
        change = (_along_jumps if few else _at_jumps)(flips, op)
    elif len(op.at) == 1:
        change = _at_one_step(flips, op, *op.steps)
    else:
        change = (_along_steps if flips.last else _at_steps)(flips, op, *op.steps)
    return change.mul_(op.densest)


def _at_jumps(flips: Flips, op: Smoothed) -> Tensor:
    """The change for any op: the loss at both ends of each group of jumps."""
    groups, total = op.groups, torch.zeros_like(flips.x)
    first = torch.searchsorted(groups.last, flips.x - REACH * op.sigma).clamp_(
        max=len(groups.last) - groups.near
    )
    ended = None
    for number in range(groups.near):
        group = first + number
        if ended is None or not groups.chained:
            ended = flips.changes(look_up(groups.start, group) - flips.y)
        started, ended = ended, flips.changes(look_up(groups.end, group) - flips.y)
        total.addcmul_(ended - started, groups.weight(flips.x, group))
    return total


def _along_jumps(flips: Flips, op: Smoothed) -> Tensor:
    """The change for an op without slopes below the output: one product for all of its jumps."""
    known = op.distances
    parts = [
        (flips.table(known.distances, part).movedim(1, -1) * known.weight(flips.x[part])).sum(-1)
        for part in flips.parts(len(known.distances))
    ]
    return torch.cat(parts)


def _at_one_step(flips: Flips, op: Smoothed, first: float, _width: float, height: float) -> Tensor:
    """The change for a single step: the loss on its other side."""
    over = flips.x > first
    if flips.last:
        rise, fall = flips.table(over.new_tensor([height, -height], dtype=flips.x.dtype)).unbind(1)
    else:
        rise = fall = flips.changes((0.5 - over.to(flips.x.dtype)).mul_(2 * height))
    return torch.where(over, -fall, rise).mul_(op.density(flips.x - first))


def _along_steps(flips: Flips, op: Smoothed, first: float, width: float, height: float) -> Tensor:
    """The change for equal steps below the output: one product for all of them."""
    parts = flips.parts(2 * op.near + 1)
    return torch.cat([_along(flips, part, op, first, width, height) for part in parts])


def _along(flips: Flips, members: slice, op: Smoothed, first: float, width: float, height: float) -> Tensor:
    """The change for some members; one's result does not depend on their number."""
    x = flips.x[members]
    own = _steps_below(x, op, first, width)
    total = torch.zeros_like(x)
    most = max(1, AT_ONCE // x[0].numel() - 1)
    for start in range(-op.near, op.near, most):
        jumps = range(start, min(start + most, op.near))
        distances = own.new_tensor([height * jump for jump in (*jumps, jumps[-1] + 1)])
        growths = flips.table(distances, members).diff(dim=1)
        total += growths.mul_(_densities(x, own, op, first, width, jumps)).sum(1)
    return total


def _at_steps(flips: Flips, op: Smoothed, first: float, width: float, height: float) -> Tensor:
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
