"""The optimisers of ``torch.optim``, bit for bit, on all members at once.

Each takes flat tensors (members, n) of parameters and gradients, and remembers ``state``, (members, n) each.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

Index = slice | tuple[slice, slice]
Rates = Sequence[tuple[Index, float]]
"""Learning rates of neighbouring members, or of some of their numbers. torch takes a rate as a number: a
tensor would round otherwise."""

Lr = float | Rates
"""One rate of all members, or several."""

_MOMENTUM = 0.9
_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8


class Optimiser:
    """An optimiser of flat parameters.

    Attributes:
        label: its name on screen.
        steps: taken so far.
        by_member: the same by member, of nets that go together and did not begin together; else None.
        state: the tensors that it remembers, changed in place.
    """

    label = "Gradient descent"
    memories = 0  # tensors it remembers
    by_member: Sequence[int] | None = None

    def __init__(self, parameters: Tensor) -> None:
        self.steps = 0
        self.state = [torch.zeros_like(parameters) for _ in range(self.memories)]

    def step(self, parameters: Tensor, gradients: Tensor, lr: Lr) -> None:
        """Change the parameters in place; the gradients may be used up."""
        self.steps += 1
        self.by_member = self.by_member and [steps + 1 for steps in self.by_member]
        self._step(parameters, gradients, lr)

    def steps_of(self, members: int) -> Sequence[int]:
        """The steps taken by each of so many members."""
        return self.by_member or [self.steps] * members

    def _step(self, parameters: Tensor, gradients: Tensor, lr: Lr) -> None:
        raise NotImplementedError


class Sgd(Optimiser):
    """``torch.optim.SGD(lr)``."""

    def _step(self, parameters: Tensor, gradients: Tensor, lr: Lr) -> None:
        _descend(parameters, gradients, lr)


class Written(Optimiser):
    """Gradient descent as tutorials write it, ``w -= lr * w.grad``: rounded after each of the two steps."""

    def _step(self, parameters: Tensor, gradients: Tensor, lr: Lr) -> None:
        for rate, own, change in _by_rate(lr, parameters, gradients):
            own.sub_(change.mul_(rate))


class Momentum(Optimiser):
    """``torch.optim.SGD(lr, momentum=0.9)``."""

    label = "Momentum"
    memories = 1

    def _step(self, parameters: Tensor, gradients: Tensor, lr: Lr) -> None:
        (mean,) = self.state
        mean.mul_(_MOMENTUM).add_(gradients)
        _descend(parameters, mean, lr)


class Adam(Optimiser):
    """``torch.optim.Adam(lr)``."""

    label = "Adam"
    memories = 2

    def _step(self, parameters: Tensor, gradients: Tensor, lr: Lr) -> None:
        mean, square = self.state
        mean.lerp_(gradients, 1 - _BETA1)
        square.mul_(_BETA2).addcmul_(gradients, gradients, value=1 - _BETA2)
        if self.by_member:
            _move_apart(parameters, mean, square, lr, self.by_member)
            return
        size = (square.sqrt() / _root(self.steps)).add_(_EPSILON)
        for rate, own, way, far in _by_rate(lr, parameters, mean, size):
            own.addcdiv_(way, far, value=_alpha(rate, self.steps))


def _root(steps: int) -> float:
    return float((1 - _BETA2**steps) ** 0.5)


def _alpha(rate: float, steps: int) -> float:
    return float(-(rate / (1 - _BETA1**steps)))


def _move_apart(parameters: Tensor, mean: Tensor, square: Tensor, lr: Lr, steps: Sequence[int]) -> None:
    """Adam's last step where every member has taken ``steps`` of its own: a column does for a number."""
    alphas = list(map(_alpha, _by_member(lr, len(steps)), steps))
    column = parameters.new_tensor([list(map(_root, steps)), alphas]).unsqueeze(-1)
    size = square.sqrt().div_(column[0]).add_(_EPSILON)
    parameters.add_((mean * column[1]).div_(size))


def _descend(parameters: Tensor, direction: Tensor, lr: Lr) -> None:
    for rate, own, way in _by_rate(lr, parameters, direction):
        own.add_(way, alpha=-rate)


def _by_member(lr: Lr, members: int) -> list[float]:
    """The rate of each member, where all its numbers have the same."""
    if not isinstance(lr, Sequence):
        return [lr] * members
    groups = [(index[0] if isinstance(index, tuple) else index, rate) for index, rate in lr]
    return [rate for rows, rate in groups for _ in range(*rows.indices(members))]


def _by_rate(lr: Lr, *tensors: Tensor) -> list[tuple[Any, ...]]:
    """Each rate with its part of some tensors."""
    if isinstance(lr, Sequence):
        return [(rate, *(each[index] for each in tensors)) for index, rate in lr]
    return [(lr, *tensors)]


OPTIMISERS: dict[str, type[Optimiser]] = {"sgd": Sgd, "momentum": Momentum, "adam": Adam}
