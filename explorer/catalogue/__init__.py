"""Ops and backward rules, each an entry of one formula; and own formulas as their equals."""

from collections.abc import Callable

from explorer.catalogue import ops, rules
from explorer.catalogue.beside import (
    beside,
    checked,
    finite,
    in_formulas,
    narrowed,
    qualified,
    require_admitted,
    values,
)
from explorer.catalogue.contribution import (
    ORIGINS,
    Contribution,
    contribution,
    contribution_or_none,
    gradient_beside,
    learnable,
)
from explorer.catalogue.entries import Entries, Record
from explorer.catalogue.families import FAMILIES, GROUPS
from explorer.catalogue.kinks import Kink, Lattice, TooManyKinksError, kink_points
from explorer.catalogue.losses import (
    SQUARE,
    TARGET,
    UPSTREAM,
    Loss,
    find_loss,
    frozen,
    in_draws,
    require_fixed,
    settled,
    twin_of,
)
from explorer.catalogue.own import OWN, own_key, own_op, own_rule
from explorer.catalogue.records import AT_BOUND, COUNT, OWN_FAMILY, Learned, Op, Parameter, Rule
from explorer.catalogue.training import judging, refusal
from explorer.formula import quoted, shortened

__all__ = [
    "AT_BOUND", "COUNT", "FAMILIES", "FIXED_RULES", "GROUPS", "MOST_RULES", "OPS", "ORIGINS", "OWN",
    "OWN_FAMILY", "RULES", "SQUARE", "TARGET", "UPSTREAM", "Contribution", "Kink", "Lattice", "Learned",
    "Loss", "Op", "Parameter", "Rule", "TooManyKinksError", "beside", "checked", "contribution",
    "contribution_or_none", "find_loss", "find_op", "find_rule", "finite", "frozen", "gradient_beside",
    "hint", "in_draws", "in_formulas", "judging", "kink_points", "learnable", "narrowed", "own_key",
    "qualified", "refusal", "require_admitted", "require_fixed", "settled", "twin_of", "values",
]  # fmt: skip

MOST_RULES = 6  # that may be compared or trained at once

OPS = Entries(ops.OPS)
RULES = Entries(rules.RULES)

_FIXED_FAMILIES = {op.family for op in OPS.values() if not op.draws}
FIXED_RULES = tuple(
    rule
    for rule in RULES.values()
    if not rule.draws and (not rule.suits or _FIXED_FAMILIES.intersection(rule.suits))
)
"""The rules for ops that draw nothing."""


def find_op(key: str | Op) -> Op:
    """The op of a key, of an own formula written ``formula: x**3``, or an ``Op`` as it is.

    Raises ValueError for an unknown key, with the one that may be meant; FormulaError for a formula that
    cannot be read.
    """
    return key if isinstance(key, Op) else _looked_up("op", key, OPS, own_op, "x")


def find_rule(key: str | Rule) -> Rule:
    """The rule of a key, of an own formula written ``formula: g * (abs(x) <= 1)``, or a ``Rule`` as it is.

    Raises as ``find_op``.
    """
    return key if isinstance(key, Rule) else _looked_up("rule", key, RULES, own_rule, "x, y, g")


def _looked_up(
    kind: str, key: object, entries: Entries[Record], own: Callable[[str], Record], variables: str
) -> Record:
    if isinstance(key, str) and key.startswith(OWN.rstrip()):
        return own(key.removeprefix(OWN.rstrip()).removeprefix(" "))
    if isinstance(key, str) and key in entries:
        return entries[key]
    ways = f"explorer.{kind.upper()}S lists all, and '{OWN}…' takes your own in {variables}"
    meant = hint(kind, shortened(str(key)))
    stop = " " if meant.endswith("?") else "; " if meant else ""
    raise ValueError(f"unknown {kind} {quoted(key)}: {meant}{stop}{ways}")


def hint(kind: str, key: str) -> str:
    """A suggestion for a key that no op or rule has, or why it is none; "" where it would be a guess."""
    if kind == "rule" and key.lower() in rules.REFUSED:
        return rules.REFUSED[key.lower()]
    entries, others = (OPS, RULES) if kind == "op" else (RULES, OPS)
    if meant := entries.meant(key):
        return f"did you mean {' or '.join(map(repr, meant))}?"
    return f"it is {'a rule' if kind == 'op' else 'an op'}" if key in others else ""
