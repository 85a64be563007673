"""Ops and backward rules, including custom formulas, as data for the browser.

On the site without a server this runs in the browser, so this module and its imports need the standard
library only.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from explorer import catalogue
from explorer.catalogue import contribution
from explorer.formula import Formula, FormulaError, differentiate, parse
from explorer.formula.derivative import ONE, ZERO
from explorer.formula.operands import find_reductions
from explorer.formula.pieces import find_edge_pieces, find_pieces, list_derivative_signs
from explorer.formula.tree import Data, Name, Node, Unary, substitute, to_data
from explorer.instrument.limits import find_reach

Json = dict[str, Any]

_MAKERS: Mapping[str, Callable[[str], Json]] = {
    "op": lambda text: make_entry(catalogue.find_op(catalogue.FORMULA_PREFIX + text)),
    "rule": lambda text: make_entry(catalogue.find_rule(catalogue.FORMULA_PREFIX + text)),
    "loss": lambda text: make_loss_entry(catalogue.find_loss(text)),
}


def make_custom_entry(kind: str, text: str) -> Json:
    """Return a custom formula as ``{"entry": …}`` for the browser.

    For a formula that cannot be parsed, the result is its error as ``{"message": …, "column": …}``.
    """
    if kind not in _MAKERS:
        return {"message": f"kind must be {' or '.join(_MAKERS)}", "column": 0}
    try:
        return {"entry": _MAKERS[kind](text)}
    except FormulaError as error:
        return {"message": error.message, "column": error.column}


def make_entry(record: catalogue.Op | catalogue.Rule) -> Json:
    """Return an op or backward rule, from the catalogue or custom, as a dict for the browser.

    Formulas are trees (see ``Formula.data``). In addition to the fields of the record, the dict has these
    keys.

    - ``kinks``: the declared kinks, trees or lattices of trees, or null.
    - ``pieces`` and ``slopes``, if ``kinks`` is null: the trees at whose changes a kink may be, each with its
      ``turns`` (see ``pieces.list_derivative_signs``), and the formula's derivatives by x and y.
    - ``movable``: the kinks that are a parameter or its negative.
    - ``inside`` of an op: its label inside a sentence.
    - ``gradient`` and ``autograd`` of an op: the result of torch's autograd, in x and g, or null if it cannot
      be written out, and the same as a short text.
    - ``flat`` of an op: whether it is constant between its kinks.
    - ``untrained``, ``unspiking`` and ``judging`` of a stochastic op or rule: why no net trains it, why no
      spiking net does, and how a net with the op is evaluated; each only if there is something to say.

    The gradients of a learned parameter (see ``contribution``) have three sources, which are dicts from
    names: ``learned`` of a rule is the rule's own; ``follows`` of an op is ``outer + rule * ratio``, for any
    rule that has a formula; ``torch`` of an op is torch's derivative, with the ``gradient`` for x if it
    changes when the parameter is a tensor. The first of the three that has the name applies. The default rule
    has the last one only.
    """
    formula, kinks = record.parsed, list[Any]()
    for kink in record.kinks or ():
        if isinstance(kink, catalogue.Lattice):
            texts = asdict(kink).items()
            kinks.append({name: text and to_data(_parse_tree(text, record)) for name, text in texts})
        else:
            kinks.append(to_data(_parse_tree(kink, record)))
    fields = ("key", "label", "also", "purpose", "source", "note", "formula")
    common = {name: getattr(record, name) for name in fields} | {
        "tree": formula and formula.data,
        "parameters": [asdict(p) | {"scale": p.scale, "reach": find_reach(p)} for p in record.parameters],
        "kinks": None if record.kinks is None else kinks,
        "movable": list(_list_movable(record)),
    }
    if record.is_random:
        common |= {"draws": True, **_describe_training(record)}
    if record.kinks is None and formula and record.is_random:
        # The mean of a stochastic formula may have a kink where one of these expressions jumps.
        edges = dict.fromkeys(find_edge_pieces(formula.tree))
        common["pieces"] = [{"tree": to_data(piece), "turns": []} for piece in edges]
        common["slopes"] = {"x": to_data(ZERO), "y": to_data(ZERO)}
    elif record.kinks is None and formula:
        common |= _make_pieces(formula)
    if isinstance(record, catalogue.Rule):
        common["usesY"] = formula is not None and "y" in formula.variables
        common["learned"] = {learned.name: _make_learned(learned, record) for learned in record.learned}
        return common | {name: getattr(record, name) for name in ("brief", "group", "suits", "otherwise")}
    gradient = record.parsed.gradient
    return common | {
        "family": record.family,
        "inside": record.sentence_label,
        "gradient": gradient and gradient.data,
        "autograd": contribution.describe_autograd(record),
        "follows": dict(_list_following(record)),
        "torch": dict(_list_derivatives(record)),
        "flat": record.compute_degree() == 0,
    }


def _describe_training(record: catalogue.Op | catalogue.Rule) -> Json:
    label = record.label
    words = {
        "untrained": _end_sentence(catalogue.explain_refusal(record, label)),
        "unspiking": _end_sentence(catalogue.explain_refusal(record, label, spikes=True)),
        "judging": catalogue.describe_evaluation(record) if isinstance(record, catalogue.Op) else "",
    }
    return {name: text for name, text in words.items() if text}


def make_loss_entry(loss: catalogue.Loss) -> Json:
    """Return a loss and its derivative by y as a dict for the browser."""
    return {
        "key": loss.text,
        "text": loss.text,
        "tree": loss.parsed.data,
        "gradient": loss.slope.data,
        "parameters": [asdict(p) | {"scale": p.scale, "reach": find_reach(p)} for p in loss.parameters],
    }


def _make_learned(learned: catalogue.Learned, rule: catalogue.Rule) -> Json:
    scale = learned.parsed_scale
    kinks = _make_pieces(learned.parsed) if rule.kinks is None else {}
    return kinks | {
        "tree": learned.parsed.data,
        "text": learned.parsed.text,
        "scale": scale and scale.data,
        "scaleText": scale and scale.text,
        "atBound": catalogue.AT_BOUND.get(learned.at_bound, ""),
        "note": learned.note,
    }


def _list_following(op: catalogue.Op) -> Iterator[tuple[str, Json]]:
    for parameter in op.parameters:
        if functions := contribution.derive_contribution(op, parameter.name):
            yield parameter.name, {"outer": to_data(functions.outer), "ratio": to_data(functions.ratio)}


def _list_derivatives(op: catalogue.Op) -> Iterator[tuple[str, Json]]:
    for parameter in op.parameters:
        if derivative := contribution.differentiate_op(op, parameter.name):
            exact, readable = derivative
            gradient = contribution.find_tensor_gradient(op, parameter.name)
            extra = {"gradient": gradient.data} if gradient else {}
            yield parameter.name, {"tree": exact.data, "text": readable.text, **extra}


def _make_pieces(formula: Formula) -> Json:
    """Return the expressions that the browser evaluates to find kinks. Each ``mean`` is a constant there."""
    means_in = find_reductions(formula.tree)
    means: dict[Node, Node] = {node: Name(f"({number})") for number, node in enumerate(means_in)}
    back = {name: node for node, name in means.items()}
    tree = substitute(formula.tree, means)
    slopes = {name: differentiate(tree, name, upstream=ONE) or ZERO for name in ("x", "y")}

    def to_tree_data(node: Node) -> Data:
        return to_data(substitute(node, back))

    return {
        "pieces": [
            {
                "tree": to_tree_data(piece),
                "turns": [to_tree_data(turn) for turn in list_derivative_signs(piece) or ()],
            }
            for piece in dict.fromkeys(find_pieces(tree))
        ],
        "slopes": {name: to_tree_data(slope) for name, slope in slopes.items()},
    }


def _end_sentence(text: str) -> str:
    return text and f"{text}."


def _parse_tree(text: str, record: catalogue.Op | catalogue.Rule) -> Node:
    return parse(text, variables=(), parameters=[p.name for p in record.parameters]).tree


def _list_movable(record: catalogue.Op | catalogue.Rule) -> Iterator[Json]:
    for kink in record.kinks or ():
        match _parse_tree(kink, record) if isinstance(kink, str) else None:
            case Name(name):
                yield {"name": name, "sign": 1}
            case Unary("-", Name(name)):
                yield {"name": name, "sign": -1}
