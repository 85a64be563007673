"""The loss of nets after a change of the op's output at a single unit."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from math import prod

import torch
from torch import Tensor

from explorer.training.instruments.base.instrument import Nets
from explorer.training.nets import Layer

MAX_NUMBERS = 2**21  # the maximum number of elements in one call, 8 MB
_FLIPS = 2**18  # limit on the elements of one layer for all changes of one unit; it limits the examples


class Flips:
    """The change of the loss if the op's output changes at a single unit of a layer.

    Examples are the last dimension of all tensors, because operations along it are fastest.

    Attributes:
        x, y: the inputs and outputs of the layer's op. Shape (active nets, units, n).
        last: whether no other layer with the op follows.
    """

    def __init__(self, nets: Nets, layer: int, n: int) -> None:
        """Prepare changes of the op's output at the units of one layer, for the first ``n`` examples."""
        trace, self._output = nets.current_pass.traces[layer].op, nets.current_pass.output[:, :n].mT
        self.last = layer == nets.op_layers[-1]
        self.x, self.y = trace.x[:, :n].mT.contiguous(), trace.y[:, :n].mT
        index = nets.op_layers.index(layer)
        (self._weights, _), *self._products = nets.products[index:]
        above = None if self.last else nets.op_layers[index + 1]
        self._above = self._output if above is None else nets.current_pass.traces[above].op.x[:, :n].mT
        self._op = nets.op_rules.pairs[0][0]
        self._loss, self._count = nets.task.loss, nets.current_pass.output.shape[1]
        self._targets = nets.y[:, :n].expand(len(self.x), *nets.y[:, :n].shape[1:])

    @cached_property
    def _losses(self) -> Tensor:
        return self._loss.shares(self._output.unsqueeze(2), self._targets, self._count)

    def tabulate_growth(self, distances: Tensor, members: slice = slice(None)) -> Tensor:
        """Return how much the loss grows by changes of one unit's output in the last layer with the op.

        Args:
            distances: the changes of the output. Shape (d,).
            members: the slice of the active nets to evaluate.

        Returns:
            The growth for each unit and example. Shape (nets, d, units, n).
        """
        return self._loss.growth(
            self._output[members], self._targets[members], self._count, self._weights[members], distances
        )

    def split_members(self, evaluations: int) -> list[slice]:
        """Return slices of the active nets, each small enough to compute ``evaluations`` losses at once."""
        size = max(1, MAX_NUMBERS // (self.x[0].numel() * evaluations))
        return [slice(start, start + size) for start in range(0, len(self.x), size)]

    def compute_growth(self, change: Tensor) -> Tensor:
        """Return how much the loss grows if the output of one unit changes by the amount in ``change``.

        The changes and the result have shape (active nets, units, n). Each change leaves all other units as
        they are.
        """
        members, units, n = change.shape
        size = max(1, MAX_NUMBERS // (self._above.shape[1] * units * n))
        parts = [
            self._compute_growth(slice(start, start + size), change) for start in range(0, members, size)
        ]
        return torch.cat(parts) if len(parts) > 1 else parts[0]

    def _compute_growth(self, members: slice, change: Tensor) -> Tensor:
        change = change[members]
        factors = self._weights[members].mT.contiguous()[..., None], change[:, None]
        # The shape is (nets, units above, units, n).
        x = torch.addcmul(self._above[members].contiguous()[:, :, None], *factors)
        x = x.flatten(2)
        for weights, biases in self._products:
            x = torch.bmm(weights[members].mT, self._op(x))
            for bias in biases:
                x += bias[members].mT
        x = x.view(*x.shape[:2], *change.shape[1:])
        return self._loss.shares(x, self._targets[members], self._count).sub_(self._losses[members])


def count_examples(nets: Nets) -> int:
    """Return the number of examples for which a change of every unit fits in memory, but at least 1."""
    return min(nets.x.shape[1], max(1, _FLIPS // _find_largest(nets.ensemble.layers)))


def is_too_wide(layers: Sequence[Layer]) -> bool:
    """Return whether a net's layers are too wide to change every unit even for a single example."""
    return _find_largest(layers) > _FLIPS


def _find_largest(layers: Sequence[Layer]) -> int:
    units = [layer.shapes[0][1] * layer.uses for layer in layers if layer.shapes]
    return max(map(prod, pairwise(units)))
