"""Optimisers that update many nets in one call, with the same bits as those of ``torch.optim``.

Each takes tensors of parameters and gradients of shape (nets, n), and keeps such tensors in ``state``.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

Index = slice | tuple[slice, slice]
Rates = Sequence[tuple[Index, float]]
"""Pairs of a slice of nets, or slices of nets and of their numbers, and their rate. Rates are numbers, as in
torch: a tensor would round differently."""

Lr = float | Rates
"""One learning rate for all nets, or several."""

_MOMENTUM = 0.9
_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8


class Optimiser:
    """Base class of optimisers that update the parameters of many nets at once.

    Attributes:
        label: the name on screen.
        steps: the number of steps taken so far.
        by_member: the number of steps of each net if nets with different numbers share calls; else None.
        state: the tensors kept between steps, which are changed in place.
    """

    label = "Gradient descent"
    memories = 0  # the number of tensors that an optimiser keeps between steps
    formula = ""  # the step in terms of these tensors
    by_member: Sequence[int] | None = None

    def __init__(self, parameters: Tensor) -> None:
        self.steps = 0
        self.state = [torch.zeros_like(parameters) for _ in range(self.memories)]

    def step(self, parameters: Tensor, gradients: Tensor, lr: Lr) -> None:
        """Update the parameters in place by one step. The gradients may be overwritten."""
        self.steps += 1
        self.by_member = self.by_member and [steps + 1 for steps in self.by_member]
        self._step(parameters, gradients, lr)

    def steps_of(self, members: int) -> Sequence[int]:
        """Return the number of steps taken so far, for each of ``members`` nets."""
        return self.by_member or [self.steps] * members

    def read_memory(self) -> list[Tensor]:
        """Return the tensors from which the last step was taken: none, m of momentum, or m and v of Adam."""
        return self.state

    def _step(self, parameters: Tensor, gradients: Tensor, lr: Lr) -> None:
        raise NotImplementedError


class Sgd(Optimiser):
    """Stochastic gradient descent with the same bits as ``torch.optim.SGD(lr)``."""

    def _step(self, parameters: Tensor, gradients: Tensor, lr: Lr) -> None:
        _move_along(parameters, gradients, lr)


class PlainDescent(Optimiser):
    """Gradient descent as tutorials write it, ``w -= lr * w.grad``."""

    def _step(self, parameters: Tensor, gradients: Tensor, lr: Lr) -> None:
        for rate, target, change in _pair_rates(lr, parameters, gradients):
            target.sub_(change.mul_(rate))


class Momentum(Optimiser):
    """Gradient descent with momentum, with the same bits as ``torch.optim.SGD(lr, momentum=0.9)``."""

    label = "Momentum"
    memories = 1
    formula = "lr · m"

    def _step(self, parameters: Tensor, gradients: Tensor, lr: Lr) -> None:
        (mean,) = self.state
        mean.mul_(_MOMENTUM).add_(gradients)
        _move_along(parameters, mean, lr)


class Adam(Optimiser):
    """The Adam optimiser, with the same bits as ``torch.optim.Adam(lr)``."""

    label = "Adam"
    memories = 2
    formula = "lr · m/√v"

    def read_memory(self) -> list[Tensor]:
        """Return m and v, corrected for their start from 0. There must have been a step."""
        mean, square = self.state
        return [mean / (1 - _BETA1**self.steps), square / (1 - _BETA2**self.steps)]

    def _step(self, parameters: Tensor, gradients: Tensor, lr: Lr) -> None:
        mean, square = self.state
        mean.lerp_(gradients, 1 - _BETA1)
        square.mul_(_BETA2).addcmul_(gradients, gradients, value=1 - _BETA2)
        if self.by_member:
            _move_each(parameters, mean, square, lr, self.by_member)
            return
        size = (square.sqrt() / _compute_root(self.steps)).add_(_EPSILON)
        for rate, target, direction, scale in _pair_rates(lr, parameters, mean, size):
            target.addcdiv_(direction, scale, value=_compute_alpha(rate, self.steps))


def _compute_root(steps: int) -> float:
    return float((1 - _BETA2**steps) ** 0.5)


def _compute_alpha(rate: float, steps: int) -> float:
    return float(-(rate / (1 - _BETA1**steps)))


def _move_each(parameters: Tensor, mean: Tensor, square: Tensor, lr: Lr, steps: Sequence[int]) -> None:
    rates: list[float] = []
    for index, rate in lr if isinstance(lr, Sequence) else [(slice(None), lr)]:
        rows = index[0] if isinstance(index, tuple) else index
        rates += [rate] * len(range(*rows.indices(len(steps))))
    alphas = list(map(_compute_alpha, rates, steps))
    column = parameters.new_tensor([list(map(_compute_root, steps)), alphas]).unsqueeze(-1)
    size = square.sqrt().div_(column[0]).add_(_EPSILON)
    parameters.add_((mean * column[1]).div_(size))


def _move_along(parameters: Tensor, direction: Tensor, lr: Lr) -> None:
    for rate, target, step in _pair_rates(lr, parameters, direction):
        target.add_(step, alpha=-rate)


def _pair_rates(lr: Lr, *tensors: Tensor) -> list[tuple[Any, ...]]:
    """Return pairs of a learning rate and the slices of each tensor that it trains, or the whole tensors."""
    if isinstance(lr, Sequence):
        return [(rate, *(tensor[index] for tensor in tensors)) for index, rate in lr]
    return [(lr, *tensors)]


OPTIMISERS: dict[str, type[Optimiser]] = {"sgd": Sgd, "momentum": Momentum, "adam": Adam}
