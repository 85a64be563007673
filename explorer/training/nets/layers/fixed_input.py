"""A first layer that saves work if every step uses the same inputs."""

from collections.abc import Sequence

import torch
from torch import Tensor

from explorer.training.nets.layers.layer import Layer, Parameters, Trace
from explorer.training.numerics import compute_norms, multiply_singly, sum_members


class FixedInput(Layer):
    """A dense layer ``x @ w`` trained by gradient descent on a few inputs that never change.

    A step changes ``x @ w`` by ``-lr · (x @ x.T) @ g``, a small product. The parameters of this layer are
    therefore the product ``x @ w`` and the accumulated displacement; the current weights, ``w - x.T @
    displacement``, are computed on demand from the initial ones.
    """

    biased = False

    def __init__(self, weights: Sequence[Tensor], x: Sequence[Tensor], seeds: Sequence[int]) -> None:
        """Create the layer from the weights and inputs of each seed, and the seed index of each net."""
        self._weights, self._x, self._seeds = weights, x, seeds
        self._grams = [inputs.mm(inputs.t()) for inputs in x]
        value = (len(x[0]), weights[0].shape[1])
        self.shapes = (value, value)

    def get_start_values(self) -> list[list[Tensor]]:
        """Return a list with the initial values of the layer's two parameters for each random seed."""
        values = [inputs.mm(weights) for inputs, weights in zip(self._x, self._weights, strict=True)]
        return [[value, torch.zeros_like(value)] for value in values]

    def weights(self, parameters: Parameters) -> Tensor:
        """Return the current weights of each net, computed from the accumulated displacement."""
        pairs = zip(self._seeds, parameters[1], strict=True)
        changes = [(self._weights[seed], self._x[seed].t(), displacement) for seed, displacement in pairs]
        return torch.stack([torch.addmm(*change, alpha=-1) for change in changes])

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """Return ``x @ w``, which this layer stores as a parameter."""
        return parameters[0]

    def backward(self, g: Tensor, parameters: Parameters, gradients: Parameters, trace: Trace) -> Tensor:
        """Write the gradients of the layer's two parameters, and return ``g``, which no layer uses."""
        gradients[0].copy_(self._compute_change(g))
        torch.neg(g, out=gradients[1])
        return g

    def compute_gradients(self, g: Tensor, trace: Trace) -> list[Tensor]:
        """Return the gradient of the layer's weights, given g for the first examples only."""
        return [multiply_singly([self._x[seed][: g.shape[1]].t() for seed in self._seeds], g)]

    def slopes(self, gradients: Parameters) -> Tensor:
        """Return the gradient of the weights of each net, ``x.T @ g``."""
        pairs = zip(self._seeds, gradients[1], strict=True)
        return torch.stack([self._x[seed].t().mm(-negative) for seed, negative in pairs])

    def size(self, gradients: Parameters) -> Tensor:
        """Return the norm of the gradient of the weights, ``x.T @ g``, of each net."""
        change, negative = gradients
        return sum_members(negative * change).clamp_(max=0).abs_().sqrt_()

    def length(self, parameters: Parameters) -> Tensor:
        """Return the norm of the weights of each net."""
        return compute_norms(self.weights(parameters))

    def get_distance(self, parameters: Parameters, start: Parameters) -> Tensor:
        """Return how far the weights of each net have moved from the initial ones. Shape (nets,)."""
        displacement = parameters[1]
        return sum_members(displacement * self._compute_change(displacement)).clamp_(min=0).sqrt_()

    def _compute_change(self, g: Tensor) -> Tensor:
        return multiply_singly([self._grams[seed] for seed in self._seeds], g)
