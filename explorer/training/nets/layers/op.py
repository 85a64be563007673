"""Layers with the op in a dense net: at the hidden units, or on the weights."""

import torch
from torch import Tensor

from explorer.training.nets.layers.dense import Dense
from explorer.training.nets.layers.layer import Layer, OpSite, Parameters, Trace
from explorer.training.nets.layers.op_function import Boundary


class Activation(Layer):
    """The op on every unit's pre-activation."""

    site = OpSite("activations", "pre-activations", flips=True)

    def __init__(self, boundary: Boundary) -> None:
        self._boundary, self.learned = boundary, boundary.learned

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``."""
        trace.x, trace.y = x, self._boundary.forward(x, parameters)
        return trace.y

    def backward(self, g: Tensor, parameters: Parameters, gradients: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``: the gradient by the rules."""
        assert trace.x is not None
        assert trace.y is not None
        trace.upstream = g
        trace.gradient = self._boundary.backward(trace.x, trace.y, g, parameters, gradients)
        return trace.gradient


class OpWeights(Dense):
    """``x @ (op(w·√inputs) / √inputs) + b``: the op sees latent weights of about unit scale."""

    site = OpSite("weights", "latent weights", elements="weights", per_example=False)

    def __init__(
        self, inputs: int, outputs: int, boundary: Boundary, *, bias: bool = True, first: bool = False
    ) -> None:
        super().__init__(inputs, outputs, bias=bias, first=first)
        self._boundary, self._unit = boundary, inputs**0.5
        self.learned = boundary.learned

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``."""
        (latent, *bias), learned = self.parts(parameters)
        trace.x = latent * self._unit
        trace.y = self._boundary.forward(trace.x, learned)
        weights = trace.y / self._unit
        output = super().forward(x, [weights, *bias], trace)
        trace.saved = (*trace.saved, weights)
        return output

    def backward(self, g: Tensor, parameters: Parameters, gradients: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``: g reaches the latent weights through the rules."""
        assert trace.x is not None
        assert trace.y is not None
        (_, *bias), learned = self.parts(parameters)
        own, pulls = self.parts(gradients)
        before = super().backward(g, [trace.saved[1], *bias], own, trace)
        trace.upstream = gradients[0] / self._unit
        trace.gradient = self._boundary.backward(trace.x, trace.y, trace.upstream, learned, pulls)
        torch.mul(trace.gradient, self._unit, out=gradients[0])
        return before
