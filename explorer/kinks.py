"""Where the kinks are: declared in the catalogue, found numerically in an own formula."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

import torch
from torch import Tensor

from explorer.catalogue import Kink, Op, Rule, TooManyKinksError, kink_points, values
from explorer.formula import FUNCTIONS, Formula, parse
from explorer.formula.tree import Binary, Call, Compare, Name, Node, substituted, walk

MOST_KINKS = 200  # more could not be told apart in a picture
Curve = Callable[[Tensor], Tensor]

_SCAN_POINTS = 2001
_BISECTIONS = 60


def kinks(
    op: Op, rule: Rule | None, settings: Mapping[str, float], start: float, stop: float, g: float = 1.0
) -> list[float] | None:
    """The kinks of an op and a rule within ``[start, stop]``, ascending; None for too many to be shown.

    A catalogue entry declares its own. In an own formula each comparison, rounding, division, ``abs``
    … is watched over the range, and the place where it switches is found by bisection in float64.
    """
    parameters = values(op, rule, settings)
    try:
        found = set(_entry_kinks(op.kinks, op.parsed, op, parameters, start, stop, g))
        if rule and rule.parsed:
            found.update(_entry_kinks(rule.kinks, rule.parsed, op, parameters, start, stop, g))
    except TooManyKinksError:
        return None
    return sorted(found) if len(found) <= MOST_KINKS else None


def _entry_kinks(
    declared: tuple[Kink, ...] | None,
    formula: Formula,
    op: Op,
    parameters: Mapping[str, float],
    start: float,
    stop: float,
    g: float,
) -> list[float]:
    if declared is not None:
        return kink_points(declared, parameters, start, stop, MOST_KINKS)
    forward = op.parsed if "y" in formula.variables else None
    upstream = g if "g" in formula.variables else 1.0
    return list(_found(formula, forward, tuple(sorted(parameters.items())), start, stop, upstream))


@lru_cache(maxsize=256)
def _found(
    formula: Formula,
    forward: Formula | None,
    parameters: tuple[tuple[str, float], ...],
    start: float,
    stop: float,
    g: float,
) -> tuple[float, ...]:
    bound = dict(parameters)
    op = forward.bind(bound) if forward else None

    def on_curve(tree: Node) -> Curve:
        evaluate = Formula(tree).bind(bound)
        return lambda x: evaluate(x, op(x) if op else None, torch.full_like(x, g))

    places: set[float] = set()
    for tree in dict.fromkeys(_pieces(formula.tree)):
        places.update(_switches(on_curve(tree), start, stop))
    if not places:
        return ()
    candidates = torch.tensor(sorted(places), dtype=torch.float64)
    kept: list[float] = candidates[_bends(on_curve(formula.tree), candidates, stop - start)].tolist()
    return tuple(kept)


def _bends(curve: Curve, places: Tensor, width: float) -> Tensor:
    """Which places are kinks of the curve itself: its value or slope differs on the two sides.

    Seen from a hundredth of the distance a smooth change is a hundredth as large, that of a jump or
    corner is not; what is not a number counts as a kink.
    """
    far, near = (_changes(curve, places, step * width) for step in (1e-8, 1e-10))
    smooth: Tensor = (near < far / 2 + 1e-300).all(0)
    return ~smooth


def _changes(curve: Curve, places: Tensor, step: float) -> Tensor:
    """How much value and slope change from one side of each place to the other; (2, n), rounding left out."""
    sides = torch.stack([places - step, places, places + step]).requires_grad_()
    values = curve(sides)
    slopes = torch.zeros_like(sides)
    if values.requires_grad:
        (slopes,) = torch.autograd.grad(values.sum(), sides)
    values = values.detach()
    jump = torch.maximum((values[0] - values[1]).abs(), (values[2] - values[1]).abs())
    corner = (slopes[0] - slopes[2]).abs()
    rounding = 1e-11 * torch.stack([values.abs().amax(0), slopes.abs().amax(0)])
    changes = torch.stack([jump, corner])
    return torch.where(changes.isfinite() & (changes <= rounding), 0.0, changes)


def _pieces(tree: Node) -> Iterator[Node]:
    """Trees that are constant between kinks and change at them."""
    for node in walk(tree):
        if isinstance(node, Compare):
            for left, right in zip(node.operands, node.operands[1:], strict=False):
                yield _sign(Binary("-", left, right))
        elif isinstance(node, Binary) and node.operator == "/":
            yield _sign(node.right)
        elif isinstance(node, Binary) and node.operator == "**":
            yield _sign(node.left)
        elif isinstance(node, Call):
            for text in FUNCTIONS[node.function].pieces:
                template = parse(text, variables=(), parameters=("a", "b", "c")).tree
                arguments = dict(zip("abc", node.arguments, strict=False))
                yield substituted(template, {Name(name): argument for name, argument in arguments.items()})


def _sign(node: Node) -> Node:
    return Call("sign", (node,))


def _switches(value: Curve, start: float, stop: float) -> list[float]:
    """Where a piecewise constant function changes, snapped to short decimals that are as near.

    The scan goes a step beyond both ends, for what changes exactly there.
    """
    step = (stop - start) / _SCAN_POINTS
    x = torch.linspace(start - step, stop + step, _SCAN_POINTS, dtype=torch.float64)
    with torch.no_grad():
        at = _comparable(value(x))
        (cells,) = torch.nonzero(at[1:] != at[:-1], as_tuple=True)
        if not len(cells):
            return []
        if len(cells) > 2 * MOST_KINKS:
            raise TooManyKinksError(f"a piece of the formula changes {len(cells)} times")
        low, high, before = x[cells], x[cells + 1], at[cells]
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            stays = _comparable(value(middle)) == before
            low, high = torch.where(stays, middle, low), torch.where(stays, high, middle)
    places = {_snapped(place, stop - start) for place in high.tolist()}
    return sorted(place for place in places if start <= place <= stop)


def _comparable(values: Tensor) -> Tensor:
    """Values with one number for what is not a number, which would differ from itself."""
    return values.nan_to_num(nan=math.inf, posinf=math.inf, neginf=-math.inf)


def _snapped(place: float, width: float) -> float:
    short = float(f"{place:.9g}") if abs(place) > 1e-12 * width else 0.0
    return short + 0.0 if abs(short - place) <= 1e-12 * width else place + 0.0
