"""Make claims about a single curve: that of the op, or that of a backward rule."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from explorer.curves.sampled import EVEN, FORWARD, KINK, NEIGHBOUR, Floats, SampledCurves
from explorer.description.claims.claim import MAX_PIECES, Claim, Span
from explorer.description.claims.pieces import Curve, Piece, measure_zero_share

_ROUNDING = 1e-15  # relative difference of values that are equal up to rounding
_CANCELLATION = 1e-13  # relative error of x after subtracting x from itself


def make_forward_claims(curves: SampledCurves, limit: float) -> list[Claim]:
    """Return claims on where an op's curve is flat, not finite, or larger than ``limit``."""
    if curves.kinks[FORWARD] is None:
        return [Claim("many", (FORWARD,), exact=curves.op.kinks is not None)]
    curve = Curve(replace(curves, y=_flatten_rounding(curves)), FORWARD)
    if curve.is_known:
        widths = [piece.width for piece in curve.pieces if np.isfinite(piece.level)]
        share = 1.0 if len(widths) == len(curve.pieces) else float(sum(widths) / curve.width)
    else:
        share = curve.measure_share((curve.y[1:] == curve.y[:-1]) & np.isfinite(curve.y[1:]))
    flatness = Claim("flat", (FORWARD,), (share,), exact=curve.is_known)
    if share == 1 and (curve.y == curve.y[0]).all():
        span = (curve.pieces[0].start, curve.pieces[-1].stop)
        flatness = Claim("level", (FORWARD,), (float(curve.y[0]),), (span,), curve.is_known)
    missing = _list_missing(curve, limit)
    return [flatness, *missing, *(_list_points(curve) if _is_all_missing(missing) else [])]


def _flatten_rounding(curves: SampledCurves) -> Floats:
    x, y = np.abs(curves.x), curves.y
    with np.errstate(invalid="ignore", over="ignore"):
        steps = np.abs(np.diff(y))
        is_level = steps <= _ROUNDING * np.abs(y[:-1])
        small = steps <= _CANCELLATION * np.maximum(x[1:], x[:-1])
    if (small & ~is_level).any():  # for small values, autograd's gradient decides whether they are 0
        flat = curves.mask_flat()
        is_level |= small & flat[1:] & flat[:-1]
    is_level &= np.isfinite(y[1:]) & np.isfinite(y[:-1])
    return y[np.maximum.accumulate(np.where(np.append(True, ~is_level), np.arange(len(y)), 0))]


def make_gradient_claims(curves: SampledCurves, key: str, limit: float) -> list[Claim]:
    """Return claims about the values of a rule's gradient and the intervals on which it has them.

    The first claim that is not a fraction of the range is the most important. ``limit`` is the largest number
    of the plotted dtype.
    """
    if curves.kinks[key] is None:
        declared = curves.op.kinks is not None and all(rule.kinks is not None for rule in curves.rules)
        return [Claim("many", (key,), exact=declared and curves.g != 0)]
    curve = Curve(curves, key)
    missing = _list_missing(curve, limit)
    if _is_all_missing(missing):
        return [*missing, *_list_points(curve)]
    poles = _find_poles(curve)
    if poles:
        return [*missing, Claim("unbounded", (key,), poles)]
    if all(piece.is_known and not np.isinf(piece.level) for piece in curve.pieces):
        levels = _list_levels(curve)
        if levels:
            return missing + levels
    return missing + _make_range(curve)


def _list_missing(curve: Curve, limit: float) -> list[Claim]:
    finite = np.isfinite(curve.y)
    large = finite & (np.abs(np.where(finite, curve.y, 0)) > limit)
    at_kinks = all(curve.is_narrow(gap) or _is_between_kinks(curve, gap) for gap in curve.gaps)
    exact = at_kinks and (curve.degree < np.inf or curve.curves.declared[curve.key])
    shares = (
        ("undefined", curve.weigh_cells(curve.missing), exact),
        ("overflow", curve.mask_cells(large), False),
    )
    claims = [
        Claim(kind, (curve.key,), (share,), exact=is_exact)
        for kind, cells, is_exact in shares
        if (share := curve.measure_share(cells))
    ]
    for kind, holds in (("infinite", np.isinf), ("nowhere", np.isnan)):
        at = tuple(float(curve.x[point]) for point in curve.hole_indices if holds(curve.y[point]))
        claims += [Claim(kind, (curve.key,), at)] if at else []
    return claims


def _is_all_missing(claims: Iterable[Claim]) -> bool:
    return any(claim.kind == "undefined" and claim.numbers == (1.0,) for claim in claims)


def _is_between_kinks(curve: Curve, gap: slice) -> bool:
    marks = curve.curves.marks
    begins = gap.start == 0 or marks[gap.start] != EVEN
    return bool(begins and (gap.stop == len(marks) or marks[gap.stop - 1] != EVEN))


def _list_points(curve: Curve) -> list[Claim]:
    indices = np.flatnonzero(np.isfinite(curve.y) & (curve.curves.marks != NEIGHBOUR))
    return [Claim("point", (curve.key,), (float(curve.y[i]), float(curve.x[i]))) for i in indices]


def _find_poles(curve: Curve) -> tuple[float, ...]:
    if curve.degree < np.inf:
        return ()
    sides = [(kink, steps) for kink in curve.kinks for steps in _list_approaches(curve, kink)]
    if not sides:
        return ()
    values = np.abs(curve.curves.evaluate(curve.key, np.concatenate([kink + steps for kink, steps in sides])))
    kinks = []
    for kink, steps in sides:
        if _is_growing(values[: len(steps)]):
            kinks.append(kink)
        values = values[len(steps) :]
    return tuple(dict.fromkeys(kinks))


def _list_approaches(curve: Curve, kink: float) -> Iterator[Floats]:
    """Yield for both sides of a kink an array of signed distances from it, each a tenth of the one before.

    The distances stay within the adjacent piece. A side on which the curve is not finite gets none.
    """
    for piece in curve.pieces:
        if kink in (piece.start, piece.stop):
            nearest = piece.values[:1] if kink == piece.start else piece.values[-1:]
            steps = piece.width * 10.0 ** -np.arange(1, 61)
            steps = steps[(steps > 1e4 * np.spacing(abs(kink))) & np.isfinite(nearest).all()]
            yield steps if kink == piece.start else -steps


def _is_growing(sizes: Floats) -> bool:
    """Return whether values grow without bound as the distance from a kink shrinks.

    A logarithm, the slowest growth, rises by equal steps whenever the distance shrinks to a tenth. A curve
    with a limit rises by decreasing steps.
    """
    finite = np.isfinite(sizes)
    count = len(sizes) if finite.all() else int(np.argmin(finite))
    steps = np.diff(sizes[:count])[-4:]
    if len(steps) and count < len(sizes) and np.isinf(sizes[count]):
        return bool(steps[-1] > 0 and (steps[-1] > 0.99 * steps[:-1]).all())
    if len(steps) < 3 or steps.min() <= 0 or steps[-1] <= 1e-6 * sizes[count - 1]:
        return False
    return bool((steps[1:] > 0.99 * steps[:-1]).all())


def _list_levels(curve: Curve) -> list[Claim]:
    """Return claims about the values of a piecewise constant curve; [] if it has many, or is not constant."""
    spans: dict[float, list[Span]] = {}
    for before, piece in zip([None, *curve.pieces], curve.pieces, strict=False):
        if np.isnan(piece.level):
            continue  # missing values have a claim of their own
        intervals = spans.setdefault(piece.level, [])
        start = intervals.pop()[0] if before and before.level == piece.level else piece.start
        intervals.append((start, piece.stop))
    if len(spans) > MAX_PIECES:
        return []
    about, points = (curve.key,), _find_special_kinks(curve)
    named = [level for level in spans if level or len(spans) != 2]  # of two levels, 0 is called "elsewhere"
    if all(len(spans[level]) <= MAX_PIECES for level in named):
        return [Claim("level", about, (level,), tuple(where)) for level, where in spans.items()] + points
    summary = Claim("among", about, tuple(spans))
    if len(named) == len(spans):
        return [summary, *points]
    width = sum(stop - start for start, stop in spans[named[0]]) / curve.width
    return [summary, Claim("part", about, (named[0], width)), *points]


def _find_special_kinks(curve: Curve) -> list[Claim]:
    claims = []
    for kink in curve.kinks:
        value = float(curve.y[np.searchsorted(curve.x, kink)])
        sides = [piece.level for piece in curve.pieces if kink in (piece.start, piece.stop)]
        if np.isfinite(value) and value not in sides:
            claims.append(Claim("point", (curve.key,), (value, float(kink))))
    return claims


def _is_within(piece: Piece, y: Floats) -> bool:
    x, values = piece.x[[0, -1]], piece.values[[0, -1]]
    with np.errstate(invalid="ignore", over="ignore"):
        slope = (values[1] - values[0]) / (x[1] - x[0]) if x[1] > x[0] else 0.0
        ends = values + slope * (np.array([piece.start, piece.stop]) - x)
        slack = 1e-6 * np.abs(y).max()
        return not (y.min() - slack > ends.min() or ends.max() > y.max() + slack)


def _make_range(curve: Curve) -> list[Claim]:
    finite = np.isfinite(curve.y)
    x, y, marks = curve.x[finite], curve.y[finite], curve.curves.marks[finite]
    exact = curve.degree <= 1 and all(piece.is_known and _is_within(piece, y) for piece in curve.pieces)
    farthest = np.abs(y) >= np.abs(y).max() * (1 - 1e-12)
    at = int(np.argmax(2 * (farthest & (marks == KINK)) + farthest))  # prefers a kink to its neighbours
    kinks, near = curve.x[curve.curves.marks == KINK], x[at]
    if marks[at] == NEIGHBOUR:
        near = kinks[np.argmin(np.abs(kinks - near))]
    claims = [Claim("range", (curve.key,), (float(y.min()), float(y.max()), float(near)), exact=exact)]
    share, is_exact = measure_zero_share(curve)
    if 0.02 < share < 1:
        claims.append(Claim("part", (curve.key,), (0.0, share), exact=is_exact))
    return claims
