"""Losses of many nets at once, each with its gradient by hand."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.training.numerics.batching import sums, together

Value = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""``(output (members, n, outputs), y) -> (losses (members,), their gradients at the output)``."""


@dataclass(frozen=True)
class Loss:
    """A loss to minimise; called as ``loss(output (members, n, outputs), y)``.

    Attributes:
        value: exactly what a step goes by.
        nearly: the same but for the last bits, where it can be had for less.
        shares: ``(output (members, outputs, units, n), y, count) -> (members, units, n)``, what each of these
            examples adds to the loss of so many, for several outputs of each.
        along: ``(output (members, outputs, n), y, count, directions (members, units, outputs), distances
            (d,)) -> (members, d, units, n)``, each share's growth at these distances along the directions.
    """

    value: Value
    nearly: Value
    shares: Callable[[Tensor, Tensor, int], Tensor]
    along: Callable[[Tensor, Tensor, int, Tensor, Tensor], Tensor]

    def __call__(self, output: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """The losses (members,), and their gradients at the output."""
        return self.value(output, y)

    def by_example(self, output: Tensor, y: Tensor) -> Tensor:
        """What each example adds to the loss, (members, n, 1)."""
        members, n, _ = output.shape
        own = together(
            lambda outputs, answers: self.shares(outputs.mT.unsqueeze(2), answers, n),
            output,
            y.expand(members, *y.shape[1:]),
        )
        return own.mT


def _squared_error(output: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    difference = output - y
    return sums(difference.square()), 2 * difference


def _squares(output: Tensor, y: Tensor, _count: int) -> Tensor:
    return (output - y.mT.unsqueeze(2)).square_().sum(1)


def _squared_along(output: Tensor, y: Tensor, _count: int, directions: Tensor, distances: Tensor) -> Tensor:
    slopes = 2 * torch.matmul(directions, output - y.mT).unsqueeze(1)
    bends = directions.square().sum(-1)[:, None, :, None]
    distances = distances[:, None, None]
    return torch.addcmul(slopes * distances, bends, distances.square())


def _mean_squared_error(output: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    losses, gradient = _squared_error(output, y)
    count = output[0].numel()
    return losses / count, gradient * (1 / count)  # as autograd rounds it


def _mean_squares(output: Tensor, y: Tensor, count: int) -> Tensor:
    return _squares(output, y, count) / (count * output.shape[1])


def _mean_squared_along(
    output: Tensor, y: Tensor, count: int, directions: Tensor, distances: Tensor
) -> Tensor:
    return _squared_along(output, y, count, directions, distances) / (count * output.shape[1])


def _cross_entropy(output: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    members, n, _ = output.shape
    chosen = y.expand(members, n).unsqueeze(-1)
    logs = together(_log_softmax, output)
    losses = logs.gather(-1, chosen).sum((1, 2)).div_(-n)
    at_logs = torch.zeros_like(logs).scatter_(-1, chosen, -1 / n)
    return losses, together(_log_softmax_backward, at_logs, logs)


def _log_softmax(output: Tensor) -> Tensor:
    return torch.log_softmax(output, -1)


def _log_softmax_backward(g: Tensor, logs: Tensor) -> Tensor:
    """The gradient of autograd, to the last bit."""
    return torch._log_softmax_backward_data(g, logs, -1, logs.dtype)


def _cross_entropy_nearly(output: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Log-softmax by ``exp`` and sums in calls of their own: with few classes far faster than torch's."""
    members, n, outputs = output.shape
    chosen = y.expand(members, -1).unsqueeze(-1)
    away = output - output.amax(-1, keepdim=True)
    surprise = away.gather(-1, chosen).neg_()
    chances = away.exp_()
    total = torch.matmul(chances, chances.new_ones(outputs, 1))
    losses = sums(surprise.add_(total.log())).div_(n)
    gradient = chances.div_(total.mul_(n))
    return losses, gradient.scatter_add_(-1, chosen, gradient.new_tensor(-1 / n).expand_as(chosen))


def _surprises(output: Tensor, y: Tensor, count: int) -> Tensor:
    away = output - output.amax(1, keepdim=True)
    chosen = (away * _one_of(y, output.shape[1]).unsqueeze(2)).sum(1)
    return away.exp_().sum(1).log_().sub_(chosen).div_(count)


def _surprises_along(output: Tensor, y: Tensor, count: int, directions: Tensor, distances: Tensor) -> Tensor:
    """``log Σ p · exp(d · w) − d · w[y]``: one product does for all examples, units and distances."""
    members, outputs, n = output.shape
    units, far = directions.shape[1], len(distances)
    chances = (output - output.amax(1, keepdim=True)).exp_()
    chances.div_(chances.sum(1, keepdim=True))
    ways = (directions[:, None] * distances[:, None, None]).view(members, far * units, outputs)
    most = ways.amax(-1, keepdim=True)
    sizes = torch.bmm((ways - most).exp_(), chances).clamp_min_(torch.finfo(output.dtype).tiny).log_()
    chosen = _one_of(y, outputs).expand(members, -1, -1)
    return sizes.baddbmm_(most - ways, chosen).div_(count).view(members, far, units, n)


def _one_of(y: Tensor, classes: int) -> Tensor:
    """y (members or 1, n) as 1 at its class and 0 elsewhere, (members or 1, classes, n) float32."""
    return (y[:, None] == torch.arange(classes, device=y.device)[:, None]).float()


squared_error = Loss(_squared_error, _squared_error, _squares, _squared_along)
"""Sum over examples and outputs of the squared differences; y: (members or 1, n, outputs)."""

mean_squared_error = Loss(_mean_squared_error, _mean_squared_error, _mean_squares, _mean_squared_along)
"""Mean over examples and outputs of the squared differences; y: (members or 1, n, outputs)."""

cross_entropy = Loss(_cross_entropy, _cross_entropy_nearly, _surprises, _surprises_along)
"""Mean over examples of −log softmax(output) at the class y; y: (members or 1, n) int64."""
