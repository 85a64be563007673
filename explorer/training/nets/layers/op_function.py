"""The op with the rules of all members, as functions of tensors; no other file of a net knows either."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby, product
from typing import NamedTuple

import torch
from torch import Tensor

from explorer.catalogue import Op, Rule, beside, find_op, find_rule, learnable, values
from explorer.formula.operands import reductions
from explorer.gradient import Learning, Pair, learning, pair
from explorer.training.numerics import even

Function = Callable[..., Tensor]
Call = tuple[Function, int, int]
"""A function, and the members it is for: the first, and the one after the last."""


class Learned(NamedTuple):
    """A parameter of the op that has a value of its own in every layer.

    Attributes:
        name: as in the formulas.
        start: its value before the first step, where no rule has another.
        positive: whether its domain is above 0.
    """

    name: str
    start: float
    positive: bool


class Joined(NamedTuple):
    """An op with each of some rules, as members use them.

    Attributes:
        pairs: by rule, with every parameter at its start.
        whole: whether a ``mean`` or the like stands in any of them.
        learned: the parameters that learn with one of the rules or several.
        learning: by rule, of those that it lets learn; None where it lets none.
        starts: by rule, the values of ``learned``.
    """

    pairs: Sequence[Pair]
    whole: bool
    learned: tuple[Learned, ...] = ()
    learning: Sequence[Learning | None] = ()
    starts: Sequence[Sequence[float]] = ()

    def learns(self, rule: int) -> list[bool]:
        """Mask of ``learned``: the parameters that a rule lets learn."""
        own = self.learning[rule] if self.learned else None
        return [own is not None and each.name in own.names for each in self.learned]


class Boundary:
    """An op with the rules of several members, on tensors (members, …).

    Members of one rule stand side by side and go in one call, unless a ``mean`` is over each member alone or
    their numbers do not fill whole steps (see ``company``); those of one op too. Learned
    values come with each call, by parameter (members, 1, 1), or as x is with a side of 1 where values are
    shared; a member whose rule learns nothing ignores them.

    Attributes:
        whole: whether a ``mean`` or the like stands in the op or in a rule.
        learned: the number of parameters that learn.
    """

    def __init__(self, joined: Joined, rules: Sequence[int]) -> None:
        """``rules``: the number of each member's rule, ascending."""
        self.whole = joined.whole
        self.learned = len(joined.learned)
        self._names = [parameter.name for parameter in joined.learned]
        self._learning = [joined.learning[rule] if self.learned else None for rule in rules]
        known = _halves(joined, rules)
        ops, rows = zip(*(known[rule] for rule in rules), strict=True) if rules else ((), ())
        self._alone = [_each(ops), _each(rows)]
        self._together = [_runs(ops), _runs(rows)]

    def forward(self, x: Tensor, learned: Sequence[Tensor] = ()) -> Tensor:
        """The op's y, like x."""
        calls = self._calls(0, x)
        if len(calls) == 1:
            return self._called(calls[0], (x,), learned)
        return torch.cat([self._called(call, (x[call[1] : call[2]],), learned) for call in calls])

    def backward(
        self, x: Tensor, y: Tensor, g: Tensor, learned: Sequence[Tensor] = (), into: Sequence[Tensor] = ()
    ) -> Tensor:
        """The rules' gradients at x for the upstream gradient g, like x; ``into`` as in ``pull``."""
        calls = self._calls(1, x)
        if len(calls) == 1:
            self._pull(calls[0], (x, y, g), learned, into)
            return self._called(calls[0], (x, y, g), learned)
        counts, results = [b - a for _, a, b in calls], []
        parts = zip(calls, *(each.split_with_sizes(counts) for each in (x, y, g)), strict=True)
        for call, *each in parts:
            self._pull(call, each, learned, into)
            results.append(self._called(call, each, learned))
        return torch.cat(results)

    def pull(
        self, x: Tensor, y: Tensor, g: Tensor, learned: Sequence[Tensor], into: Sequence[Tensor]
    ) -> None:
        """Add to ``into`` the gradients of the learned parameters for g, shaped like these.

        It is the rule's scale × the sum of every element's contribution; N in the scale is the number of
        elements of x that share the value: examples × units, or weights, of one layer or one of its channels.
        """
        for call in self._calls(1, x) if self.learned else ():
            _, a, b = call
            self._pull(call, (x[a:b], y[a:b], g[a:b]), learned, into)

    def _pull(
        self, call: Call, tensors: Sequence[Tensor], learned: Sequence[Tensor], into: Sequence[Tensor]
    ) -> None:
        """Add the gradients of the learned parameters of a call's members; ``tensors``: their x, y and g."""
        (_, a, b), (x, y, g) = call, tensors
        each = self._learning[a] if into else None
        if each is None:
            return
        arguments = self._arguments(learned, a, b)
        for name, total in zip(self._names, into, strict=True):
            if name in each.names:
                total[a:b].add_(each.total(name, x, y, g, arguments))

    def _called(self, call: Call, tensors: Sequence[Tensor], learned: Sequence[Tensor]) -> Tensor:
        function, a, b = call
        return function(*tensors, self._arguments(learned, a, b)) if self._learning[a] else function(*tensors)

    def _arguments(self, learned: Sequence[Tensor], a: int, b: int) -> dict[str, Tensor]:
        return {name: each[a:b] for name, each in zip(self._names, learned, strict=True)}

    def _calls(self, half: int, x: Tensor) -> list[Call]:
        return (self._alone if self.whole or not even(x) else self._together)[half]


def _halves(joined: Joined, rules: Sequence[int]) -> dict[int, tuple[Function, Function]]:
    """The op and the rule as functions, by rule; where parameters learn they take their values by name."""
    forwards: dict[int, Function] = {}  # one for each op: its members go in one call
    halves: dict[int, tuple[Function, Function]] = {}
    for rule in dict.fromkeys(rules):
        if its := joined.learning[rule] if joined.learned else None:
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


def joined(
    op: str | Op,
    rules: Sequence[str | Rule],
    parameters: Mapping[str, float],
    learn: Sequence[str] = (),
    learned: Sequence[Learned] = (),
) -> Joined:
    """The op with each of the rules; ``learn`` as in ``Settings``, ``learned``: the learned parameters."""
    op = find_op(op)
    entries = [beside(op, find_rule(rule)) for rule in rules]
    formulas = [op.parsed, *(rule.parsed for rule in entries)]
    whole = any(formula and reductions(formula.tree) for formula in formulas)
    forward, _ = _pair(op, find_rule("default"), hexed(values(op, None, parameters)))
    backward = [_pair(op, rule, hexed(values(op, rule, parameters)))[1] for rule in entries]
    pairs = [(forward, each) for each in backward]
    if not learned:
        return Joined(pairs, whole)
    return Joined(
        pairs,
        whole,
        tuple(learned),
        _learning(op, entries, parameters, learn),
        [_starts(values(op, rule, parameters), parameters, learned) for rule in entries],
    )


def hexed(parameters: Mapping[str, float]) -> tuple[tuple[str, str], ...]:
    """Parameters as text to compare and hash: -0.0 is not 0.0."""
    return tuple((name, float(value).hex()) for name, value in sorted(parameters.items()))


@lru_cache(maxsize=1024)
def _pair(op: Op, rule: Rule, parameters: tuple[tuple[str, str], ...]) -> Pair:
    """Cached functions of an op with a rule: members that share them go in one call."""
    return pair(op, rule, {name: float.fromhex(value) for name, value in parameters})


def _learning(
    op: Op, rules: Sequence[Rule], parameters: Mapping[str, float], learn: Sequence[str]
) -> list[Learning | None]:
    """The learning functions by rule; rules with the same learned parameters share one of the op."""
    ops: dict[tuple[str, ...], Function] = {}
    learnings: list[Learning | None] = []
    for rule in rules:
        names = learned_with(op, rule, learn)
        its = learning(op, rule, parameters, names) if names else None
        learnings.append(its and replace(its, op=ops.setdefault(names, its.op)))
    return learnings


def _starts(
    own: Mapping[str, float], parameters: Mapping[str, float], learned: Sequence[Learned]
) -> list[float]:
    return [own.get(each.name, parameters.get(each.name, each.start)) for each in learned]


def side_by_side(parts: Sequence[Joined]) -> Joined:
    """The rules of all of these, one after the other; they share their learned parameters."""
    learning = [each for part in parts for each in part.learning or [None] * len(part.pairs)]
    starts = [each for part in parts for each in part.starts or [()] * len(part.pairs)]
    pairs = [pair for part in parts for pair in part.pairs]
    return Joined(pairs, any(part.whole for part in parts), parts[0].learned, learning, starts)


def learned_with(op: Op, rule: Rule, learn: Sequence[str]) -> tuple[str, ...]:
    """The parameters that a rule lets learn, of those named as they are or as ``rule.name``."""
    if not learn:
        return ()
    return tuple(name for name in learnable(op, rule) if name in learn or f"{rule.key}.{name}" in learn)


def no_longer(learn: Sequence[str], before: tuple[Op, Rule], now: tuple[Op, Rule]) -> str:
    """Sentences on the parameters that learned with one op and rule and do not with others, and why."""
    op, rule = now
    names = [name for name in learned_with(*before, learn) if name not in learned_with(op, rule, learn)]
    lost = [name for name in names if name not in values(op, rule, {})]
    fixed = [name for name in names if name not in lost]
    parts = [f"{', '.join(lost)} learns no more: {op.label} with {rule.label} does not have it."] * bool(lost)
    parts += [f"{', '.join(fixed)} learns no more: {rule.label} lets it stay as it is."] * bool(fixed)
    return " ".join(parts)


def learned_by(ops: Sequence[Op], rules: Sequence[Rule], learn: Sequence[str]) -> tuple[Learned, ...]:
    """The parameters that learn with any of the ops and rules, each once."""
    known: dict[str, Learned] = {}
    for op, rule in product(ops, rules):
        for name in learned_with(op, rule, learn):
            own = next(each for each in (*op.parameters, *beside(op, rule).parameters) if each.name == name)
            known.setdefault(name, Learned(name, own.default, not own.admits(0.0)))
    return tuple(known.values())
