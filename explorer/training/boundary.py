"""Where lanes meet op and rules: the one place of a net that knows either."""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

import torch
from torch import Tensor

from explorer.catalogue import Op, Rule, find_op, find_rule
from explorer.formula import Formula
from explorer.formula.evaluation import reductions
from explorer.gradient import Pair, pair
from explorer.training.company import even

Function = Callable[..., Tensor]
Call = tuple[Function, int, int]
"""A function, and the lanes it is for: the first, and the one after the last."""


class Boundary:
    """An op with the rules of several lanes, on tensors (lanes, …).

    Lanes of one rule stand side by side and go in one call, unless a ``mean`` is over each lane alone or
    their numbers do not fill whole steps (see ``company``); those of one op too.

    Attributes:
        whole: whether a ``mean`` or the like stands in the op or in a rule.
    """

    def __init__(self, pairs: Sequence[Pair], rules: Sequence[int], whole: bool) -> None:
        """``pairs`` of all rules; ``rules``: the number of each lane's rule, ascending."""
        self.whole = whole
        ops, rows = zip(*(pairs[rule] for rule in rules), strict=True) if rules else ((), ())
        self._alone = [_each(ops), _each(rows)]
        self._together = [_runs(ops), _runs(rows)]

    def forward(self, x: Tensor) -> Tensor:
        """The op's y, like x."""
        calls = self._calls(0, x)
        if len(calls) == 1:
            return calls[0][0](x)
        return torch.cat([op(x[a:b]) for op, a, b in calls])

    def backward(self, x: Tensor, y: Tensor, g: Tensor) -> Tensor:
        """What the rules return for the upstream gradient g, like x."""
        calls = self._calls(1, x)
        if len(calls) == 1:
            return calls[0][0](x, y, g)
        counts = [b - a for _, a, b in calls]
        parts = zip(calls, *(each.split_with_sizes(counts) for each in (x, y, g)), strict=True)
        return torch.cat([rule(*each) for (rule, _, _), *each in parts])

    def _calls(self, half: int, x: Tensor) -> list[Call]:
        return (self._alone if self.whole or not even(x) else self._together)[half]


def _each(functions: Sequence[Function]) -> list[Call]:
    return [(function, lane, lane + 1) for lane, function in enumerate(functions)]


def _runs(functions: Sequence[Function]) -> list[Call]:
    """Neighbours with the very same function in one call."""
    groups = [list(each) for _, each in groupby(range(len(functions)), key=lambda lane: id(functions[lane]))]
    return [(functions[lanes[0]], lanes[0], lanes[-1] + 1) for lanes in groups]


def pairs_of(
    op: str | Op, rules: Sequence[str | Rule], parameters: Mapping[str, float]
) -> tuple[list[Pair], bool]:
    """The op with each of the rules, and whether a ``mean`` or the like stands in any of them."""
    op, entries = find_op(op), [find_rule(rule) for rule in rules]
    whole = any(map(_reduces, (op.parsed, *(rule.parsed for rule in entries))))
    pairs = [pair(op, rule, parameters) for rule in entries]
    forward = pairs[0][0]  # no parameter of the op is one rule's alone
    return [(forward, backward) for _, backward in pairs], whole


def _reduces(formula: Formula | None) -> bool:
    return bool(formula and reductions(formula.tree))
