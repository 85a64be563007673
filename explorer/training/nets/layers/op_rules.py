"""An op with several backward rules, converted to functions of tensors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from torch import Tensor

from explorer.catalogue import Op, Rule, adapt_rule, find_op, find_rule, resolve_values
from explorer.formula.operands import find_reductions
from explorer.gradient import BoundOp, Pair, bind_learnable, pair
from explorer.training.nets.layers.learned import LearnedParameter, list_learned

Function = Callable[..., Tensor]


class OpRules(NamedTuple):
    """An op and several backward rules as functions of tensors, for the nets of an ensemble.

    Attributes:
        pairs: the forward function and the gradient function of each rule, with parameters at their initial
            values. If ``learning`` is set, they also take the tensors of learned parameters.
        has_reduction: whether the op or a rule contains a reduction such as ``mean``.
        learned: the parameters that learn with at least one of the rules.
        learning: for each rule, the functions for its learned parameters; None if it has none and nothing is
            random.
        starts: for each rule, the start values of ``learned``.
        evaluation_op: the op for held-out data, called with x and a dict from names to random draws; None if
            it is the op itself.
        draw_names: the names of the draws and losses that the op or a rule uses, such as ``"u()"``.
    """

    pairs: Sequence[tuple[Function, Function]]
    has_reduction: bool
    learned: tuple[LearnedParameter, ...] = ()
    learning: Sequence[BoundOp | None] = ()
    starts: Sequence[Sequence[float]] = ()
    evaluation_op: Function | None = None
    draw_names: frozenset[str] = frozenset()

    def mask_learned(self, rule: int) -> list[bool]:
        """Return which of the learned parameters a backward rule trains, as a list of booleans."""
        functions = self.learning[rule] if self.learning else None
        return [functions is not None and each.name in functions.learned_names for each in self.learned]


def join_rules(
    op: str | Op,
    rules: Sequence[str | Rule],
    parameters: Mapping[str, float],
    learn: Sequence[str] = (),
    learned: Sequence[LearnedParameter] = (),
) -> OpRules:
    """Return an op and several backward rules, combined as functions of tensors.

    If one of them is stochastic, all functions take random numbers by name.

    Args:
        op: the op's key or record.
        rules: keys or records of the rules.
        parameters: a dict from the names of parameters to their values.
        learn: names of parameters that learn, as in ``Settings``.
        learned: the learned parameters of the result.
    """
    op = find_op(op)
    entries = [adapt_rule(op, find_rule(rule)) for rule in rules]
    formulas = [op.parsed, *(rule.parsed for rule in entries)]
    is_stochastic = op.is_random or any(rule.is_random for rule in entries)
    learnings = _make_learnings(op, entries, parameters, learn, always=bool(is_stochastic))
    active_learnings = [each for each in learnings if each]
    values = [resolve_values(op, rule, parameters) for rule in entries]
    pairs: list[tuple[Function, Function]]
    if is_stochastic:
        pairs = [(each.forward, each.gradient) for each in active_learnings]
    else:
        forward, _ = _pair(op, find_rule("default"), to_hex(resolve_values(op, None, parameters)))
        gradients = [_pair(op, rule, to_hex(each))[1] for rule, each in zip(entries, values, strict=True)]
        pairs = [(forward, gradient) for gradient in gradients]
    judged = bind_learnable(op.evaluation_op, find_rule("default"), {}, ()).op if op.judged else None
    return OpRules(
        pairs,
        any(formula and find_reductions(formula.tree) for formula in formulas),
        tuple(learned),
        learnings,
        [[each.get(one.name, parameters.get(one.name, one.start)) for one in learned] for each in values],
        judged and (lambda x, tensors: judged(x, None, None, tensors)),
        frozenset(name for each in active_learnings for name in each.random_names),
    )


def to_hex(parameters: Mapping[str, float]) -> tuple[tuple[str, str], ...]:
    """Return parameter values as hexadecimal strings, which are hashable and tell -0.0 from 0.0."""
    return tuple((name, float(value).hex()) for name, value in sorted(parameters.items()))


@lru_cache(maxsize=1024)
def _pair(op: Op, rule: Rule, parameters: tuple[tuple[str, str], ...]) -> Pair:
    return pair(op, rule, {name: float.fromhex(value) for name, value in parameters})


def _make_learnings(
    op: Op, rules: Sequence[Rule], parameters: Mapping[str, float], learn: Sequence[str], always: bool = False
) -> list[BoundOp | None]:
    """Return, for each rule, the functions of its learned parameters, or None if it has no such parameters.

    Rules that learn the same parameters share the op's function. With ``always``, rules without learned
    parameters get functions too.
    """
    ops: dict[tuple[str, ...], Function] = {}
    learnings: list[BoundOp | None] = []
    for rule in rules:
        names = list_learned(op, rule, learn)
        functions = bind_learnable(op, rule, parameters, names) if names or always else None
        learnings.append(functions and replace(functions, op=ops.setdefault(names, functions.op)))
    return learnings


def concatenate(parts: Sequence[OpRules]) -> OpRules:
    """Return one ``OpRules`` with the backward rules of several ones that have the same op."""
    learning = [each for part in parts for each in part.learning or [None] * len(part.pairs)]
    starts = [each for part in parts for each in part.starts or [()] * len(part.pairs)]
    pairs = [pair for part in parts for pair in part.pairs]
    draw_names = frozenset(name for part in parts for name in part.draw_names)
    has_reduction = any(part.has_reduction for part in parts)
    return OpRules(
        pairs, has_reduction, parts[0].learned, learning, starts, parts[0].evaluation_op, draw_names
    )
