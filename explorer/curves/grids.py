"""Choose the x values at which curves are sampled: an even grid, each kink and the floats next to it."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.catalogue import to_finite
from explorer.catalogue.records import MAX_ABS_X
from explorer.curves.sampled import EVEN, KINK, NEIGHBOUR, Floats
from explorer.formula.reference import make_even_points

MAX_POINTS = 4001
# Minimum width of a range, as a fraction of its larger end and absolute. Narrower ranges have too few floats.
MIN_RELATIVE_RANGE, MIN_RANGE = 1e-12, 1e-30
_JUMP_FRACTION = 0.02  # smaller changes within a grid step, as a fraction of the curve's height, are no jumps
_MAX_BISECTIONS = 120  # enough to reach adjacent float64 numbers even near 0
DTYPES = {"float32": torch.float32, "float64": torch.float64}


def normalize_range(start: float, stop: float, dtype: torch.dtype) -> tuple[float, float]:
    """Return the ends of a range in ascending order, 1 further out if both are the same float of the dtype.

    Raises ValueError if an end is not finite or beyond ±1e6, within which a widened range stays.
    """
    low, high = sorted((to_finite("start", start), to_finite("stop", stop)))
    if max(-low, high) > MAX_ABS_X:
        raise ValueError(f"start and stop must lie within ±{MAX_ABS_X:.15g}, got {start} and {stop}")
    floats = round_to_dtype([low, high], dtype)
    if floats[0] < floats[1]:
        return low, high
    return max(low - 1.0, -MAX_ABS_X), min(high + 1.0, MAX_ABS_X)


def check_points(points: int) -> int:
    """Return a number of points if it is an integer within bounds, else raise ValueError."""
    if not isinstance(points, int) or not 2 <= points <= MAX_POINTS:
        raise ValueError(f"points must be a whole number from 2 to {MAX_POINTS}, not {points!r}")
    return points


def to_torch_dtype(dtype: str | torch.dtype) -> torch.dtype:
    """Return the torch dtype for a name such as "float32". Raises ValueError if it is not supported."""
    torch_dtype = DTYPES.get(str(dtype).removeprefix("torch."))
    if torch_dtype is None:
        raise ValueError(f"dtype must be {' or '.join(DTYPES)}, not {dtype!r}")
    return torch_dtype


def round_to_dtype(numbers: Sequence[float], dtype: torch.dtype) -> tuple[float, ...]:
    """Round numbers to the nearest floats of a dtype, and replace −0 by 0."""
    return tuple((torch.tensor(numbers, dtype=torch.float64).to(dtype) + 0.0).tolist())


def make_grid(
    start: float, stop: float, points: int, kinks: Sequence[float], dtype: torch.dtype
) -> tuple[Floats, NDArray[np.int8]]:
    """Return the x of an even grid over a range, merged with all kinks and the floats next to them.

    Around each kink the first and the fourth float on both sides are included, because an op that divides x
    before rounding may jump up to four floats late.

    Returns:
        x, (n,), ascending and distinct; and marks, (n,) int8, which say for each x whether it is a point of
        the even grid, a kink, or a float next to a kink.
    """
    kink_x = torch.tensor(kinks, dtype=dtype)
    neighbours = []
    for direction in (-math.inf, math.inf):
        steps = [kink_x]
        for _ in range(4):
            steps.append(torch.nextafter(steps[-1], torch.full_like(kink_x, direction)))
        neighbours += [steps[1], steps[4]]
    parts = {
        KINK: kink_x,
        NEIGHBOUR: torch.cat(neighbours),
        EVEN: make_even_points(start, stop, points).to(dtype),
    }
    marks = np.concatenate([np.full(len(part), mark, dtype=np.int8) for mark, part in parts.items()])
    # unique() keeps the first of equal x, so kinks take precedence over neighbours, and these over the grid.
    x, indices = np.unique(torch.cat(list(parts.values())).numpy(), return_index=True)
    low, high = round_to_dtype([start, stop], dtype)
    inside = (x >= low) & (x <= high)
    return x[inside], marks[indices][inside]


def find_late_jumps(
    x: Floats, marks: NDArray[np.int8], y: Floats, curve: Callable[[Floats], Floats]
) -> dict[int, float]:
    """Find the jumps that floating-point error has moved more than four floats away from a declared kink.

    Returns a dict from the index in x of the point before each jump to the first x after the jump.

    Near 0, floats are so dense that adding a constant rounds them away: ``round(x - 0.5)`` jumps at -3e-8 in
    float32. Only steps of the grid next to a kink with a large change of y are searched.
    """
    kinks, sides = np.flatnonzero(marks == KINK)[:, None], np.array([-1, 1])
    near, far = (kinks + 2 * sides).ravel(), (kinks + 3 * sides).ravel()
    finite_y = y[np.isfinite(y)]
    if not len(finite_y):
        return {}
    with np.errstate(invalid="ignore", over="ignore"):
        inside = (far >= 0) & (far < len(x))
        near, far = near[inside], far[inside]
        change = np.abs(y[far] - y[near])
        is_candidate = (
            (marks[near] == NEIGHBOUR) & (marks[far] == EVEN) & (change > _JUMP_FRACTION * np.ptp(finite_y))
        )
        if not is_candidate.any():
            return {}
        inner, outer = x[near[is_candidate]], x[far[is_candidate]]
        for _ in range(_MAX_BISECTIONS):  # keeps the half of each interval with the larger change
            middle = (inner + outer) / 2
            y_inner, y_middle, y_outer = curve(np.concatenate([inner, middle, outer])).reshape(3, -1)
            is_outside = np.abs(y_middle - y_inner) <= np.abs(y_outer - y_middle)
            inner, outer = np.where(is_outside, middle, inner), np.where(is_outside, outer, middle)
        is_jump = np.abs(curve(outer) - curve(inner)) > change[is_candidate] / 2
    return dict(zip(near[is_candidate][is_jump].tolist(), outer[is_jump].tolist(), strict=True))
