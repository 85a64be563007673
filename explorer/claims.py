"""What is so about curves: statements that can be checked, from which the sentences are rendered.

What holds for every x is known from a curve's kinks and from the degree of its polynomials between
them; what else there is to say is said of the drawn points alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, groupby, pairwise

import numpy as np

from explorer.curves import BESIDE, EVEN, FORWARD, KINK, Curves, Floats, Mask

_ROUNDING = 1e-15  # by which values that are equal may differ
_CANCELLED = 1e-13  # and what is left of x where it was taken from itself
_NOTHING = 1e-9  # of the range: a few floats beside a kink are no part of it
_MOST_CENTRES = 40  # more kinks than this are too many for an area
MOST_PIECES = 4  # more levels, spans or x than this are summed up instead of listed
Span = tuple[float, float]


@dataclass(frozen=True)
class Claim:
    """One statement about the curves of the keys ``about``.

    What ``kind`` says, by its ``numbers``: "level": the curve has this value on the spans, open intervals
    of x. "point": it has this value at this x. "among": it has no other values, single x left out.
    "part": it has this value on this share of the range. "range": it lies between the first two and
    is farthest from 0 at the third, an x. "undefined", "overflow", "flat": it is not finite, too large
    for the dtype, constant on this share of the range. "infinite", "nowhere": at these single x it is
    infinite, or no number. "unbounded": it grows beyond all bounds near these x. "many": it has too many
    kinks to be shown, or may have where that is not exact.

    Of several curves: "alike": they do not differ at this g. "apart": two differ at these x only.
    "different": so many curves are so many different ones, and these are no two the same. "gap": the first
    has the first of these two values on the spans, the second the second. Of one, to compare it:
    "peak": its value farthest from 0; "area": its integral over the range; "support": the share of the
    range on which it is not 0.

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
    def width(self) -> float:
        return self.stop - self.start

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


def _runs(mask: Mask) -> list[slice]:
    """The stretches of neighbouring points at which a mask is true."""
    edges = np.flatnonzero(np.diff(np.pad(mask, 1).astype(np.int8)))
    return [slice(int(first), int(stop)) for first, stop in edges.reshape(-1, 2)]


@dataclass(frozen=True, eq=False)
class _Curve:
    """One of some curves, in float64: its values, kinks, and what they are on its pieces."""

    curves: Curves
    key: str

    @property
    def x(self) -> Floats:
        return self.curves.x

    @cached_property
    def y(self) -> Floats:
        return self.curves.columns[self.key]

    @property
    def kinks(self) -> tuple[float, ...]:
        return self.curves.kinks[self.key] or ()

    @property
    def degree(self) -> float:
        return self.curves.degrees[self.key]

    @property
    def width(self) -> float:
        return float(self.x[-1] - self.x[0])

    @cached_property
    def pieces(self) -> list[_Piece]:
        return self.between(self.kinks)

    def between(self, kinks: Sequence[float]) -> list[_Piece]:
        """The pieces, left to right. Floats beside a kink may belong to its other side."""
        own, marks = np.array(kinks), self.curves.marks
        found = []
        for start, stop in pairwise(np.unique(np.concatenate([self.x[[0, -1]], own]))):
            left, right = start in own, stop in own
            first, last = np.searchsorted(self.x, start) + left, np.searchsorted(self.x, stop) + (not right)
            inner = np.arange(first + 2 * left, last - 2 * right)
            inner = inner[(marks[inner] != BESIDE) & ~self.holes[inner]]
            if len(inner) <= self.degree < np.inf:
                inner = np.arange(first + left, max(last - right, first + left + 1))
            found.append(_Piece(float(start), float(stop), self.x[inner], self.y[inner], self.degree))
        return found

    @cached_property
    def known(self) -> bool:
        """Whether what its pieces show holds for every x of the range."""
        return all(piece.known and not piece.hides_level for piece in self.pieces)

    @cached_property
    def gaps(self) -> list[slice]:
        """Where it is not finite: runs of neighbouring points."""
        return _runs(~np.isfinite(self.y))

    def is_narrow(self, run: slice) -> bool:
        """Whether a run of points is one x, with the floats beside it, rather than a stretch."""
        ends = self.x[run][[0, -1]]
        return bool(ends[1] - ends[0] <= _NOTHING * self.width)

    @cached_property
    def holes(self) -> Mask:
        """Which points belong to a single x without a value, so that they are no part of what is around."""
        return self._narrow(self.gaps)

    @cached_property
    def missing(self) -> Mask:
        """Which points belong to a stretch without values, single x with one included."""
        finite = np.isfinite(self.y)
        return np.asarray(~finite | self._narrow(_runs(finite)))

    def _narrow(self, runs: list[slice]) -> Mask:
        mask = np.zeros(len(self.x), dtype=bool)
        for run in filter(self.is_narrow, runs):
            mask[run] = True
        return mask

    @property
    def hollow(self) -> list[int]:
        """At which points there is a hole: of the floats in one the kink."""
        found = []
        for gap in filter(self.is_narrow, self.gaps):
            marks = self.curves.marks[gap]
            found += [gap.start + int(np.argmax(marks == mark)) for mark in (KINK, EVEN) if mark in marks][:1]
        return found

    def both(self, holds: Mask) -> Mask:
        """Between which neighbouring points something holds at both ends."""
        return np.asarray(holds[1:] & holds[:-1])

    def still(self) -> Mask:
        """Between which neighbouring points the value stays."""
        return np.asarray((self.y[1:] == self.y[:-1]) & np.isfinite(self.y[1:]))

    def share(self, cells: Mask) -> float:
        """The share of the range that some of the cells between neighbouring points make up, holes aside."""
        widths = np.where(self.holes[1:] | self.holes[:-1], 0.0, np.diff(self.x))
        share = float(widths[cells].sum() / widths.sum()) if widths.any() else 0.0
        return share if _NOTHING < share < 1 - _NOTHING else float(share > 0.5)

    def part(self, pieces: Iterable[_Piece]) -> float:
        """The share of the range that some pieces make up."""
        some = list(pieces)
        share = sum(piece.width for piece in some) / self.width
        return 1.0 if len(some) == len(self.pieces) else float(share)


def forward_claims(curves: Curves, limit: float) -> list[Claim]:
    """Where the op is flat, and where it is not finite or beyond ``limit``. The curves are in float64."""
    if curves.kinks[FORWARD] is None:
        return [Claim("many", (FORWARD,), exact=curves.op.kinks is not None)]
    curve = _Curve(replace(curves, y=_settled(curves)), FORWARD)
    flat = [piece for piece in curve.pieces if np.isfinite(piece.level)]
    share = curve.part(flat) if curve.known else curve.share(curve.still())
    flatness = Claim("flat", (FORWARD,), (share,), exact=curve.known)
    if share == 1 and (curve.y == curve.y[0]).all():
        whole = (curve.pieces[0].start, curve.pieces[-1].stop)
        flatness = Claim("level", (FORWARD,), (float(curve.y[0]),), (whole,), curve.known)
    missing = _missing(curve, limit)
    return [flatness, *missing, *(_alone(curve) if _is_missing(missing) else [])]


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
    still &= np.isfinite(y[1:]) & np.isfinite(y[:-1])
    begins = np.append(True, ~still)
    return y[np.maximum.accumulate(np.where(begins, np.arange(len(y)), 0))]


def gradient_claims(curves: Curves, key: str, limit: float) -> list[Claim]:
    """What values a rule returns and where; the first claim that is no share says most."""
    if curves.kinks[key] is None:
        declared = curves.op.kinks is not None and all(rule.kinks is not None for rule in curves.rules)
        return [Claim("many", (key,), exact=declared and curves.g != 0)]
    curve = _Curve(curves, key)
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


def _missing(curve: _Curve, limit: float) -> list[Claim]:
    """The shares of the range on which there is no finite value, or one too large; the x without."""
    finite = np.isfinite(curve.y)
    large = finite & (np.abs(np.where(finite, curve.y, 0)) > limit)
    at_kinks = all(curve.is_narrow(gap) or _ends_at_kinks(curve, gap) for gap in curve.gaps)
    exact = at_kinks and (curve.degree < np.inf or curve.curves.declared[curve.key])
    shares = (("undefined", curve.missing, exact), ("overflow", large, False))
    found = [
        Claim(kind, (curve.key,), (share,), exact=known)
        for kind, holds, known in shares
        if (share := curve.share(curve.both(holds)))
    ]
    for kind, holds in (("infinite", np.isinf), ("nowhere", np.isnan)):
        at = tuple(float(curve.x[point]) for point in curve.hollow if holds(curve.y[point]))
        found += [Claim(kind, (curve.key,), at)] if at else []
    return found


def _is_missing(claims: Iterable[Claim]) -> bool:
    """Whether a curve has values at single x at most."""
    return any(claim.kind == "undefined" and claim.numbers == (1.0,) for claim in claims)


def _ends_at_kinks(curve: _Curve, gap: slice) -> bool:
    """Whether a stretch without values begins and ends at a kink, or where the range does."""
    marks = curve.curves.marks
    begins = gap.start == 0 or marks[gap.start] != EVEN
    return bool(begins and (gap.stop == len(marks) or marks[gap.stop - 1] != EVEN))


def _alone(curve: _Curve) -> list[Claim]:
    """The single x at which there is a value, in the midst of those at which there is none."""
    alone = np.flatnonzero(np.isfinite(curve.y) & (curve.curves.marks != BESIDE))
    return [Claim("point", (curve.key,), (float(curve.y[i]), float(curve.x[i]))) for i in alone]


def _poles(curve: _Curve) -> tuple[float, ...]:
    """The kinks beside which a curve grows beyond all bounds, as far as float64 can follow."""
    if curve.degree < np.inf:
        return ()
    sides = [(kink, steps) for kink in curve.kinks for steps in _approaches(curve, kink)]
    if not sides:
        return ()
    values = np.abs(curve.curves.at(curve.key, np.concatenate([kink + steps for kink, steps in sides])))
    found = []
    for kink, steps in sides:
        if _grows(values[: len(steps)]):
            found.append(kink)
        values = values[len(steps) :]
    return tuple(dict.fromkeys(found))


def _approaches(curve: _Curve, kink: float) -> Iterator[Floats]:
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


def _levels(curve: _Curve) -> list[Claim]:
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


def _points(curve: _Curve) -> list[Claim]:
    """The kinks at which a curve has a value of its own, that of neither side."""
    found = []
    for kink in curve.kinks:
        value = float(curve.y[np.searchsorted(curve.x, kink)])
        sides = [piece.level for piece in curve.pieces if kink in (piece.start, piece.stop)]
        if np.isfinite(value) and value not in sides:
            found.append(Claim("point", (curve.key,), (value, float(kink))))
    return found


def _is_within(piece: _Piece, y: Floats) -> bool:
    """Whether a straight piece goes no further than ``y``: what lies beside a kink at 0 may be too small."""
    x, values = piece.x[[0, -1]], piece.values[[0, -1]]
    with np.errstate(invalid="ignore", over="ignore"):
        slope = (values[1] - values[0]) / (x[1] - x[0]) if x[1] > x[0] else 0.0
        ends = values + slope * ([piece.start, piece.stop] - x)
        slack = 1e-6 * np.abs(y).max()
        return not (y.min() - slack > ends.min() or ends.max() > y.max() + slack)


def _range(curve: _Curve) -> list[Claim]:
    finite = np.isfinite(curve.y)
    x, y, marks = curve.x[finite], curve.y[finite], curve.curves.marks[finite]
    exact = curve.degree <= 1 and all(piece.known and _is_within(piece, y) for piece in curve.pieces)
    farthest = np.abs(y) >= np.abs(y).max() * (1 - 1e-12)
    at = int(np.argmax(2 * (farthest & (marks == KINK)) + farthest))  # a kink rather than what is beside
    near = _kink_beside(curve.curves, x[at]) if marks[at] == BESIDE else x[at]
    claims = [Claim("range", (curve.key,), (float(y.min()), float(y.max()), float(near)), exact=exact)]
    share, known = _zero_share(curve)
    return [*claims, Claim("part", (curve.key,), (0.0, share), exact=known)] if 0.02 < share < 1 else claims


def _kink_beside(curves: Curves, x: float) -> float:
    """The kink beside which one of the floats lies."""
    kinks = curves.x[curves.marks == KINK]
    return float(kinks[np.argmin(np.abs(kinks - x))])


def _zero_share(curve: _Curve) -> tuple[float, bool]:
    """The share of the range on which a curve is 0, and whether that is known of every x.

    What is no polynomial may only round to 0: of that count stretches that end at a kink, not 0 behind it.
    """
    if curve.degree < np.inf:
        return curve.share(curve.both(curve.y == 0)), curve.known
    stretches = [
        list(pieces) for level, pieces in groupby(curve.pieces, lambda piece: piece.level) if level == 0
    ]
    width = sum(piece.width for pieces in stretches if _is_cut(curve, pieces) for piece in pieces)
    return width / curve.width, False


def _is_cut(curve: _Curve, pieces: list[_Piece]) -> bool:
    """Whether some neighbouring pieces are 0 up to a kink on whose other side the curve is not."""
    first, last = np.searchsorted(curve.x, [pieces[0].start, pieces[-1].stop])
    beyond = [*curve.y[max(first - 1, 0) : first], *curve.y[last + 1 : last + 2]]
    inside = slice(first + 2, last - 1)  # the float beside a kink may belong to its other side
    return not curve.y[inside][curve.curves.marks[inside] != KINK].any() and any(beyond)


def comparisons(curves: Curves, claims: Mapping[str, Sequence[Claim]]) -> Iterable[Claim]:
    """Which rules coincide, which differ at only a few x, and by what; of three or more, how many differ.

    ``claims``: what is claimed of each of them alone.
    """
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
    if len(first) < 2:
        return
    if len(curves.rules) > 2:
        yield Claim("different", first, (len(curves.rules), len(groups)))
    for one, other in combinations(first, 2):
        differing = _differing(curves, one, other)
        x = curves.x[differing]
        if len(x) <= MOST_PIECES and BESIDE not in curves.marks[differing]:
            known = set(x) <= _kinks(curves, one, other) and _known(curves, one, other)
            yield Claim("apart", (one, other), tuple(map(float, x)), exact=known)
    for one, other in combinations(first, 2):
        yield from _level_gaps(claims, one, other)
    for key in first:
        yield from _measures(_Curve(curves, key), claims[key])


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
    return counted and all(piece.known for key in keys for piece in _Curve(curves, key).between(kinks))


def _level_gaps(claims: Mapping[str, Sequence[Claim]], one: str, other: str) -> Iterator[Claim]:
    """On which spans two curves of few values have which two, where they differ; widest first."""
    spans: dict[tuple[float, ...], list[Span]] = {}
    for a in _of(claims[one], "level"):
        for b in _of(claims[other], "level"):
            if not np.isclose(a.numbers[0], b.numbers[0], rtol=1e-9, atol=0):
                shared = [_overlap(left, right) for left in a.spans for right in b.spans]
                spans.setdefault(a.numbers + b.numbers, []).extend(s for s in shared if s[0] < s[1])
    gaps = [Claim("gap", (one, other), levels, tuple(where)) for levels, where in spans.items() if where]
    yield from sorted(gaps, key=lambda gap: -sum(stop - start for start, stop in gap.spans))


def _overlap(one: Span, other: Span) -> Span:
    return max(one[0], other[0]), min(one[1], other[1])


def _of(claims: Iterable[Claim], *kinds: str) -> list[Claim]:
    return [claim for claim in claims if claim.kind in kinds]


def _measures(curve: _Curve, claims: Sequence[Claim]) -> Iterator[Claim]:
    """Peak, area and support of a curve that is finite throughout."""
    if _of(claims, "many", "undefined", "overflow", "infinite", "nowhere", "unbounded"):
        return
    about = (curve.key,)
    yield Claim("peak", about, (float(curve.y[np.argmax(np.abs(curve.y))]),), exact=False)
    area = _area(curve)
    if area is not None:
        yield Claim("area", about, (area,), exact=False)
    share, known = _zero_share(curve)
    seen = not any(
        np.isnan(piece.level) for piece in curve.pieces
    )  # else it is 0 or not where nothing is drawn
    if seen and (curve.degree < np.inf or curve.y.all() or share):
        yield Claim("support", about, (1 - share,), exact=known)


def _area(curve: _Curve) -> float | None:
    """The integral over the range, by Gauss's rule on many cells; None where more points give another one."""
    edges = _cells(curve)
    if edges is None:
        return None
    coarse, fine = (_integral(curve, edges, nodes) for nodes in (4, 8))
    nothing = 1e-12 * float(np.abs(curve.y).max()) * curve.width
    if not abs(fine - coarse) <= 1e-4 * abs(fine) + nothing:
        return None
    return fine if abs(fine) > nothing else 0.0


def _cells(curve: _Curve) -> Floats | None:
    """The edges of even cells, and of ever smaller ones beside each kink and the peak; None for too many."""
    centres = np.array([*curve.kinks, curve.x[np.argmax(np.abs(curve.y))]])
    if len(centres) > _MOST_CENTRES:
        return None
    steps = curve.width * 2.0 ** -np.arange(1, 51)
    edges = [np.linspace(curve.x[0], curve.x[-1], 201), centres]
    edges += [(centres[:, None] + side * steps).ravel() for side in (-1, 1)]
    found: Floats = np.unique(np.clip(np.concatenate(edges), curve.x[0], curve.x[-1]))
    return found


def _integral(curve: _Curve, edges: Floats, count: int) -> float:
    nodes, weights = np.polynomial.legendre.leggauss(count)
    halves, middles = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    x = (middles[:, None] + halves[:, None] * nodes).ravel()
    values = curve.curves.at(curve.key, x).reshape(-1, count)
    return float((values * weights).sum(1) @ halves)
