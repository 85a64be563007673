"""The gradient of the loss of a net whose op is smoothed by normal noise.

Noise of standard deviation σ at one unit, while all others are unchanged, gives the op a slope at every x.
Each jump of the op contributes the change of the loss across it, times the density of the noise that makes
the unit cross it. This is exact, except that unequal jumps which together change y by less than σ share
evaluations of the loss (``jumps``): number formats are up to 8 % off, 0.7 % in the last layer with the op
(digits; σ from 0.25 to 1). Between jumps, the smoothed slope is multiplied by the upstream gradient, as if
the loss were linear, which is 2 to 7 % off at σ = 0.25 and 6 to 24 % at σ = 0.5 (digits; ReLU, a clamp, tanh,
a parabola). An exact value would need an evaluation of the loss for each point of a quadrature.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from explorer.training.instruments.base.flips import MAX_NUMBERS, Flips
from explorer.training.instruments.base.instrument import Nets
from explorer.training.instruments.base.jumps import REACH, look_up
from explorer.training.instruments.base.smoothed_op import SmoothedOp, smooth_op

_MAX_DISTANCES = 64  # number of distances computed in one product


def compute_smoothed_gradient(nets: Nets, layer: int, n: int) -> Tensor:
    """Return the gradient of the loss at the op's inputs in one layer, with the op smoothed by normal noise.

    The result has shape (active nets, n, units) and covers the first n examples. ``layer`` is an index among
    all layers. Jumps farther than four standard deviations from an x may be omitted: each contributes less
    than 0.0004 of its maximum, which it has at the jump.
    """
    op = smooth_op(nets.op, nets.settings.parameters, nets.settings.sigma, nets.x.device)
    if op.flat:
        return _compute_flip_gradient(nets, op, layer, n).mT
    smooth = op.get_slope(nets.current_pass.traces[layer].op.x[:, :n]) * _compute_upstream(nets, layer)[:, :n]
    return smooth + _compute_flip_gradient(nets, op, layer, n).mT if len(op.at) else smooth


def _compute_upstream(nets: Nets, layer: int) -> Tensor:
    upstream = nets.current_pass.traces[nets.op_layers[-1]].op.upstream
    for below, above in reversed(list(enumerate(nets.op_layers[1:]))):
        if above > layer:
            x = nets.current_pass.traces[above].op.x.detach().requires_grad_()
            with torch.enable_grad():
                y = nets.op_rules.pairs[0][0](x)
                slope = torch.autograd.grad(y.sum(), x)[0] if y.requires_grad else torch.zeros_like(x)
            upstream = torch.matmul(slope * upstream, nets.products[below].weights.mT)
    return upstream


def _compute_flip_gradient(nets: Nets, op: SmoothedOp, layer: int, n: int) -> Tensor:
    """Return the part of the smoothed gradient that comes from jumps. Shape (active nets, units, n).

    It is the sum over jumps of the loss change across a jump, weighted by the noise density at its distance.
    """
    flips = Flips(nets, layer, n)
    if op.steps is None:
        is_tabulated = flips.last and op.flat and len(op.distances.distances) <= _MAX_DISTANCES
        change = (_sum_tabulated_jumps if is_tabulated else _sum_grouped_jumps)(flips, op)
    elif len(op.at) == 1:
        first, _, height = op.steps
        over = flips.x > first
        if flips.last:
            heights = over.new_tensor([height, -height], dtype=flips.x.dtype)
            rise, fall = flips.tabulate_growth(heights).unbind(1)
        else:
            rise = fall = flips.compute_growth((0.5 - over.to(flips.x.dtype)).mul_(2 * height))
        change = torch.where(over, -fall, rise).mul_(op.compute_density(flips.x - first))
    elif flips.last:
        parts = flips.split_members(2 * op.max_near + 1)
        change = torch.cat([_sum_member_steps(flips, part, op, *op.steps) for part in parts])
    else:
        change = _sum_steps(flips, op, *op.steps)
    return change.mul_(op.max_density)


def _sum_grouped_jumps(flips: Flips, op: SmoothedOp) -> Tensor:
    """Return the weighted sum of loss changes over jumps of any heights and distances.

    The loss is evaluated only at the ends of each group of jumps.
    """
    groups, total = op.groups, torch.zeros_like(flips.x)
    first = torch.searchsorted(groups.last, flips.x - REACH * op.sigma).clamp_(
        max=len(groups.last) - groups.max_near
    )
    ended = None
    for number in range(groups.max_near):
        group = first + number
        if ended is None or not groups.chained:
            ended = flips.compute_growth(look_up(groups.start, group) - flips.y)
        started, ended = ended, flips.compute_growth(look_up(groups.end, group) - flips.y)
        total.addcmul_(ended - started, groups.compute_weight(flips.x, group))
    return total


def _sum_tabulated_jumps(flips: Flips, op: SmoothedOp) -> Tensor:
    """Return the weighted sum of loss changes over the jumps of a piecewise constant op in the last layer."""
    distances = op.distances
    parts = [
        (
            flips.tabulate_growth(distances.distances, part).movedim(1, -1)
            * distances.compute_weight(flips.x[part])
        ).sum(-1)
        for part in flips.split_members(len(distances.distances))
    ]
    return torch.cat(parts)


def _sum_member_steps(
    flips: Flips, members: slice, op: SmoothedOp, first: float, width: float, height: float
) -> Tensor:
    """Return the weighted sum of loss changes over equal jumps in the last layer, for a slice of nets."""
    x = flips.x[members]
    below = _count_steps_below(x, op, first, width)
    total = torch.zeros_like(x)
    size = max(1, MAX_NUMBERS // x[0].numel() - 1)
    for start in range(-op.max_near, op.max_near, size):
        jumps = range(start, min(start + size, op.max_near))
        distances = below.new_tensor([height * jump for jump in (*jumps, jumps[-1] + 1)])
        growths = flips.tabulate_growth(distances, members).diff(dim=1)
        total += growths.mul_(_compute_densities(x, below, op, first, width, jumps)).sum(1)
    return total


def _sum_steps(flips: Flips, op: SmoothedOp, first: float, width: float, height: float) -> Tensor:
    """Return the weighted sum of loss changes over equal jumps in any layer.

    The loss is evaluated once for each level that the op's output can change to. With few levels, one unit's
    step up and another unit's step down lead to the same level and share an evaluation.
    """
    level, levels = _count_steps_below(flips.x, op, first, width), len(op.at) + 1
    densities = _compute_densities(flips.x, level, op, first, width, range(-op.max_near, op.max_near))
    weights = -functional.pad(densities, (0, 0, 0, 0, 1, 1)).diff(dim=1)
    total = torch.zeros_like(flips.x)
    groups: dict[int, list[int]] = {}  # offsets except 0, by their remainder modulo ``levels``
    for offset in (*range(-op.max_near, 0), *range(1, op.max_near + 1)):
        if abs(offset) < levels:
            groups.setdefault(offset % levels, []).append(offset)
    for up, group in groups.items():
        shift = (
            torch.remainder(level + up, levels).sub_(level)
            if len(group) > 1
            else torch.full_like(level, group[0])
        )
        weight = weights[:, [op.max_near + offset for offset in group]].sum(1)
        total.addcmul_(flips.compute_growth(shift.mul_(height)), weight)
    return total


def _count_steps_below(x: Tensor, op: SmoothedOp, first: float, width: float) -> Tensor:
    return ((x - first) / width).nan_to_num_(0).ceil_().clamp_(0, len(op.at))


def _compute_densities(
    x: Tensor, below: Tensor, op: SmoothedOp, first: float, width: float, jumps: range
) -> Tensor:
    """Return the noise density, relative to its peak, at the distances from each x to jumps near it.

    ``below`` counts the jumps below each x, and ``jumps`` are relative to that: 0 is the first jump above.
    The result has shape (nets, jumps, units, n). The density is 0 for jumps that do not exist.
    """
    offsets = x.new_tensor([first + width * jump for jump in jumps])[:, None, None]
    densities = op.compute_density(torch.sub(x, below, alpha=width)[:, None] - offsets)
    lowest, highest = (int(end) for end in below.aminmax())
    for index, jump in enumerate(jumps):
        if lowest + jump < 0:
            densities[:, index].mul_(below >= -jump)
        if highest + jump >= len(op.at):
            densities[:, index].mul_(below < len(op.at) - jump)
    return densities
