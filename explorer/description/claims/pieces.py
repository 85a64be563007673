"""The pieces of a curve between its kinks."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise

import numpy as np

from explorer.curves.sampled import EVEN, KINK, NEIGHBOUR, Floats, Mask, SampledCurves

_NEGLIGIBLE = 1e-9  # a piece narrower than this fraction of the range is only a few floats next to a kink
# Next to a second-order pole, values are finite at this distance, as a fraction of the range.
_POLE_MARGIN = 1e-6


@dataclass(frozen=True)
class Piece:
    """The part of a curve between two kinks, ``start`` and ``stop``, with its sampled x and values.

    ``degree`` is its degree as a polynomial; infinite if it is none.
    """

    start: float
    stop: float
    x: Floats
    values: Floats
    degree: float

    @property
    def is_known(self) -> bool:
        """True if the sampled points determine every value of the curve between the piece's two kinks."""
        return len(self.values) > self.degree

    @property
    def width(self) -> float:
        """The distance between the two kinks at the ends of the piece."""
        return self.stop - self.start

    @property
    def level(self) -> float:
        """The value of a constant piece; infinity if the piece is not constant, NaN without finite values."""
        finite = np.isfinite(self.values)
        if not finite.any():
            return np.nan
        return float(self.values[0]) if (self.values == self.values[0]).all() else np.inf

    @property
    def hides_level(self) -> bool:
        """True if the piece has constant segments, as ``relu(x)**2`` has, that do not end at a kink."""
        is_level = self.values[1:] == self.values[:-1]
        return bool(np.isinf(self.level) and (is_level[1:] & is_level[:-1]).any())


def _find_runs(mask: Mask) -> list[slice]:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]])))
    return [slice(int(first), int(stop)) for first, stop in zip(edges[::2], edges[1::2], strict=True)]


@dataclass(frozen=True, eq=False)
class Curve:
    """One of several sampled curves, in float64, with its values, kinks and pieces."""

    curves: SampledCurves
    key: str

    @property
    def x(self) -> Floats:
        """The x values at which the curve is sampled, in ascending order."""
        return self.curves.x

    @cached_property
    def y(self) -> Floats:
        """The values of the curve at the sampled x."""
        return self.curves.columns[self.key]

    @property
    def kinks(self) -> tuple[float, ...]:
        """The x of the curve's kinks. Empty if there are too many to list."""
        return self.curves.kinks[self.key] or ()

    @property
    def degree(self) -> float:
        """The degree of the polynomials between kinks, or infinity if the pieces are not polynomials."""
        return self.curves.degrees[self.key]

    @property
    def width(self) -> float:
        """The width of the sampled range of x."""
        return float(self.x[-1] - self.x[0])

    @cached_property
    def pieces(self) -> list[Piece]:
        """The pieces between the curve's own kinks, from left to right."""
        return self.split_at(self.kinks)

    def split_at(self, kinks: Sequence[float]) -> list[Piece]:
        """Return the pieces between the ``kinks`` of a curve, from left to right.

        Floats next to a kink are left out, since they may belong to its other side.
        """
        edges, marks = np.array(kinks), self.curves.marks
        pieces = []
        for start, stop in pairwise(np.unique(np.concatenate([self.x[[0, -1]], edges]))):
            left, right = start in edges, stop in edges
            first, last = np.searchsorted(self.x, start) + left, np.searchsorted(self.x, stop) + (not right)
            inner = np.arange(first + 2 * left, last - 2 * right)
            inner = inner[(marks[inner] != NEIGHBOUR) & ~self.holes[inner]]
            if len(inner) <= self.degree < np.inf:
                begin = min(first + left, len(self.x) - 1)  # the last kinks may be adjacent
                inner = np.arange(begin, max(last - right, begin + 1))
            pieces.append(Piece(float(start), float(stop), self.x[inner], self.y[inner], self.degree))
        return pieces

    @cached_property
    def is_known(self) -> bool:
        """True if the sampled points determine every value of the curve in the range."""
        return all(piece.is_known and not piece.hides_level for piece in self.pieces)

    @cached_property
    def gaps(self) -> list[slice]:
        """The runs of neighbouring points at which the curve is not finite, as slices."""
        return _find_runs(~np.isfinite(self.y))

    def is_narrow(self, run: slice) -> bool:
        """Return whether a run of points without finite values is really one x, with the floats next to it.

        The samples of an interval may be one point, or the floats at one end. Values next to them decide.
        """
        ends, near = self.x[run][[0, -1]], _POLE_MARGIN * self.width
        if ends[1] - ends[0] > _NEGLIGIBLE * self.width:
            return False
        x = np.add(ends, (-near, near))
        x = x[(x >= self.x[0]) & (x <= self.x[-1])]
        return bool((np.isfinite(self.curves.evaluate(self.key, x)) != np.isfinite(self.y[run.start])).all())

    @cached_property
    def holes(self) -> Mask:
        """A boolean mask of the points that belong to a single x at which the curve is not finite."""
        return self._mask_narrow(self.gaps)

    @cached_property
    def missing(self) -> Mask:
        """A mask of the points at which the curve has no value, or only a single value between two gaps."""
        finite = np.isfinite(self.y)
        return np.asarray(~finite | self._mask_narrow(_find_runs(finite)))

    def _mask_narrow(self, runs: list[slice]) -> Mask:
        mask = np.zeros(len(self.x), dtype=bool)
        for run in filter(self.is_narrow, runs):
            mask[run] = True
        return mask

    @property
    def hole_indices(self) -> list[int]:
        """The index of the point, if possible the kink, of each single x at which the curve is not finite."""
        kinks = []
        for gap in filter(self.is_narrow, self.gaps):
            marks = self.curves.marks[gap]
            kinks += [gap.start + int(np.argmax(marks == mark)) for mark in (KINK, EVEN) if mark in marks][:1]
        return kinks

    def is_zero(self, piece: Piece) -> bool:
        """Return whether the curve is 0 on a piece. Without sampled points, the floats inside it decide."""
        inside = (self.x > piece.start) & (self.x < piece.stop)
        return piece.level == 0 or (not len(piece.values) and not self.y[inside].any())

    def mask_cells(self, holds: Mask) -> Mask:
        """Return a mask of the n − 1 intervals between points whose two ends are both in ``holds``."""
        return np.asarray(holds[1:] & holds[:-1])

    def weigh_cells(self, holds: Mask) -> Floats:
        """Return for each of the n − 1 intervals between points the fraction on which a condition holds.

        ``holds`` is a mask of the points that satisfy the condition. If only one end does, the fraction is
        one half, unless the interval ends at a plotted kink.
        """
        even = self.curves.marks == EVEN
        ends = (holds[1:] != holds[:-1]) & even[1:] & even[:-1]
        return np.asarray(self.mask_cells(holds) + ends / 2)

    def measure_share(self, cells: Mask | Floats) -> float:
        """Return the fraction of the range covered by ``cells``, a mask of intervals between points."""
        widths = np.where(self.holes[1:] | self.holes[:-1], 0.0, np.diff(self.x))
        share = float((widths * cells).sum() / widths.sum()) if widths.any() else 0.0
        return share if _NEGLIGIBLE < share < 1 - _NEGLIGIBLE else float(share > 0.5)


def measure_zero_share(curve: Curve) -> tuple[float, bool]:
    """Return the fraction of the range on which a curve is 0, and whether that fraction is certain.

    A polynomial with more zeros than its degree is 0 everywhere, in spite of rounding. Any other curve may
    only round to 0, so that an interval is certain only if it ends at a kink beyond which the curve is not 0.
    """
    if curve.degree < np.inf:
        zero = curve.y == 0
        for piece in curve.pieces:
            if np.sum(piece.values == 0) > curve.degree:
                zero |= (curve.x >= piece.start) & (curve.x <= piece.stop)
        return curve.measure_share(curve.mask_cells(zero)), curve.is_known
    stretches = [list(pieces) for is_zero, pieces in groupby(curve.pieces, curve.is_zero) if is_zero]
    width = sum(piece.width for pieces in stretches if _is_cut(curve, pieces) for piece in pieces)
    return width / curve.width, False


def _is_cut(curve: Curve, pieces: list[Piece]) -> bool:
    """Return whether a curve is 0 on neighbouring pieces and becomes nonzero exactly at a kink.

    A kink found in float64 may be a few floats away from the kink in the curve's dtype. Therefore points
    close to a kink are ignored, and additional points between it and the next plotted x, which reveal a
    narrow peak, are computed.
    """
    first, last = np.searchsorted(curve.x, [pieces[0].start, pieces[-1].stop])
    neighbours = [*curve.y[max(first - 3, 0) : first], *curve.y[last + 1 : last + 4]]
    inside = slice(first + 1, last)
    if curve.y[inside][curve.curves.marks[inside] == EVEN].any() or not any(neighbours):
        return False
    for piece in pieces:  # x that approach both ends, down to a relative distance of 1e-5
        distances = piece.width * 0.5 ** np.arange(2, 42)
        left = piece.start + distances[distances > 1e-5 * abs(piece.start)]
        right = piece.stop - distances[distances > 1e-5 * abs(piece.stop)]
        if curve.curves.evaluate(curve.key, np.concatenate([left, right])).any():
            return False
    return True
