"""The rows of an observation: one site each, and what backward met at one of its calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from explorer.model.observing.statistics import Sample, Statistics, has_any, sample_tensor
from explorer.model.tape import Site


class Row:
    """A site and its statistics.

    Attributes:
        kind: "call", "function", "trick", "mask" or "cut".
        op: name of the function called.
        key: the catalogue's key of the op; "" if it is measured.
        rule: the rule's key, if it is known; "" if it is measured.
        parameters: numbers that the op's last call was given.
        run: the function that the last call computed; None if unknown.
        owner: the class of a Function.
        carries: whether it is the live way of a detach trick.
    """

    def __init__(self, site: Site, kind: str, op: str, key: str = "") -> None:
        self.site, self.kind, self.op, self.key = site, kind, op, key
        self.rule, self.carries, self.listed = "", False, True
        self.parameters: Mapping[str, Any] = {}
        self.owner: type[Function] | None = None
        self.run: Callable[[Tensor], Any] | None = None
        self.total = Statistics()

    def take_call(self) -> None:
        """Count one more call."""
        self.total.calls += 1


class Measurement:
    """The backward of one call: counts for blame, and the statistics of the row, if it has one.

    Attributes:
        turn: the forward pass, counted from 1.
        came: above 0 where any gradient for y was not zero.
        got: of each live input, above 0 where any gradient was not zero; None if no gradient can come.
        cut: how y left the graph, if it did.
        merged: whether the call is a part of a detach trick.
    """

    def __init__(self, row: Row | None, inputs: int, shape: torch.Size | None, turn: int) -> None:
        self.row, self.shape, self.turn = row, shape, turn
        self.came, self.backwards, self.first = 0, 0, 0
        self.got: list[int | None] = [0] * inputs
        self.cut, self.merged = "", False
        self.x: Tensor | None = None
        self.y: Tensor | None = None

    def __call__(self, g: Tensor, gradients: list[Tensor | None]) -> None:
        """Add what one backward brought."""
        self.backwards += 1
        first = gradients[self.first]
        if self.row is not None and self.shape is not None:
            self._add_to_row(self.row.total, g, first)
        passed = False
        for number, gradient in enumerate(gradients):
            if gradient is not None and (number != self.first or self.row is None or self.shape is None):
                passed = has_any(gradient)
                self.got[number] = (self.got[number] or 0) + passed
        if self.row is None or self.shape is None:
            self.came += passed or has_any(g)

    def _add_to_row(self, total: Statistics, g: Tensor, gradient: Tensor | None) -> None:
        assert self.shape is not None
        if gradient is not None and gradient.shape != self.shape:
            return
        got_before, met_before = total.got, total.got + total.blocked
        total.add_backward(g, gradient, self.shape)
        passed = total.got - got_before
        self.came += total.got + total.blocked - met_before if total.same_shape else has_any(g)
        if self.got[self.first] is not None:
            self.got[self.first] = (self.got[self.first] or 0) + passed
        if self.x is not None and total.same_shape and g.shape == self.shape:
            zero = torch.zeros_like(g) if gradient is None else gradient
            total.samples.append(Sample(self.x, self.y, sample_tensor(g), sample_tensor(zero)))

    def settle(self, with_backward: bool) -> None:
        """Count the call if no gradient came; ``with_backward``: whether its pass had a backward."""
        row = self.row
        if row is None or self.backwards:
            return
        if self.merged:
            row.total.calls -= 1
        elif self.cut:
            row.total.reasons[self.cut] = None
        elif with_backward and self.shape is not None:
            row.total.add_unmet(self.shape)
