"""The browser's document as JSON, which is the catalogue with all limits, and a choice as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from typing import Any

from explorer.catalogue import (
    FAMILIES,
    GROUPS,
    MOST_RULES,
    OPS,
    ORIGINS,
    OWN,
    RULES,
    Op,
    Rule,
    find_op,
    find_rule,
)
from explorer.colours import NEUTRAL, RULE_COLOURS_DARK, RULE_COLOURS_LIGHT
from explorer.curves import LARGEST_RANGE, LEAST_RANGE, NARROWEST_RANGE, POINTS, READING_POINTS
from explorer.description import LEARNING_WORDS, MOST_POSITIONS
from explorer.formula import MAX_LENGTH
from explorer.instrument.entries import Json, entry
from explorer.instrument.limits import LONGEST_QUERY, LONGEST_QUOTE, MOST_READINGS
from explorer.instrument.view import VIEW, View, view_data
from explorer.kinks import HALVINGS, MOST_KINKS, SCAN_POINTS
from explorer.reference import NEAR_ZERO, REFERENCE_POINTS
from explorer.rest import BALANCED, MOST_NUMBERS, NORMAL_NUMBERS, STEPS, normal_numbers
from explorer.rest import HALVINGS as HALVINGS_OF_REST

# The formulas that own ones start from.
FIRST_OWN_OP = "x - floor(x)"
FIRST_OWN_RULES = ("g * (abs(x) <= w)", "g / (1 + k * abs(x))**2", "g * exp(-abs(x) / w)")
_DEFAULT_VIEW = View()


@cache
def document() -> Json:
    """All ops and rules by key, in their order, with families, groups, sampling and limits; JSON-able."""
    return {
        "ops": {key: entry(op) for key, op in OPS.items()},
        "rules": {key: entry(rule) for key, rule in RULES.items()},
        "families": FAMILIES,
        "groups": GROUPS,
        "origins": ORIGINS,
        "learning": learning(),
        "own": OWN,
        "firstOwn": {
            "op": entry(find_op(OWN + FIRST_OWN_OP)),
            "rule": [entry(find_rule(OWN + text)) for text in FIRST_OWN_RULES],
        },
        "colours": {"light": RULE_COLOURS_LIGHT, "dark": RULE_COLOURS_DARK, "neutral": NEUTRAL},
        "sampling": sampling(),
        "view": [asdict(word) for word in VIEW.values()],
        "limits": {
            "rules": MOST_RULES,
            "formula": MAX_LENGTH,
            "query": LONGEST_QUERY,
            "quote": LONGEST_QUOTE,
            "readings": MOST_READINGS,
        },
    }


def sampling() -> dict[str, float]:
    """The numbers by which curves are sampled, so that the browser samples as Python does."""
    return {
        "points": POINTS,
        "readings": READING_POINTS,
        "reference": REFERENCE_POINTS,
        "nearZero": NEAR_ZERO,
        "mostKinks": MOST_KINKS,
        "scan": SCAN_POINTS,
        "halvings": HALVINGS,
        "largest": LARGEST_RANGE,
        "narrowest": NARROWEST_RANGE,
        "least": LEAST_RANGE,
    }


def learning() -> Json:
    """Words and constants for sentences on a parameter that learns, as Python says them."""
    return {
        "normal": normal_numbers()[NORMAL_NUMBERS // 2 :],  # the others are these with a minus
        "most": MOST_NUMBERS,
        "places": MOST_POSITIONS,
        "steps": STEPS,
        "halvings": HALVINGS_OF_REST,
        "balanced": BALANCED,
        "words": LEARNING_WORDS,
    }


def choice_data(
    op: Op,
    rules: Sequence[Rule],
    *,
    parameters: Mapping[str, float],
    view: View = _DEFAULT_VIEW,
    learns: str = "",
    hide: Sequence[str] = (),
    colours: str = "",
    slow: str = "",
    training: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """A choice as JSON types, with the entries of everything that is not in the catalogue.

    ``view`` may be a whole ``Choice`` of the pages; ``parameters`` are values by name, or ``rule.name`` for
    one rule only; ``learns`` is the parameter whose gradient has a panel; ``colours`` a digit from 1 on for
    each rule, "" for 1, 2, 3 …; ``slow`` the words of slow motion; ``training`` the settings of a run as a
    link has them.
    """
    return {
        "op": op.key,
        "rules": [rule.key for rule in rules],
        "hide": list(hide),
        "slots": [int(colour) - 1 for colour in colours] or list(range(len(rules))),
        "parameters": dict(parameters),
        **view_data(view),
        "learns": learns,
        "slow": slow,
        "training": dict(training or {}),
        "own": {
            "op": [entry(op)] if op.key not in OPS else [],
            "rule": [entry(rule) for rule in rules if rule.key not in RULES],
        },
    }
