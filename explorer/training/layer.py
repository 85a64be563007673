"""The first layer, ``x @ w1``, of several nets: nearly all the work of a step, and most can be spared."""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

_ALIGNMENT = 64  # bytes, of every tensor that torch makes on a CPU


def products(left: Iterable[Tensor], right: Iterable[Tensor]) -> Tensor:
    """Matrix products one by one, stacked: a batched one would give other bits in other company."""
    return torch.stack([_aligned(a).mm(_aligned(b)) for a, b in zip(left, right, strict=False)])


def _aligned(matrix: Tensor) -> Tensor:
    """The same where a tensor of its own would begin: elsewhere MKL may add up in another order."""
    return matrix if matrix.data_ptr() % _ALIGNMENT == 0 else matrix.clone()


def sums(tensors: Iterable[Tensor]) -> Tensor:
    """The sum of each one, (n,): one sum over all would add up in another order in other company."""
    return torch.stack([tensor.sum() for tensor in tensors])


def norms(tensors: Tensor) -> Tensor:
    """Euclidean norms of stacked matrices, (n,)."""
    return sums(tensors.square()).sqrt_()


def descend(value: Tensor, change: Tensor, lr: float) -> None:
    """Take ``change`` times lr from a value, in place of both.

    In two steps: in one, torch rounds once or twice as a number lies in the middle or at the end of a
    tensor, and that differs with the company.
    """
    value.sub_(change.mul_(lr))


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

    def change(self, x: Tensor, gradient: Tensor) -> Tensor:
        """What a gradient (nets, n, hidden) at the pre-activation takes from the layer at lr 1."""
        return products([x.t()] * len(gradient), gradient)

    def size(self, gradient: Tensor, change: Tensor) -> Tensor:
        """The norm at w1 of a gradient and its change, (nets,)."""
        return norms(change)

    def descend(self, gradient: Tensor, change: Tensor, lr: float) -> None:
        """Step down a gradient, with the change it asks for, which is used up."""
        descend(self._w1, change, lr)

    def moved(self, start: Tensor) -> Tensor:
        """How far w1 is from its start (inputs, hidden), (nets,)."""
        return norms(self._w1 - start)

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

    def change(self, x: Tensor, gradient: Tensor) -> Tensor:
        """As in ``Layer``: what it takes from the pre-activation, (nets, n, hidden)."""
        return products([self._gram] * len(gradient), gradient)

    def size(self, gradient: Tensor, change: Tensor) -> Tensor:
        """As in ``Layer``."""
        return sums(gradient * change).clamp_(min=0).sqrt_()

    def descend(self, gradient: Tensor, change: Tensor, lr: float) -> None:
        """As in ``Layer``."""
        self._descent.add_(gradient * lr)
        descend(self._value, change, lr)

    def moved(self, start: Tensor) -> Tensor:
        """As in ``Layer``; ``start`` is the one it began with."""
        return self.size(self._descent, self.change(self._x, self._descent))

    def tensors(self) -> tuple[Tensor, ...]:
        """As in ``Layer``."""
        return self._value, self._descent

    def put(self, tensors: Sequence[Tensor]) -> None:
        """As in ``Layer``."""
        self._value, self._descent = tensors
