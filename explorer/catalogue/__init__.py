"""The catalogue of ops and backward rules, each defined by a formula, and the parsing of custom formulas."""

from collections.abc import Callable

from explorer.catalogue import ops, rules
from explorer.catalogue.contribution import (
    ORIGINS,
    Contribution,
    find_contribution,
    find_contribution_or_none,
    find_tensor_gradient,
    list_learnable,
)
from explorer.catalogue.custom import FORMULA_PREFIX, make_custom_key, parse_custom_op, parse_custom_rule
from explorer.catalogue.entries import Entries, Record
from explorer.catalogue.families import FAMILIES, GROUPS
from explorer.catalogue.kinks import Lattice, TooManyKinksError, list_kink_points
from explorer.catalogue.losses import (
    SQUARE,
    UPSTREAM,
    Loss,
    expand_in_draws,
    expand_losses,
    find_loss,
    freeze_draws,
    make_antithetic,
    require_deterministic,
)
from explorer.catalogue.parameter_values import (
    adapt_rule,
    check_values,
    find_formula_name,
    list_parameter_names,
    narrow_parameter,
    qualify_name,
    require_in_domain,
    resolve_values,
    to_finite,
)
from explorer.catalogue.records import AT_BOUND, COUNT, CUSTOM_FAMILY, Learned, Op, Parameter, Rule
from explorer.catalogue.training import describe_evaluation, explain_refusal
from explorer.formula import quote, truncate

MAX_RULES = 6  # maximum number of rules in one chart or training run

OPS = Entries(ops.OPS)
RULES = Entries(rules.RULES)

_FIXED_FAMILIES = {op.family for op in OPS.values() if not op.is_random}
FIXED_RULES = tuple(
    rule
    for rule in RULES.values()
    if not rule.is_random and (not rule.suits or _FIXED_FAMILIES.intersection(rule.suits))
)
"""The rules for deterministic ops."""


def find_op(key: str | Op) -> Op:
    """Look up an op by its key, or parse a custom formula such as ``formula: x**3``.

    An ``Op`` is returned unchanged. Raises ValueError for an unknown key, suggesting similar ones, and
    FormulaError for a formula that cannot be parsed.
    """
    return key if isinstance(key, Op) else _look_up("op", key, OPS, parse_custom_op, "x")


def find_rule(key: str | Rule) -> Rule:
    """Look up a backward rule by its key, or parse a custom formula such as ``formula: g * (x > 0)``.

    A ``Rule`` is returned unchanged. Raises the errors of ``find_op``.
    """
    return key if isinstance(key, Rule) else _look_up("rule", key, RULES, parse_custom_rule, "x, y, g")


def _look_up(
    kind: str, key: object, entries: Entries[Record], parse_custom: Callable[[str], Record], variables: str
) -> Record:
    """Look up an op or rule, or parse a custom formula. Raises ValueError, with a suggestion, if neither."""
    if isinstance(key, str) and key.startswith(FORMULA_PREFIX.rstrip()):
        return parse_custom(key.removeprefix(FORMULA_PREFIX.rstrip()).removeprefix(" "))
    if isinstance(key, str) and key in entries:
        return entries[key]
    help_text = f"explorer.{kind.upper()}S lists all, and '{FORMULA_PREFIX}…' takes your own in {variables}"
    suggestion = suggest_key(kind, truncate(str(key)))
    separator = " " if suggestion.endswith("?") else "; " if suggestion else ""
    raise ValueError(f"unknown {kind} {quote(key)}: {suggestion}{separator}{help_text}")


def suggest_key(kind: str, key: str) -> str:
    """Return a clause that suggests keys similar to an unknown one or says why the key is unsupported.

    Returns "" if no key is similar.
    """
    if kind == "rule" and key.lower() in rules.UNSUPPORTED:
        return rules.UNSUPPORTED[key.lower()]
    entries, other_entries = (OPS, RULES) if kind == "op" else (RULES, OPS)
    if keys := entries.suggest_keys(key):
        return f"did you mean {' or '.join(map(repr, keys))}?"
    return f"it is {'a rule' if kind == 'op' else 'an op'}" if key in other_entries else ""
