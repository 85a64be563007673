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
from explorer.training.nets.layers.layer import Trace
from explorer.training.nets.layers.moment import Moment
from explorer.training.numerics import even

Function = Callable[..., Tensor]
Drawn = Mapping[str, Tensor]
"""What is drawn, and losses that hang on it, by their names in formulas: each like x."""

NOTHING: Drawn = {}
_OP, _RULE, _JUDGED = range(3)
U, LOSS, TWIN_LOSS = "u()", "f()", "fa()"
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
        pairs: by rule, with every parameter at its start; where ``learning`` is, they take its tensors too.
        whole: whether a ``mean`` or the like stands in any of them.
        learned: the parameters that learn with one of the rules or several.
        learning: by rule, of those that it lets learn; None where it lets none, and nothing draws.
        starts: by rule, the values of ``learned``.
        judged: the op of nets that are judged, given what is drawn by name; None for the op as it trains.
        draws: what the op or a rule draws or asks for, such as ``"u()"``.
    """

    pairs: Sequence[tuple[Function, Function]]
    whole: bool
    learned: tuple[Learned, ...] = ()
    learning: Sequence[Learning | None] = ()
    starts: Sequence[Sequence[float]] = ()
    judged: Function | None = None
    draws: frozenset[str] = frozenset()

    def learns(self, rule: int) -> list[bool]:
        """Mask of ``learned``: the parameters that a rule lets learn."""
        own = self.learning[rule] if self.learning else None
        return [own is not None and each.name in own.names for each in self.learned]


class Boundary:
    """An op with the rules of several members, on tensors (members, …).

    Members of one rule stand side by side and go in one call, unless a ``mean`` is over each member alone or
    their numbers do not fill whole steps (see ``company``); those of one op too. Learned
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
        calls = self._calls(_JUDGED if judging else _OP, x)
        if len(calls) == 1:
            return self._called(calls[0], (x,), learned, drawn)
        return torch.cat([self._called(call, (x[call[1] : call[2]],), learned, drawn) for call in calls])

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
        calls = self._calls(_RULE, x)
        if len(calls) == 1:
            self._pull(calls[0], (x, y, g), learned, into, drawn)
            return self._called(calls[0], (x, y, g), learned, drawn)
        counts, results = [b - a for _, a, b in calls], []
        parts = zip(calls, *(each.split_with_sizes(counts) for each in (x, y, g)), strict=True)
        for call, *each in parts:
            self._pull(call, each, learned, into, drawn)
            results.append(self._called(call, each, learned, drawn))
        return torch.cat(results)

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
        for call in self._calls(_RULE, x) if self.learned else ():
            _, a, b = call
            self._pull(call, (x[a:b], y[a:b], g[a:b]), learned, into, drawn)

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
            if name in each.names:
                total[a:b].add_(each.total(name, x, y, g, arguments))

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

    def _calls(self, part: int, x: Tensor) -> list[Call]:
        return (self._alone if self.whole or not even(x) else self._together)[part]


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
    if op.draws or any(rule.draws for rule in entries):
        return _drawing(op, entries, parameters, learn, learned, whole)
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


def _drawing(
    op: Op,
    rules: Sequence[Rule],
    parameters: Mapping[str, float],
    learn: Sequence[str],
    learned: Sequence[Learned],
    whole: bool,
) -> Joined:
    """``joined`` where the op or a rule draws: what is drawn is given to all of them by name."""
    learnings = _learning(op, rules, parameters, learn, always=True)
    known = [each for each in learnings if each]
    judged = learning(op.when_judged, find_rule("default"), {}, ()).op if op.judged else None
    return Joined(
        [(each.forward, each.gradient) for each in known],
        whole,
        tuple(learned),
        learnings,
        [_starts(values(op, rule, parameters), parameters, learned) for rule in rules],
        judged and (lambda x, tensors: judged(x, None, None, tensors)),
        frozenset(name for each in known for name in each.draws),
    )


def hexed(parameters: Mapping[str, float]) -> tuple[tuple[str, str], ...]:
    """Parameters as text to compare and hash: -0.0 is not 0.0."""
    return tuple((name, float(value).hex()) for name, value in sorted(parameters.items()))


@lru_cache(maxsize=1024)
def _pair(op: Op, rule: Rule, parameters: tuple[tuple[str, str], ...]) -> Pair:
    """Cached functions of an op with a rule: members that share them go in one call."""
    return pair(op, rule, {name: float.fromhex(value) for name, value in parameters})


def _learning(
    op: Op, rules: Sequence[Rule], parameters: Mapping[str, float], learn: Sequence[str], always: bool = False
) -> list[Learning | None]:
    """The learning functions by rule; rules with the same learned parameters share one of the op.

    ``always``: also of a rule that lets nothing learn.
    """
    ops: dict[tuple[str, ...], Function] = {}
    learnings: list[Learning | None] = []
    for rule in rules:
        names = learned_with(op, rule, learn)
        its = learning(op, rule, parameters, names) if names or always else None
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
    draws = frozenset(name for part in parts for name in part.draws)
    whole = any(part.whole for part in parts)
    return Joined(pairs, whole, parts[0].learned, learning, starts, parts[0].judged, draws)


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
