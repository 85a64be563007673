"""The first layer, ``x @ w1``, of several nets: nearly all the work of a step, and most can be spared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor


def products(left: Iterable[Tensor], right: Iterable[Tensor]) -> Tensor:
    """Matrix products one by one, stacked: a batched one would give other bits in other company."""
    return torch.stack([a.mm(b) for a, b in zip(left, right, strict=False)])


def norms(tensors: Tensor) -> Tensor:
    """Euclidean norms of stacked matrices, (n,)."""
    return tensors.square().sum((1, 2)).sqrt()


class Layer:
    """``x @ w1`` for several nets under gradient descent, each step on an x of its own."""

    def __init__(self, w1: Tensor, nets: int) -> None:
        self._w1 = w1.repeat(nets, 1, 1)

    @property
    def w1(self) -> Tensor:
        """The present weights: (nets, inputs, hidden) float32."""
        return self._w1

    def preactivation(self, x: Tensor) -> Tensor:
        """``x @ w1``: (nets, n, hidden)."""
        return products([x] * len(self._w1), self._w1)

    def descend(self, x: Tensor, gradient: Tensor, lr: float) -> Tensor:
        """Step down a gradient (nets, n, hidden) at the pre-activation; its norm at w1, (nets,)."""
        change = products([x.t()] * len(gradient), gradient)
        self._w1.sub_(change, alpha=lr)
        return norms(change)

    def tensors(self) -> tuple[Tensor, ...]:
        """All that changes, (nets, …) each: enough to continue exactly here."""
        return (self._w1,)

    def put(self, tensors: Sequence[Tensor]) -> None:
        """Take over what ``tensors`` gave, here or elsewhere, perhaps of fewer nets."""
        (self._w1,) = tensors


class FixedLayer(Layer):
    """The same where every step sees the same x (n, inputs), and n is small.

    A step then changes ``x @ w1`` by ``-lr * (x @ x.T) @ gradient``, a small product; what it does to
    w1 itself is only added up, until somebody asks.
    """

    def __init__(self, w1: Tensor, nets: int, x: Tensor) -> None:
        self._start, self._x, self._gram = w1, x, x.mm(x.t())
        self._value = x.mm(w1).repeat(nets, 1, 1)
        self._descent = torch.zeros_like(self._value)

    @property
    def w1(self) -> Tensor:
        """As in ``Layer``, made at each look."""
        return torch.stack([torch.addmm(self._start, self._x.t(), way, alpha=-1) for way in self._descent])

    def preactivation(self, x: Tensor) -> Tensor:
        """As in ``Layer``."""
        return self._value

    def descend(self, x: Tensor, gradient: Tensor, lr: float) -> Tensor:
        """As in ``Layer``."""
        change = products([self._gram] * len(gradient), gradient)
        size = (gradient * change).sum((1, 2)).clamp_(min=0).sqrt_()
        self._descent.add_(gradient, alpha=lr)
        self._value.sub_(change, alpha=lr)
        return size

    def tensors(self) -> tuple[Tensor, ...]:
        """As in ``Layer``."""
        return self._value, self._descent

    def put(self, tensors: Sequence[Tensor]) -> None:
        """As in ``Layer``."""
        self._value, self._descent = tensors
