"""Where lanes meet op and rules: the one place of a net that knows either."""

from collections.abc import Mapping, Sequence
from itertools import groupby

import torch
from torch import Tensor

from explorer.catalogue import Op, Rule, find_op, find_rule
from explorer.formula import Formula
from explorer.formula.tree import Call, walk
from explorer.gradient import Pair, pair
from explorer.training.company import even, split


class Boundary:
    """An op with the rules of several lanes, on tensors (lanes, …).

    Lanes of one rule stand side by side and go in one call, unless a ``mean`` is over each lane alone or
    their numbers do not fill whole steps (see ``company``).

    Attributes:
        whole: whether a ``mean`` stands in the op or in a rule.
    """

    def __init__(self, pairs: Sequence[Pair], rules: Sequence[int], whole: bool) -> None:
        """``pairs`` of all rules; ``rules``: the number of each lane's rule, ascending."""
        self._forward = pairs[0][0]
        self.whole = whole
        self._lanes = [(pairs[rule][1], lane, lane + 1) for lane, rule in enumerate(rules)]
        self._groups = [
            (pairs[rule][1], lanes[0], lanes[-1] + 1)
            for rule, each in groupby(range(len(rules)), key=rules.__getitem__)
            if (lanes := list(each))
        ]

    def forward(self, x: Tensor) -> Tensor:
        """The op's y, like x."""
        if not self.whole and even(x):
            return self._forward(x)
        return torch.cat([self._forward(lane) for lane in split(x)])

    def backward(self, x: Tensor, y: Tensor, g: Tensor) -> Tensor:
        """What the rules return for the upstream gradient g, like x."""
        calls = self._lanes if self.whole or not even(x) else self._groups
        if len(calls) == 1:
            return calls[0][0](x, y, g)
        return torch.cat([rule(x[a:b], y[a:b], g[a:b]) for rule, a, b in calls])


def pairs_of(
    op: str | Op, rules: Sequence[str | Rule], parameters: Mapping[str, float]
) -> tuple[list[Pair], bool]:
    """The op with each of the rules, and whether a ``mean`` stands in any of them."""
    op, entries = find_op(op), [find_rule(rule) for rule in rules]
    whole = any(map(_takes_mean, (op.parsed, *(rule.parsed for rule in entries))))
    return [pair(op, rule, parameters) for rule in entries], whole


def _takes_mean(formula: Formula | None) -> bool:
    nodes = walk(formula.tree) if formula else ()
    return any(isinstance(node, Call) and node.function == "mean" for node in nodes)
