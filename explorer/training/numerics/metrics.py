"""Metrics of held-out data: accuracy and R²."""

from collections.abc import Callable
from typing import Literal

from torch import Tensor

Metric = Literal["accuracy", "R²"]


def metric_of(y: Tensor) -> Metric:
    """The metric for answers of this kind: accuracy for classes, which are whole numbers, else R²."""
    return "R²" if y.is_floating_point() else "accuracy"


def _accuracy(output: Tensor, y: Tensor) -> Tensor:
    """Accuracy by comparisons, in half the time of ``argmax``, unless two outputs are both the largest."""
    best = output == output.amax(-1, keepdim=True)
    if int(best.count_nonzero()) != best.shape[0] * best.shape[1]:
        return (output.argmax(-1) == y).float().mean(1)
    return best.gather(-1, y.expand(best.shape[:2]).unsqueeze(-1)).flatten(1).float().mean(1)


def _explained(output: Tensor, y: Tensor) -> Tensor:
    return 1 - (output - y).square().sum((1, 2)) / (y - y.mean(0)).square().sum()


METRICS: dict[Metric, Callable[[Tensor, Tensor], Tensor]] = {"accuracy": _accuracy, "R²": _explained}
"""``(output (members, n, outputs), y (n, …)) -> (members,)``: the share of right answers, 0 to 1, or of the
variance that is explained, at most 1."""
