"""The tasks: a data set plus a loss, one entry each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import torch
from torch import Generator, Tensor
from torch.nn import functional

Loss = Callable[[Tensor, Tensor], Tensor]


def normal_weights(generator: Generator, inputs: int, hidden: int, outputs: int) -> tuple[Tensor, Tensor]:
    """Start weights w1 (inputs, hidden) and w2 (hidden, outputs), standard normal, float32."""
    return (
        torch.randn(inputs, hidden, generator=generator),
        torch.randn(hidden, outputs, generator=generator),
    )


@dataclass(frozen=True)
class Task:
    """A data set plus a loss.

    Attributes:
        key: permanent name, used in links and code.
        label: name on screen.
        purpose: one sentence that says what is learnt.
        inputs: width of x, the data a net is given.
        outputs: width of what the net returns.
        data: ``(generator, batch) -> x (rows, inputs) float32, y (rows, ...)``. With more rows than
            ``batch``, each step draws its own batch; otherwise every step sees all rows.
        loss: ``(prediction (…, batch, outputs), y) -> (…)``, one for each net.
        weights: ``(generator, inputs, hidden, outputs) -> w1, w2``, the start.
    """

    key: str
    label: str
    purpose: str
    inputs: int
    outputs: int
    data: Callable[[Generator, int], tuple[Tensor, Tensor]]
    loss: Loss
    weights: Callable[[Generator, int, int, int], tuple[Tensor, Tensor]] = normal_weights


def squared_error(prediction: Tensor, y: Tensor) -> Tensor:
    """Sum over batch and outputs of the squared differences."""
    return functional.mse_loss(prediction, y.expand_as(prediction), reduction="none").sum((-2, -1))


def _documents_data(generator: Generator, batch: int) -> tuple[Tensor, Tensor]:
    return torch.randn(batch, 1000, generator=generator), torch.randn(batch, 10, generator=generator)


_ENTRIES = (
    Task(
        key="documents",
        label="Two-layer net on random data",
        purpose="Learns random answers to random questions by heart, with a two-layer net.",
        inputs=1000,
        outputs=10,
        data=_documents_data,
        loss=squared_error,
    ),
)

_BY_KEY = {task.key: task for task in _ENTRIES}
TASKS: Mapping[str, Task] = MappingProxyType(_BY_KEY)
