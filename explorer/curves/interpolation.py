"""Replace user-defined functions by sampled points, which can be plotted in a browser and pickled."""

import copyreg
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from explorer.catalogue import Op, Rule
from explorer.catalogue.records import MAX_ABS_X
from explorer.curves.foreign.entries import ForeignOp, ForeignRule
from explorer.curves.foreign.points import Points
from explorer.curves.sampled import FORWARD, POINTS
from explorer.curves.sampling import Curves, sample_curves
from explorer.formula import with_minus
from explorer.formula.tree import Binary, Call, Compare, ForeignCall, Name, Node, Number, Unary

_TEST_GRADIENTS = (1.0, 2.0, -1.0, -1000.0)  # a rule that is linear at these g counts as linear
_X, _G, _A = Name("x"), Name("g"), Name("a")
_NAN = Binary("/", Number(0.0), Number(0.0))


def interpolate_functions(curves: Curves) -> tuple[Op, tuple[Rule, ...]]:
    """Return the op and rules of curves with user-defined functions replaced by interpolated points.

    The points cover three times the curves' range: its own width again on both sides. A gradient that is not
    linear in g is known only for the curves' g. For any other g it is NaN; the formula text says so.
    """
    op = _interpolate_op(curves.op, curves) if isinstance(curves.op, ForeignOp) else curves.op
    rules = (
        _interpolate_rule(rule, curves) if isinstance(rule, ForeignRule) else rule for rule in curves.rules
    )
    return op, tuple(rules)


def _interpolate_op(op: ForeignOp, curves: Curves) -> Op:
    """Return a copy of a user-defined op whose formula interpolates between sampled points."""
    by_g = dict(_sample_wide_range("default", curves))
    wide = by_g[curves.g]
    gradient, restriction = _make_gradient_tree(op.label, "default", by_g, curves.g, _A)
    tree = ForeignCall(Points(op.label, wide.x, wide.y, gradient), (_X,))
    return replace(
        op, tree=tree, kinks=_format_kinks(wide, FORWARD), formula=_describe_samples(wide, restriction)
    )


def _interpolate_rule(rule: ForeignRule, curves: Curves) -> Rule:
    """Return a copy of a user-defined backward rule whose formula interpolates between sampled points."""
    by_g = dict(_sample_wide_range(rule, curves))
    wide = by_g[curves.g]
    tree, restriction = _make_gradient_tree(rule.label, rule.key, by_g, curves.g, _X)
    return replace(
        rule, tree=tree, kinks=_format_kinks(wide, rule.key), formula=_describe_samples(wide, restriction)
    )


def _sample_wide_range(rule: str | Rule, curves: Curves) -> Iterator[tuple[float, Curves]]:
    """Yield several upstream gradients g, each with the rule's curves over three times the range of x."""
    width = curves.stop - curves.start
    view: dict[str, Any] = {
        "start": max(curves.start - width, -MAX_ABS_X),
        "stop": min(curves.stop + width, MAX_ABS_X),
        "points": 3 * POINTS,
        "dtype": "float64",
    }
    names = {parameter.name for parameter in curves.op.parameters}
    parameters = {name: value for name, value in curves.parameters.items() if name in names}
    for g in {curves.g, *_TEST_GRADIENTS}:
        yield g, sample_curves(curves.op, rule, g=g, **(view | parameters))


def _make_gradient_tree(
    label: str, key: str, by_g: Mapping[float, Curves], g: float, argument: Node
) -> tuple[Node, str]:
    """Return a sampled gradient as an expression, and a note if it is known for one g only, else ""."""
    x, unit_gradient = by_g[1.0].x, by_g[1.0].gradients[key]
    is_linear = all(
        len(curves.x) == len(x)
        and np.allclose(curves.gradients[key], unit_gradient * factor, rtol=1e-6, equal_nan=True)
        for factor, curves in by_g.items()
    )
    if is_linear:
        return Binary("*", _G, ForeignCall(Points(label, x, unit_gradient), (argument,))), ""
    points = ForeignCall(Points(label, by_g[g].x, by_g[g].gradients[key]), (argument,))
    number: Node = Unary("-", Number(-g)) if g < 0 else Number(g)
    return Call("where", (Compare(("==",), (_G, number)), points, _NAN)), f" at g = {g:g} only,"


def _format_kinks(curves: Curves, key: str) -> tuple[str, ...] | None:
    """Return the kinks of a curve as texts, the form in which ops and rules declare kinks."""
    return tuple(repr(kink) for kink in curves.kinks[key] or ())


def _describe_samples(curves: Curves, restriction: str) -> str:
    """Return a phrase such as "sampled at 2,001 x from −9 to 9", for the formula of a sampled function."""
    return with_minus(f"sampled{restriction} at {len(curves.x):,} x from {curves.start:g} to {curves.stop:g}")


def _reduce_curves(curves: Curves) -> str | tuple[Any, ...]:
    """Return pickle's ``__reduce_ex__`` tuple for curves, with sampled points for user-defined functions."""
    if any(isinstance(entry, ForeignOp | ForeignRule) for entry in (curves.op, *curves.rules)):
        op, rules = interpolate_functions(curves)
        curves = replace(curves, op=op, rules=rules)
    return object.__reduce_ex__(curves, 2)


copyreg.pickle(Curves, _reduce_curves)
