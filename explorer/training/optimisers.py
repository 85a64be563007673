"""What is done with a gradient, as ``torch.optim`` does it bit for bit, on all lanes at once.

Each takes flat tensors (lanes, n) of parameters and gradients; ``state`` is what it remembers, (lanes, n).
"""

from collections.abc import Sequence

import torch
from torch import Tensor

Rates = Sequence[tuple[slice, float]]
"""Learning rates of neighbouring lanes. torch takes a rate as a number: a tensor would round otherwise."""

_MOMENTUM = 0.9
_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8


class Optimiser:
    """One way down a gradient.

    Attributes:
        steps: taken so far.
        state: what it remembers of them, in place.
    """

    memories = 0  # tensors it remembers

    def __init__(self, parameters: Tensor) -> None:
        self.steps = 0
        self.state = [torch.zeros_like(parameters) for _ in range(self.memories)]

    def step(self, parameters: Tensor, gradients: Tensor, lr: float | Rates) -> None:
        """Change the parameters in place; the gradients may be used up."""
        self.steps += 1
        self._step(parameters, gradients, lr if isinstance(lr, Sequence) else [(slice(None), lr)])

    def _step(self, parameters: Tensor, gradients: Tensor, rates: Rates) -> None:
        raise NotImplementedError


class Sgd(Optimiser):
    """``torch.optim.SGD(lr)``."""

    def _step(self, parameters: Tensor, gradients: Tensor, rates: Rates) -> None:
        _descend(parameters, gradients, rates)


class Written(Optimiser):
    """Gradient descent as tutorials write it, ``w -= lr * w.grad``: rounded after each of the two steps."""

    def _step(self, parameters: Tensor, gradients: Tensor, rates: Rates) -> None:
        for lanes, lr in rates:
            parameters[lanes].sub_(gradients[lanes].mul_(lr))


class Momentum(Optimiser):
    """``torch.optim.SGD(lr, momentum=0.9)``."""

    memories = 1

    def _step(self, parameters: Tensor, gradients: Tensor, rates: Rates) -> None:
        (mean,) = self.state
        mean.mul_(_MOMENTUM).add_(gradients)
        _descend(parameters, mean, rates)


class Adam(Optimiser):
    """``torch.optim.Adam(lr)``."""

    memories = 2

    def _step(self, parameters: Tensor, gradients: Tensor, rates: Rates) -> None:
        mean, square = self.state
        mean.lerp_(gradients, 1 - _BETA1)
        square.mul_(_BETA2).addcmul_(gradients, gradients, value=1 - _BETA2)
        root = (1 - _BETA2**self.steps) ** 0.5
        size = (square.sqrt() / root).add_(_EPSILON)
        for lanes, lr in rates:
            value = -(lr / (1 - _BETA1**self.steps))
            parameters[lanes].addcdiv_(mean[lanes], size[lanes], value=value)


def _descend(parameters: Tensor, direction: Tensor, rates: Rates) -> None:
    for lanes, lr in rates:
        parameters[lanes].add_(direction[lanes], alpha=-lr)


OPTIMISERS: dict[str, type[Optimiser]] = {"sgd": Sgd, "momentum": Momentum, "adam": Adam}
