"""Losses of many nets at once, each with its gradient by hand."""

from collections.abc import Callable

import torch
from torch import Tensor

from explorer.training.company import sums, together

Loss = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""``(output (lanes, n, outputs), y) -> (losses (lanes,), their gradients at the output)``."""


def squared_error(output: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Sum over examples and outputs of the squared differences; y: (lanes or 1, n, outputs)."""
    difference = output - y
    return sums(difference.square()), 2 * difference


def mean_squared_error(output: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Mean over examples and outputs of the squared differences; y: (lanes or 1, n, outputs)."""
    losses, gradient = squared_error(output, y)
    count = output[0].numel()
    return losses / count, gradient / count


def cross_entropy(output: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Mean over examples of −log softmax(output) at the class y; y: (lanes or 1, n) int64."""
    chosen = y.expand(len(output), -1).unsqueeze(-1)
    logs = together(lambda each: each.log_softmax(-1), output)
    losses = sums(logs.gather(-1, chosen)).div_(-output.shape[1])
    gradient = together(torch.exp, logs)
    gradient.scatter_add_(-1, chosen, gradient.new_full((), -1.0).expand(chosen.shape))
    return losses, gradient.div_(output.shape[1])
