"""The dense layer ``x @ w + b``, and ReLU."""

import torch
from torch import Generator, Tensor

from explorer.training.nets.layers.layer import Layer, Parameters, Trace
from explorer.training.numerics import Product, multiply_members, multiply_singly


class Dense(Layer):
    """A dense layer ``x @ w + b``, from (nets, n, inputs) to (nets, n, outputs)."""

    def __init__(
        self, inputs: int, outputs: int, *, bias: bool = True, first: bool = False, separate: bool = False
    ) -> None:
        """Create a dense layer for given numbers of inputs and outputs.

        Args:
            inputs: units at the input.
            outputs: units at the output.
            bias: whether there are biases.
            first: whether the gradient at x is not needed.
            separate: whether there is no bias and each net's product is computed separately.
        """
        self.shapes = ((inputs, outputs), *([(1, outputs)] if bias else []))
        self._first = first
        self._product: Product = multiply_singly if separate else multiply_members

    def init_parameters(self, generator: Generator, scale: float) -> list[Tensor]:
        """Return normally distributed weights with standard deviation ``scale``, and biases of 0."""
        weights, *biases = self.shapes
        return [torch.randn(weights, generator=generator) * scale, *map(torch.zeros, biases)]

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """Return ``x @ w + b`` for all nets."""
        trace.saved = (x,)
        weights, *bias = parameters
        return multiply_members(x, weights, *bias) if bias else self._product(x, weights)

    def backward(self, g: Tensor, parameters: Parameters, gradients: Parameters, trace: Trace) -> Tensor:
        """Return the gradient at x, and write those of weights and biases to ``gradients``."""
        self._write_gradients(g, gradients, trace)
        return g if self._first else self.propagate(g, parameters)

    def propagate(self, g: Tensor, parameters: Parameters) -> Tensor:
        """Return the gradient at x without computing those of weights and biases."""
        return self._product(g, parameters[0].mT)

    def _write_gradients(self, g: Tensor, gradients: Parameters, trace: Trace) -> None:
        gradients[0].copy_(self._product(trace.saved[0].mT, g))
        for bias in gradients[1:]:
            torch.sum(g, 1, keepdim=True, out=bias)

    def compute_gradients(self, g: Tensor, trace: Trace) -> list[Tensor]:
        """Return the gradients of weights and biases, given g for the first examples only."""
        x = trace.saved[0]
        return [torch.matmul(x[:, : g.shape[1]].mT, g), *([g.sum(1, keepdim=True)] * (len(self.shapes) - 1))]


class Relu(Layer):
    """A ReLU layer, ``max(x, 0)``, for nets in which the op is applied to weights."""

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """Return ``max(x, 0)`` for all nets."""
        trace.saved = (x,)
        return x.relu()

    def backward(self, g: Tensor, parameters: Parameters, gradients: Parameters, trace: Trace) -> Tensor:
        """Return the gradient at x, which is 0 where x ≤ 0 even if g is not finite, as in autograd."""
        before: Tensor = torch.ops.aten.threshold_backward(g, trace.saved[0], 0)
        return before
