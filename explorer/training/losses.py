"""Losses of many nets at once, each with its gradient by hand."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.training.company import sums, together


@dataclass(frozen=True)
class Loss:
    """What is made smaller; called as ``loss(output (lanes, n, outputs), y)``.

    Attributes:
        value: ``(output, y) -> (losses (lanes,), their gradients at the output)``.
        shares: ``(output, y, count) -> (lanes, n)``, what each of these examples adds to the loss of so many.
        along: ``(output, y, count, directions (lanes, units, outputs), distances (d,)) ->
            (lanes, n, units, d)``, how much each share grows where the output goes so far in a direction.
    """

    value: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
    shares: Callable[[Tensor, Tensor, int], Tensor]
    along: Callable[[Tensor, Tensor, int, Tensor, Tensor], Tensor]

    def __call__(self, output: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """The losses (lanes,), and their gradients at the output."""
        return self.value(output, y)


def _squared_error(output: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    difference = output - y
    return sums(difference.square()), 2 * difference


def _squares(output: Tensor, y: Tensor, _count: int) -> Tensor:
    return (output - y).square().sum(-1)


def _squared_along(output: Tensor, y: Tensor, _count: int, directions: Tensor, distances: Tensor) -> Tensor:
    slopes = 2 * torch.matmul(output - y, directions.mT)
    bends = directions.square().sum(-1)[:, None, :, None]
    return slopes[..., None] * distances + bends * distances.square()


def _mean_squared_error(output: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    losses, gradient = _squared_error(output, y)
    count = output[0].numel()
    return losses / count, gradient / count


def _mean_squares(output: Tensor, y: Tensor, count: int) -> Tensor:
    return _squares(output, y, count) / (count * output.shape[2])


def _mean_squared_along(
    output: Tensor, y: Tensor, count: int, directions: Tensor, distances: Tensor
) -> Tensor:
    return _squared_along(output, y, count, directions, distances) / (count * output.shape[2])


def _cross_entropy(output: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    chosen = y.expand(len(output), -1).unsqueeze(-1)
    logs = together(lambda each: each.log_softmax(-1), output)
    losses = sums(logs.gather(-1, chosen)).div_(-output.shape[1])
    at_logs = torch.zeros_like(logs).scatter_(-1, chosen, -1 / output.shape[1])
    return losses, together(lambda *each: _log_softmax_backward(*each, -1, logs.dtype), at_logs, logs)


_log_softmax_backward = torch.ops.aten._log_softmax_backward_data  # autograd's own, to the last bit


def _surprises(output: Tensor, y: Tensor, count: int) -> Tensor:
    chosen = output.gather(-1, y.expand(len(output), -1).unsqueeze(-1))
    top, _, total = _exponentials(output)
    return total.log_().add_(top).sub_(chosen).div_(count).squeeze(-1)


def _surprises_along(output: Tensor, y: Tensor, count: int, directions: Tensor, distances: Tensor) -> Tensor:
    """``log Σ p · exp(d · w) − d · w[y]``: one product does for all examples, units and distances."""
    _, exponentials, total = _exponentials(output)
    lanes, n, outputs = output.shape
    units, far = directions.shape[1], len(distances)
    ways = directions[:, :, None, :] * distances[:, None]  # (lanes, units, d, outputs)
    most = ways.amax(-1, keepdim=True)
    factors = (ways - most).exp_().view(lanes, units * far, outputs)
    sizes = torch.matmul(exponentials.div_(total), factors.mT).clamp_min_(torch.finfo(output.dtype).tiny)
    by_class = (most - ways).view(lanes, units * far, outputs).mT.reshape(lanes * outputs, units * far)
    rows = y + torch.arange(lanes, device=y.device).mul_(outputs)[:, None]
    chosen = by_class.index_select(0, rows.flatten()).view(lanes, n, units * far)
    return sizes.log_().add_(chosen).div_(count).view(lanes, n, units, far)


def _exponentials(output: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The largest outputs, ``exp`` of how far all are below them, and its sums: (…, 1), (…, n), (…, 1).

    With few classes by far faster than torch's own softmax, where the last bits do not count.
    """
    top = output.amax(-1, keepdim=True)
    exponentials = (output - top).exp_()
    return top, exponentials, torch.matmul(exponentials, exponentials.new_ones(output.shape[-1], 1))


squared_error = Loss(_squared_error, _squares, _squared_along)
"""Sum over examples and outputs of the squared differences; y: (lanes or 1, n, outputs)."""

mean_squared_error = Loss(_mean_squared_error, _mean_squares, _mean_squared_along)
"""Mean over examples and outputs of the squared differences; y: (lanes or 1, n, outputs)."""

cross_entropy = Loss(_cross_entropy, _surprises, _surprises_along)
"""Mean over examples of −log softmax(output) at the class y; y: (lanes or 1, n) int64."""
