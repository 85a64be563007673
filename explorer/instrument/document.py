"""The static data of the browser's page as JSON: the catalogue with all limits."""

from dataclasses import asdict
from functools import cache

from explorer import catalogue
from explorer.catalogue.colours import NEUTRAL, RULE_COLOURS_DARK, RULE_COLOURS_LIGHT
from explorer.catalogue.losses import LOSSES
from explorer.catalogue.records import MAX_ABS_X
from explorer.curves import MIN_RANGE, MIN_RELATIVE_RANGE, READING_POINTS
from explorer.curves.bisection import MAX_BISECTIONS, MAX_KINKS, SCAN_POINTS
from explorer.curves.sampled import POINTS
from explorer.description import LEARNING_WORDS
from explorer.description.net_gradient import MAX_NUMBERS, NORMAL_NUMBERS, make_normal_numbers
from explorer.formula import FUNCTIONS, MAX_LENGTH, MAX_NODES
from explorer.formula.parsing import parse_template
from explorer.formula.quoting import MAX_QUOTE
from explorer.formula.reference import NEAR_ZERO, REFERENCE_POINTS
from explorer.formula.tree import to_data
from explorer.instrument.entries import Json, make_entry, make_loss_entry
from explorer.instrument.limits import MAX_QUERY, MAX_READINGS
from explorer.instrument.view import LAYERS, STOCHASTIC_TEXTS, VIEW


@cache
def make_document() -> Json:
    """Return the catalogue's ops and rules, sampling constants and limits as a dict for JSON."""
    return {
        "ops": {key: make_entry(op) for key, op in catalogue.OPS.items()},
        "rules": {key: make_entry(rule) for key, rule in catalogue.RULES.items()},
        "families": catalogue.FAMILIES,
        "groups": catalogue.GROUPS,
        "origins": catalogue.ORIGINS,
        "learning": {
            # Only the positive half; the others are their negatives.
            "normal": make_normal_numbers()[NORMAL_NUMBERS // 2 :],
            "most": MAX_NUMBERS,
            "words": {name: LEARNING_WORDS[name] for name in ("normal", "carried", "outside", "lead")},
        },
        "own": catalogue.FORMULA_PREFIX,
        "ownRule": make_entry(catalogue.find_rule(catalogue.FORMULA_PREFIX + "g * through(x, 0, 0, 1, 1)")),
        "colours": {"light": RULE_COLOURS_LIGHT, "dark": RULE_COLOURS_DARK, "neutral": NEUTRAL},
        "sampling": list_sampling(),
        "losses": {text: make_loss_entry(catalogue.find_loss(text)) for text in LOSSES},
        "drawn": STOCHASTIC_TEXTS,
        "layers": {key: asdict(layer) for key, layer in LAYERS.items()},
        "view": [asdict(word) for word in VIEW.values()],
        "limits": {
            "rules": catalogue.MAX_RULES,
            "formula": MAX_LENGTH,
            "nodes": MAX_NODES,
            "query": MAX_QUERY,
            "quote": MAX_QUOTE,
            "readings": MAX_READINGS,
        },
    }


def list_sampling() -> Json:
    """Return the constants of sampling as a dict, so that the browser samples curves as Python does."""
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
        # For each function of formulas, expressions in its arguments a to d that jump at its kinks.
        "functions": {
            name: {"pieces": [to_data(parse_template(piece)) for piece in function.pieces]}
            for name, function in FUNCTIONS.items()
        },
    }
