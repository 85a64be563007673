"""The first layer of a net that sees the same examples at every step, without most of its work."""

from collections.abc import Sequence

import torch
from torch import Tensor

from explorer.training.nets.layers.layer import Layer, Parameters, Trace
from explorer.training.numerics import norms, one_by_one, sums


class Fixed(Layer):
    """``x @ w`` under gradient descent where x (n, inputs) never changes and n is small.

    A step changes ``x @ w`` by ``-lr · (x @ x.T) @ g``, a small product. So the parameters of this layer are
    the value ``x @ w`` and the way so far: the weights are ``w - x.T @ way``, computed on demand.
    """

    biased = False

    def __init__(self, weights: Sequence[Tensor], x: Sequence[Tensor], seeds: Sequence[int]) -> None:
        """``weights`` and ``x`` of each seed, and the number of each member's seed."""
        self._weights, self._x, self._seeds = weights, x, seeds
        self._grams = [each.mm(each.t()) for each in x]
        value = (len(x[0]), weights[0].shape[1])
        self.shapes = (value, value)

    def values(self) -> list[list[Tensor]]:
        """The parameters of each seed before the first step."""
        values = [each.mm(weights) for each, weights in zip(self._x, self._weights, strict=True)]
        return [[value, torch.zeros_like(value)] for value in values]

    def weights(self, parameters: Parameters) -> Tensor:
        """As in ``Layer``."""
        ways = zip(self._seeds, parameters[1], strict=True)
        return torch.stack(
            [torch.addmm(self._weights[seed], self._x[seed].t(), way, alpha=-1) for seed, way in ways]
        )

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``."""
        return parameters[0]

    def backward(self, g: Tensor, parameters: Parameters, gradients: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``; its result is not used."""
        gradients[0].copy_(self._changes(g))
        torch.neg(g, out=gradients[1])
        return g

    def pulled(self, g: Tensor, trace: Trace) -> list[Tensor]:
        """As in ``Layer``."""
        return [
            torch.stack(
                [self._x[seed][: len(each)].t().mm(each) for seed, each in zip(self._seeds, g, strict=True)]
            )
        ]

    def slopes(self, gradients: Parameters) -> Tensor:
        """As in ``Layer``."""
        pairs = zip(self._seeds, gradients[1], strict=True)
        return torch.stack([self._x[seed].t().mm(-negative) for seed, negative in pairs])

    def size(self, gradients: Parameters) -> Tensor:
        """As in ``Layer``: the norm of ``x.T @ g``."""
        change, negative = gradients
        return sums(negative * change).clamp_(max=0).abs_().sqrt_()

    def length(self, parameters: Parameters) -> Tensor:
        """As in ``Layer``."""
        return norms(self.weights(parameters))

    def moved(self, parameters: Parameters, start: Parameters) -> Tensor:
        """As in ``Layer``."""
        way = parameters[1]
        return sums(way * self._changes(way)).clamp_(min=0).sqrt_()

    def _changes(self, g: Tensor) -> Tensor:
        """The change of ``x @ w`` by a gradient at lr 1, without its sign."""
        return one_by_one([self._grams[seed] for seed in self._seeds], g)
