"""The exact gradient of the mean loss where the op draws: unbiased estimates of it at the op's x, by draw.

The mean over a unit's own u is taken exactly, that over all other units by drawing them. Of an op with two
outputs at each x it is the local expectation gradient (Titsias and Lázaro-Gredilla 2015): the loss with
either output, all else as it was drawn, times the speed at which the u between them moves with x. Of an op
that is smooth in x for each u it is the op's own gradient along the draw.

Why not otherwise: all outputs of 16 binary units are 65,536 for each example and net, which takes seconds;
DisARM with its twins takes passes as cheap, but single draws of it stray 2 to 6 lengths of the gradient
(digits, 16 units), where this strays 0.05 to 0.9, so that biases of a few per cent show in eight draws.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from explorer.catalogue import resolve_values
from explorer.curves.expectation import Jump, find_jump, has_two_outputs, is_smooth
from explorer.formula.operands import find_reductions
from explorer.training.instruments.base.instrument import Nets
from explorer.training.nets import ObservedPass, Trace

Exact = Callable[[ObservedPass], list[Tensor] | None]
"""Of a pass over the batch of the next step, by layer with the op: (members going, n, units); or None."""

_MOST = 2**20  # numbers in one layer of all nets with each unit replaced in turn: about 10 ms a draw


def exact_of(nets: Nets) -> Exact | None:
    """How the exact gradient is estimated here; None where it is not.

    It is where the op draws at hidden units that are no maps, takes no mean over elements, has no parameter
    that learns, and is smooth along u or has two outputs at each x in nets that are not too wide.
    """
    own = resolve_values(nets.op, None, {})
    if not nets.site.flips or nets.site.maps or find_reductions(nets.op.parsed.tree):
        return None
    if any(each.name in own for each in nets.joined.learned):
        return None
    if is_smooth(nets.op):
        return partial(_along_draw, nets)
    two = has_two_outputs(nets.op, nets.settings.parameters)
    return _Replaced(nets) if two and not _are_too_wide(nets) else None


def _are_too_wide(nets: Nets) -> bool:
    units = [layer.shapes[0][1] for layer in nets.ensemble.layers if layer.shapes]
    return max(units[:-1]) * max(units) * nets.batch[0].shape[1] * len(nets.ensemble.active) > _MOST


@torch.enable_grad()
def _along_draw(nets: Nets, observed: ObservedPass) -> list[Tensor]:
    """The gradient of the loss through the op itself."""
    x, at = nets.batch[0], []
    layers = zip(nets.ensemble.layers, nets.ensemble.parameter_views, observed.traces, strict=True)
    for layer, own, trace in layers:
        if layer.site:
            at.append(x.requires_grad_())
        x = layer.forward(x, own, Trace(trace.moment))
    loss = nets.task.loss.by_example(x, nets.ensemble.expand_by_member(nets.batch[1])).sum()
    if not loss.requires_grad:
        return [torch.zeros_like(each) for each in at]
    return list(torch.autograd.grad(loss, at, materialize_grads=True))


class _Replaced:
    """The loss with the other output at each unit in turn."""

    def __init__(self, nets: Nets) -> None:
        self._nets, self._with_op = nets, nets.op_layers
        self._known: dict[int, tuple[Tensor, Jump | None]] = {}  # below the first op x is no other by draw

    def __call__(self, observed: ObservedPass) -> list[Tensor] | None:
        found = [self._at(observed, layer) for layer in self._with_op]
        known = [each for each in found if each is not None]
        return known if len(known) == len(found) else None

    def _at(self, observed: ObservedPass, layer: int) -> Tensor | None:
        x, y = observed.traces[layer].op[:2]
        its = self._jump(layer, x)
        if its is None:
            return None
        before, after, speed = (each.to(x).view(x.shape) for each in its)
        other = torch.where(y == before, after, before)
        growth = self._losses(observed, layer, other).sub_(self._own(observed)).mT
        return torch.where(y == before, -growth, growth) * speed

    def _jump(self, layer: int, x: Tensor) -> Jump | None:
        if layer not in self._known or not torch.equal(self._known[layer][0], x):
            self._known[layer] = (
                x,
                find_jump(self._nets.op, self._nets.settings.parameters, x.flatten().cpu()),
            )
        return self._known[layer][1]

    def _own(self, observed: ObservedPass) -> Tensor:
        """What each example adds to the loss as it was drawn, (members, 1, n)."""
        return self._nets.task.loss.by_example(observed.output, self._answers).mT

    @property
    def _answers(self) -> Tensor:
        return self._nets.ensemble.expand_by_member(self._nets.batch[1])

    def _losses(self, observed: ObservedPass, layer: int, other: Tensor) -> Tensor:
        """What each example adds with another output of one unit, (members, units, n)."""
        nets, traces, index = self._nets, observed.traces, self._with_op.index(layer)
        end = len(nets.ensemble.layers)
        above = self._with_op[index + 1] if layer != self._with_op[-1] else end
        x = observed.output if above == end else traces[above].op.x
        change, weights = (other - traces[layer].op.y).mT, nets.products[index].weights
        x = torch.addcmul(x.mT[:, :, None], weights.mT[..., None], change[:, None])
        for at in range(above, end):  # (members, units above, units, n) there and back
            own, shape = nets.ensemble.parameter_views[at], (len(change), -1, *change.shape[1:])
            trace = Trace(traces[at].moment._replace(copies=len(change[0])))
            x = nets.ensemble.layers[at].forward(x.flatten(2).mT, own, trace).mT.view(shape)
        return nets.task.loss.shares(x, self._answers, change.shape[2])
