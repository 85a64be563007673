"""An op as its jumps, and as what lies between them: straight pieces, and curved ones cut into cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from explorer.catalogue import Op
from explorer.curves.kinks import kinks
from explorer.formula.reference import fixed

NODES, WEIGHTS = (torch.from_numpy(each) / 2 for each in np.polynomial.legendre.leggauss(6))
NODES += 0.5  # of Gauss and Legendre, in a cell from 0 to 1
SIDE = 1e-11  # of x, at least of 1: from a kink to where its sides are looked at
_MARGIN = 1e-6
_SHARES = (0.07, 0.23, 0.41, 0.5, 0.68, 0.83, 0.97)  # of a piece: where it is compared with its chord
_STRAIGHT = 1e-13  # of the largest value
_LEAST_JUMP = 1e-12  # of the largest value beside it
_POLE = 1e3  # larger beside a kink, and growing like its distance's reciprocal
_EVEN_CELLS = 8  # to the range, at first
_DEEPEST, _MOST_CELLS = 16, 1500
_CLOSE = 1e-5, 1e-8  # of the rise of a cell, and besides it: what the nodes may miss
_LEVEL = 1e-12  # of the slope: with less between its nodes a cell is straight

Curve = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Parts:
    """An op over a range and as far beyond it as noise reaches.

    Attributes:
        at, heights: (jumps,) its jumps, ascending.
        straight: (3, pieces) both ends and the slope of each straight piece that is not level.
        curved: (2, cells) both ends of cells in which a polynomial is near.
        holes: (2, holes) both ends of stretches without a value; those of a pole are the same.
        y, slope: the op and its derivative, from (n,) or any other shape to the same.
    """

    at: Tensor
    heights: Tensor
    straight: Tensor
    curved: Tensor
    holes: Tensor
    y: Curve
    slope: Curve


def parts_of(
    op: Op, parameters: Mapping[str, float], span: tuple[float, float], reach: float
) -> Parts | None:
    """The parts of an op from ``reach`` below a span to as far above it; None where they are too many.

    ``parameters`` are all of the op's; a mean in it is over the span.
    """
    margin = _MARGIN * reach  # for jumps that the noise just reaches
    low, high = span[0] - reach - margin, span[1] + reach + margin
    found = kinks(op, None, parameters, low, high, over=span)
    curves = curves_of(op, parameters, span)
    if found is None or curves is None:
        return None
    y, slope = curves
    edges = torch.tensor([low, *(each for each in found if low < each < high), high], dtype=torch.float64)
    side = torch.minimum(SIDE * edges.abs().clamp(min=1), _room(edges) / 8)
    heights, poles = _jumps(y, edges[1:-1], side[1:-1])
    ends = torch.stack([edges[:-1] + side[:-1], edges[1:] - side[1:]])
    straight, hole, slopes = _chords(y, ends)
    cells = _cells(y, slope, _first_cells(ends[:, ~straight & ~hole], span, low, high))
    if cells is None:
        return None
    curved, level, lost = cells
    whole = torch.stack([edges[:-1], edges[1:]])
    sloping = torch.cat([_endless(whole), slopes[None]])[:, straight & (slopes != 0)]
    return Parts(
        edges[1:-1][heights != 0],
        heights[heights != 0],
        torch.cat([sloping, level], 1),
        curved,
        torch.cat([whole[:, hole], lost, poles.expand(2, -1)], 1),
        y,
        slope,
    )


def curves_of(
    op: Op, parameters: Mapping[str, float], span: tuple[float, float]
) -> tuple[Curve, Curve] | None:
    """An op and its derivative away from kinks, in float64; None where there is no formula for that."""
    settled, bound = fixed(op.parsed, op.parsed, parameters, *span, 1.0)
    if settled.gradient is None:
        return None
    gradient = settled.gradient.bind(bound)
    return settled.bind(bound), lambda x: gradient(x, g=torch.ones_like(x))


def _endless(pieces: Tensor) -> Tensor:
    """Pieces (2, n) of which the outermost ones go on for ever, as what lies beyond is next to nothing."""
    pieces = pieces.clone()
    pieces[0, 0], pieces[1, -1] = -torch.inf, torch.inf
    return pieces


def _room(edges: Tensor) -> Tensor:
    """The distance from each edge to the nearer one of its neighbours."""
    gaps = edges.diff()
    return torch.minimum(torch.cat([gaps[:1], gaps]), torch.cat([gaps, gaps[-1:]]))


def _jumps(y: Curve, at: Tensor, side: Tensor) -> tuple[Tensor, Tensor]:
    """The heights of the jumps at kinks, 0 for none, without the slope beside them; and the poles."""
    near, far = ((y(at + side * way), y(at - side * way)) for way in (1, 2))
    heights = 2 * (near[0] - near[1]) - (far[0] - far[1])
    size = torch.stack([*near, *far]).abs().nan_to_num(nan=0.0).amax(0)
    pole = torch.zeros_like(at, dtype=torch.bool)
    for close, distant in zip(near, far, strict=True):
        pole |= (close.abs() > _POLE) & ~(close.abs() < 1.9 * distant.abs())
    heights = torch.where(pole | ~(heights.abs() > _LEAST_JUMP * size), 0.0, heights)
    return heights, at[pole]


def _chords(y: Curve, ends: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Which pieces (2, n) are straight, which have no value, and the slopes of their chords; (n,) each."""
    shares = torch.tensor(_SHARES, dtype=torch.float64)[:, None]
    first, last = y(ends)
    inside = y(ends[0] + shares * (ends[1] - ends[0]))
    hole = ~inside.isfinite().all(0)
    size = torch.cat([inside, first[None], last[None]]).abs().amax(0)
    bent = (inside - first - shares * (last - first)).abs() > _STRAIGHT * size
    return ~bent.any(0) & ~hole, hole, (last - first) / (ends[1] - ends[0])


def _first_cells(pieces: Tensor, span: tuple[float, float], low: float, high: float) -> Tensor:
    """Pieces cut at even x within the span, and at ever greater distances beyond it; (2, cells)."""
    width = (span[1] - span[0]) / _EVEN_CELLS
    cuts = [span[0] + width * index for index in range(_EVEN_CELLS + 1)]
    step = width
    while cuts[-1] < high or cuts[0] > low:
        cuts = [cuts[0] - step, *cuts, cuts[-1] + step]
        step *= 2
    cells = [
        pair
        for first, last in pieces.T.tolist()
        for pair in pairwise([first, *(cut for cut in cuts if first < cut < last), last])
    ]
    return torch.tensor(cells, dtype=torch.float64).reshape(-1, 2).T


def _cells(y: Curve, slope: Curve, cells: Tensor) -> tuple[Tensor, Tensor, Tensor] | None:
    """Cells halved until the nodes of both halves sum to the rise of the op there.

    Curved (2, n) and straight ones (3, n), and such as have no value (2, n); None where they are too many.
    """
    curved, level, lost = [cells.new_zeros(2, 0)], [cells.new_zeros(3, 0)], [cells.new_zeros(2, 0)]
    count = 0
    for depth in range(_DEEPEST + 1):
        middles = cells.mean(0)
        halves = torch.stack([torch.stack([cells[0], middles]), torch.stack([middles, cells[1]])], 2)
        widths = halves[1] - halves[0]  # (cells, 2)
        rises = y(halves[1]) - y(halves[0])
        slopes = slope(halves[0] + NODES[:, None, None] * widths)
        missed = (torch.tensordot(WEIGHTS, slopes, 1) * widths - rises).abs()
        close = (missed <= _CLOSE[0] * rises.abs() + _CLOSE[1]).all(1)
        empty = ~rises.isfinite().all(1)
        flat = slopes.amax((0, 2)) - slopes.amin((0, 2)) <= _LEVEL * (1 + slopes.abs().amax((0, 2)))
        done = close | (depth == _DEEPEST)
        level.append(torch.cat([cells, (rises.sum(1) / (cells[1] - cells[0]))[None]])[:, close & flat])
        curved.append(halves[:, done & ~(close & flat) & ~empty].flatten(1))
        lost.append(cells[:, done & empty])
        cells = halves[:, ~done].flatten(1)
        count += curved[-1].shape[1]
        if count + cells.shape[1] > _MOST_CELLS:
            return None
        if not cells.shape[1]:
            break
    return torch.cat(curved, 1), torch.cat(level, 1), torch.cat(lost, 1)
