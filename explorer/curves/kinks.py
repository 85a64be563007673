"""Positions of kinks: declared in the catalogue, found numerically in an own formula or function."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
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
from explorer.formula import Formula
from explorer.formula.pieces import at_ends, degree, edge_pieces, pieces, turns
from explorer.formula.reference import even_points, fixed
from explorer.formula.tree import Call, Foreign, Node, children, names, walk

MOST_KINKS = 512  # all jumps of a format of eight bits; more could not be told apart in a picture
Curve = Callable[[Tensor], Tensor]
Floats = NDArray[np.float64]
_THROUGH = {"y", "g", "ya()", "f()", "fa()"}

SCAN_POINTS = 2001
_OFF = 0.137  # of a step: keeps a scan off the round numbers where kinks are
HALVINGS = 64  # from a step of the scan down to neighbouring floats


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
    own = {each.name: settings.get(each.name, each.default) for each in loss.parameters}
    parameters = own | values(op, rule, settings) | {UPSTREAM.name: g}
    formulas = [loss.parsed, loss.slope, *([rule.parsed] if rule and rule.parsed else [])]
    trees: dict[Node, None] = {}
    for piece in (piece for formula in formulas for piece in pieces(formula.tree)):
        if _THROUGH.intersection(names(piece)):
            trees |= dict.fromkeys(at_ends(in_draws(Formula(piece), op.parsed, loss)))
    found = _switching(trees, parameters, start, stop)
    return found and [x for x in found if not _is_near(x, known, 1e-6 * (stop - start))]


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
            found += _switches(Formula(tree).bind(parameters), start, stop, found)
    except TooManyKinksError:
        return None
    return _few({x for x in _apart(sorted(found), stop - start) if start <= x <= stop})


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
                turning += _switches(on_curve(tree), start, stop, positions + turning)
        changing = _switches(on_curve(piece), start, stop, positions + turning)
        touching = _zeros(on_curve(piece), turning) if piece == Call("sign", children(piece)) else []
        positions += touching + [x for x in changing if not _is_near(x, touching, 1e-6 * (stop - start))]
    for node in walk(formula.tree):
        if isinstance(node, Foreign):
            positions += _foreign_kinks(on_curve(node), start, stop, g)
    inside = [x for x in _apart(sorted(positions), stop - start) if start <= x <= stop]
    candidates = torch.tensor(inside, dtype=torch.float64)
    bending = _bends(on_curve(formula.tree), candidates, stop - start, torchs, g)
    bent: list[float] = candidates[bending].tolist()
    return tuple(bent)


def _foreign_kinks(curve: Curve, start: float, stop: float, g: float) -> list[float]:
    """The jumps of the values of a function that is no formula, and of what its backward returns for g.

    Raises TooManyKinksError as ``_switches``.
    """
    step = (stop - start) / SCAN_POINTS
    scan = even_points(start - step, stop + step, SCAN_POINTS) + _OFF * step
    zeros: list[float] = []
    for some in (_values(curve), lambda x: _slopes(curve, x, g)[1]):
        at = jumps(some, scan)[0]
        if len(at) > MOST_KINKS:
            raise TooManyKinksError(f"a function jumps {len(at)} times")
        zeros += at.tolist()
    return zeros


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


def _switches(value: Curve, start: float, stop: float, also: list[float]) -> list[float]:
    """The x at which a piecewise constant function changes, snapped to short decimals that are as near.

    The scan goes a step beyond both ends, for what changes exactly there, and over ``also``. A cell
    that changes is halved, and both halves are kept where both change: many jumps in one are all found.
    """
    step = (stop - start) / SCAN_POINTS
    even = even_points(start - step, stop + step, SCAN_POINTS).numpy()
    x = np.sort(np.concatenate([even, also])) if also else even
    at = _comparable(value, x)
    changes = np.flatnonzero(at[1:] != at[:-1])
    cells = np.array([x[changes], x[changes + 1], at[changes], at[changes + 1]])
    halvings = HALVINGS
    while halvings:
        cells = cells[:, cells[2] != cells[3]]
        count = cells.shape[1]
        if not count:
            return []
        if count > 4 * MOST_KINKS:
            raise TooManyKinksError(f"a piece of the formula changes {count} times")
        if (np.nextafter(cells[0], cells[1]) == cells[1]).all():
            break
        # Several at once while they stay few: what takes long are the calls, not how many x they are for.
        at_once = min(halvings, 4 if 16 * count <= 4 * MOST_KINKS else 2 if count <= MOST_KINKS else 1)
        cells = _halved(value, cells, at_once)
        halvings -= at_once
    return _apart(sorted(cells[1, cells[2] != cells[3]].tolist()), stop - start)


def _halved(value: Curve, cells: Floats, times: int) -> Floats:
    """Cells halved so often, those left whose ends and those of all they are part of differ; (4, n) each."""
    x = cells[:2]
    for _ in range(times):
        middles, both = (x[:-1] + x[1:]) / 2, np.empty((2 * len(x) - 1, x.shape[1]))
        both[::2], both[1::2] = x, middles
        x = both
    inner = _comparable(value, x[1:-1].ravel()).reshape(x[1:-1].shape)
    at = np.concatenate([cells[2:3], inner, cells[3:]])
    changes = at[:-1] != at[1:]
    for size in (2**level for level in range(1, times + 1)):
        changes &= np.repeat(at[:-1:size] != at[size::size], size, axis=0)
    return np.array([x[:-1][changes], x[1:][changes], at[:-1][changes], at[1:][changes]])


def _zeros(value: Curve, x: list[float]) -> list[float]:
    """The x at which a sign is 0: its zero, which rounding may have made a stretch."""
    at = torch.tensor(x, dtype=torch.float64)
    zeros: list[float] = at[value(at) == 0].tolist()
    return zeros


def _is_near(x: float, positions: Sequence[float], distance: float) -> bool:
    return any(abs(x - other) <= distance for other in positions)


def _comparable(value: Curve, x: Floats) -> Floats:
    """Values with infinity for NaN, which would differ from itself; (n,) float64."""
    with torch.no_grad():
        y = value(torch.from_numpy(x))
        return y.nan_to_num(nan=math.inf, posinf=math.inf, neginf=-math.inf).numpy()


def _apart(positions: list[float], width: float) -> list[float]:
    """Each x once, though ``sign`` changes both at its zero and right after it; as short decimals."""
    apart: list[float] = []
    for x in positions:
        near = max(1e-14 * width, 8 * math.ulp(x))
        if not apart or x - apart[-1] > near:
            short = float(f"{x:.7g}") if abs(x) > near else 0.0
            apart.append((short if abs(short - x) <= near else x) + 0.0)
    return apart


def jumps(curve: Curve, scan: Tensor) -> tuple[Tensor, Tensor]:
    """Positions and heights of a function's jumps: the differences in cells of a scan that survive halving.

    Neither the end of a domain nor a pole is a jump.
    """
    values = curve(scan)
    cells = torch.stack([scan[:-1], scan[1:], values[:-1], values[1:]])
    started = (cells[3] - cells[2]).abs()
    keep = started.isfinite() & (started > 1e-10)
    cells, started = cells[:, keep], started[keep]
    for turn in range(HALVINGS):
        low, high, before, after = cells
        middle = (low + high) / 2
        divisible = (middle > low) & (middle < high)
        if not divisible.any():
            break
        between = curve(middle)
        left = (between - before).abs() >= (after - between).abs()
        halves = torch.stack([low, middle, before, between]), torch.stack([middle, high, between, after])
        cells = torch.where(divisible, torch.where(left, *halves), cells)
        change = (cells[3] - cells[2]).abs()
        keep = change.isfinite() & (change < 4 * started)
        if turn >= 5:  # what is smooth has shrunk to a thirtieth by now
            keep &= change > 0.05 * started
        cells, started = cells[:, keep], started[keep]
    return cells[1], cells[3] - cells[2]
