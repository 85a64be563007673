"""The x of curves: a range of some dtype, its even points, and the floats at kinks and beside them."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.catalogue import finite
from explorer.catalogue.records import LARGEST_RANGE
from explorer.curves.sampled import BESIDE, EVEN, KINK, Floats
from explorer.formula.reference import even_points

MOST_POINTS = 4001
# Of the larger end, and at 0: in a range below that float64 has too few numbers for a curve.
NARROWEST_RANGE, LEAST_RANGE = 1e-12, 1e-30
_MUCH = 0.02  # of a curve's height: a change within a step of the grid that may be a jump
_HALVINGS = 120  # from a step of the grid to neighbours next to 0, in float64
DTYPES = {"float32": torch.float32, "float64": torch.float64}


def given_range(start: float, stop: float, dtype: torch.dtype) -> tuple[float, float]:
    """The ends of a range, the lower one first; widened where they are one float of the dtype.

    Raises ValueError for ends that are no finite numbers or lie too far out.
    """
    low, high = sorted((finite("start", start), finite("stop", stop)))
    if max(-low, high) > LARGEST_RANGE:
        raise ValueError(f"start and stop must lie within ±{LARGEST_RANGE:.15g}, not at {start} and {stop}")
    ends = exact_floats([low, high], dtype)
    if ends[0] < ends[1]:
        return low, high
    return max(low - 1.0, -LARGEST_RANGE), min(high + 1.0, LARGEST_RANGE)


def given_points(points: int) -> int:
    """The number of points; raises ValueError where it is none or out of bounds."""
    if not isinstance(points, int) or not 2 <= points <= MOST_POINTS:
        raise ValueError(f"points must be a whole number from 2 to {MOST_POINTS}, not {points!r}")
    return points


def given_dtype(dtype: str | torch.dtype) -> torch.dtype:
    """The dtype of a name, or one of torch's as it is; raises ValueError for any other."""
    torch_dtype = DTYPES.get(str(dtype).removeprefix("torch."))
    if torch_dtype is None:
        raise ValueError(f"dtype must be {' or '.join(DTYPES)}, not {dtype!r}")
    return torch_dtype


def exact_floats(numbers: Sequence[float], dtype: torch.dtype) -> tuple[float, ...]:
    """Numbers as the nearest floats of a dtype, without −0."""
    return tuple((torch.tensor(numbers, dtype=torch.float64).to(dtype) + 0.0).tolist())


def grid(
    start: float, stop: float, points: int, kinks: Sequence[float], dtype: torch.dtype
) -> tuple[Floats, NDArray[np.int8]]:
    """The x of curves, ascending and distinct, and the mark of each.

    Four floats to each side of a kink are tried as well: where an op divides x before it rounds,
    the jump may come that late.
    """
    at = torch.tensor(kinks, dtype=dtype)
    beside = []
    for direction in (-math.inf, math.inf):
        steps = [at]
        for _ in range(4):
            steps.append(torch.nextafter(steps[-1], torch.full_like(at, direction)))
        beside += [steps[1], steps[4]]
    parts = {KINK: at, BESIDE: torch.cat(beside), EVEN: even_points(start, stop, points).to(dtype)}
    marks = np.concatenate([np.full(len(part), mark, dtype=np.int8) for mark, part in parts.items()])
    # Of equal x the first is taken: a kink before what lies beside one, and that before the even grid.
    x, first = np.unique(torch.cat(list(parts.values())).numpy(), return_index=True)
    low, high = exact_floats([start, stop], dtype)
    inside = (x >= low) & (x <= high)
    return x[inside], marks[first][inside]


def late_jumps(
    x: Floats, marks: NDArray[np.int8], y: Floats, curve: Callable[[Floats], Floats]
) -> dict[int, float]:
    """Jumps that come later than four floats behind a kink: its outer float's index, the x to stand there.

    Next to 0 floats lie so close that a summand swallows them: in float32 ``round(x - 0.5)`` jumps at -3e-8.
    The x is the first float beyond the jump; it is looked for where a curve changes by much within a step.
    """
    kinks, side = np.flatnonzero(marks == KINK)[:, None], np.array([-1, 1])
    near, far = (kinks + 2 * side).ravel(), (kinks + 3 * side).ravel()
    usual = y[np.isfinite(y)]
    if not len(usual):
        return {}
    with np.errstate(invalid="ignore", over="ignore"):
        inside = (far >= 0) & (far < len(x))
        near, far = near[inside], far[inside]
        change = np.abs(y[far] - y[near])
        may = (marks[near] == BESIDE) & (marks[far] == EVEN) & (change > _MUCH * np.ptp(usual))
        if not may.any():
            return {}
        inner, outer = _narrowed(curve, x[near[may]], x[far[may]])
        jumps = np.abs(curve(outer) - curve(inner)) > change[may] / 2
    return dict(zip(near[may][jumps].tolist(), outer[jumps].tolist(), strict=True))


def _narrowed(curve: Callable[[Floats], Floats], inner: Floats, outer: Floats) -> tuple[Floats, Floats]:
    """Neighbouring floats between ``inner`` and ``outer``, (m,) each, where most of the change is."""
    for _ in range(_HALVINGS):
        middle = (inner + outer) / 2
        first, second, third = curve(np.concatenate([inner, middle, outer])).reshape(3, -1)
        is_inner = np.abs(second - first) <= np.abs(third - second)
        inner, outer = np.where(is_inner, middle, inner), np.where(is_inner, outer, middle)
    return inner, outer
