"""Claims about one curve: that of the op, or that of a rule."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from explorer.curves.sampled import EVEN, FORWARD, KINK, NEIGHBOUR, Floats, SampledCurves
from explorer.description.claims.claim import MOST_PIECES, Claim, Span
from explorer.description.claims.pieces import Curve, Piece, zero_share

_ROUNDING = 1e-15  # by which values that are equal may differ
_CANCELLED = 1e-13  # and what is left of x where it was taken from itself


def forward_claims(curves: SampledCurves, limit: float) -> list[Claim]:
    """Claims on the op where it is flat, not finite, or beyond ``limit``. The curves are in float64."""
    if curves.kinks[FORWARD] is None:
        return [Claim("many", (FORWARD,), exact=curves.op.kinks is not None)]
    curve = Curve(replace(curves, y=_settled(curves)), FORWARD)
    flat = [piece for piece in curve.pieces if np.isfinite(piece.level)]
    share = curve.part(flat) if curve.known else curve.share(curve.still())
    flatness = Claim("flat", (FORWARD,), (share,), exact=curve.known)
    if share == 1 and (curve.y == curve.y[0]).all():
        whole = (curve.pieces[0].start, curve.pieces[-1].stop)
        flatness = Claim("level", (FORWARD,), (float(curve.y[0]),), (whole,), curve.known)
    missing = _missing(curve, limit)
    return [flatness, *missing, *(_alone(curve) if _is_missing(missing) else [])]


def _settled(curves: SampledCurves) -> Floats:
    """Forward values, all of a flat part the same, though rounding may have set them apart; (n,)."""
    x, y = np.abs(curves.x), curves.y
    with np.errstate(invalid="ignore", over="ignore"):
        steps = np.abs(np.diff(y))
        still = steps <= _ROUNDING * np.abs(y[:-1])
        small = steps <= _CANCELLED * np.maximum(x[1:], x[:-1])
    if (small & ~still).any():  # torch's own gradient tells
        flat = curves.mask_flat()
        still |= small & flat[1:] & flat[:-1]
    still &= np.isfinite(y[1:]) & np.isfinite(y[:-1])
    begins = np.append(True, ~still)
    return y[np.maximum.accumulate(np.where(begins, np.arange(len(y)), 0))]


def gradient_claims(curves: SampledCurves, key: str, limit: float) -> list[Claim]:
    """Claims on the values of a rule and their spans; the first that is no share says most."""
    if curves.kinks[key] is None:
        declared = curves.op.kinks is not None and all(rule.kinks is not None for rule in curves.rules)
        return [Claim("many", (key,), exact=declared and curves.g != 0)]
    curve = Curve(curves, key)
    missing = _missing(curve, limit)
    if _is_missing(missing):
        return [*missing, *_alone(curve)]
    poles = _poles(curve)
    if poles:
        return [*missing, Claim("unbounded", (key,), poles)]
    if all(piece.known and not np.isinf(piece.level) for piece in curve.pieces):
        levels = _levels(curve)
        if levels:
            return missing + levels
    return missing + _range(curve)


def _missing(curve: Curve, limit: float) -> list[Claim]:
    """The shares of the range on which there is no finite value, or one too large; the x without."""
    finite = np.isfinite(curve.y)
    large = finite & (np.abs(np.where(finite, curve.y, 0)) > limit)
    at_kinks = all(curve.is_narrow(gap) or _ends_at_kinks(curve, gap) for gap in curve.gaps)
    exact = at_kinks and (curve.degree < np.inf or curve.curves.declared[curve.key])
    shares = (("undefined", curve.mostly(curve.missing), exact), ("overflow", curve.both(large), False))
    claims = [
        Claim(kind, (curve.key,), (share,), exact=known)
        for kind, cells, known in shares
        if (share := curve.share(cells))
    ]
    for kind, holds in (("infinite", np.isinf), ("nowhere", np.isnan)):
        at = tuple(float(curve.x[point]) for point in curve.hollow if holds(curve.y[point]))
        claims += [Claim(kind, (curve.key,), at)] if at else []
    return claims


def _is_missing(claims: Iterable[Claim]) -> bool:
    """Whether a curve has values at single x at most."""
    return any(claim.kind == "undefined" and claim.numbers == (1.0,) for claim in claims)


def _ends_at_kinks(curve: Curve, gap: slice) -> bool:
    """Whether a stretch without values begins and ends at a kink, or where the range does."""
    marks = curve.curves.marks
    begins = gap.start == 0 or marks[gap.start] != EVEN
    return bool(begins and (gap.stop == len(marks) or marks[gap.stop - 1] != EVEN))


def _alone(curve: Curve) -> list[Claim]:
    """The single x at which there is a value, in the midst of those at which there is none."""
    alone = np.flatnonzero(np.isfinite(curve.y) & (curve.curves.marks != NEIGHBOUR))
    return [Claim("point", (curve.key,), (float(curve.y[i]), float(curve.x[i]))) for i in alone]


def _poles(curve: Curve) -> tuple[float, ...]:
    """The kinks beside which a curve grows beyond all bounds, as far as float64 can follow."""
    if curve.degree < np.inf:
        return ()
    sides = [(kink, steps) for kink in curve.kinks for steps in _approaches(curve, kink)]
    if not sides:
        return ()
    values = np.abs(curve.curves.evaluate(curve.key, np.concatenate([kink + steps for kink, steps in sides])))
    kinks = []
    for kink, steps in sides:
        if _grows(values[: len(steps)]):
            kinks.append(kink)
        values = values[len(steps) :]
    return tuple(dict.fromkeys(kinks))


def _approaches(curve: Curve, kink: float) -> Iterator[Floats]:
    """From both sides ever smaller steps from a kink, each a tenth of the one before, within its piece.

    None from a side on which a stretch without values comes first.
    """
    for piece in curve.pieces:
        if kink in (piece.start, piece.stop):
            nearest = piece.values[:1] if kink == piece.start else piece.values[-1:]
            steps = piece.width * 10.0 ** -np.arange(1, 61)
            steps = steps[(steps > 1e4 * np.spacing(abs(kink))) & np.isfinite(nearest).all()]
            yield steps if kink == piece.start else -steps


def _grows(sizes: Floats) -> bool:
    """Whether sizes, ever nearer to a kink, grow without end: like a power, or at least like a logarithm.

    A logarithm grows by as much with each tenth of the distance, what has a limit by less and less.
    """
    finite = np.isfinite(sizes)
    count = len(sizes) if finite.all() else int(np.argmin(finite))
    steps = np.diff(sizes[:count])[-4:]
    if len(steps) and count < len(sizes) and np.isinf(sizes[count]):
        return bool(steps[-1] > 0 and (steps[-1] > 0.99 * steps[:-1]).all())
    if len(steps) < 3 or steps.min() <= 0 or steps[-1] <= 1e-6 * sizes[count - 1]:
        return False
    return bool((steps[1:] > 0.99 * steps[:-1]).all())


def _levels(curve: Curve) -> list[Claim]:
    """A curve of few values: where each of them holds; empty for one of many values."""
    spans: dict[float, list[Span]] = {}
    for before, piece in zip([None, *curve.pieces], curve.pieces, strict=False):
        if np.isnan(piece.level):
            continue  # no value is claimed as missing
        own = spans.setdefault(piece.level, [])
        start = own.pop()[0] if before and before.level == piece.level else piece.start
        own.append((start, piece.stop))
    if len(spans) > MOST_PIECES:
        return []
    about, points = (curve.key,), _points(curve)
    named = [level for level in spans if level or len(spans) != 2]  # of two, 0 is what holds elsewhere
    if all(len(spans[level]) <= MOST_PIECES for level in named):
        return [Claim("level", about, (level,), tuple(where)) for level, where in spans.items()] + points
    among = Claim("among", about, tuple(spans))
    if len(named) == len(spans):
        return [among, *points]
    width = sum(stop - start for start, stop in spans[named[0]]) / curve.width
    return [among, Claim("part", about, (named[0], width)), *points]


def _points(curve: Curve) -> list[Claim]:
    """The kinks at which a curve has a value of its own, that of neither side."""
    claims = []
    for kink in curve.kinks:
        value = float(curve.y[np.searchsorted(curve.x, kink)])
        sides = [piece.level for piece in curve.pieces if kink in (piece.start, piece.stop)]
        if np.isfinite(value) and value not in sides:
            claims.append(Claim("point", (curve.key,), (value, float(kink))))
    return claims


def _is_within(piece: Piece, y: Floats) -> bool:
    """Whether a straight piece goes no further than ``y``: what lies beside a kink at 0 may be too small."""
    x, values = piece.x[[0, -1]], piece.values[[0, -1]]
    with np.errstate(invalid="ignore", over="ignore"):
        slope = (values[1] - values[0]) / (x[1] - x[0]) if x[1] > x[0] else 0.0
        ends = values + slope * (np.array([piece.start, piece.stop]) - x)
        slack = 1e-6 * np.abs(y).max()
        return not (y.min() - slack > ends.min() or ends.max() > y.max() + slack)


def _range(curve: Curve) -> list[Claim]:
    finite = np.isfinite(curve.y)
    x, y, marks = curve.x[finite], curve.y[finite], curve.curves.marks[finite]
    exact = curve.degree <= 1 and all(piece.known and _is_within(piece, y) for piece in curve.pieces)
    farthest = np.abs(y) >= np.abs(y).max() * (1 - 1e-12)
    at = int(np.argmax(2 * (farthest & (marks == KINK)) + farthest))  # a kink rather than what is beside
    near = _kink_beside(curve.curves, x[at]) if marks[at] == NEIGHBOUR else x[at]
    claims = [Claim("range", (curve.key,), (float(y.min()), float(y.max()), float(near)), exact=exact)]
    share, known = zero_share(curve)
    return [*claims, Claim("part", (curve.key,), (0.0, share), exact=known)] if 0.02 < share < 1 else claims


def _kink_beside(curves: SampledCurves, x: float) -> float:
    kinks = curves.x[curves.marks == KINK]
    return float(kinks[np.argmin(np.abs(kinks - x))])
