"""Split an op into its jumps and the pieces between them; curved pieces are divided into cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from explorer.catalogue import Op
from explorer.curves.kinks import find_kinks
from explorer.formula.reference import replace_reductions

NODES, WEIGHTS = (torch.from_numpy(each) / 2 for each in np.polynomial.legendre.leggauss(6))
NODES += 0.5  # shifts the Gauss-Legendre nodes to a cell from 0 to 1
SIDE = 1e-11  # distance of samples from a kink, relative to max(|x|, 1)
_MARGIN = 1e-6
_SHARES = (0.07, 0.23, 0.41, 0.5, 0.68, 0.83, 0.97)  # positions at which a piece is compared with its chord
_STRAIGHT = 1e-13  # a curve this close to its chord, relative to the largest value, is straight
_MIN_JUMP = 1e-12  # smallest jump, relative to the largest value next to it
_POLE = 1e3  # an op with larger values that grow like the inverse distance is next to a pole
_EVEN_CELLS = 8  # the number of cells across the range before refinement
_MAX_DEPTH, _MAX_CELLS = 16, 1500
_CLOSE = 1e-5, 1e-8  # relative and absolute tolerance of the change of y in a cell
_LEVEL = 1e-12  # a cell is straight if its slope varies by less than this fraction

Curve = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Parts:
    """An op split into jumps and pieces, over a range extended on both sides by the reach of the noise.

    Attributes:
        jumps: (jumps,) positions of the jumps, ascending.
        heights: (jumps,) heights of the jumps.
        straight: (3, pieces) both ends and the slope of each straight piece that is not level.
        curved: (2, cells) both ends of the cells in which a polynomial approximates the op.
        holes: (2, holes) both ends of intervals without a value. A pole is a hole with equal ends.
        y: the op, from a tensor of any shape to one of the same shape.
        slope: the derivative of the op, with the same shapes.
    """

    jumps: Tensor
    heights: Tensor
    straight: Tensor
    curved: Tensor
    holes: Tensor
    y: Curve
    slope: Curve


def split_op(
    op: Op, parameters: Mapping[str, float], span: tuple[float, float], reach: float
) -> Parts | None:
    """Split an op into jumps and pieces, over ``span`` extended by ``reach`` on both sides.

    Returns None if there are too many parts. ``parameters`` are all parameters of the op. A mean in its
    formula is taken over the span.
    """
    margin = _MARGIN * reach  # so that a jump exactly at the end of the range is included
    low, high = span[0] - reach - margin, span[1] + reach + margin
    kink_positions = find_kinks(op, None, parameters, low, high, mean_range=span)
    curves = bind_curves(op, parameters, span)
    if kink_positions is None or curves is None:
        return None
    y, slope = curves
    inner = [each for each in kink_positions if low < each < high]
    edges = torch.tensor([low, *inner, high], dtype=torch.float64)
    gaps = edges.diff()
    nearest = torch.minimum(torch.cat([gaps[:1], gaps]), torch.cat([gaps, gaps[-1:]]))
    side = torch.minimum(SIDE * edges.abs().clamp(min=1), nearest / 8)
    heights, poles = _find_jumps(y, edges[1:-1], side[1:-1])
    ends = torch.stack([edges[:-1] + side[:-1], edges[1:] - side[1:]])
    straight, hole, slopes = _classify_pieces(y, ends)
    cells = _refine_cells(y, slope, _split_pieces(ends[:, ~straight & ~hole], span, low, high))
    if cells is None:
        return None
    curved, level, cell_holes = cells
    pieces = torch.stack([edges[:-1], edges[1:]])
    extended = pieces.clone()
    extended[0, 0], extended[1, -1] = -torch.inf, torch.inf  # where noise is almost 0
    sloping = torch.cat([extended, slopes[None]])[:, straight & (slopes != 0)]
    holes = torch.cat([pieces[:, hole], cell_holes, poles.expand(2, -1)], 1)
    jumps, heights = edges[1:-1][heights != 0], heights[heights != 0]
    return Parts(jumps, heights, torch.cat([sloping, level], 1), curved, holes, y, slope)


def bind_curves(
    op: Op, parameters: Mapping[str, float], span: tuple[float, float]
) -> tuple[Curve, Curve] | None:
    """Return an op and its derivative as functions of float64 tensors, which are valid away from kinks.

    Returns None if the op has no formula for its derivative.
    """
    forward, bound = replace_reductions(op.parsed, op.parsed, parameters, *span, 1.0)
    if forward.gradient is None:
        return None
    gradient = forward.gradient.bind(bound)
    return forward.bind(bound), lambda x: gradient(x, g=torch.ones_like(x))


def _find_jumps(y: Curve, at: Tensor, side: Tensor) -> tuple[Tensor, Tensor]:
    """Find an op's jumps and poles among its kinks.

    Returns:
        The height of the jump at each kink, corrected for slopes, or 0 for none or a pole; and the poles' x.
    """
    near, far = ((y(at + side * times), y(at - side * times)) for times in (1, 2))
    heights = 2 * (near[0] - near[1]) - (far[0] - far[1])
    size = torch.stack([*near, *far]).abs().nan_to_num(nan=0.0).amax(0)
    pole = torch.zeros_like(at, dtype=torch.bool)
    for close, distant in zip(near, far, strict=True):
        pole |= (close.abs() > _POLE) & ~(close.abs() < 1.9 * distant.abs())
    return torch.where(pole | ~(heights.abs() > _MIN_JUMP * size), 0.0, heights), at[pole]


def _classify_pieces(y: Curve, ends: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Find the pieces of an op that are straight, and those without a value at some x.

    Args:
        y: the op.
        ends: (2, n) both ends of each piece.

    Returns:
        A mask of the straight pieces, a mask of the pieces without a value at some x, and the slope of each
        piece's chord; (n,) each.
    """
    shares = torch.tensor(_SHARES, dtype=torch.float64)[:, None]
    first, last = y(ends)
    inside = y(ends[0] + shares * (ends[1] - ends[0]))
    hole = ~inside.isfinite().all(0)
    size = torch.cat([inside, first[None], last[None]]).abs().amax(0)
    is_curved = (inside - first - shares * (last - first)).abs() > _STRAIGHT * size
    return ~is_curved.any(0) & ~hole, hole, (last - first) / (ends[1] - ends[0])


def _split_pieces(pieces: Tensor, span: tuple[float, float], low: float, high: float) -> Tensor:
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


def _refine_cells(y: Curve, slope: Curve, cells: Tensor) -> tuple[Tensor, Tensor, Tensor] | None:
    """Bisect cells until, in both halves, the slope integrated by quadrature gives the rise of the op.

    Returns:
        Curved cells, (2, n); straight cells, (3, n); and cells without a value, (2, n). None if too many.
    """
    curved, level, holes = [cells.new_zeros(2, 0)], [cells.new_zeros(3, 0)], [cells.new_zeros(2, 0)]
    count = 0
    for depth in range(_MAX_DEPTH + 1):
        middles = cells.mean(0)
        halves = torch.stack([torch.stack([cells[0], middles]), torch.stack([middles, cells[1]])], 2)
        widths = halves[1] - halves[0]  # shape (cells, 2)
        rises = y(halves[1]) - y(halves[0])
        slopes = slope(halves[0] + NODES[:, None, None] * widths)
        missed = (torch.tensordot(WEIGHTS, slopes, 1) * widths - rises).abs()
        close = (missed <= _CLOSE[0] * rises.abs() + _CLOSE[1]).all(1)
        empty = ~rises.isfinite().all(1)
        flat = slopes.amax((0, 2)) - slopes.amin((0, 2)) <= _LEVEL * (1 + slopes.abs().amax((0, 2)))
        is_done = close | (depth == _MAX_DEPTH)
        level.append(torch.cat([cells, (rises.sum(1) / (cells[1] - cells[0]))[None]])[:, close & flat])
        curved.append(halves[:, is_done & ~(close & flat) & ~empty].flatten(1))
        holes.append(cells[:, is_done & empty])
        cells = halves[:, ~is_done].flatten(1)
        count += curved[-1].shape[1]
        if count + cells.shape[1] > _MAX_CELLS:
            return None
        if not cells.shape[1]:
            break
    return torch.cat(curved, 1), torch.cat(level, 1), torch.cat(holes, 1)
