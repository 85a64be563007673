"""What is so about curves: statements that can be checked, from which the sentences are rendered.

What holds for every x is known from a curve's kinks and from the degree of its polynomials between
them; what else there is to say is said of the drawn points alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np

from explorer.curves import BESIDE, EVEN, FORWARD, KINK, Curves, Floats, Mask

_ROUNDING = 1e-15  # by which values that are equal may differ
_CANCELLED = 1e-13  # and what is left of x where it was taken from itself
MOST_PIECES = 4  # more levels, spans or x than this are summed up instead of listed
Span = tuple[float, float]


@dataclass(frozen=True)
class Claim:
    """One statement about the curves of the keys ``about``.

    What ``kind`` says, by its ``numbers``: "level": the curve has this value on the spans, open intervals
    of x. "point": it has this value at this x. "among": it has no other values, single x left out.
    "part": it has this value on this share of the range. "range": it lies between the first two and
    is farthest from 0 at the third, an x. "undefined", "overflow", "flat": it is not finite, too large
    for the dtype, constant on this share of the range. "unbounded": it grows beyond all bounds near
    these x. "many": it has too many kinks to be shown, or may
    have where that is not exact. "alike": the curves do not differ at this g.
    "apart": two curves differ at these x only. "different": so many curves are so many different ones,
    and these are no two the same.

    ``exact``: whether it holds for every x of the range, or was seen on the drawn points alone.
    """

    kind: str
    about: tuple[str, ...]
    numbers: tuple[float, ...] = ()
    spans: tuple[Span, ...] = ()
    exact: bool = True


@dataclass(frozen=True)
class _Piece:
    """What a curve does between two neighbouring kinks: ordinary points and its values there."""

    start: float
    stop: float
    x: Floats
    values: Floats
    degree: float

    @property
    def known(self) -> bool:
        """Whether there are enough points for what they show to hold for all between."""
        return len(self.values) > self.degree

    @property
    def level(self) -> float:
        """The one value; NaN for no value, and infinite for several."""
        finite = np.isfinite(self.values)
        if not finite.any():
            return np.nan
        return float(self.values[0]) if (self.values == self.values[0]).all() else np.inf

    @property
    def hides_level(self) -> bool:
        """Whether part of it is constant, though it ends at no kink, as that of ``relu(x)**2``."""
        still = self.values[1:] == self.values[:-1]
        return bool(np.isinf(self.level) and (still[1:] & still[:-1]).any())


def _pieces(curves: Curves, key: str, kinks: Sequence[float] | None = None) -> list[_Piece]:
    """The pieces of a curve, left to right. Floats beside a kink may belong to its other side."""
    x, y = curves.x, curves.columns[key]
    own = np.array(curves.kinks[key] if kinks is None else kinks)
    found = []
    for start, stop in pairwise(np.unique(np.concatenate([x[[0, -1]], own]))):
        left, right = start in own, stop in own
        first, last = np.searchsorted(x, start) + left, np.searchsorted(x, stop) + (not right)
        inner = np.arange(first + 2 * left, last - 2 * right)
        inner = inner[curves.marks[inner] != BESIDE]
        if len(inner) <= curves.degrees[key] < np.inf:
            inner = np.arange(first + left, max(last - right, first + left + 1))
        found.append(_Piece(float(start), float(stop), x[inner], y[inner], curves.degrees[key]))
    return found


def forward_claims(curves: Curves, limit: float) -> list[Claim]:
    """Where the op is flat, and where it is not finite or beyond ``limit``. The curves are in float64."""
    if curves.kinks[FORWARD] is None:
        return [Claim("many", (FORWARD,), exact=curves.op.kinks is not None)]
    curves = replace(curves, y=_settled(curves))
    pieces, y = _pieces(curves, FORWARD), curves.y
    exact = all(piece.known and not piece.hides_level for piece in pieces)
    flat = [piece for piece in pieces if np.isfinite(piece.level)]
    share = sum(piece.stop - piece.start for piece in flat) / (curves.x[-1] - curves.x[0])
    if not exact:
        share = _share(curves, (y[1:] == y[:-1]) & np.isfinite(y[1:]))
    share = 1.0 if exact and len(flat) == len(pieces) else share
    flatness = Claim("flat", (FORWARD,), (float(share),), exact=exact)
    if share == 1 and (y == y[0]).all():
        flatness = Claim("level", (FORWARD,), (float(y[0]),), ((pieces[0].start, pieces[-1].stop),), exact)
    return [flatness, *_missing(curves, FORWARD, limit)]


def _settled(curves: Curves) -> Floats:
    """Forward values, all of a flat part the same, though rounding may have set them apart; (n,)."""
    x, y = np.abs(curves.x), curves.y
    with np.errstate(invalid="ignore", over="ignore"):
        steps = np.abs(np.diff(y))
        still = steps <= _ROUNDING * np.abs(y[:-1])
        small = steps <= _CANCELLED * np.maximum(x[1:], x[:-1])
    if (small & ~still).any():  # torch's own gradient tells
        flat = curves.flat()
        still |= small & flat[1:] & flat[:-1]
    begins = np.append(True, ~still | np.isinf(y[1:]))
    return y[np.maximum.accumulate(np.where(begins, np.arange(len(y)), 0))]


def gradient_claims(curves: Curves, key: str, limit: float) -> list[Claim]:
    """What values a rule returns and where; the first claim that is no share says most."""
    if curves.kinks[key] is None:
        declared = curves.op.kinks is not None and all(rule.kinks is not None for rule in curves.rules)
        return [Claim("many", (key,), exact=declared and curves.g != 0)]
    missing = _missing(curves, key, limit)
    y = curves.columns[key]
    if not np.isfinite(y).any():
        return missing
    poles = _poles(curves, key)
    if poles:
        return [*missing, Claim("unbounded", (key,), poles)]
    pieces = _pieces(curves, key)
    if all(piece.known and not np.isinf(piece.level) for piece in pieces):
        levels = _levels(curves, key, pieces)
        if levels:
            return missing + levels
    return missing + _range(curves, key, pieces)


def _missing(curves: Curves, key: str, limit: float) -> list[Claim]:
    y = curves.columns[key]
    undefined = _share(curves, ~np.isfinite(y[1:]) & ~np.isfinite(y[:-1]))
    large = np.isfinite(y) & (np.abs(np.where(np.isfinite(y), y, 0)) > limit)
    shares = {"undefined": undefined, "overflow": _share(curves, large[1:] & large[:-1])}
    return [Claim(kind, (key,), (share,), exact=False) for kind, share in shares.items() if share]


def _share(curves: Curves, cells: Mask) -> float:
    """The share of the range that some of the cells between neighbouring points make up."""
    widths = np.where(cells, np.diff(curves.x), 0.0)
    share = float(widths.sum() / (curves.x[-1] - curves.x[0]))
    return 1.0 if cells.all() else share if share > 1e-9 else 0.0  # a few floats beside a kink are no part


def _poles(curves: Curves, key: str) -> tuple[float, ...]:
    """The kinks to which a curve grows like a power, or on to infinity."""
    x, y = curves.x, np.abs(curves.columns[key])
    usual = y[(curves.marks == EVEN) & np.isfinite(y)].max(initial=0.0)
    found = []
    for kink in curves.kinks[key] or ():
        at = int(np.searchsorted(x, kink))
        for side, marks in ((y[at:], curves.marks[at:]), (y[at::-1], curves.marks[at::-1])):
            if len(side) < 5 or not np.isfinite(side[3:5]).all() or KINK in marks[1:5]:
                continue  # no values before the next kink but those of the floats beside this one
            exact, near, far, beyond, further = side[:5]
            power = np.isfinite(near) and near / 1.5 > far and near / 1e3 > usual > 0
            onwards = np.isinf(exact) and near * (1 - 1e-6) > far
            if power or onwards or (np.isinf(near) and beyond * (1 - 1e-6) > further):
                found.append(float(kink))
    return tuple(dict.fromkeys(found))


def _levels(curves: Curves, key: str, pieces: list[_Piece]) -> list[Claim]:
    """A curve of few values: where each of them holds; empty for one of many values."""
    spans: dict[float, list[Span]] = {}
    for before, piece in zip([None, *pieces], pieces, strict=False):
        if np.isnan(piece.level):
            continue  # no value is claimed as missing
        own = spans.setdefault(piece.level, [])
        start = own.pop()[0] if before and before.level == piece.level else piece.start
        own.append((start, piece.stop))
    if len(spans) > MOST_PIECES:
        return []
    points = _points(curves, key, pieces)
    named = [level for level in spans if level or len(spans) != 2]  # of two, 0 is what holds elsewhere
    if all(len(spans[level]) <= MOST_PIECES for level in named):
        return [Claim("level", (key,), (level,), tuple(where)) for level, where in spans.items()] + points
    among = Claim("among", (key,), tuple(spans))
    if len(named) == len(spans):
        return [among, *points]
    width = sum(stop - start for start, stop in spans[named[0]]) / (curves.stop - curves.start)
    return [among, Claim("part", (key,), (named[0], width)), *points]


def _points(curves: Curves, key: str, pieces: list[_Piece]) -> list[Claim]:
    """The kinks at which a curve has a value of its own, that of neither side."""
    found = []
    for kink in curves.kinks[key] or ():
        value = float(curves.columns[key][np.searchsorted(curves.x, kink)])
        sides = [piece.level for piece in pieces if kink in (piece.start, piece.stop)]
        if np.isfinite(value) and value not in sides:
            found.append(Claim("point", (key,), (value, float(kink))))
    return found


def _is_within(piece: _Piece, y: Floats) -> bool:
    """Whether a straight piece goes no further than ``y``: what lies beside a kink at 0 may be too small."""
    x, values = piece.x[[0, -1]], piece.values[[0, -1]]
    with np.errstate(invalid="ignore", over="ignore"):
        slope = (values[1] - values[0]) / (x[1] - x[0]) if x[1] > x[0] else 0.0
        ends = values + slope * ([piece.start, piece.stop] - x)
        slack = 1e-6 * np.abs(y).max()
        return not (y.min() - slack > ends.min() or ends.max() > y.max() + slack)


def _range(curves: Curves, key: str, pieces: list[_Piece]) -> list[Claim]:
    y = curves.columns[key]
    finite = np.isfinite(y)
    x, y, marks = curves.x[finite], y[finite], curves.marks[finite]
    exact = curves.degrees[key] <= 1 and all(piece.known and _is_within(piece, y) for piece in pieces)
    farthest = np.abs(y) >= np.abs(y).max() * (1 - 1e-12)
    at = float(x[np.argmax(2 * (farthest & (marks == KINK)) + farthest)])  # a kink rather than what is beside
    claims = [Claim("range", (key,), (float(y.min()), float(y.max()), at), exact=exact)]
    zero = curves.columns[key] == 0
    share = _share(curves, zero[1:] & zero[:-1])
    if np.isinf(curves.degrees[key]) or not 0.02 < share < 1:  # what is not a polynomial may only round to 0
        return claims
    return [*claims, Claim("part", (key,), (0.0, share), exact=False)]


def comparisons(curves: Curves) -> Iterable[Claim]:
    """Which rules coincide, which differ at a few x only, and of three or more, how many differ at all."""
    groups: list[list[str]] = []
    for key in curves.gradients:
        group = next((group for group in groups if not _differing(curves, group[0], key).any()), None)
        if group is None:
            groups.append(group := [])
        group.append(key)
    for group in groups:
        if len(group) > 1:
            yield Claim("alike", tuple(group), (curves.g,), exact=False)
    first = tuple(group[0] for group in groups)
    if len(curves.rules) > 2 and len(groups) > 1:
        yield Claim("different", first, (len(curves.rules), len(groups)))
    for one, other in combinations(first, 2):
        x = curves.x[_differing(curves, one, other)]
        if len(x) <= MOST_PIECES:
            known = set(x) <= _kinks(curves, one, other) and _known(curves, one, other)
            yield Claim("apart", (one, other), tuple(map(float, x)), exact=known)


def _differing(curves: Curves, one: str, other: str) -> Mask:
    """At which points two curves differ by more than rounding; (n,)."""
    a, b = curves.columns[one], curves.columns[other]
    same: Mask = np.isclose(a, b, rtol=1e-9, atol=0, equal_nan=True)
    return ~same


def _kinks(curves: Curves, *keys: str) -> set[float]:
    return {kink for key in keys for kink in curves.kinks[key] or ()}


def _known(curves: Curves, *keys: str) -> bool:
    """Whether there are enough points between all kinks of some curves to know how they differ."""
    kinks = sorted(_kinks(curves, *keys))
    counted = all(curves.kinks[key] is not None for key in keys)
    return counted and all(piece.known for key in keys for piece in _pieces(curves, key, kinks))
