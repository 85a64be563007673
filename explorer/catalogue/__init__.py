"""Ops and backward rules, each an entry of one formula; and own formulas as their equals."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from explorer.catalogue import ops, rules
from explorer.catalogue.families import FAMILIES, GROUPS
from explorer.catalogue.own import OWN, OWN_FAMILY, own_op, own_rule
from explorer.catalogue.records import Kink, Lattice, Op, Parameter, Rule, kink_points, values

__all__ = [
    "FAMILIES", "GROUPS", "OPS", "OWN", "OWN_FAMILY", "RULES", "Kink", "Lattice", "Op", "Parameter", "Rule",
    "find_op", "find_rule", "kink_points", "values",
]  # fmt: skip

OPS: Mapping[str, Op] = MappingProxyType({op.key: op for op in ops.OPS})
RULES: Mapping[str, Rule] = MappingProxyType({rule.key: rule for rule in rules.RULES})


def find_op(key: str | Op) -> Op:
    """The op of a key, or of an own formula written ``formula: x**3``.

    Raises ValueError for an unknown key, FormulaError for a formula that cannot be read.
    """
    if isinstance(key, Op):
        return key
    if isinstance(key, str) and key.startswith(OWN):
        return own_op(key.removeprefix(OWN))
    if key not in OPS:
        raise ValueError(
            f"unknown op {key!r}: use one of {', '.join(OPS)}, or {OWN}… with your own formula in x"
        )
    return OPS[key]


def find_rule(key: str | Rule) -> Rule:
    """The rule of a key, or of an own formula written ``formula: g * (abs(x) <= 1)``.

    Raises ValueError for an unknown key, FormulaError for a formula that cannot be read.
    """
    if isinstance(key, Rule):
        return key
    if isinstance(key, str) and key.startswith(OWN):
        return own_rule(key.removeprefix(OWN))
    if key not in RULES:
        raise ValueError(
            f"unknown rule {key!r}: use one of {', '.join(RULES)}, or {OWN}… with your own formula in x, y, g"
        )
    return RULES[key]
