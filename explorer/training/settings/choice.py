"""Checks of the op, the backward rules and the parameter values chosen for a run."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, TypeVar

from explorer import catalogue
from explorer.formula import quote

Entry = TypeVar("Entry", catalogue.Op, catalogue.Rule)


def check_entry(label: str, entry: Any, kind: type[Entry]) -> str | Entry:
    """Return an op or rule in the form that settings store: a key, a formula or an object.

    Raises ValueError about ``label`` for anything that is neither text nor of the class ``kind``.
    """
    if not isinstance(entry, str | kind):
        raise ValueError(f"{label} must be a key or a formula, not {quote(entry)}")
    return entry


def check_rules(rules: object) -> tuple[str | catalogue.Rule, ...]:
    """Return the rules as a checked tuple without duplicates.

    Two spellings of one formula count as one rule. Raises ValueError for anything that is not a rule, and for
    no rule or too many.
    """
    if isinstance(rules, str) or not isinstance(rules, list | tuple):
        raise ValueError(f"rules must be a list of keys, such as ['default'], not {quote(rules)}")
    entries = [check_entry("a rule", rule, catalogue.Rule) for rule in rules]
    count = len({entry if isinstance(entry, str) else entry.key for entry in entries})
    if count > catalogue.MAX_RULES:  # before parsing any rule
        raise ValueError(f"choose 1 to {catalogue.MAX_RULES} rules, not {count}")
    distinct: dict[str, str | catalogue.Rule] = {}
    for rule in entries:
        distinct.setdefault(catalogue.find_rule(rule).key, rule)
    if not 1 <= len(distinct) <= catalogue.MAX_RULES:
        raise ValueError(f"choose 1 to {catalogue.MAX_RULES} rules, not {len(distinct)}")
    return tuple(distinct.values())


def check_parameters(
    ops: Sequence[catalogue.Op], rules: Sequence[catalogue.Rule], parameters: object
) -> dict[str, float]:
    """Return checked parameter values of ops and rules as a dict from names to numbers.

    Raises ValueError for unknown names and for values outside a parameter's domain.
    """
    if not isinstance(parameters, Mapping):
        raise ValueError(
            f"parameters must be a dict of numbers, such as {{'c': 1.0}}, not {quote(parameters)}"
        )
    op, *later = ops
    later_names = {name for op_entry in later for name in names_of(op_entry, rules)} - names_of(op, rules)
    values = catalogue.check_values(
        op, rules, {name: value for name, value in parameters.items() if name not in later_names}
    )
    result = values | {
        name: catalogue.to_finite(f"parameter {name}", value)
        for name, value in parameters.items()
        if name in later_names
    }
    for other, rule in product(later, rules):
        catalogue.require_in_domain(other, rule, result)
    return result


def names_of(op: catalogue.Op, rules: Sequence[catalogue.Rule]) -> set[str]:
    """Return the names of all parameters that an op and some rules have."""
    pairs = [(rule, p) for rule in rules for p in catalogue.adapt_rule(op, rule).parameters]
    return {p.name for p in op.parameters} | {
        name for rule, p in pairs for name in (p.name, catalogue.qualify_name(rule, p))
    }
