"""Storage for the parameters of all nets: one row of numbers per net, with views for each layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, groupby, islice
from math import prod
from typing import NamedTuple

import torch
from torch import Tensor

from explorer.training.nets.architectures import Member
from explorer.training.nets.layers import Layer
from explorer.training.numerics import Rates, pad_count

Views = list[list[Tensor]]
Lr = float | Sequence[float]
"""One learning rate for all nets, or one per rule by its index."""


class OpParameters(NamedTuple):
    """The initial values and learning rate of the op's learned parameters.

    Attributes:
        starts: for each rule, the value of each parameter before the first step.
        positive: for each parameter, whether its value must stay positive.
        rate: the parameters' learning rate, as a factor of the weights' rate.
        by_channel: whether each channel of a layer (a unit, a map, a kernel) has separate values.
    """

    starts: Sequence[Sequence[float]] = ()
    positive: Sequence[bool] = ()
    rate: float = 1.0
    by_channel: bool = False


class Rows:
    """The positions of all parameters in a net's row of numbers.

    Weights and biases come first, layer by layer, then the op's learned parameters. Each is padded to whole
    steps of the processor, so that one update handles all of them. Methods take the rows of several nets as
    one tensor of shape (nets, numbers).

    Attributes:
        start: the weights and biases before the first step. Shape (seeds, numbers), float32.
        dense: the number of a row's entries that hold weights and biases.
    """

    def __init__(
        self, layers: Sequence[Layer], start: Sequence[Sequence[Tensor]], learning: OpParameters
    ) -> None:
        """Choose the position of each parameter in a net's row of numbers.

        Args:
            layers: the layers of the nets.
            start: weights and biases of each seed's net, in order.
            learning: the op's learned parameters.
        """
        self._learning = learning
        self._counts = [(len(layer.shapes), layer.learned) for layer in layers]
        shapes = [shape for layer in layers for shape in layer.shapes]
        self.dense = sum(pad_count(prod(shape)) for shape in shapes)
        self._shapes = shapes + [
            shape if learning.by_channel else (1, 1)
            for layer, shape in zip(layers, list_channel_shapes(layers), strict=True)
            for _ in range(layer.learned)
        ]
        self._starts = [0, *accumulate(pad_count(prod(shape)) for shape in self._shapes)]
        self.start = torch.zeros(len(start), self._starts[-1], device=start[0][0].device)
        for seed, values in enumerate(start):
            for view, value in zip(self._view_parameters(self.start), values, strict=False):
                view[seed].copy_(value)

    def make_start_rows(self, members: Sequence[Member]) -> Tensor:
        """Return the initial parameters of the given nets. Shape (nets, numbers)."""
        rows = self.start[[member.seed for member in members]]
        if self._learning.positive:
            starts = rows.new_tensor([self._learning.starts[member.rule] for member in members])
            for layer in self.view_learned(rows):
                for values, start in zip(layer, starts.T, strict=True):
                    values.copy_(start[:, None])
        return rows

    def make_views(self, rows: Tensor) -> Views:
        """Return, for each layer, a list of views of its parameters in the rows of all nets."""
        views = self._view_parameters(rows)
        dense = sum(count for count, _ in self._counts)
        weights, learned = iter(views[:dense]), iter(views[dense:])
        return [[*islice(weights, count), *islice(learned, learn)] for count, learn in self._counts]

    def view_learned(self, rows: Tensor) -> Views:
        """Return a list for each layer with the op, with a view of each learned parameter in the rows.

        A view has shape (nets, 1), or (nets, channels) if each channel has a value of its own.
        """
        views = self._view_parameters(rows)[sum(count for count, _ in self._counts) :]
        count = len(self._learning.positive)
        return [
            [each.flatten(1) for each in views[at : at + count]] for at in range(0, len(views), count or 1)
        ]

    def reduce_learned(self, reduce: Callable[[Tensor, int], Tensor], rows: Tensor) -> Tensor:
        """Return the learned parameters with one value for each layer. Shape (nets, layers, parameters).

        Values of channels are reduced by the function ``reduce``.
        """
        layers = [torch.stack([reduce(each, 1) for each in layer], 1) for layer in self.view_learned(rows)]
        return torch.stack(layers, 1)

    def find_out_of_domain(self, rows: Tensor) -> list[tuple[int, int] | None]:
        """Find the first learned parameter of each net that has left its domain, such as a scale of 0.

        Returns the index of the layer with the op and of the parameter for each net, or None.
        """
        first: dict[int, tuple[int, int]] = {}
        for layer, layer_values in enumerate(self.view_learned(rows) if any(self._learning.positive) else ()):
            for parameter, (values, positive) in enumerate(
                zip(layer_values, self._learning.positive, strict=True)
            ):
                members = (values <= 0).any(1).nonzero().flatten().tolist() if positive else []
                first = dict.fromkeys(members, (layer, parameter)) | first
        return [first.get(member) for member in range(len(rows))]

    def scale_learned(self, rows: Tensor) -> Tensor:
        """Return copies of rows with learned parameters multiplied by their relative learning rate."""
        scaled = rows.clone()
        scaled[:, self.dense :] *= self._learning.rate
        return scaled

    def make_rates(self, lr: Lr, members: Sequence[Member]) -> float | Rates:
        """Return the learning rate if all numbers have the same one, or else several as ``Rates``.

        ``lr`` is the rate of the weights, and ``members`` are the nets, ordered by rule.
        """
        is_uniform = not self._learning.positive or self._learning.rate == 1
        if is_uniform and isinstance(lr, float):
            return lr
        lrs = lr if isinstance(lr, Sequence) else [lr] * (1 + max(member.rule for member in members))
        groups = groupby(range(len(members)), key=lambda member: lrs[members[member].rule])
        runs = [(rate, list(indices)) for rate, indices in groups]
        sections = [(slice(self.dense), 1.0), (slice(self.dense, None), self._learning.rate)]
        return [
            ((slice(indices[0], indices[-1] + 1), numbers), rate * times)
            for rate, indices in runs
            for numbers, times in ([(slice(None), 1.0)] if is_uniform else sections)
        ]

    def _view_parameters(self, rows: Tensor) -> list[Tensor]:
        return [
            rows[:, start : start + prod(shape)].view(-1, *shape)
            for start, shape in zip(self._starts, self._shapes, strict=False)
        ]


def list_channel_shapes(layers: Sequence[Layer]) -> list[tuple[int, int]]:
    """Return, for each layer, the shape in which one value per channel broadcasts to the op's input."""
    shapes, outputs = [], 1
    for layer in layers:
        outputs = layer.shapes[0][1] if layer.shapes else outputs
        shapes.append(layer.get_channel_shape(outputs))
    return shapes
