"""The loss of nets with one unit flipped: its op with another value, all else unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from math import prod

import torch
from torch import Tensor

from explorer.training.instruments.base.instrument import Nets
from explorer.training.nets import Layer

AT_ONCE = 2**21  # numbers in one call: 8 MB
_FLIPS = 2**18  # numbers in one layer of one net with a unit flipped: fewer examples where units are many


class Flips:
    """The loss with another value of one unit of a layer, all else unchanged.

    Examples come last in all tensors: what is done to many of them at once is fastest then.

    Attributes:
        x, y: (members going, units, n), what the op of the layer sees and returns.
        last: whether only the output follows.
    """

    def __init__(self, nets: Nets, layer: int, n: int) -> None:
        trace, self._output = nets.now.traces[layer].op, nets.now.output[:, :n].mT
        self.last = layer == nets.op_layers[-1]
        self.x, self.y = trace.x[:, :n].mT.contiguous(), trace.y[:, :n].mT
        index = nets.op_layers.index(layer)
        (self._weights, _), *self._products = nets.products[index:]
        above = None if self.last else nets.op_layers[index + 1]
        self._above = self._output if above is None else nets.now.traces[above].op.x[:, :n].mT
        self._op = nets.joined.pairs[0][0]
        self._loss, self._answers, self._count = nets.task.loss, nets.y[:, :n], nets.now.output.shape[1]

    @cached_property
    def _shares(self) -> Tensor:
        return self._loss.shares(self._output.unsqueeze(2), self._answers, self._count)

    def table(self, distances: Tensor, members: slice = slice(None)) -> Tensor:
        """The growth of some members' loss for each change of y, (members, distances, units, n)."""
        answers = self._answers_of(members)
        return self._loss.along(
            self._output[members], answers, self._count, self._weights[members], distances
        )

    def parts(self, looks: int) -> list[slice]:
        """The members, so many at a time as so many looks for each allow."""
        most = max(1, AT_ONCE // (self.x[0].numel() * looks))
        return [slice(start, start + most) for start in range(0, len(self.x), most)]

    def _answers_of(self, members: slice) -> Tensor:
        return self._answers[members] if len(self._answers) > 1 else self._answers

    def changes(self, change: Tensor) -> Tensor:
        """The growth of the loss for these changes of each unit's y, both (members, units, n)."""
        members, units, n = change.shape
        most = max(1, AT_ONCE // (self._above.shape[1] * units * n))
        parts = [self._changes(slice(start, start + most), change) for start in range(0, members, most)]
        return torch.cat(parts) if len(parts) > 1 else parts[0]

    def _changes(self, members: slice, change: Tensor) -> Tensor:
        change = change[members]
        ways = self._weights[members].mT.contiguous()[..., None], change[:, None]
        x = torch.addcmul(
            self._above[members].contiguous()[:, :, None], *ways
        )  # (members, width above, units, n)
        x = x.flatten(2)
        for weights, biases in self._products:
            x = torch.bmm(weights[members].mT, self._op(x))
            for each in biases:
                x += each[members].mT
        answers = self._answers_of(members)
        shares = self._loss.shares(x.view(*x.shape[:2], *change.shape[1:]), answers, self._count)
        return shares.sub_(self._shares[members])


def examples(nets: Nets) -> int:
    """The number of examples for which each unit can be flipped through all layers above."""
    return min(nets.x.shape[1], max(1, _FLIPS // _largest(nets.ensemble.layers)))


def is_too_wide(layers: Sequence[Layer]) -> bool:
    """Whether the flips of one layer's units change too many numbers above it, for one example alone."""
    return _largest(layers) > _FLIPS


def _largest(layers: Sequence[Layer]) -> int:
    """The most numbers of one example that the flips of one layer's units change above it."""
    units = [layer.shapes[0][1] * layer.uses for layer in layers if layer.shapes]
    return max(map(prod, pairwise(units)))
