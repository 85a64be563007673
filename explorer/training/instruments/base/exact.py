"""Unbiased estimates of the gradient of the mean loss of a stochastic op, for given random numbers.

The gradient is that at the op's input x. The mean over a unit's own random number u is exact, that over all
other units is sampled. For an op with two possible outputs at each x this is the local expectation gradient
(Titsias and Lázaro-Gredilla 2015): the loss is computed with either output and all else as sampled, and the
difference is multiplied by the speed at which the threshold in u moves with x. For an op that is smooth in x
for each u it is the pathwise gradient, through the op itself.

Alternatives are worse. Enumerating all outputs of 16 binary units takes 65,536 passes for each example and
net, which takes seconds. DisARM with its antithetic samples needs passes that are as cheap, but its single
samples deviate by 2 to 6 lengths of the gradient (digits, 16 units), compared with 0.05 to 0.9 here, so that
biases of a few per cent show in eight samples.
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
"""A function that estimates the gradient at the op's inputs in a pass on the next batch.

It returns a tensor for each layer with the op, of shape (active nets, n, units), or None without an estimate.
"""

_MAX_NUMBERS = 2**20  # limit of values in one layer of all nets times units, for about 10 ms per random draw


def make_exact_estimator(nets: Nets) -> Exact | None:
    """Return a function that estimates the unbiased gradient of a stochastic op, or None if there is none.

    An estimator exists if the op is random at hidden units other than maps, contains no reduction over
    elements, has no learned parameter, and is either smooth for each random number u, or has two outputs at
    each x in nets that are not too wide.
    """
    op_values = resolve_values(nets.op, None, {})
    if not nets.site.flips or nets.site.maps or find_reductions(nets.op.parsed.tree):
        return None
    if any(parameter.name in op_values for parameter in nets.op_rules.learned):
        return None
    if is_smooth(nets.op):
        return partial(_compute_pathwise, nets)
    units = [layer.shapes[0][1] for layer in nets.ensemble.layers if layer.shapes]
    numbers = max(units[:-1]) * max(units) * nets.batch[0].shape[1] * len(nets.ensemble.active)
    if numbers > _MAX_NUMBERS or not has_two_outputs(nets.op, nets.settings.parameters):
        return None
    return _LocalExpectation(nets)


@torch.enable_grad()
def _compute_pathwise(nets: Nets, observed: ObservedPass) -> list[Tensor]:
    x, leaves = nets.batch[0], []
    layers = zip(nets.ensemble.layers, nets.ensemble.parameter_views, observed.traces, strict=True)
    for layer, parameters, trace in layers:
        if layer.site:
            leaves.append(x.requires_grad_())
        x = layer.forward(x, parameters, Trace(trace.moment))
    loss = nets.task.loss.split_by_example(x, nets.ensemble.expand_by_member(nets.batch[1])).sum()
    if not loss.requires_grad:
        return [torch.zeros_like(each) for each in leaves]
    return list(torch.autograd.grad(loss, leaves, materialize_grads=True))


class _LocalExpectation:
    """An estimator of the gradient of a stochastic op, from the loss with the other output of each unit."""

    def __init__(self, nets: Nets) -> None:
        self._nets, self._op_layers = nets, nets.op_layers
        self._jumps: dict[int, tuple[Tensor, Jump | None]] = {}  # by layer; the first x is not random

    def __call__(self, observed: ObservedPass) -> list[Tensor] | None:
        gradients = [self._compute_layer(observed, layer) for layer in self._op_layers]
        available = [each for each in gradients if each is not None]
        return available if len(available) == len(gradients) else None

    def _compute_layer(self, observed: ObservedPass, layer: int) -> Tensor | None:
        x, y = observed.traces[layer].op[:2]
        if layer not in self._jumps or not torch.equal(self._jumps[layer][0], x):
            jump = find_jump(self._nets.op, self._nets.settings.parameters, x.flatten().cpu())
            self._jumps[layer] = (x, jump)
        if (jump := self._jumps[layer][1]) is None:
            return None
        before, after, speed = (each.to(x).view(x.shape) for each in jump)
        other = torch.where(y == before, after, before)
        losses = self._nets.task.loss.split_by_example(observed.output, self._targets).mT  # (nets, 1, n)
        growth = self._compute_replaced_losses(observed, layer, other).sub_(losses).mT
        return torch.where(y == before, -growth, growth) * speed

    @property
    def _targets(self) -> Tensor:
        return self._nets.ensemble.expand_by_member(self._nets.batch[1])

    def _compute_replaced_losses(self, observed: ObservedPass, layer: int, other: Tensor) -> Tensor:
        """Return the loss of each example after the output of a single unit of a layer is replaced.

        Args:
            observed: the pass with the outputs before the change.
            layer: the index of the layer.
            other: the new outputs, each for a net in which all others are unchanged. Shape (nets, n, units).

        Returns:
            The losses. Shape (nets, units, n).
        """
        nets, traces, index = self._nets, observed.traces, self._op_layers.index(layer)
        end = len(nets.ensemble.layers)
        above = self._op_layers[index + 1] if layer != self._op_layers[-1] else end
        x = observed.output if above == end else traces[above].op.x
        change, weights = (other - traces[layer].op.y).mT, nets.products[index].weights
        x = torch.addcmul(x.mT[:, :, None], weights.mT[..., None], change[:, None])
        for at in range(above, end):  # keeps the shape (nets, units above, units, n)
            parameters, shape = nets.ensemble.parameter_views[at], (len(change), -1, *change.shape[1:])
            trace = Trace(traces[at].moment._replace(copies=len(change[0])))
            x = nets.ensemble.layers[at].forward(x.flatten(2).mT, parameters, trace).mT.view(shape)
        return nets.task.loss.shares(x, self._targets, change.shape[2])
