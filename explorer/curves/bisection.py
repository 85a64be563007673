"""Locate the x at which a function jumps or changes, by a scan and bisection down to adjacent floats."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.catalogue import TooManyKinksError
from explorer.formula.reference import make_even_points

MAX_KINKS = 512  # enough for all jumps of an 8-bit format; a plot could not show more
SCAN_POINTS = 2001
MAX_BISECTIONS = 64  # enough to halve a step of the scan down to adjacent floats
_SETTLED = 30  # after this number of bisections, a remaining difference is a jump and not a slope
_LEAST_JUMP = 1e-3  # minimum jump, as a fraction of the difference between two scanned points

Curve = Callable[[Tensor], Tensor]
Floats = NDArray[np.float64]


def find_changes(function: Curve, start: float, stop: float, extra_x: list[float]) -> list[float]:
    """Find each x in a range at which a piecewise constant function changes its value.

    Positions are rounded to short decimals where possible. The scan includes ``extra_x`` and extends one step
    beyond both ends, to catch changes exactly at the ends, so a position may lie outside the range. If the
    value changes in both halves of an interval, both are searched, so that all jumps in it are found. Raises
    TooManyKinksError for too many changes.
    """
    step = (stop - start) / SCAN_POINTS
    scan = make_even_points(start - step, stop + step, SCAN_POINTS).numpy()
    x = np.sort(np.concatenate([scan, extra_x])) if extra_x else scan
    values = _evaluate_comparable(function, x)
    changes = np.flatnonzero(values[1:] != values[:-1])
    cells = np.array([x[changes], x[changes + 1], values[changes], values[changes + 1]])
    bisections = MAX_BISECTIONS
    while bisections:
        cells = cells[:, cells[2] != cells[3]]
        count = cells.shape[1]
        if not count:
            return []
        if count > 4 * MAX_KINKS:
            raise TooManyKinksError(
                f"a part of the formula changes {count} times within the range of x, but a chart shows at "
                f"most {MAX_KINKS} kinks: choose a narrower range"
            )
        if (np.nextafter(cells[0], cells[1]) == cells[1]).all():
            break
        # Bisect a small number of cells several times per call: calls are expensive, further x are cheap.
        batch = min(bisections, 4 if 16 * count <= 4 * MAX_KINKS else 2 if count <= MAX_KINKS else 1)
        cells = _bisect_cells(function, cells, batch)
        bisections -= batch
    return merge_close(sorted(cells[1, cells[2] != cells[3]].tolist()), stop - start)


def _bisect_cells(function: Curve, cells: Floats, times: int) -> Floats:
    """Bisect intervals ``times`` times, and return the parts in which the function's value still changes.

    Cells, (4, n), are the left and right x of each interval and the function's values at both.
    """
    x = cells[:2]
    for _ in range(times):
        middles, refined = (x[:-1] + x[1:]) / 2, np.empty((2 * len(x) - 1, x.shape[1]))
        refined[::2], refined[1::2] = x, middles
        x = refined
    inner = _evaluate_comparable(function, x[1:-1].ravel()).reshape(x[1:-1].shape)
    values = np.concatenate([cells[2:3], inner, cells[3:]])
    is_changing = values[:-1] != values[1:]
    for size in (2**level for level in range(1, times + 1)):
        is_changing &= np.repeat(values[:-1:size] != values[size::size], size, axis=0)
    return np.array(
        [x[:-1][is_changing], x[1:][is_changing], values[:-1][is_changing], values[1:][is_changing]]
    )


def find_zeros(function: Curve, x: list[float]) -> list[float]:
    """Return the elements of ``x`` at which a function is exactly 0."""
    x_tensor = torch.tensor(x, dtype=torch.float64)
    zeros: list[float] = x_tensor[function(x_tensor) == 0].tolist()
    return zeros


def bisect(is_inside: Callable[[Tensor], Tensor], inside: Tensor, outside: Tensor) -> tuple[Tensor, Tensor]:
    """Find two adjacent floats between ``inside`` and ``outside`` at which a condition changes.

    All tensors are (n,). The condition is true at ``inside`` and at the first result. It is false at
    ``outside`` and at the second result.
    """
    for _ in range(MAX_BISECTIONS):
        middle = (inside + outside) / 2
        is_left = is_inside(middle)
        inside, outside = torch.where(is_left, middle, inside), torch.where(is_left, outside, middle)
    return inside, outside


def is_near(x: float, positions: Sequence[float], distance: float) -> bool:
    """Return whether a number is within ``distance`` of any of the positions."""
    return any(abs(x - position) <= distance for position in positions)


def _evaluate_comparable(function: Curve, x: Floats) -> Floats:
    """Return a function's values at x in float64, with ∞ for NaN, because NaN does not equal itself."""
    with torch.no_grad():
        y = function(torch.from_numpy(x))
        return y.nan_to_num(nan=math.inf, posinf=math.inf, neginf=-math.inf).numpy()


def merge_close(positions: list[float], width: float) -> list[float]:
    """Return ascending positions, rounded to short decimals where possible, without near duplicates.

    An example of near duplicates is ``sign``, which changes both at 0 and right after it.
    """
    merged: list[float] = []
    for x in positions:
        tolerance = max(1e-14 * width, 8 * math.ulp(x))
        if not merged or x - merged[-1] > tolerance:
            merged.append(round_position(x, tolerance, 7))
    return merged


def round_position(x: float, tolerance: float = 1e-12, digits: int = 9) -> float:
    """Return a position found by bisection rounded to a short decimal if one is close, else unchanged."""
    tolerance = max(tolerance, 8 * math.ulp(x))
    rounded = float(f"{x:.{digits}g}") if abs(x) > tolerance else 0.0
    return (rounded if abs(rounded - x) <= tolerance else x) + 0.0


def find_jumps(curve: Curve, scan: Tensor) -> tuple[Tensor, Tensor]:
    """Find the jumps of a function between the points of a scan. Return their x and signed heights, (n,).

    A jump is a difference that does not shrink under bisection. Ends of the domain, poles, and differences
    below a thousandth of that between the points of the scan are left out.
    """
    values = curve(scan)
    cells = torch.stack([scan[:-1], scan[1:], values[:-1], values[1:]])
    initial = (cells[3] - cells[2]).abs()
    keep = initial.isfinite() & (
        initial > 1e-10 * cells[2].abs().clamp(min=1.0)
    )  # scan x may be adjacent floats
    cells, initial = cells[:, keep], initial[keep]
    settled = torch.zeros_like(initial)
    for iteration in range(MAX_BISECTIONS):
        low, high, before, after = cells
        middle = (low + high) / 2
        is_divisible = (middle > low) & (middle < high)
        if not is_divisible.any():
            break
        at_middle = curve(middle)
        is_left = (at_middle - before).abs() >= (after - at_middle).abs()
        halves = torch.stack([low, middle, before, at_middle]), torch.stack([middle, high, at_middle, after])
        cells = torch.where(is_divisible, torch.where(is_left, *halves), cells)
        change = (cells[3] - cells[2]).abs()
        keep = change.isfinite() & (change < 4 * initial) & (change > _LEAST_JUMP * initial)
        keep &= change > 0.4 * settled  # sign jumps in two halves: from −1 to 0 to 1
        if iteration == _SETTLED:
            settled = change
        cells, initial, settled = cells[:, keep], initial[keep], settled[keep]
    return cells[1], cells[3] - cells[2]
