"""Parameters of an op or a backward rule that are trained together with the weights."""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from explorer.catalogue import Op, Rule, adapt_rule, find_contribution, list_learnable
from explorer.formula import truncate


class LearnedParameter(NamedTuple):
    """A parameter of the op that is trained, with a separate value in each layer of a net.

    Attributes:
        name: its name in the formulas.
        start: its value before the first step, unless a rule has a different start.
        positive: whether its domain is above 0.
    """

    name: str
    start: float
    positive: bool


def list_learned(op: Op, rule: Rule, learn: Sequence[str]) -> tuple[str, ...]:
    """Return the names of those parameters in ``learn`` that can be trained with an op and a rule.

    An entry of ``learn`` is a name, or ``rule.name`` for one rule only.
    """
    if not learn:
        return ()
    return tuple(name for name in list_learnable(op, rule) if name in learn or f"{rule.key}.{name}" in learn)


def collect_learned(
    ops: Sequence[Op], rules: Sequence[Rule], learn: Sequence[str]
) -> tuple[LearnedParameter, ...]:
    """Return the parameters in ``learn`` that can be trained with at least one of several ops and rules."""
    by_name: dict[str, LearnedParameter] = {}
    for op, rule in product(ops, rules):
        for name in list_learned(op, rule, learn):
            parameter = next(
                each for each in (*op.parameters, *adapt_rule(op, rule).parameters) if each.name == name
            )
            by_name.setdefault(name, LearnedParameter(name, parameter.default, not parameter.is_valid(0.0)))
    return tuple(by_name.values())


def check_learn(ops: Sequence[Op], rules: Sequence[Rule], learn: Sequence[str]) -> tuple[str, ...]:
    """Check the names of the parameters to train, and return them.

    A name is that of a parameter, or ``rule.name`` for one rule only. Raises ValueError with a plain sentence
    if a name learns with none of the ops and rules.
    """
    for name in learn:
        if any(list_learned(op, rule, [name]) for op, rule in product(ops, rules)):
            continue
        rule = next((rule for rule in rules if name.startswith(f"{rule.key}.")), rules[0])
        try:
            find_contribution(ops[0], rule, name.removeprefix(f"{rule.key}."))
        except ValueError as error:
            raise ValueError(f"{truncate(name)} cannot be trained: {error}") from error
        raise AssertionError("a parameter can be learned only if its gradient is known")
    return tuple(learn)
