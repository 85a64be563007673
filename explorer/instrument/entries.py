"""Ops and rules as the browser takes them, own formulas included.

On the site without a server this runs in the browser: it and all it imports need the standard library alone.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from explorer.catalogue import (
    AT_BOUND,
    FORMULA_PREFIX,
    Kink,
    Lattice,
    Learned,
    Loss,
    Op,
    Rule,
    describe_evaluation,
    explain_refusal,
    find_loss,
    find_op,
    find_rule,
)
from explorer.catalogue.contribution import (
    derive_contribution,
    describe_autograd,
    differentiate_op,
    find_tensor_gradient,
)
from explorer.formula import Formula, FormulaError, derivative, parse
from explorer.formula.derivative import ONE, ZERO
from explorer.formula.operands import reductions
from explorer.formula.pieces import edge_pieces, pieces, turns
from explorer.formula.tree import Data, Name, Node, Unary, data, substituted
from explorer.instrument.limits import reach

Json = dict[str, Any]

_READ: Mapping[str, Callable[[str], Json]] = {
    "op": lambda text: entry(find_op(FORMULA_PREFIX + text)),
    "rule": lambda text: entry(find_rule(FORMULA_PREFIX + text)),
    "loss": lambda text: loss_entry(find_loss(text)),
}


def own_entry(kind: str, text: str) -> Json:
    """An own formula as ``{"entry": …}``, or ``{"message": …, "column": …}`` where it cannot be read."""
    if kind not in _READ:
        return {"message": f"kind must be {' or '.join(_READ)}", "column": 0}
    try:
        return {"entry": _READ[kind](text)}
    except FormulaError as error:
        return {"message": error.message, "column": error.column}


def entry(record: Op | Rule) -> Json:
    """An op or rule as the browser takes it, one of the catalogue or an own formula alike.

    Formulas are trees (see ``Formula.data``). ``kinks`` are the declared ones, trees or lattices of
    trees, or null; then ``pieces`` are the trees at whose changes a kink may lie, each with its ``turns``
    (see ``pieces.turns``), and ``slopes`` those of the formula in x and y. ``movable`` says which kinks are
    a parameter, or minus one. ``inside`` (of an op) is its label as it stands inside a sentence, ``gradient``
    what torch's autograd returns, in x and g, or null where it cannot be written out, and ``autograd`` the
    same in a few words; a ``flat`` op is constant between its kinks. Of an entry that draws ``untrained``
    says why no net trains it, ``unspiking`` why no net of units that spike does, and ``judging`` how a net
    with the op is judged, each only where there is such a sentence.

    What a parameter learns, by name (see ``contribution``): ``learned`` of a rule is its own; ``follows`` of
    an op, with any rule that has a formula, is ``outer + rule * ratio``; ``torch`` of an op is torch's
    derivative, with the ``gradient`` for x where that is another once the parameter is a tensor. The first of
    the three that has the name counts; the default rule has the last alone.
    """
    formula = record.parsed
    fields = ("key", "label", "also", "purpose", "source", "note", "formula")
    common = {name: getattr(record, name) for name in fields} | {
        "tree": formula and formula.data,
        "parameters": [asdict(p) | {"scale": p.scale, "reach": reach(p)} for p in record.parameters],
        "kinks": None if record.kinks is None else [_kink(kink, record) for kink in record.kinks],
        "movable": list(_movable(record)),
    }
    if record.is_random:
        common |= {"draws": True, **_in_training(record)}
    if record.kinks is None and formula:
        common |= _edges(formula) if record.is_random else _watched(formula)
    if isinstance(record, Rule):
        common["usesY"] = formula is not None and "y" in formula.variables
        common["learned"] = {learned.name: _learned(learned, record) for learned in record.learned}
        return common | {"group": record.group, "suits": record.suits, "otherwise": record.otherwise}
    gradient = record.parsed.gradient
    common |= {
        "family": record.family,
        "inside": record.sentence_label,
        "gradient": gradient and gradient.data,
    }
    common["autograd"] = describe_autograd(record)
    common |= {"follows": dict(_follows(record)), "torch": dict(_by_torch(record))}
    return common | {"flat": record.compute_degree() == 0}


def _in_training(record: Op | Rule) -> Json:
    """What a net that trains says of an entry that draws; without what there is nothing to say of."""
    label = record.label
    words = {
        "untrained": _sentence(explain_refusal(record, label)),
        "unspiking": _sentence(explain_refusal(record, label, spikes=True)),
        "judging": describe_evaluation(record) if isinstance(record, Op) else "",
    }
    return {name: text for name, text in words.items() if text}


def loss_entry(loss: Loss) -> Json:
    """A loss as the browser takes it: its tree and that of its derivative, in y and its parameters."""
    return {
        "key": loss.text,
        "text": loss.text,
        "tree": loss.parsed.data,
        "gradient": loss.slope.data,
        "parameters": [asdict(p) | {"scale": p.scale, "reach": reach(p)} for p in loss.parameters],
    }


def _learned(learned: Learned, rule: Rule) -> Json:
    """A parameter's own gradient as a rule declares it; the scale in its parameters and N."""
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
    """Contributions that follow from a rule, for the parameters that inner and outer reach."""
    for parameter in op.parameters:
        if way := derive_contribution(op, parameter.name):
            yield parameter.name, {"outer": data(way.outer), "ratio": data(way.ratio)}


def _by_torch(op: Op) -> Iterator[tuple[str, Json]]:
    """Torch's derivative by each parameter that it has one by."""
    for parameter in op.parameters:
        if derivative := differentiate_op(op, parameter.name):
            exact, readable = derivative
            beside = find_tensor_gradient(op, parameter.name)
            own = {"gradient": beside.data} if beside else {}
            yield parameter.name, {"tree": exact.data, "text": readable.text, **own}


def _edges(formula: Formula) -> Json:
    """As ``_watched``, of a formula that draws: its mean may have a kink wherever one of these changes."""
    pieces = [{"tree": data(piece), "turns": []} for piece in dict.fromkeys(edge_pieces(formula.tree))]
    return {"pieces": pieces, "slopes": {"x": data(ZERO), "y": data(ZERO)}}


def _watched(formula: Formula) -> Json:
    """The trees that the search for kinks evaluates; a ``mean`` counts as one number there."""
    means_in = reductions(formula.tree)
    means: dict[Node, Node] = {node: Name(f"({number})") for number, node in enumerate(means_in)}
    back = {name: node for node, name in means.items()}
    tree = substituted(formula.tree, means)
    slopes = {name: derivative(tree, name, upstream=ONE) or ZERO for name in ("x", "y")}

    def tree_data(node: Node) -> Data:
        return data(substituted(node, back))

    return {
        "pieces": [
            {"tree": tree_data(piece), "turns": [tree_data(turn) for turn in turns(piece) or ()]}
            for piece in dict.fromkeys(pieces(tree))
        ],
        "slopes": {name: tree_data(slope) for name, slope in slopes.items()},
    }


def _sentence(text: str) -> str:
    return text and f"{text}."


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
