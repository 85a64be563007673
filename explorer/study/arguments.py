"""Check the arguments of a study, and fill in defaults for rules, rates, seeds and parameters.

Invalid arguments raise ValueError with a plain message.
"""

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from explorer.catalogue import Op, Rule, adapt_rule, check_values, find_rule, qualify_name, to_finite
from explorer.training import SETTINGS

FACTORS = (0.1, 0.3, 1.0, 3.0, 10.0)  # default rates, as multiples of the task's own
_MAX_SEEDS = 1_000_000


def key_of(rule: str | Rule) -> str:
    """Return the name of a backward rule in tables. For a custom formula, this is its text."""
    return rule if isinstance(rule, str) else rule.key


def check_rule_list(rules: object) -> list[str | Rule]:
    """Return a list of backward rules without duplicates, in the same order.

    Raises ValueError if it is no list, is empty or has an unknown rule.
    """
    if isinstance(rules, str | Rule) or not isinstance(rules, Iterable):
        raise ValueError(f"rules must be a list of keys, such as ['default', 'clipped'], not {rules!r}")
    distinct: dict[str, str | Rule] = {}
    for rule in rules:
        distinct.setdefault(find_rule(rule).key, rule)
    if not distinct:
        raise ValueError("rules is empty: name at least one rule")
    return list(distinct.values())


def make_default_rates(lr: float) -> tuple[float, ...]:
    """Return five default learning rates, from a tenth to ten times the rate ``lr``."""
    return tuple(float(f"{lr * factor:.6g}") for factor in FACTORS)


def check_rates(lrs: object, default_lr: float) -> tuple[float, ...]:
    """Return checked learning rates in ascending order without duplicates.

    None gives the default rates around ``default_lr``. Raises ValueError for an empty list or an invalid
    rate.
    """
    if lrs is None:
        return make_default_rates(default_lr)
    return tuple(SETTINGS["lr"].check(rate) for rate in _sort_numbers("lrs", lrs))


def _sort_numbers(name: str, values: object) -> list[float]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        return [to_finite(name, values)]
    numbers = sorted({to_finite(name, value) for value in values})
    if not numbers:
        raise ValueError(f"{name} is empty: give at least one value")
    return numbers


def values_of(entries: Sequence[Op | Rule], parameters: Mapping[str, Any]) -> dict[str, float]:
    """Return checked parameter values for an op and its backward rules as floats.

    Raises ValueError for an invalid value or an unknown parameter.
    """
    if not isinstance(parameters, Mapping):
        raise ValueError(
            f"parameters must be a dict from names to values, such as {{'c': 0.5}}, not {parameters!r}"
        )
    values = {name: _check_number(name, value) for name, value in parameters.items()}
    op, *rules = entries
    assert isinstance(op, Op)
    check_values(op, [rule for rule in rules if isinstance(rule, Rule)], values)
    return values


def _check_number(name: str, value: object) -> float:
    """Return the value of a parameter as a float.

    Raises ValueError for a list, since studies no longer sweep several values of a parameter.
    """
    if isinstance(value, Iterable) and not isinstance(value, str):
        raise ValueError(
            f"parameter {name} must be one number: a study no longer sweeps several values. Give each value "
            "its own rule, such as 'formula: g * (abs(x) <= 0.5)', or start one study per value"
        )
    return to_finite(f"parameter {name}", value)


def select_values(entries: Sequence[Op | Rule], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameter values that an op and its backward rules use.

    A value for one rule, under ``rule.name``, replaces the common value.
    """
    op, *rules = entries
    assert isinstance(op, Op)
    ops = {parameter.name for parameter in op.parameters}
    names = {name for name in values if name in ops}
    for rule in rules:
        assert isinstance(rule, Rule)
        for parameter in adapt_rule(op, rule).parameters:
            if parameter.name not in ops:
                names |= {
                    qualify_name(rule, parameter)
                    if qualify_name(rule, parameter) in values
                    else parameter.name
                }
    return {name: value for name, value in values.items() if name in names}


def check_seeds(seeds: object, first: int) -> Sequence[int]:
    """Return the random seeds in a list, or ``seeds`` many from ``first`` if ``seeds`` is a number.

    The seeds of a list are not checked. Raises ValueError for an empty list and for a number
    outside 1 to 1,000,000.
    """
    if isinstance(seeds, Iterable) and not isinstance(seeds, str):
        seed_list = seeds if isinstance(seeds, Sequence) else list(seeds)
        if not seed_list:
            raise ValueError("seeds is empty: give at least one seed")
        return seed_list
    try:
        count = 0 if isinstance(seeds, bool) else operator.index(seeds)  # type: ignore[arg-type]
    except TypeError:
        count = 0
    if not 1 <= count <= _MAX_SEEDS:
        limits = f"from 1 to {_MAX_SEEDS:,}"
        raise ValueError(f"seeds must be a number of seeds, {limits}, or a list of seeds, not {seeds!r}")
    return range(first, first + count)
