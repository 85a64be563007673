"""A curve and its pieces between kinks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise

import numpy as np

from explorer.curves.sampled import EVEN, KINK, NEIGHBOUR, Floats, Mask, SampledCurves

_NOTHING = 1e-9  # of the range: a few floats beside a kink are no part of it
_BESIDE = 1e-6  # of the range: so far from a pole of second order rounding has made an end of it


@dataclass(frozen=True)
class Piece:
    """A curve between two neighbouring kinks: ordinary points and its values there."""

    start: float
    stop: float
    x: Floats
    values: Floats
    degree: float

    @property
    def known(self) -> bool:
        """Whether there are enough points for their values to hold for all x between."""
        return len(self.values) > self.degree

    @property
    def width(self) -> float:
        """From kink to kink."""
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
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]])))
    return [slice(int(first), int(stop)) for first, stop in zip(edges[::2], edges[1::2], strict=True)]


@dataclass(frozen=True, eq=False)
class Curve:
    """One of several curves, in float64: its values, kinks and pieces."""

    curves: SampledCurves
    key: str

    @property
    def x(self) -> Floats:
        """The points, (n,) ascending."""
        return self.curves.x

    @cached_property
    def y(self) -> Floats:
        """Its values there, (n,)."""
        return self.curves.columns[self.key]

    @property
    def kinks(self) -> tuple[float, ...]:
        """Its kinks; none where they are too many to be known."""
        return self.curves.kinks[self.key] or ()

    @property
    def degree(self) -> float:
        """The degree of its polynomials between kinks; infinite where it has none."""
        return self.curves.degrees[self.key]

    @property
    def width(self) -> float:
        """The width of the range."""
        return float(self.x[-1] - self.x[0])

    @cached_property
    def pieces(self) -> list[Piece]:
        """The pieces between its own kinks, left to right."""
        return self.between(self.kinks)

    def between(self, kinks: Sequence[float]) -> list[Piece]:
        """The pieces between some kinks, left to right. Floats beside a kink may belong to its other side."""
        own, marks = np.array(kinks), self.curves.marks
        pieces = []
        for start, stop in pairwise(np.unique(np.concatenate([self.x[[0, -1]], own]))):
            left, right = start in own, stop in own
            first, last = np.searchsorted(self.x, start) + left, np.searchsorted(self.x, stop) + (not right)
            inner = np.arange(first + 2 * left, last - 2 * right)
            inner = inner[(marks[inner] != NEIGHBOUR) & ~self.holes[inner]]
            if len(inner) <= self.degree < np.inf:
                begin = min(first + left, len(self.x) - 1)  # of two kinks side by side at the end
                inner = np.arange(begin, max(last - right, begin + 1))
            pieces.append(Piece(float(start), float(stop), self.x[inner], self.y[inner], self.degree))
        return pieces

    @cached_property
    def known(self) -> bool:
        """Whether claims from its pieces hold for every x of the range."""
        return all(piece.known and not piece.hides_level for piece in self.pieces)

    @cached_property
    def gaps(self) -> list[slice]:
        """Runs of neighbouring points at which it is not finite."""
        return _runs(~np.isfinite(self.y))

    def is_narrow(self, run: slice) -> bool:
        """Whether a run of points is one x, with the floats beside it, rather than a stretch.

        One point, or the floats at an end, may be all that is drawn of a stretch: what lies beside it tells.
        """
        ends, near = self.x[run][[0, -1]], _BESIDE * self.width
        if ends[1] - ends[0] > _NOTHING * self.width:
            return False
        x = np.add(ends, (-near, near))
        x = x[(x >= self.x[0]) & (x <= self.x[-1])]
        return bool((np.isfinite(self.curves.evaluate(self.key, x)) != np.isfinite(self.y[run.start])).all())

    @cached_property
    def holes(self) -> Mask:
        """Mask of the points that belong to a single x without a value."""
        return self._narrow(self.gaps)

    @cached_property
    def missing(self) -> Mask:
        """Mask of the points in stretches without values, single x with one included."""
        finite = np.isfinite(self.y)
        return np.asarray(~finite | self._narrow(_runs(finite)))

    def _narrow(self, runs: list[slice]) -> Mask:
        mask = np.zeros(len(self.x), dtype=bool)
        for run in filter(self.is_narrow, runs):
            mask[run] = True
        return mask

    @property
    def hollow(self) -> list[int]:
        """Indices of the holes, single x without a value: of the floats in one the kink."""
        kinks = []
        for gap in filter(self.is_narrow, self.gaps):
            marks = self.curves.marks[gap]
            kinks += [gap.start + int(np.argmax(marks == mark)) for mark in (KINK, EVEN) if mark in marks][:1]
        return kinks

    def is_zero(self, piece: Piece) -> bool:
        """Whether a piece is 0: at its ordinary points, or where it has none at the floats that it has."""
        inside = (self.x > piece.start) & (self.x < piece.stop)
        return piece.level == 0 or (not len(piece.values) and not self.y[inside].any())

    def both(self, holds: Mask) -> Mask:
        """Mask of the cells between neighbouring points at both ends of which something holds."""
        return np.asarray(holds[1:] & holds[:-1])

    def still(self) -> Mask:
        """Mask of the cells between neighbouring points over which the value stays."""
        return np.asarray((self.y[1:] == self.y[:-1]) & np.isfinite(self.y[1:]))

    def mostly(self, holds: Mask) -> Floats:
        """The part of each cell between neighbouring points on which something holds.

        Half of one in which it ends, unless it ends where a kink is drawn.
        """
        even = self.curves.marks == EVEN
        ends = (holds[1:] != holds[:-1]) & even[1:] & even[:-1]
        return np.asarray(self.both(holds) + ends / 2)

    def share(self, cells: Mask | Floats) -> float:
        """The share of the range that some of the cells between neighbouring points make up, holes aside."""
        widths = np.where(self.holes[1:] | self.holes[:-1], 0.0, np.diff(self.x))
        share = float((widths * cells).sum() / widths.sum()) if widths.any() else 0.0
        return share if _NOTHING < share < 1 - _NOTHING else float(share > 0.5)

    def part(self, pieces: Iterable[Piece]) -> float:
        """The share of the range that some pieces make up."""
        some = list(pieces)
        share = sum(piece.width for piece in some) / self.width
        return 1.0 if len(some) == len(self.pieces) else float(share)


def zero_share(curve: Curve) -> tuple[float, bool]:
    """The share of the range on which a curve is 0, and whether that is known of every x.

    A polynomial that is 0 more often than its degree is 0 throughout, whatever rounding leaves of it. Any
    other curve may only round to 0: only its stretches count that end at a kink and are not 0 behind it.
    """
    if curve.degree < np.inf:
        zero = curve.y == 0
        for piece in curve.pieces:
            if np.sum(piece.values == 0) > curve.degree:
                zero |= (curve.x >= piece.start) & (curve.x <= piece.stop)
        return curve.share(curve.both(zero)), curve.known
    stretches = [list(pieces) for is_zero, pieces in groupby(curve.pieces, curve.is_zero) if is_zero]
    width = sum(piece.width for pieces in stretches if _is_cut(curve, pieces) for piece in pieces)
    return width / curve.width, False


def _is_cut(curve: Curve, pieces: list[Piece]) -> bool:
    """Return whether neighbouring pieces are 0 up to a kink on whose other side the curve is not 0.

    A kink found in float64 may lie some floats beside that of the curve's dtype. So what is drawn close to
    a kink is left out, and points between it and the next drawn x are computed: they show a narrow peak.
    """
    first, last = np.searchsorted(curve.x, [pieces[0].start, pieces[-1].stop])
    beyond = [*curve.y[max(first - 3, 0) : first], *curve.y[last + 1 : last + 4]]
    inside = slice(first + 1, last)
    if curve.y[inside][curve.curves.marks[inside] == EVEN].any() or not any(beyond):
        return False
    return not any(curve.curves.evaluate(curve.key, _approach(piece)).any() for piece in pieces)


def _approach(piece: Piece) -> Floats:
    """Return x inside a piece, ever closer to both of its ends, up to 1e-5 of an end's size."""
    distances = piece.width * 0.5 ** np.arange(2, 42)
    left = piece.start + distances[distances > 1e-5 * abs(piece.start)]
    return np.concatenate([left, piece.stop - distances[distances > 1e-5 * abs(piece.stop)]])
