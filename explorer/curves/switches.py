"""Where a function of x switches or jumps: a scan of a range, and halving down to neighbouring floats."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.catalogue import TooManyKinksError
from explorer.formula.reference import even_points

MOST_KINKS = 512  # all jumps of a format of eight bits; more could not be told apart in a picture
SCAN_POINTS = 2001
HALVINGS = 64  # from a step of the scan down to neighbouring floats
_SETTLED = 30  # halvings after which the difference across a jump is that of the jump alone
_LEAST_JUMP = 1e-3  # of the difference in a cell of the scan

Curve = Callable[[Tensor], Tensor]
Floats = NDArray[np.float64]


def switches(value: Curve, start: float, stop: float, also: list[float]) -> list[float]:
    """The x at which a piecewise constant function changes, snapped to short decimals that are as near.

    The scan goes a step beyond both ends, for what changes exactly there, and over ``also``. A cell
    that changes is halved, and both halves are kept where both change: many jumps in one are all found.
    """
    step = (stop - start) / SCAN_POINTS
    even = even_points(start - step, stop + step, SCAN_POINTS).numpy()
    x = np.sort(np.concatenate([even, also])) if also else even
    at = _comparable(value, x)
    changes = np.flatnonzero(at[1:] != at[:-1])
    cells = np.array([x[changes], x[changes + 1], at[changes], at[changes + 1]])
    halvings = HALVINGS
    while halvings:
        cells = cells[:, cells[2] != cells[3]]
        count = cells.shape[1]
        if not count:
            return []
        if count > 4 * MOST_KINKS:
            raise TooManyKinksError(f"a piece of the formula changes {count} times")
        if (np.nextafter(cells[0], cells[1]) == cells[1]).all():
            break
        # Several at once while they stay few: what takes long are the calls, not how many x they are for.
        at_once = min(halvings, 4 if 16 * count <= 4 * MOST_KINKS else 2 if count <= MOST_KINKS else 1)
        cells = _halved(value, cells, at_once)
        halvings -= at_once
    return apart(sorted(cells[1, cells[2] != cells[3]].tolist()), stop - start)


def _halved(value: Curve, cells: Floats, times: int) -> Floats:
    """Cells halved so often, those left whose ends and those of all they are part of differ; (4, n) each."""
    x = cells[:2]
    for _ in range(times):
        middles, both = (x[:-1] + x[1:]) / 2, np.empty((2 * len(x) - 1, x.shape[1]))
        both[::2], both[1::2] = x, middles
        x = both
    inner = _comparable(value, x[1:-1].ravel()).reshape(x[1:-1].shape)
    at = np.concatenate([cells[2:3], inner, cells[3:]])
    changes = at[:-1] != at[1:]
    for size in (2**level for level in range(1, times + 1)):
        changes &= np.repeat(at[:-1:size] != at[size::size], size, axis=0)
    return np.array([x[:-1][changes], x[1:][changes], at[:-1][changes], at[1:][changes]])


def zeros(value: Curve, x: list[float]) -> list[float]:
    """The x at which a sign is 0: its zero, which rounding may have made a stretch."""
    at = torch.tensor(x, dtype=torch.float64)
    found: list[float] = at[value(at) == 0].tolist()
    return found


def is_near(x: float, positions: Sequence[float], distance: float) -> bool:
    """Whether an x lies so near to one of some positions."""
    return any(abs(x - other) <= distance for other in positions)


def _comparable(value: Curve, x: Floats) -> Floats:
    """Values with infinity for NaN, which would differ from itself; (n,) float64."""
    with torch.no_grad():
        y = value(torch.from_numpy(x))
        return y.nan_to_num(nan=math.inf, posinf=math.inf, neginf=-math.inf).numpy()


def apart(positions: list[float], width: float) -> list[float]:
    """Each x once, though ``sign`` changes both at its zero and right after it; as short decimals."""
    kept: list[float] = []
    for x in positions:
        near = max(1e-14 * width, 8 * math.ulp(x))
        if not kept or x - kept[-1] > near:
            short = float(f"{x:.7g}") if abs(x) > near else 0.0
            kept.append((short if abs(short - x) <= near else x) + 0.0)
    return kept


def jumps(curve: Curve, scan: Tensor) -> tuple[Tensor, Tensor]:
    """Positions and heights of a function's jumps: the differences in cells of a scan that survive halving.

    A smooth function's difference halves with its cell, that of a root shrinks too: a jump's stays. Neither
    the end of a domain nor a pole is a jump, nor is a difference below a thousandth of that in its cell.
    """
    values = curve(scan)
    cells = torch.stack([scan[:-1], scan[1:], values[:-1], values[1:]])
    started = (cells[3] - cells[2]).abs()
    keep = started.isfinite() & (started > 1e-10)
    cells, started = cells[:, keep], started[keep]
    settled = torch.zeros_like(started)
    for turn in range(HALVINGS):
        low, high, before, after = cells
        middle = (low + high) / 2
        divisible = (middle > low) & (middle < high)
        if not divisible.any():
            break
        between = curve(middle)
        left = (between - before).abs() >= (after - between).abs()
        halves = torch.stack([low, middle, before, between]), torch.stack([middle, high, between, after])
        cells = torch.where(divisible, torch.where(left, *halves), cells)
        change = (cells[3] - cells[2]).abs()
        keep = change.isfinite() & (change < 4 * started) & (change > _LEAST_JUMP * started)
        keep &= change > 0.4 * settled  # sign has a value of its own at its jump, halfway
        if turn == _SETTLED:
            settled = change
        cells, started, settled = cells[:, keep], started[keep], settled[keep]
    return cells[1], cells[3] - cells[2]
