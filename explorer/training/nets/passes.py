"""Forward and backward passes that compute all nets of an ensemble at once."""

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
"""The first non-finite part of a pass: the op at finite inputs, an output of the net, or a gradient."""


class Pass(NamedTuple):
    """The results of running all nets forward and backward on the batch of a training step.

    Attributes:
        numbers: the loss, and the gradient norms of the first and the last layer of weights. Shape (3, nets).
        finite: for each net, whether its loss and parameters are finite, and learned parameters in their
            domains.
        traces: the trace of each layer.
        output: the outputs of the nets. Shape (nets, n, outputs).
        gradients: the gradients of the parameters layer by layer. Shape (nets, …) each. A step overwrites
            them.
    """

    numbers: NDArray[float32]
    finite: list[bool]
    traces: list[Trace]
    output: Tensor
    gradients: Views

    def find_fault(self, index: int) -> Fault:
        """Return which result of the net at ``index`` was first infinite or NaN: op, forward or backward."""
        for trace in self.traces:
            if trace.x is None or trace.y is None:
                continue
            inputs, outputs = trace.x[index], trace.y[index]
            if (inputs.isfinite() & ~outputs.isfinite()).any():
                return "op"
        return "backward" if self.output[index].isfinite().all() else "forward"


class ObservedPass(NamedTuple):
    """The results of running all nets forward and backward on any examples.

    Attributes:
        losses: the loss of each net. Shape (nets,).
        output: the outputs of the nets. Shape (nets, n, outputs).
        traces: the trace of each layer.
        flat: the gradients of the parameters. Shape (nets, numbers).
        gradients: the same gradients layer by layer. Shape (nets, …) each.
    """

    losses: Tensor
    output: Tensor
    traces: list[Trace]
    flat: Tensor
    gradients: Views


def forward(
    layers: Sequence[Layer], parameters: Sequence[Parameters], traces: Iterable[Trace], x: Tensor
) -> Tensor:
    """Return the output of the nets for x, and store the tensors of each layer in its trace.

    ``traces`` may be an iterator. If it keeps no trace, memory is freed layer by layer.
    """
    for layer, values, trace in zip(layers, parameters, traces, strict=True):
        x = layer.forward(x, values, trace)
    return x


def forward_backward(
    layers: Sequence[Layer],
    parameters: Views,
    moments: Sequence[Moment],
    example: tuple[Tensor, Tensor],
    loss: Loss,
    value: Value,
    out: Views,
) -> tuple[Tensor, Tensor, list[Trace]]:
    """Run nets forward and backward on examples.

    Args:
        layers: the layers of the nets.
        parameters: the parameters of each layer.
        moments: the step and layer that determine random numbers, for each layer.
        example: the inputs x and the targets y of the examples.
        loss: the loss function.
        value: the function of ``loss`` that computes losses and gradients, exact or fast.
        out: views to which the gradients of the parameters are written.

    Returns:
        The loss of each net, the output, and the trace of each layer.
    """
    (x, y), traces, twins = example, [Trace(moment) for moment in moments], {}
    for number, (layer, values, trace) in enumerate(zip(layers, parameters, traces, strict=True)):
        if TWIN_LOSS in layer.needed_losses:
            # The output of the nets if this layer uses the antithetic random numbers, 1 − u.
            at_twin = map(Trace, [moments[number]._replace(twin=True), *moments[number + 1 :]])
            twins[number] = forward(layers[number:], parameters[number:], at_twin, x)
        x = layer.forward(x, values, trace)
    losses, g = value(x, y)
    if any(layer.needed_losses for layer in layers):
        by_example = loss.split_by_example(x, y)
        for number, (layer, trace) in enumerate(zip(layers, traces, strict=True)):
            trace.loss = by_example if layer.needed_losses else None
            trace.twin_loss = loss.split_by_example(twins[number], y) if number in twins else None
    for layer, values, gradients, trace in reversed([*zip(layers, parameters, out, traces, strict=True)]):
        g = layer.backward(g, values, gradients, trace)
    return losses, x, traces
