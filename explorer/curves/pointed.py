"""Functions that are no formula as points, which the browser can draw."""

import copyreg
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from explorer.catalogue import Op, Rule
from explorer.catalogue.records import LARGEST_RANGE
from explorer.curves.foreign import ForeignOp, ForeignRule, Points
from explorer.curves.sampled import FORWARD, POINTS
from explorer.curves.sampling import Curves, sample_curves
from explorer.formula import with_minus
from explorer.formula.tree import Binary, Call, Compare, Foreign, Name, Node, Number, Unary

_UPSTREAM = (1.0, 2.0, -1.0, -1000.0)  # a rule that is linear in g at these is taken to be so
_X, _G, _A = Name("x"), Name("g"), Name("a")
_NAN = Binary("/", Number(0.0), Number(0.0))


def pointed(curves: Curves) -> tuple[Op, tuple[Rule, ...]]:
    """The op and the rules of curves, those that are somebody's own function as points.

    They reach as far again to both sides as the range. One whose gradient is not linear in g is known at the
    g of the curves alone; at any other it has no value. The text of the formula says so.
    """
    op = _pointed_op(curves.op, curves) if isinstance(curves.op, ForeignOp) else curves.op
    rules = (_pointed_rule(rule, curves) if isinstance(rule, ForeignRule) else rule for rule in curves.rules)
    return op, tuple(rules)


def _pointed_op(op: ForeignOp, curves: Curves) -> Op:
    by_g = dict(_wide("default", curves))
    first = by_g[curves.g]
    passed, words = _gradient(op.label, "default", by_g, curves.g, _A)
    tree = Foreign(Points(op.label, first.x, first.y, passed), (_X,))
    return replace(op, tree=tree, kinks=_kinks(first, FORWARD), formula=_said(first, words))


def _pointed_rule(rule: ForeignRule, curves: Curves) -> Rule:
    by_g = dict(_wide(rule, curves))
    first = by_g[curves.g]
    tree, words = _gradient(rule.label, rule.key, by_g, curves.g, _X)
    return replace(rule, tree=tree, kinks=_kinks(first, rule.key), formula=_said(first, words))


def _wide(rule: str | Rule, curves: Curves) -> Iterator[tuple[float, Curves]]:
    """The curves of one rule over three times the range, at several g."""
    width = curves.stop - curves.start
    view: dict[str, Any] = {
        "start": max(curves.start - width, -LARGEST_RANGE),
        "stop": min(curves.stop + width, LARGEST_RANGE),
        "points": 3 * POINTS,
        "dtype": "float64",
    }
    names = {parameter.name for parameter in curves.op.parameters}
    chosen = {name: value for name, value in curves.parameters.items() if name in names}
    for g in {curves.g, *_UPSTREAM}:
        yield g, sample_curves(curves.op, rule, g=g, **(view | chosen))


def _gradient(label: str, key: str, by_g: Mapping[float, Curves], g: float, at: Node) -> tuple[Node, str]:
    """A gradient as a tree in g and ``at``, and words on the g for which it is known."""
    x, one = by_g[1.0].x, by_g[1.0].gradients[key]
    linear = all(
        len(curves.x) == len(x) and np.allclose(curves.gradients[key], one * each, rtol=1e-6, equal_nan=True)
        for each, curves in by_g.items()
    )
    if linear:
        return Binary("*", _G, Foreign(Points(label, x, one), (at,))), ""
    own = Foreign(Points(label, by_g[g].x, by_g[g].gradients[key]), (at,))
    number: Node = Unary("-", Number(-g)) if g < 0 else Number(g)
    return Call("where", (Compare(("==",), (_G, number)), own, _NAN)), f" at g = {g:g} only,"


def _kinks(curves: Curves, key: str) -> tuple[str, ...] | None:
    """The kinks as formulas."""
    return tuple(repr(kink) for kink in curves.kinks[key] or ())


def _said(curves: Curves, words: str) -> str:
    return with_minus(f"sampled{words} at {len(curves.x):,} x from {curves.start:g} to {curves.stop:g}")


def _reduced(curves: Curves) -> str | tuple[Any, ...]:
    """Return what pickle builds curves from, where somebody's own functions are points."""
    if any(isinstance(entry, ForeignOp | ForeignRule) for entry in (curves.op, *curves.rules)):
        op, rules = pointed(curves)
        curves = replace(curves, op=op, rules=rules)
    return object.__reduce_ex__(curves, 2)


copyreg.pickle(Curves, _reduced)
