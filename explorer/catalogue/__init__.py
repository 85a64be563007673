"""Ops and backward rules, each an entry of one formula; and own formulas as their equals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeVar

from explorer.catalogue import ops, rules
from explorer.catalogue.families import FAMILIES, GROUPS
from explorer.catalogue.own import OWN, OWN_FAMILY, own_op, own_rule
from explorer.catalogue.records import (
    Kink,
    Lattice,
    Op,
    Parameter,
    Rule,
    TooManyKinksError,
    kink_points,
    values,
)

__all__ = [
    "FAMILIES", "GROUPS", "MOST_RULES", "OPS", "OWN", "OWN_FAMILY", "RULES",
    "Kink", "Lattice", "Op", "Parameter", "Rule", "TooManyKinksError",
    "find_op", "find_rule", "kink_points", "values",
]  # fmt: skip

MOST_RULES = 6  # that may be compared or trained at once

Entry = TypeVar("Entry", Op, Rule)

OPS: Mapping[str, Op] = MappingProxyType({op.key: op for op in ops.OPS})
RULES: Mapping[str, Rule] = MappingProxyType({rule.key: rule for rule in rules.RULES})


def find_op(key: str | Op) -> Op:
    """The op of a key, or of an own formula written ``formula: x**3``.

    Raises ValueError for an unknown key, FormulaError for a formula that cannot be read.
    """
    return key if isinstance(key, Op) else _find("op", key, OPS, own_op, "x")


def find_rule(key: str | Rule) -> Rule:
    """The rule of a key, or of an own formula written ``formula: g * (abs(x) <= 1)``.

    Raises ValueError for an unknown key, FormulaError for a formula that cannot be read.
    """
    return key if isinstance(key, Rule) else _find("rule", key, RULES, own_rule, "x, y, g")


def _find(
    kind: str, key: object, entries: Mapping[str, Entry], own: Callable[[str], Entry], variables: str
) -> Entry:
    if isinstance(key, str) and key.startswith(OWN):
        return own(key.removeprefix(OWN))
    if isinstance(key, str) and key in entries:
        return entries[key]
    known = ", ".join(entries)
    raise ValueError(
        f"unknown {kind} {key!r}: use one of {known}, or {OWN}… with your own formula in {variables}"
    )
