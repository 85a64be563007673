"""Replace user-defined functions by sampled points, which can be plotted in a browser and pickled."""

import copyreg
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from explorer.catalogue import Op, Rule
from explorer.catalogue.records import MAX_ABS_X
from explorer.curves.sampled import FORWARD, POINTS
from explorer.curves.sampling import Curves, sample_curves
from explorer.curves.user_functions.entries import UserOp, UserRule
from explorer.curves.user_functions.points import Points
from explorer.formula import with_minus
from explorer.formula.tree import Binary, Call, Compare, Name, Node, Number, UserCall, make_number

Entry = TypeVar("Entry", UserOp, UserRule)

_TEST_GRADIENTS = (1.0, 2.0, -1.0, -1000.0)  # a rule that is linear at these g counts as linear
_X, _G, _A = Name("x"), Name("g"), Name("a")
_NAN = Binary("/", Number(0.0), Number(0.0))


def interpolate_functions(curves: Curves) -> tuple[Op, tuple[Rule, ...]]:
    """Return the op and rules of curves with user-defined functions replaced by interpolated points.

    The points cover three times the curves' range: its own width again on both sides. A gradient that is not
    linear in g is known only for the curves' g. For any other g it is NaN; the formula text says so.
    """
    op = _interpolate(curves.op, curves) if isinstance(curves.op, UserOp) else curves.op
    rules = (_interpolate(rule, curves) if isinstance(rule, UserRule) else rule for rule in curves.rules)
    return op, tuple(rules)


def _interpolate(entry: Entry, curves: Curves) -> Entry:
    """Return a copy whose formula interpolates between points over three times the range of the curves."""
    is_op = isinstance(entry, UserOp)
    rule: str | Rule = "default" if isinstance(entry, UserOp) else entry
    width = curves.stop - curves.start
    view: dict[str, Any] = {
        "start": max(curves.start - width, -MAX_ABS_X),
        "stop": min(curves.stop + width, MAX_ABS_X),
        "points": 3 * POINTS,
        "dtype": "float64",
    }
    names = {parameter.name for parameter in curves.op.parameters}
    view |= {name: value for name, value in curves.parameters.items() if name in names}
    by_g = {g: sample_curves(curves.op, rule, g=g, **view) for g in {curves.g, *_TEST_GRADIENTS}}
    wide, key = by_g[curves.g], "default" if is_op else entry.key
    tree, restriction = _make_gradient_tree(entry.label, key, by_g, curves.g, _A if is_op else _X)
    if is_op:
        tree = UserCall(Points(entry.label, wide.x, wide.y, tree), (_X,))
    text = with_minus(f"sampled{restriction} at {len(wide.x):,} x from {wide.start:g} to {wide.stop:g}")
    kinks = tuple(repr(kink) for kink in wide.kinks[FORWARD if is_op else key] or ())
    return replace(entry, tree=tree, kinks=kinks, formula=text)


def _make_gradient_tree(
    label: str, key: str, by_g: Mapping[float, Curves], g: float, argument: Node
) -> tuple[Node, str]:
    """Return a sampled gradient as an expression, and a note if it is known for one g only, else "".

    ``by_g`` is a dict from upstream gradients to the curves sampled for them.
    """
    x, unit_gradient = by_g[1.0].x, by_g[1.0].gradients[key]
    is_linear = all(
        len(curves.x) == len(x)
        and np.allclose(curves.gradients[key], unit_gradient * factor, rtol=1e-6, equal_nan=True)
        for factor, curves in by_g.items()
    )
    if is_linear:
        return Binary("*", _G, UserCall(Points(label, x, unit_gradient), (argument,))), ""
    points = UserCall(Points(label, by_g[g].x, by_g[g].gradients[key]), (argument,))
    is_known = Compare(("==",), (_G, make_number(g)))
    return Call("where", (is_known, points, _NAN)), f" at g = {g:g} only,"


def _reduce_curves(curves: Curves) -> str | tuple[Any, ...]:
    """Return pickle's ``__reduce_ex__`` tuple for curves, with sampled points for user-defined functions."""
    if any(isinstance(entry, UserOp | UserRule) for entry in (curves.op, *curves.rules)):
        op, rules = interpolate_functions(curves)
        curves = replace(curves, op=op, rules=rules)
    return object.__reduce_ex__(curves, 2)


copyreg.pickle(Curves, _reduce_curves)
