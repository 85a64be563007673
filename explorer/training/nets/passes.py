"""Passes of all members through the layers of their nets, forward and backward."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from torch import Tensor

from explorer.training.nets.layers import Layer, Moment, Trace
from explorer.training.nets.layers.boundary import TWIN_LOSS
from explorer.training.nets.layers.layer import Parameters
from explorer.training.nets.rows import Views
from explorer.training.numerics import Loss, Value

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

Fault = Literal["op", "forward", "backward"]
"""The first of a pass that is not finite: the op for finite inputs, an output of the net, a gradient."""


class Pass(NamedTuple):
    """All members forward and backward on the batch of a step.

    Attributes:
        numbers: (3, members) loss, and norms of the gradients of the first and the last layer of weights.
        finite: whether all numbers are, by member.
        traces: of each layer.
        output: (members, n, outputs).
        gradients: of the parameters layer by layer, (members, …) each, until the step has used them up.
    """

    numbers: NDArray[float32]
    finite: list[bool]
    traces: list[Trace]
    output: Tensor
    gradients: Views

    def fault(self, index: int) -> Fault:
        """The first thing that is not finite in the pass of the member at an index."""
        for trace in self.traces:
            if trace.x is None or trace.y is None:
                continue
            inputs, outputs = trace.x[index], trace.y[index]
            if (inputs.isfinite() & ~outputs.isfinite()).any():
                return "op"
        return "backward" if self.output[index].isfinite().all() else "forward"


class Observed(NamedTuple):
    """All members forward and backward on any examples.

    Attributes:
        losses: (members,).
        output: (members, n, outputs).
        traces: of each layer.
        flat: gradients of the parameters, (members, numbers).
        gradients: the same layer by layer, (members, …) each.
    """

    losses: Tensor
    output: Tensor
    traces: list[Trace]
    flat: Tensor
    gradients: Views


def forward(
    layers: Sequence[Layer], parameters: Sequence[Parameters], traces: Iterable[Trace], x: Tensor
) -> Tensor:
    """The output for x, the tensors of each layer in its trace; traces come and go one by one."""
    for layer, own, trace in zip(layers, parameters, traces, strict=True):
        x = layer.forward(x, own, trace)
    return x


def untraced(
    layers: Sequence[Layer], parameters: Sequence[Parameters], moments: Iterable[Moment], x: Tensor
) -> Tensor:
    """The output for x at the moment of each layer; its memory does for the next layer at once."""
    return forward(layers, parameters, map(Trace, moments), x)


def both_ways(
    layers: Sequence[Layer],
    parameters: Views,
    moments: Sequence[Moment],
    example: tuple[Tensor, Tensor],
    loss: Loss,
    value: Value,
    into: Views,
) -> tuple[Tensor, Tensor, list[Trace]]:
    """Losses, output and traces for x and y; the gradients of the parameters are written ``into`` views."""
    (x, y), traces, twins = example, [Trace(moment) for moment in moments], {}
    for number, (layer, own, trace) in enumerate(zip(layers, parameters, traces, strict=True)):
        if TWIN_LOSS in layer.asks:
            twins[number] = _twin_output(layers, parameters, moments, number, x)
        x = layer.forward(x, own, trace)
    losses, g = value(x, y)
    if any(layer.asks for layer in layers):
        by_example = loss.by_example(x, y)
        for number, (layer, trace) in enumerate(zip(layers, traces, strict=True)):
            trace.loss = by_example if layer.asks else None
            trace.twin_loss = loss.by_example(twins[number], y) if number in twins else None
    for layer, own, gradients, trace in reversed([*zip(layers, parameters, into, traces, strict=True)]):
        g = layer.backward(g, own, gradients, trace)
    return losses, x, traces


def _twin_output(
    layers: Sequence[Layer], parameters: Views, moments: Sequence[Moment], number: int, x: Tensor
) -> Tensor:
    """The output had the op of one layer drawn 1 − u; the layers behind it draw the same u as ever."""
    at_twin = [moments[number]._replace(twin=True), *moments[number + 1 :]]
    return untraced(layers[number:], parameters[number:], at_twin, x)
