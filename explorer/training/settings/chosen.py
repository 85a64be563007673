"""The op, the rules and the parameters that are chosen for a run, checked."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, TypeVar

from explorer.catalogue import (
    MAX_RULES,
    Op,
    Rule,
    adapt_rule,
    check_values,
    find_rule,
    qualify_name,
    require_in_domain,
    to_finite,
)
from explorer.formula import quote

Entry = TypeVar("Entry", Op, Rule)


def checked_entry(what: str, entry: Any, kind: type[Entry]) -> str | Entry:
    """A key, a formula or a record. Raises ValueError for anything else."""
    if not isinstance(entry, str | kind):
        raise ValueError(f"{what} must be a key or a formula, not {quote(entry)}")
    return entry


def checked_rules(rules: object) -> tuple[str | Rule, ...]:
    """The rules in their order, each once: two spellings of one own formula are one rule.

    Raises ValueError for anything else, and for none or too many.
    """
    if isinstance(rules, str) or not isinstance(rules, list | tuple):
        raise ValueError(f"rules must be a list of keys, such as ['default'], not {quote(rules)}")
    entries = [checked_entry("a rule", rule, Rule) for rule in rules]
    given = len({entry if isinstance(entry, str) else entry.key for entry in entries})
    if given > MAX_RULES:  # counted before any is read
        raise ValueError(f"choose 1 to {MAX_RULES} rules, not {given}")
    known: dict[str, str | Rule] = {}
    for rule in entries:
        known.setdefault(find_rule(rule).key, rule)
    if not 1 <= len(known) <= MAX_RULES:
        raise ValueError(f"choose 1 to {MAX_RULES} rules, not {len(known)}")
    return tuple(known.values())


def checked_parameters(ops: Sequence[Op], rules: Sequence[Rule], parameters: object) -> dict[str, float]:
    """Values of the ops and rules by name. Raises ValueError for what one of them does not take."""
    if not isinstance(parameters, Mapping):
        raise ValueError(f"parameters must be values by name, such as {{'c': 1.0}}, not {quote(parameters)}")
    op, *later = ops
    also = {name for each in later for name in names_of(each, rules)} - names_of(op, rules)
    own = check_values(op, rules, {name: value for name, value in parameters.items() if name not in also})
    result = own | {
        name: to_finite(f"parameter {name}", value) for name, value in parameters.items() if name in also
    }
    for other, rule in product(later, rules):
        require_in_domain(other, rule, result)
    return result


def names_of(op: Op, rules: Sequence[Rule]) -> set[str]:
    """The names of all values that an op and rules take."""
    own = [(rule, p) for rule in rules for p in adapt_rule(op, rule).parameters]
    return {p.name for p in op.parameters} | {
        name for rule, p in own for name in (p.name, qualify_name(rule, p))
    }
