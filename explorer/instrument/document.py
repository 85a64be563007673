"""The browser's document as JSON, which is the catalogue with all limits, and a choice as JSON."""

from dataclasses import asdict
from functools import cache

from explorer.catalogue import (
    FAMILIES,
    FORMULA_PREFIX,
    GROUPS,
    MAX_RULES,
    OPS,
    ORIGINS,
    RULES,
    find_loss,
    find_op,
    find_rule,
)
from explorer.catalogue.colours import NEGATIVE, NEUTRAL, POSITIVE, RULE_COLOURS_DARK, RULE_COLOURS_LIGHT
from explorer.catalogue.losses import LOSSES
from explorer.catalogue.records import MAX_ABS_X
from explorer.curves import MIN_RANGE, MIN_RELATIVE_RANGE, READING_POINTS
from explorer.curves.bisection import MAX_BISECTIONS, MAX_KINKS, SCAN_POINTS
from explorer.curves.sampled import POINTS
from explorer.description import LEARNING_WORDS
from explorer.description.pull import MAX_NUMBERS, NORMAL_NUMBERS, make_normal_numbers
from explorer.formula import FUNCTIONS, MAX_LENGTH, MAX_NODES
from explorer.formula.parsing import template
from explorer.formula.quoting import LONGEST_QUOTE
from explorer.formula.reference import NEAR_ZERO, REFERENCE_POINTS
from explorer.formula.tree import data
from explorer.instrument.entries import Json, entry, loss_entry
from explorer.instrument.limits import LONGEST_QUERY, MOST_READINGS
from explorer.instrument.view import DRAWN_WORDS, LAYERS, VIEW

# The formulas that own ones start from.
FIRST_OWN_OP = "x - floor(x)"
FIRST_OWN_RULES = ("g * (abs(x) <= w)", "g / (1 + k * abs(x))**2", "g * exp(-abs(x) / w)")


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
        "own": FORMULA_PREFIX,
        "firstOwn": {
            "op": entry(find_op(FORMULA_PREFIX + FIRST_OWN_OP)),
            "rule": [entry(find_rule(FORMULA_PREFIX + text)) for text in FIRST_OWN_RULES],
        },
        "colours": {
            "light": RULE_COLOURS_LIGHT,
            "dark": RULE_COLOURS_DARK,
            "neutral": NEUTRAL,
            "ends": [NEGATIVE, POSITIVE],
        },
        "sampling": sampling(),
        "losses": {text: loss_entry(find_loss(text)) for text in LOSSES},
        "drawn": DRAWN_WORDS,
        "layers": {key: asdict(layer) for key, layer in LAYERS.items()},
        "view": [asdict(word) for word in VIEW.values()],
        "limits": {
            "rules": MAX_RULES,
            "formula": MAX_LENGTH,
            "nodes": MAX_NODES,
            "query": LONGEST_QUERY,
            "quote": LONGEST_QUOTE,
            "readings": MOST_READINGS,
        },
    }


def sampling() -> Json:
    """The numbers by which curves are sampled, so that the browser samples as Python does."""
    return {
        "points": POINTS,
        "readings": READING_POINTS,
        "reference": REFERENCE_POINTS,
        "nearZero": NEAR_ZERO,
        "mostKinks": MAX_KINKS,
        "scan": SCAN_POINTS,
        "halvings": MAX_BISECTIONS,
        "largest": MAX_ABS_X,
        "narrowest": MIN_RELATIVE_RANGE,
        "least": MIN_RANGE,
        "functions": shapes(),
    }


def shapes() -> Json:
    """Return by each function of the language where it leaps or bends, in its arguments a to d."""
    return {
        name: {"pieces": [data(template(piece)) for piece in function.pieces]}
        for name, function in FUNCTIONS.items()
    }


def learning() -> Json:
    """Words and constants for sentences on a parameter that learns, as Python says them."""
    return {
        "normal": make_normal_numbers()[NORMAL_NUMBERS // 2 :],  # the others are these with a minus
        "most": MAX_NUMBERS,
        "words": {name: LEARNING_WORDS[name] for name in ("normal", "carried", "outside", "lead")},
    }
