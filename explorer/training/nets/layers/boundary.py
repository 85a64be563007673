"""The op with the rules of all members as a boundary of autograd: no layer knows either."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby

import torch
from torch import Tensor

from explorer.formula import tree
from explorer.training.nets.layers.joined import Function, Joined
from explorer.training.nets.layers.layer import Trace
from explorer.training.nets.layers.moment import Moment
from explorer.training.numerics import even

Drawn = Mapping[str, Tensor]
"""What is drawn, and losses that hang on it, by their names in formulas: each like x."""

NOTHING: Drawn = {}
_OP, _RULE, _JUDGED = range(3)
U, LOSS, TWIN_LOSS = tree.UNIFORM, tree.LOSS.name, tree.ANTITHETIC_LOSS.name
Call = tuple[Function, int, int]
"""A function, and the members it is for: the first, and the one after the last."""


class Boundary:
    """An op with the rules of several members, on tensors (members, …).

    Members of one rule stand side by side and go in one call, unless a ``mean`` is over each member alone or
    their numbers do not fill whole steps (see ``even``); those of one op too. Learned
    values come with each call, by parameter (members, 1, 1), or as x is with a side of 1 where values are
    shared; a member whose rule learns nothing ignores them. So does what is ``drawn``, by name and like x.

    Attributes:
        whole: whether a ``mean`` or the like stands in the op or in a rule.
        learned: the number of parameters that learn.
        draws: as in ``Joined``.
    """

    def __init__(self, joined: Joined, rules: Sequence[int], seeds: Sequence[int]) -> None:
        """``rules``: the number of each member's rule, ascending; ``seeds``: the seed of each."""
        self.draws, self._seeds = joined.draws, seeds
        self._judging: dict[tuple[Moment, torch.Size], Tensor] = {}  # the u of nets that are judged
        self.whole = joined.whole
        self.learned = len(joined.learned)
        self._names = [parameter.name for parameter in joined.learned]
        self._learning = [joined.learning[rule] if joined.learning else None for rule in rules]
        known = _halves(joined, rules)
        ops, rows = zip(*(known[rule] for rule in rules), strict=True) if rules else ((), ())
        judged = [joined.judged] * len(rules) if joined.judged else ops
        self._alone = [_each(part) for part in (ops, rows, judged)]
        self._together = [_runs(part) for part in (ops, rows, judged)]

    @property
    def asks(self) -> frozenset[str]:
        """The losses that a rule asks for: of the example, and of its twin."""
        return self.draws & {LOSS, TWIN_LOSS}

    def u(self, moment: Moment, like: Tensor) -> Tensor | None:
        """What is drawn at a moment for elements ``like`` these; None where nothing draws."""
        if not self.draws:
            return None
        if not moment.is_judging:
            return moment.u(self._seeds, like)
        known = moment, like.shape
        if known not in self._judging:
            self._judging[known] = moment.u(self._seeds, like)
        return self._judging[known]

    def forward(
        self, x: Tensor, learned: Sequence[Tensor] = (), drawn: Drawn = NOTHING, *, judging: bool = False
    ) -> Tensor:
        """The op's y, like x; ``judging``: that of nets which are judged."""
        parts = self._parts(_JUDGED if judging else _OP, (x,))
        return _together([self._called(call, own, learned, drawn) for call, own in parts])

    def backward(
        self,
        x: Tensor,
        y: Tensor,
        g: Tensor,
        learned: Sequence[Tensor] = (),
        into: Sequence[Tensor] = (),
        drawn: Drawn = NOTHING,
    ) -> Tensor:
        """The rules' gradients at x for the upstream gradient g, like x; ``into`` as in ``pull``."""
        results = []
        for call, own in self._parts(_RULE, (x, y, g)):
            self._pull(call, own, learned, into, drawn)
            results.append(self._called(call, own, learned, drawn))
        return _together(results)

    def pull(
        self,
        x: Tensor,
        y: Tensor,
        g: Tensor,
        learned: Sequence[Tensor],
        into: Sequence[Tensor],
        drawn: Drawn = NOTHING,
    ) -> None:
        """Add to ``into`` the gradients of the learned parameters for g, shaped like these.

        It is the rule's scale × the sum of every element's contribution; N in the scale is the number of
        elements of x that share the value: examples × units, or weights, of one layer or one of its channels.
        """
        for call, own in self._parts(_RULE, (x, y, g)) if self.learned else ():
            self._pull(call, own, learned, into, drawn)

    def _pull(
        self,
        call: Call,
        tensors: Sequence[Tensor],
        learned: Sequence[Tensor],
        into: Sequence[Tensor],
        drawn: Drawn,
    ) -> None:
        """Add the gradients of the learned parameters of a call's members; ``tensors``: their x, y and g."""
        (_, a, b), (x, y, g) = call, tensors
        each = self._learning[a] if into else None
        if each is None:
            return
        arguments = self._arguments(learned, drawn, a, b)
        for name, total in zip(self._names, into, strict=True):
            if name in each.learned_names:
                total[a:b].add_(each.compute_total(name, x, y, g, arguments))

    def _called(
        self, call: Call, tensors: Sequence[Tensor], learned: Sequence[Tensor], drawn: Drawn
    ) -> Tensor:
        function, a, b = call
        if not self._learning[a]:
            return function(*tensors)
        return function(*tensors, self._arguments(learned, drawn, a, b))

    def _arguments(self, learned: Sequence[Tensor], drawn: Drawn, a: int, b: int) -> dict[str, Tensor]:
        named = [*zip(self._names, learned, strict=True), *drawn.items()]
        return {name: each[a:b] for name, each in named}

    def _parts(self, part: int, tensors: Sequence[Tensor]) -> Iterable[tuple[Call, Sequence[Tensor]]]:
        """The calls of the op or the rules, each with what its members have of the tensors."""
        calls = (self._alone if self.whole or not even(tensors[0]) else self._together)[part]
        if len(calls) == 1:
            return [(calls[0], tensors)]
        counts = [b - a for _, a, b in calls]
        return zip(calls, zip(*(each.split_with_sizes(counts) for each in tensors), strict=True), strict=True)


def drawn(
    trace: Trace,
    like: Tensor,
    seen: Callable[[Tensor], Tensor] = lambda each: each,
    of_loss: Callable[[Tensor], Tensor] = lambda loss: loss,
) -> Drawn:
    """What a trace knows of what is drawn, by name, like x as op and rules see it; ``like``: x itself.

    ``of_loss``: from what each example adds to the loss to what the elements have to do with.
    """
    if trace.u is None:
        return NOTHING
    losses = {LOSS: trace.loss, TWIN_LOSS: trace.twin_loss}
    known = {name: seen(of_loss(loss).expand_as(like)) for name, loss in losses.items() if loss is not None}
    return {U: trace.u, **known}


def _halves(joined: Joined, rules: Sequence[int]) -> dict[int, tuple[Function, Function]]:
    """The op and the rule as functions, by rule; where parameters learn they take their values by name."""
    forwards: dict[int, Function] = {}  # one for each op: its members go in one call
    halves: dict[int, tuple[Function, Function]] = {}
    for rule in dict.fromkeys(rules):
        if its := joined.learning[rule] if joined.learning else None:
            halves[rule] = forwards.setdefault(id(its.op), its.forward), its.gradient
        else:
            halves[rule] = joined.pairs[rule]
    return halves


def _each(functions: Sequence[Function]) -> list[Call]:
    return [(function, member, member + 1) for member, function in enumerate(functions)]


def _runs(functions: Sequence[Function]) -> list[Call]:
    """Calls, one for neighbours with the very same function."""
    groups = [
        list(each) for _, each in groupby(range(len(functions)), key=lambda member: id(functions[member]))
    ]
    return [(functions[members[0]], members[0], members[-1] + 1) for members in groups]


def _together(results: list[Tensor]) -> Tensor:
    """The results of all calls, (members, …)."""
    return torch.cat(results) if len(results) > 1 else results[0]
