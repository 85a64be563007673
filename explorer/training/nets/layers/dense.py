"""``x @ w + b``."""

import torch
from torch import Generator, Tensor

from explorer.training.nets.layers.layer import Layer, Parameters, Trace
from explorer.training.numerics import Product, batched, one_by_one


class Dense(Layer):
    """``x @ w + b``: (members, n, inputs) -> (members, n, outputs)."""

    def __init__(
        self, inputs: int, outputs: int, *, bias: bool = True, first: bool = False, alone: bool = False
    ) -> None:
        """``first``: the gradient at x is not needed; ``alone``: no bias, and every product by itself."""
        self.shapes = ((inputs, outputs), *([(1, outputs)] if bias else []))
        self._first = first
        self._product: Product = one_by_one if alone else batched

    def start(self, generator: Generator, scale: float) -> list[Tensor]:
        """Normal weights of deviation ``scale``, biases 0."""
        weights, *biases = self.shapes
        return [torch.randn(weights, generator=generator) * scale, *map(torch.zeros, biases)]

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``."""
        trace.saved = (x,)
        weights, *bias = parameters
        return batched(x, weights, *bias) if bias else self._product(x, weights)

    def backward(self, g: Tensor, parameters: Parameters, gradients: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``."""
        self._pull(g, gradients, trace)
        return g if self._first else self.passed(g, parameters)

    def passed(self, g: Tensor, parameters: Parameters) -> Tensor:
        """As in ``Layer``."""
        return self._product(g, parameters[0].mT)

    def _pull(self, g: Tensor, gradients: Parameters, trace: Trace) -> None:
        """Write the gradients of weights and biases."""
        gradients[0].copy_(self._product(trace.saved[0].mT, g))
        for bias in gradients[1:]:
            torch.sum(g, 1, keepdim=True, out=bias)

    def pulled(self, g: Tensor, trace: Trace) -> list[Tensor]:
        """As in ``Layer``."""
        x = trace.saved[0]
        return [torch.matmul(x[:, : g.shape[1]].mT, g), *([g.sum(1, keepdim=True)] * (len(self.shapes) - 1))]


class Relu(Layer):
    """``max(x, 0)``, where the op stands elsewhere."""

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``."""
        trace.saved = (x,)
        return x.relu()

    def backward(self, g: Tensor, parameters: Parameters, gradients: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``; 0 where x is, whatever g is, as autograd has it."""
        before: Tensor = torch.ops.aten.threshold_backward(g, trace.saved[0], 0)
        return before
