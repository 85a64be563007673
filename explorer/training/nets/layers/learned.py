"""Parameters of an op and its rules that learn in a net, by the names under which they are asked for."""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from explorer.catalogue import Op, Rule, adapt_rule, find_contribution, list_learnable, resolve_values
from explorer.formula import truncate


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


def learned_with(op: Op, rule: Rule, learn: Sequence[str]) -> tuple[str, ...]:
    """The parameters that a rule lets learn, of those named as they are or as ``rule.name``."""
    if not learn:
        return ()
    return tuple(name for name in list_learnable(op, rule) if name in learn or f"{rule.key}.{name}" in learn)


def no_longer(learn: Sequence[str], before: tuple[Op, Rule], now: tuple[Op, Rule]) -> str:
    """Sentences on the parameters that learned with one op and rule and do not with others, and why."""
    op, rule = now
    names = [name for name in learned_with(*before, learn) if name not in learned_with(op, rule, learn)]
    lost = [name for name in names if name not in resolve_values(op, rule, {})]
    fixed = [name for name in names if name not in lost]
    parts = [f"{', '.join(lost)} learns no more: {op.label} with {rule.label} does not have it."] * bool(lost)
    parts += [f"{', '.join(fixed)} learns no more: {rule.label} lets it stay as it is."] * bool(fixed)
    return " ".join(parts)


def learned_by(ops: Sequence[Op], rules: Sequence[Rule], learn: Sequence[str]) -> tuple[Learned, ...]:
    """The parameters that learn with any of the ops and rules, each once."""
    known: dict[str, Learned] = {}
    for op, rule in product(ops, rules):
        for name in learned_with(op, rule, learn):
            own = next(
                each for each in (*op.parameters, *adapt_rule(op, rule).parameters) if each.name == name
            )
            known.setdefault(name, Learned(name, own.default, not own.is_valid(0.0)))
    return tuple(known.values())


def checked_learn(ops: Sequence[Op], rules: Sequence[Rule], learn: Sequence[str]) -> tuple[str, ...]:
    """Names of parameters that learn, as they are or as ``rule.name`` for one rule only.

    Raises ValueError with a plain sentence for one that learns with none of the ops and rules.
    """
    for name in learn:
        if not any(learned_with(op, rule, [name]) for op, rule in product(ops, rules)):
            raise ValueError(f"{truncate(name)} cannot learn: {_why_not(ops[0], rules, name)}")
    return tuple(learn)


def _why_not(op: Op, rules: Sequence[Rule], name: str) -> str:
    rule = next((rule for rule in rules if name.startswith(f"{rule.key}.")), rules[0])
    try:
        find_contribution(op, rule, name.removeprefix(f"{rule.key}."))
    except ValueError as error:
        return str(error)
    raise AssertionError("what has a contribution can learn")
