"""The arguments of a study, checked and filled in: rules, rates, seeds and values of parameters.

What cannot be raises ValueError with a plain sentence.
"""

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from explorer.catalogue import Op, Rule, adapt_rule, check_values, find_rule, qualify_name, to_finite
from explorer.training import SETTINGS

FACTORS = (0.1, 0.3, 1.0, 3.0, 10.0)  # of the task's own rate, where no rates are given


def key_of(rule: str | Rule) -> str:
    """The name of a rule in tables; of an own formula, its text."""
    return rule if isinstance(rule, str) else rule.key


def rules_of(rules: object) -> list[str | Rule]:
    """The rules in their order, each once."""
    if isinstance(rules, str | Rule) or not isinstance(rules, Iterable):
        raise ValueError(f"rules must be a list of keys, such as ['default', 'clipped'], not {rules!r}")
    distinct: dict[str, str | Rule] = {}
    for rule in rules:
        distinct.setdefault(find_rule(rule).key, rule)
    if not distinct:
        raise ValueError("rules must name one rule or more: the list is empty")
    return list(distinct.values())


def usual_rates(lr: float) -> tuple[float, ...]:
    """The default rates, around a task's own."""
    return tuple(float(f"{lr * factor:.6g}") for factor in FACTORS)


def rates_of(lrs: object, usual: float) -> tuple[float, ...]:
    """The rates, ascending and distinct; by default around the usual one."""
    if lrs is None:
        return usual_rates(usual)
    return tuple(SETTINGS["lr"].checked(rate) for rate in _numbers("lrs", lrs))


def _numbers(name: str, values: object) -> list[float]:
    """The numbers, ascending and distinct."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        return [to_finite(name, values)]
    numbers = sorted({to_finite(name, value) for value in values})
    if not numbers:
        raise ValueError(f"{name} must hold one value or more: the list is empty")
    return numbers


def values_of(entries: Sequence[Op | Rule], parameters: Mapping[str, Any]) -> dict[str, float]:
    """Return the value of each parameter. Raises ValueError for one that cannot be."""
    if not isinstance(parameters, Mapping):
        raise ValueError(f"parameters must be values by name, such as {{'c': 0.5}}, not {parameters!r}")
    values = {name: _one_number(name, value) for name, value in parameters.items()}
    op, *rules = entries
    assert isinstance(op, Op)
    check_values(op, [rule for rule in rules if isinstance(rule, Rule)], values)
    return values


def _one_number(name: str, value: object) -> float:
    """Return the value of a parameter. Raises ValueError for a list: older versions swept its values."""
    if isinstance(value, Iterable) and not isinstance(value, str):
        raise ValueError(
            f"parameter {name} must be one number: a study no longer sweeps several values. Give each value "
            "a rule of its own, such as 'formula: g * (abs(x) <= 0.5)', or start a study for each"
        )
    return to_finite(f"parameter {name}", value)


def known_to(entries: Sequence[Op | Rule], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of an op and its rules; those of one rule come before those of all."""
    op, *rules = entries
    assert isinstance(op, Op)
    ops = {parameter.name for parameter in op.parameters}
    names = {name for name in values if name in ops}
    for rule in rules:
        assert isinstance(rule, Rule)
        for own in adapt_rule(op, rule).parameters:
            if own.name not in ops:
                names |= {qualify_name(rule, own) if qualify_name(rule, own) in values else own.name}
    return {name: value for name, value in values.items() if name in names}


def seeds_of(seeds: object, first: int) -> Sequence[int]:
    """The seeds themselves, or so many from the first."""
    if isinstance(seeds, Iterable) and not isinstance(seeds, str):
        own = seeds if isinstance(seeds, Sequence) else list(seeds)
        if not own:
            raise ValueError("seeds must be 1 or more: the list is empty")
        return own
    try:
        count = 0 if isinstance(seeds, bool) else operator.index(seeds)  # type: ignore[arg-type]
    except TypeError:
        count = 0
    if count < 1:
        raise ValueError(f"seeds must be a whole number from 1, or a list of them, not {seeds!r}")
    return range(first, first + count)
