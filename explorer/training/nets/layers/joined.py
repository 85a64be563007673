"""An op joined with each of some rules, as functions of tensors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from torch import Tensor

from explorer.catalogue import Op, Rule, adapt_rule, find_op, find_rule, resolve_values
from explorer.formula.operands import find_reductions
from explorer.gradient import LearnableOp, Pair, bind_learnable, pair
from explorer.training.nets.layers.learned import Learned, learned_with

Function = Callable[..., Tensor]


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
    learning: Sequence[LearnableOp | None] = ()
    starts: Sequence[Sequence[float]] = ()
    judged: Function | None = None
    draws: frozenset[str] = frozenset()

    def learns(self, rule: int) -> list[bool]:
        """Mask of ``learned``: the parameters that a rule lets learn."""
        own = self.learning[rule] if self.learning else None
        return [own is not None and each.name in own.learned_names for each in self.learned]


def joined(
    op: str | Op,
    rules: Sequence[str | Rule],
    parameters: Mapping[str, float],
    learn: Sequence[str] = (),
    learned: Sequence[Learned] = (),
) -> Joined:
    """The op with each of the rules; ``learn`` as in ``Settings``, ``learned``: the learned parameters.

    Where the op or a rule draws, what is drawn is given to all of them by name.
    """
    op = find_op(op)
    entries = [adapt_rule(op, find_rule(rule)) for rule in rules]
    formulas = [op.parsed, *(rule.parsed for rule in entries)]
    draws = op.is_random or any(rule.is_random for rule in entries)
    learnings = _learning(op, entries, parameters, learn, always=bool(draws))
    known = [each for each in learnings if each]
    return Joined(
        [(each.forward, each.gradient) for each in known] if draws else _pairs(op, entries, parameters),
        any(formula and find_reductions(formula.tree) for formula in formulas),
        tuple(learned),
        learnings,
        [_starts(resolve_values(op, rule, parameters), parameters, learned) for rule in entries],
        _judged(op),
        frozenset(name for each in known for name in each.random_names),
    )


def _pairs(op: Op, rules: Sequence[Rule], parameters: Mapping[str, float]) -> list[Pair]:
    """The op's function, the same for all rules, with the function of each."""
    forward, _ = _pair(op, find_rule("default"), hexed(resolve_values(op, None, parameters)))
    return [(forward, _pair(op, rule, hexed(resolve_values(op, rule, parameters)))[1]) for rule in rules]


def _judged(op: Op) -> Function | None:
    """The op of nets that are judged, where it is another."""
    if not op.judged:
        return None
    function = bind_learnable(op.evaluation_op, find_rule("default"), {}, ()).op
    return lambda x, tensors: function(x, None, None, tensors)


def hexed(parameters: Mapping[str, float]) -> tuple[tuple[str, str], ...]:
    """Parameters as text to compare and hash: -0.0 is not 0.0."""
    return tuple((name, float(value).hex()) for name, value in sorted(parameters.items()))


@lru_cache(maxsize=1024)
def _pair(op: Op, rule: Rule, parameters: tuple[tuple[str, str], ...]) -> Pair:
    """Cached functions of an op with a rule: members that share them go in one call."""
    return pair(op, rule, {name: float.fromhex(value) for name, value in parameters})


def _learning(
    op: Op, rules: Sequence[Rule], parameters: Mapping[str, float], learn: Sequence[str], always: bool = False
) -> list[LearnableOp | None]:
    """The learning functions by rule; rules with the same learned parameters share one of the op.

    ``always``: also of a rule that lets nothing learn.
    """
    ops: dict[tuple[str, ...], Function] = {}
    learnings: list[LearnableOp | None] = []
    for rule in rules:
        names = learned_with(op, rule, learn)
        its = bind_learnable(op, rule, parameters, names) if names or always else None
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
