"""What the browser knows, as JSON: the catalogue with all limits, and what is chosen from it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from typing import Any

from explorer.catalogue import (
    AT_BOUND,
    FAMILIES,
    GROUPS,
    MOST_RULES,
    OPS,
    ORIGINS,
    OWN,
    RULES,
    Kink,
    Lattice,
    Learned,
    Op,
    Rule,
    find_op,
    find_rule,
)
from explorer.catalogue.contribution import following, gradient_beside, torch_derivative
from explorer.colours import NEUTRAL, RULE_COLOURS_DARK, RULE_COLOURS_LIGHT
from explorer.curves import LARGEST_RANGE, LEAST_RANGE, NARROWEST_RANGE, POINTS
from explorer.description import LEARNING_WORDS, MOST_PLACES
from explorer.formula import MAX_LENGTH, Formula, derivative, parse
from explorer.formula.derivative import ONE, ZERO
from explorer.formula.evaluation import reductions
from explorer.formula.tree import Data, Name, Node, Unary, data, substituted
from explorer.instrument.limits import LARGEST_G, LONGEST_QUERY, reach
from explorer.kinks import HALVINGS, MOST_KINKS, SCAN_POINTS, known_degree, pieces, turns
from explorer.reference import NEAR_ZERO, REFERENCE_POINTS
from explorer.rest import BALANCED, MOST_NUMBERS, NORMAL_NUMBERS, STEPS, normal_numbers
from explorer.rest import HALVINGS as HALVINGS_OF_REST

# What own formulas start from.
FIRST_OWN_OP = "x - floor(x)"
FIRST_OWN_RULES = ("g * (abs(x) <= w)", "g / (1 + k * abs(x))**2", "g * exp(-abs(x) / w)")

Json = dict[str, Any]


def entry(record: Op | Rule) -> Json:
    """An op or rule as the browser takes it, one of the catalogue or an own formula alike.

    Formulas are trees (see ``Formula.data``). ``kinks`` are the declared ones, trees or lattices of
    trees, or null; then ``pieces`` are the trees at whose changes a kink may lie, each with its ``turns``
    (see ``kinks.turns``), and ``slopes`` those of the formula in x and y. ``movable`` says which kinks are
    a parameter, or minus one. ``gradient`` (of an op) is what torch's autograd returns, in x and g, or null
    where it cannot be written out; a ``flat`` op is constant between its kinks.

    What a parameter learns, by name (see ``contribution``): ``learned`` of a rule is its own; ``follows`` of
    an op, with any rule that has a formula, is ``outer + rule * ratio``; ``torch`` of an op is torch's
    derivative, with the ``gradient`` for x where that is another once the parameter is a tensor. The first of
    the three that has the name counts; the default rule has the last alone.
    """
    formula = record.parsed
    told = ("key", "label", "also", "purpose", "source", "note", "formula")
    common = {name: getattr(record, name) for name in told} | {
        "tree": formula and formula.data,
        "parameters": [asdict(p) | {"scale": p.scale, "reach": reach(p)} for p in record.parameters],
        "kinks": None if record.kinks is None else [_kink(kink, record) for kink in record.kinks],
        "movable": list(_movable(record)),
    }
    if record.kinks is None and formula:
        common |= _watched(formula)
    if isinstance(record, Rule):
        common["usesY"] = formula is not None and "y" in formula.variables
        common["learned"] = {learned.name: _learned(learned, record) for learned in record.learned}
        return common | {"group": record.group, "suits": record.suits, "otherwise": record.otherwise}
    gradient = record.parsed.gradient
    common |= {"family": record.family, "gradient": gradient and gradient.data}
    common |= {"follows": dict(_follows(record)), "torch": dict(_by_torch(record))}
    return common | {"flat": known_degree(record) == 0}


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
        "limits": {
            "rules": MOST_RULES,
            "formula": MAX_LENGTH,
            "g": LARGEST_G,
            "query": LONGEST_QUERY,
        },
    }


def sampling() -> dict[str, float]:
    """The numbers by which curves are sampled, so that the browser samples as Python does."""
    return {
        "points": POINTS,
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
    """What the browser needs to say what data make of a parameter as Python says it."""
    return {
        "normal": normal_numbers()[NORMAL_NUMBERS // 2 :],  # the others are these with a minus
        "most": MOST_NUMBERS,
        "places": MOST_PLACES,
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
    span: tuple[float, float],
    g: float,
    learns: str = "",
    hide: Sequence[str] = (),
    colours: str = "",
    section: str = "",
    slow: str = "",
    training: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """A choice as JSON types, with the entries of everything that is not in the catalogue.

    ``parameters`` are values by name, or ``rule.name`` for one rule only; ``learns`` is the parameter whose
    gradient has a panel; ``colours`` a digit from 1 on for each rule, "" for 1, 2, 3 …; ``slow`` what slow
    motion shows; ``training`` the settings of a run as a link writes them.
    """
    return {
        "op": op.key,
        "rules": [rule.key for rule in rules],
        "hide": list(hide),
        "slots": [int(colour) - 1 for colour in colours] or list(range(len(rules))),
        "parameters": dict(parameters),
        "range": list(span),
        "g": g,
        "learns": learns,
        "section": section,
        "slow": slow,
        "training": dict(training or {}),
        "own": {
            "op": [entry(op)] if op.key not in OPS else [],
            "rule": [entry(rule) for rule in rules if rule.key not in RULES],
        },
    }


def _learned(learned: Learned, rule: Rule) -> Json:
    """What a rule says that a parameter learns; the scale in its parameters and N."""
    scale = learned.parsed_scale
    watched = _watched(learned.parsed) if rule.kinks is None else {}
    return watched | {
        "tree": learned.parsed.data,
        "text": learned.parsed.text,
        "scale": scale and scale.data,
        "scaleText": scale and scale.text,
        "atBound": AT_BOUND.get(learned.at_bound, ""),
        "note": learned.note,
    }


def _follows(op: Op) -> Iterator[tuple[str, Json]]:
    """How a parameter's contribution follows from a rule, for the parameters that inner and outer reach."""
    for parameter in op.parameters:
        if way := following(op, parameter.name):
            yield parameter.name, {"outer": data(way.outer), "ratio": data(way.ratio)}


def _by_torch(op: Op) -> Iterator[tuple[str, Json]]:
    """Torch's derivative by each parameter that it has one by."""
    for parameter in op.parameters:
        if found := torch_derivative(op, parameter.name):
            exact, shown = found
            beside = gradient_beside(op, parameter.name)
            own = {"gradient": beside.data} if beside else {}
            yield parameter.name, {"tree": exact.data, "text": shown.text, **own}


def _watched(formula: Formula) -> Json:
    """What the search for kinks evaluates; a ``mean`` counts as one number there."""
    found = reductions(formula.tree)
    means: dict[Node, Node] = {node: Name(f"({number})") for number, node in enumerate(found)}
    back = {name: node for node, name in means.items()}
    tree = substituted(formula.tree, means)
    slopes = {name: derivative(tree, name, upstream=ONE) or ZERO for name in ("x", "y")}

    def told(node: Node) -> Data:
        return data(substituted(node, back))

    return {
        "pieces": [
            {"tree": told(piece), "turns": [told(turn) for turn in turns(piece) or ()]}
            for piece in dict.fromkeys(pieces(tree))
        ],
        "slopes": {name: told(slope) for name, slope in slopes.items()},
    }


def _tree(text: str, record: Op | Rule) -> Node:
    return parse(text, variables=(), parameters=[p.name for p in record.parameters]).tree


def _kink(kink: Kink, record: Op | Rule) -> Any:
    if isinstance(kink, Lattice):
        return {name: text and data(_tree(text, record)) for name, text in asdict(kink).items()}
    return data(_tree(kink, record))


def _movable(record: Op | Rule) -> Iterator[Json]:
    """The parameters that are themselves, or with a minus, the position of a kink."""
    for kink in record.kinks or ():
        match _tree(kink, record) if isinstance(kink, str) else None:
            case Name(name):
                yield {"name": name, "sign": 1}
            case Unary("-", Name(name)):
                yield {"name": name, "sign": -1}
