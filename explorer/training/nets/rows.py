"""The parameters of the nets of an ensemble as rows of numbers, one a member, with views by layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, groupby, islice
from math import prod
from typing import NamedTuple

import torch
from torch import Tensor

from explorer.training.nets.architectures import Member
from explorer.training.nets.layers import Layer
from explorer.training.numerics import Rates, padded

Views = list[list[Tensor]]
Lr = float | Sequence[float]
"""A learning rate of all members, or one by the number of a rule."""


class OpParameters(NamedTuple):
    """The parameters of the op that learn in each layer with it.

    Attributes:
        starts: by rule, the value of each parameter before the first step.
        positive: by parameter, whether it is constrained to be positive.
        rate: their learning rate as a factor of the weights'.
        by_channel: whether each channel of a layer has values of its own: a unit, a map, a kernel.
    """

    starts: Sequence[Sequence[float]] = ()
    positive: Sequence[bool] = ()
    rate: float = 1.0
    by_channel: bool = False


class Rows:
    """Where each parameter stands in the row of a member, and the rows before the first step.

    Weights and biases stand first, layer by layer, and the op's parameters that learn last. Each is filled up
    to whole steps of a processor, so that one update does for all of them.

    Attributes:
        start: (seeds, numbers) float32, weights and biases before the first step.
        dense: the count of numbers of a row that are weights and biases.
    """

    def __init__(
        self, layers: Sequence[Layer], start: Sequence[Sequence[Tensor]], learning: OpParameters
    ) -> None:
        """``start``: weights and biases of each seed's net, in order."""
        self._learning = learning
        self._counts = [(len(layer.shapes), layer.learned) for layer in layers]
        shapes = [shape for layer in layers for shape in layer.shapes]
        self.dense = sum(padded(prod(shape)) for shape in shapes)
        self._shapes = shapes + [
            shape if learning.by_channel else (1, 1)
            for layer, shape in zip(layers, by_channel(layers), strict=True)
            for _ in range(layer.learned)
        ]
        self._starts = [0, *accumulate(padded(prod(shape)) for shape in self._shapes)]
        self.start = torch.zeros(len(start), self._starts[-1], device=start[0][0].device)
        for seed, values in enumerate(start):
            for view, value in zip(self._in_order(self.start), values, strict=False):
                view[seed].copy_(value)

    def started(self, members: Sequence[Member]) -> Tensor:
        """The rows of members before the first step, (members, numbers)."""
        flat = self.start[[member.seed for member in members]]
        if self._learning.positive:
            starts = flat.new_tensor([self._learning.starts[member.rule] for member in members])
            for layer in self.learned(flat):
                for values, start in zip(layer, starts.T, strict=True):
                    values.copy_(start[:, None])
        return flat

    def views(self, flat: Tensor) -> Views:
        """Views of rows, layer by layer: weights and biases, then the op's learned parameters."""
        views = self._in_order(flat)
        dense = sum(count for count, _ in self._counts)
        own, learned = iter(views[:dense]), iter(views[dense:])
        return [[*islice(own, count), *islice(learned, learn)] for count, learn in self._counts]

    def learned(self, flat: Tensor) -> Views:
        """Views of the learned parameters in rows, by layer with the op: (members, values) each.

        A parameter has one value there, or one for each channel.
        """
        own = self._in_order(flat)[sum(count for count, _ in self._counts) :]
        count = len(self._learning.positive)
        return [[each.flatten(1) for each in own[at : at + count]] for at in range(0, len(own), count or 1)]

    def over_values(self, reduced: Callable[[Tensor, int], Tensor], flat: Tensor) -> Tensor:
        """Learned values, those of a layer ``reduced`` to one: (members, layers with the op, parameters)."""
        layers = [torch.stack([reduced(each, 1) for each in own], 1) for own in self.learned(flat)]
        return torch.stack(layers, 1)

    def fallen(self, flat: Tensor) -> list[tuple[int, int] | None]:
        """By member, the first layer with the op and the parameter there that left its domain, or None."""
        first: dict[int, tuple[int, int]] = {}
        for layer, own in enumerate(self.learned(flat) if any(self._learning.positive) else ()):
            for parameter, (values, positive) in enumerate(zip(own, self._learning.positive, strict=True)):
                fallen = (values <= 0).any(1).nonzero().flatten().tolist() if positive else []
                first = dict.fromkeys(fallen, (layer, parameter)) | first
        return [first.get(member) for member in range(len(flat))]

    def rated(self, flat: Tensor) -> Tensor:
        """A direction (members, numbers), its learned parameters multiplied by their own rate."""
        rated = flat.clone()
        rated[:, self.dense :] *= self._learning.rate
        return rated

    def rates(self, lr: Lr, members: Sequence[Member]) -> float | Rates:
        """The rates of neighbouring members, with those of learned parameters apart from the weights'."""
        is_alike = not self._learning.positive or self._learning.rate == 1
        if is_alike and isinstance(lr, float):
            return lr
        lrs = lr if isinstance(lr, Sequence) else [lr] * (1 + max(member.rule for member in members))
        groups = groupby(range(len(members)), key=lambda member: lrs[members[member].rule])
        together = [(rate, list(indices)) for rate, indices in groups]
        apart = [(slice(self.dense), 1.0), (slice(self.dense, None), self._learning.rate)]
        return [
            ((slice(indices[0], indices[-1] + 1), numbers), rate * times)
            for rate, indices in together
            for numbers, times in ([(slice(None), 1.0)] if is_alike else apart)
        ]

    def _in_order(self, flat: Tensor) -> list[Tensor]:
        """The parameters in rows (n, numbers), one after the other: (n, …) each."""
        return [
            flat[:, start : start + prod(shape)].view(-1, *shape)
            for start, shape in zip(self._starts, self._shapes, strict=False)
        ]


def by_channel(layers: Sequence[Layer]) -> list[tuple[int, int]]:
    """The shape of one member's values by channel in each layer, beside the op's x as the op sees it."""
    shapes, outputs = [], 1
    for layer in layers:
        outputs = layer.shapes[0][1] if layer.shapes else outputs
        shapes.append(layer.by_channel_shape(outputs))
    return shapes
