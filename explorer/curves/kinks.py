"""Positions of kinks: declared in the catalogue, found numerically in an own formula or function."""

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache

import torch
from torch import Tensor

from explorer.catalogue import (
    UPSTREAM,
    Loss,
    Op,
    Rule,
    TooManyKinksError,
    beside,
    contribution,
    in_draws,
    kink_points,
    values,
)
from explorer.curves.switches import (
    MOST_KINKS,
    SCAN_POINTS,
    Curve,
    apart,
    is_near,
    jumps,
    switches,
    zeros,
)
from explorer.formula import Formula
from explorer.formula.pieces import at_ends, degree, edge_pieces, pieces, turns
from explorer.formula.reference import even_points, fixed
from explorer.formula.tree import Call, Foreign, Node, children, names, walk

_THROUGH = {"y", "g", "ya()", "f()", "fa()"}
_OFF = 0.137  # of a step: keeps a scan off the round numbers where kinks are


def kinks(
    op: Op,
    rule: Rule | None,
    settings: Mapping[str, float],
    start: float,
    stop: float,
    g: float = 1.0,
    *,
    over: tuple[float, float] | None = None,
) -> list[float] | None:
    """The kinks of an op and a rule within ``[start, stop]``, ascending; None for too many to be shown.

    A catalogue entry declares its own. A function that is no formula is searched for jumps of its values and
    of its backward. In an own formula each comparison, rounding, division, ``abs``
    … is watched over the range, and the x where it switches is found by halving in float64. A rule
    without y does not jump where its op does: too many kinks of the op are none of the rule's. Torch's
    own gradient has a kink too where it is another at one x than on both sides of it. A mean is over the
    range, or ``over`` another one.
    """
    parameters, rule = values(op, rule, settings), rule and beside(op, rule)
    torchs = rule is not None and rule.parsed is None
    forward = _entry_kinks(op, op, parameters, start, stop, g, torchs, over)
    if rule is None or rule.parsed is None:
        flat = torchs and degree(op.parsed.tree) == 0  # torch's gradient is 0, jumps or not
        return [] if forward is None and flat else forward
    own = _entry_kinks(rule, op, parameters, start, stop, g, over=over)
    if forward is None and "y" not in rule.parsed.variables:
        forward = []
    return None if forward is None or own is None else _few({*forward, *own})


def through_kinks(
    op: Op,
    rule: Rule | None,
    loss: Loss,
    settings: Mapping[str, float],
    start: float,
    stop: float,
    g: float,
    known: Sequence[float],
) -> list[float] | None:
    """The x but those ``known`` where a rule or the loss switches with y, g or f at an end of what is drawn.

    Its mean may have a kink there: that of ``abs(y - 1)`` where the largest y passes 1. None for too many.
    """
    parameters = loss.values(settings) | values(op, rule, settings) | {UPSTREAM.name: g}
    formulas = [loss.parsed, loss.slope, *([rule.parsed] if rule and rule.parsed else [])]
    trees: dict[Node, None] = {}
    for piece in (piece for formula in formulas for piece in pieces(formula.tree)):
        if _THROUGH.intersection(names(piece)):
            trees |= dict.fromkeys(at_ends(in_draws(Formula(piece), op.parsed, loss)))
    found = _switching(trees, parameters, start, stop)
    return found and [x for x in found if not is_near(x, known, 1e-6 * (stop - start))]


def part_kinks(
    op: Op,
    rule: Rule,
    name: str,
    settings: Mapping[str, float],
    start: float,
    stop: float,
    g: float = 1.0,
) -> list[float] | None:
    """The kinks in x of the contribution of one element to the gradient for a parameter; else as ``kinks``.

    They are the op's, the rule's where the contribution depends on it, and those of a contribution's own
    formula for which the rule declares none. Raises ValueError where the parameter cannot learn by the rule.
    """
    contributed = contribution(op, rule, name)
    parts = [kinks(op, None, settings, start, stop, g)]
    if contributed.origin != "torch":
        parts.append(kinks(op, rule, settings, start, stop, g))
    if contributed.origin == "rule" and rule.kinks is None:
        parts.append(_searched(contributed.formula, op, values(op, rule, settings), start, stop, g))
    known = [part for part in parts if part is not None]
    return _few({x for part in known for x in part}) if len(known) == len(parts) else None


def _few(positions: set[float]) -> list[float] | None:
    return sorted(positions) if len(positions) <= MOST_KINKS else None


def _entry_kinks(
    entry: Op | Rule,
    op: Op,
    parameters: Mapping[str, float],
    start: float,
    stop: float,
    g: float,
    torchs: bool = False,
    over: tuple[float, float] | None = None,
) -> list[float] | None:
    try:
        if entry.kinks is not None:
            return _few(set(kink_points(entry.kinks, parameters, start, stop, MOST_KINKS)))
    except TooManyKinksError:
        return None
    assert entry.parsed  # torch's own gradient declares that it has none of its own
    if entry.draws or op.draws:
        return _edges(entry.parsed, parameters, start, stop)
    return _searched(entry.parsed, op, parameters, start, stop, g, torchs, over)


def _edges(
    formula: Formula, parameters: Mapping[str, float], start: float, stop: float
) -> list[float] | None:
    """The x where the mean of a formula that draws may have a kink; they need not bend it."""
    return _switching(dict.fromkeys(edge_pieces(formula.tree)), parameters, start, stop)


def _switching(
    trees: Iterable[Node], parameters: Mapping[str, float], start: float, stop: float
) -> list[float] | None:
    """The x where one of some trees, each constant between them, changes; None for too many."""
    found: list[float] = []
    try:
        for tree in trees:
            found += switches(Formula(tree).bind(parameters), start, stop, found)
    except TooManyKinksError:
        return None
    return _few({x for x in apart(sorted(found), stop - start) if start <= x <= stop})


def _searched(
    formula: Formula,
    op: Op,
    parameters: Mapping[str, float],
    start: float,
    stop: float,
    g: float,
    torchs: bool = False,
    over: tuple[float, float] | None = None,
) -> list[float] | None:
    span = over or (start, stop)
    settled, bound = fixed(formula, op.parsed, parameters, *span, g)
    forward, means = fixed(op.parsed, op.parsed, parameters, *span, g)
    foreign = torchs and any(isinstance(node, Foreign) for node in walk(settled.tree))
    upstream = g if foreign or "g" in settled.variables else 1.0  # its backward may do anything with g
    through = forward if "y" in settled.variables else None
    values_of = tuple(sorted({**bound, **means}.items()))
    try:
        return _few(set(_positions(settled, through, values_of, start, stop, upstream, torchs)))
    except TooManyKinksError:
        return None


@lru_cache(maxsize=256)
def _positions(
    formula: Formula,
    forward: Formula | None,
    parameters: tuple[tuple[str, float], ...],
    start: float,
    stop: float,
    g: float,
    torchs: bool,
) -> tuple[float, ...]:
    bound = dict(parameters)
    op = forward.bind(bound) if forward else None

    def on_curve(tree: Node) -> Curve:
        evaluate = Formula(tree).bind(bound)
        return lambda x: evaluate(x, op(x) if op else None, torch.full_like(x, g))

    positions: list[float] = []
    # Inner pieces first: where an outer one changes twice in a cell of the scan, an inner one turns between.
    for piece in reversed(dict.fromkeys(pieces(formula.tree))):
        turning: list[float] = []
        for tree in turns(piece) or ():
            with suppress(TooManyKinksError):
                turning += switches(on_curve(tree), start, stop, positions + turning)
        changing = switches(on_curve(piece), start, stop, positions + turning)
        touching = zeros(on_curve(piece), turning) if piece == Call("sign", children(piece)) else []
        positions += touching + [x for x in changing if not is_near(x, touching, 1e-6 * (stop - start))]
    for node in walk(formula.tree):
        if isinstance(node, Foreign):
            positions += _foreign_kinks(on_curve(node), start, stop, g)
    inside = [x for x in apart(sorted(positions), stop - start) if start <= x <= stop]
    candidates = torch.tensor(inside, dtype=torch.float64)
    bending = _bends(on_curve(formula.tree), candidates, stop - start, torchs, g)
    bent: list[float] = candidates[bending].tolist()
    return tuple(bent)


def _foreign_kinks(curve: Curve, start: float, stop: float, g: float) -> list[float]:
    """The jumps of the values of a function that is no formula, and of what its backward returns for g.

    Raises TooManyKinksError as ``switches``.
    """
    step = (stop - start) / SCAN_POINTS
    scan = even_points(start - step, stop + step, SCAN_POINTS) + _OFF * step
    found: list[float] = []
    for some in (_values(curve), lambda x: _slopes(curve, x, g)[1]):
        at = jumps(some, scan)[0]
        if len(at) > MOST_KINKS:
            raise TooManyKinksError(f"a function jumps {len(at)} times")
        found += at.tolist()
    return found


def _values(curve: Curve) -> Curve:
    def values(x: Tensor) -> Tensor:
        with torch.no_grad():
            return curve(x)

    return values


def _slopes(curve: Curve, x: Tensor, g: float) -> tuple[Tensor, Tensor]:
    """Values at x, and what autograd returns there for g; 0 where it sees no path."""
    leaf = x.detach().requires_grad_()
    values = curve(leaf)
    slopes = torch.zeros_like(leaf)
    if values.requires_grad:
        (slopes,) = torch.autograd.grad(values, leaf, torch.full_like(values, g))
    return values.detach(), slopes.detach()


def _bends(curve: Curve, x: Tensor, width: float, torchs: bool, g: float) -> Tensor:
    """Mask of the x that are kinks of the curve itself: with a value, between sides of other value or slope.

    Seen from a hundredth of the distance a smooth change is a hundredth as large, that of a jump or corner
    is not; where values begin or end, or the slope grows on and on, is a kink as well. x: (n,) ascending.
    """
    if not len(x):
        return torch.zeros(0, dtype=torch.bool)
    unit = 32 * torch.nextafter(x.abs(), torch.tensor(math.inf, dtype=x.dtype)) - 32 * x.abs()
    gaps = torch.cat([x.diff(), torch.tensor([width])])
    space = torch.minimum(gaps, gaps.roll(1)) / 300  # the farther look stays on this side of the neighbours
    step = torch.maximum(unit, space.clamp(max=1e-10 * width))
    (far, steep_far, _), (near, steep, valued) = (
        _changes(curve, x, step * factor, torchs, g) for factor in (100, 1)
    )
    smooth: Tensor = (near < far / 2 + 1e-300).all(0) & (steep <= 1.05 * steep_far + 1e-300)
    return ~smooth & valued


def _changes(curve: Curve, x: Tensor, step: Tensor, torchs: bool, g: float) -> tuple[Tensor, Tensor, Tensor]:
    """The changes of value and slope across each x, without rounding, (2, n); the steepness there, (n,).

    The third is whether the curve has a value at x or beside it; (n,) bool.
    """
    values, slopes = _slopes(curve, torch.stack([x - step, x, x + step]), g)
    jump = torch.maximum((values[0] - values[1]).abs(), (values[2] - values[1]).abs())
    corner = (slopes[0] - slopes[2]).abs()
    if torchs:
        corner = torch.maximum(corner, (slopes[1] - slopes[0]).abs())
    rounding = 1e-11 * torch.stack([values.abs().amax(0), slopes.abs().amax(0)])
    changes = torch.stack([jump, corner])
    changes = torch.where(changes.isfinite() & (changes <= rounding), 0.0, changes)
    return changes, slopes[::2].abs().amax(0), ~values.isnan().all(0)
