"""Loss functions that handle many nets in one call, with gradients written by hand."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.training.numerics.batching import apply_to_members, sum_members

Value = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""A function of outputs, of shape (nets, n, outputs), and targets y. It returns the losses, (nets,), and the
gradients at the outputs."""


@dataclass(frozen=True)
class Loss:
    """A loss function for several nets, called as ``loss(output, y)``. Outputs are (nets, n, outputs).

    Attributes:
        value: the exact function for a training step.
        fast_value: a faster function that may differ in the last bits.
        shares: a function that returns the contribution of each example to the loss, for alternative outputs
            along ``units``. Shape (nets, units, n). Its arguments are the outputs, (nets, outputs, units, n),
            the targets y, and the number of examples that the loss is taken over.
        growth: a function that returns how much each contribution grows if the outputs move by each distance
            along each direction. Shape (nets, d, units, n). Its arguments are the outputs, (nets, outputs,
            n), y, that number of examples, the directions, (nets, units, outputs), and the distances, (d,).
    """

    value: Value
    fast_value: Value
    shares: Callable[[Tensor, Tensor, int], Tensor]
    growth: Callable[[Tensor, Tensor, int, Tensor, Tensor], Tensor]

    def __call__(self, output: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Return the loss of each net, and the gradient of the loss at the net's output."""
        return self.value(output, y)

    def split_by_example(self, output: Tensor, y: Tensor) -> Tensor:
        """Return the contribution of each example to the loss of each net. Shape (nets, n, 1)."""
        members, n, _ = output.shape
        shares = apply_to_members(
            lambda outputs, targets: self.shares(outputs.mT.unsqueeze(2), targets, n),
            output,
            y.expand(members, *y.shape[1:]),
        )
        return shares.mT


def _compute_squared_error(output: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    difference = output - y
    return sum_members(difference.square()), 2 * difference


def _compute_squares(output: Tensor, y: Tensor, _count: int) -> Tensor:
    return (output - y.mT.unsqueeze(2)).square_().sum(1)


def _compute_squares_growth(
    output: Tensor, y: Tensor, _count: int, directions: Tensor, distances: Tensor
) -> Tensor:
    slopes = 2 * torch.matmul(directions, output - y.mT).unsqueeze(1)
    bends = directions.square().sum(-1)[:, None, :, None]
    distances = distances[:, None, None]
    return torch.addcmul(slopes * distances, bends, distances.square())


def _compute_mean_squared_error(output: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    losses, gradient = _compute_squared_error(output, y)
    count = output[0].numel()
    return losses / count, gradient * (1 / count)  # rounded as by autograd


def _compute_cross_entropy(output: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    members, n, _ = output.shape
    classes = y.expand(members, n).unsqueeze(-1)
    logs = apply_to_members(lambda each: torch.log_softmax(each, -1), output)
    losses = logs.gather(-1, classes).sum((1, 2)).div_(-n)
    at_logs = torch.zeros_like(logs).scatter_(-1, classes, -1 / n)
    return losses, apply_to_members(  # bit for bit the gradient of autograd
        lambda g, each: torch._log_softmax_backward_data(g, each, -1, each.dtype), at_logs, logs
    )


def _compute_fast_cross_entropy(output: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    members, n, outputs = output.shape
    classes = y.expand(members, -1).unsqueeze(-1)
    shifted = output - output.amax(-1, keepdim=True)
    surprise = shifted.gather(-1, classes).neg_()
    chances = shifted.exp_()
    total = torch.matmul(chances, chances.new_ones(outputs, 1))
    losses = sum_members(surprise.add_(total.log())).div_(n)
    gradient = chances.div_(total.mul_(n))
    return losses, gradient.scatter_add_(-1, classes, gradient.new_tensor(-1 / n).expand_as(classes))


def _compute_surprises(output: Tensor, y: Tensor, count: int) -> Tensor:
    shifted = output - output.amax(1, keepdim=True)
    class_logits = (shifted * _encode_one_hot(y, output.shape[1]).unsqueeze(2)).sum(1)
    return shifted.exp_().sum(1).log_().sub_(class_logits).div_(count)


def _compute_surprise_growth(
    output: Tensor, y: Tensor, count: int, directions: Tensor, distances: Tensor
) -> Tensor:
    """Return how much the cross-entropy grows if the outputs change by several distances.

    This is ``log Σ p · exp(d · w) − d · w[y]`` for all examples, units and distances, in one product.
    """
    members, outputs, n = output.shape
    units, count_d = directions.shape[1], len(distances)
    chances = (output - output.amax(1, keepdim=True)).exp_()
    chances.div_(chances.sum(1, keepdim=True))
    moves = (directions[:, None] * distances[:, None, None]).view(members, count_d * units, outputs)
    highest = moves.amax(-1, keepdim=True)
    sizes = torch.bmm((moves - highest).exp_(), chances).clamp_min_(torch.finfo(output.dtype).tiny).log_()
    one_hot = _encode_one_hot(y, outputs).expand(members, -1, -1)
    return sizes.baddbmm_(highest - moves, one_hot).div_(count).view(members, count_d, units, n)


def _encode_one_hot(y: Tensor, classes: int) -> Tensor:
    """Return class indices as one-hot vectors. Shape (nets or 1, classes, n), float32."""
    return (y[:, None] == torch.arange(classes, device=y.device)[:, None]).float()


squared_error = Loss(
    _compute_squared_error, _compute_squared_error, _compute_squares, _compute_squares_growth
)
"""Sum of squared differences over examples and outputs. y has shape (nets or 1, n, outputs)."""

mean_squared_error = Loss(
    _compute_mean_squared_error,
    _compute_mean_squared_error,
    lambda output, y, count: _compute_squares(output, y, count) / (count * output.shape[1]),
    lambda output, y, count, directions, distances: (
        _compute_squares_growth(output, y, count, directions, distances) / (count * output.shape[1])
    ),
)
"""Mean of squared differences over examples and outputs. y has shape (nets or 1, n, outputs)."""

cross_entropy = Loss(
    _compute_cross_entropy, _compute_fast_cross_entropy, _compute_surprises, _compute_surprise_growth
)
"""Mean over examples of −log softmax(output) at the class y. y has shape (nets or 1, n), int64."""
