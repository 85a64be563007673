"""The size of a rule at g = 1: how high it is, how much it weighs, how wide it reaches."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.checks.curve import Curve
from explorer.curves.foreign import FAR, NEAR, OFF, merge_points
from explorer.formula import parse

_FINE, _MOST_ENDS = 40_001, 4_000  # points that are looked at for gaps, and ends of gaps that are searched
_LARGE = 512.0  # up to here gaps are looked for at even points as well: the levels of 8-bit formats
_HALVINGS = 80  # of the step in which a rule ends: to the last bit
_SAME = 1e-6  # of a peak: one below 0 that is no higher than the one above is not the peak
_EDGE, _LEAST = 1e-3, 1e-9  # within this share of a support a rule that ends has this share of its peak


@dataclass(frozen=True)
class Size:
    """The size of a rule beside an op at g = 1.

    Attributes:
        peak: its largest value by size, with its sign; infinite at a pole and without bounds, 0 where it
            blocks everything.
        area: its integral over all x; infinite where that goes on growing, NaN where it cannot be
            summed, as at a steep pole, or where its parts above and below 0 only cancel, as of a wave
            without end.
        support: the length of x on which it is not 0, gaps left out; infinite for tails.
    """

    peak: float
    area: float
    support: float


def size_of(curve: Curve) -> Size:
    """Return the size of the rule of a curve, from float64."""
    x = curve.integral[0]
    r = curve.subject.gradient(x)
    x, r = _parted(curve, x, r)
    support = _support(curve, x, r)
    return Size(_peak(curve, r), _area(curve, x, r, support), support)


def _parted(curve: Curve, x: Tensor, r: Tensor) -> tuple[Tensor, Tensor]:
    """Return a finer grid with both sides of each x at which the rule becomes 0 or ceases to be."""
    far = torch.logspace(-6, math.log10(FAR) - 1e-4, _FINE // 2, dtype=x.dtype)
    even = torch.linspace(-1, 1, _FINE, dtype=x.dtype) + OFF / _FINE
    fine = merge_points([x, -far, NEAR * even, _LARGE * even, far])
    r = curve.subject.gradient(fine)
    zero = r == 0
    cells = (zero[1:] != zero[:-1]).nonzero()[:, 0]
    if not 2 < len(cells) < _MOST_ENDS:
        return x, curve.subject.gradient(x)
    low, high, is_zero = fine[cells], fine[cells + 1], zero[cells]
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        same = (curve.subject.gradient(middle) == 0) == is_zero
        low, high = torch.where(same, middle, low), torch.where(same, high, middle)
    fine = merge_points([fine, low, high])
    return fine, curve.subject.gradient(fine)


def _peak(curve: Curve, r: Tensor) -> float:
    known = torch.cat([r, _beyond(curve)])
    known = known[~known.isnan()]
    if not len(known):
        return math.nan
    low, high = (float(end) + 0.0 for end in known.aminmax())
    return low if -low > high * (1 + _SAME) else high


def _beyond(curve: Curve) -> Tensor:
    """Return an infinite value for each side on which the rule grows without bounds."""
    far = torch.tensor([FAR * 100.0**step for step in range(5)], dtype=torch.float64)
    ends = []
    for x in (-far, far):
        values = curve.subject.gradient(x.to(curve.dtype)).double()
        steps = values.abs().diff()[-3:]
        if values.isinf()[1:].any() or bool((steps > 0).all() and (steps[1:] > 0.99 * steps[:-1]).all()):
            ends.append(math.copysign(math.inf, float(values[~values.isnan()][-1])))
    return torch.tensor(ends, dtype=torch.float64)


def _area(curve: Curve, x: Tensor, r: Tensor, support: float) -> float:
    """Return the area that the entry declares; else it is summed, over ``x`` where the rule has gaps."""
    declared = curve.subject.declared
    if declared and declared.area not in (None, "infinite"):
        assert declared.area
        return parse(declared.area, variables=(), parameters=None).value(curve.subject.parameters)
    has_gaps = len(x) > len(curve.integral[0]) and math.isfinite(support) and bool(r.isfinite().all())
    return curve.measure_area(x if has_gaps else None)


def _support(curve: Curve, x: Tensor, r: Tensor) -> float:
    moves = (r.nan_to_num(nan=1.0) != 0).nonzero()[:, 0]
    if not len(moves):
        return 0.0
    first, last = int(moves[0]), int(moves[-1])
    if first == 0 or last == len(x) - 1 or x[last] - x[first] > FAR:
        return math.inf
    low = _end(curve, float(x[first]), float(x[first - 1]))
    high = _end(curve, float(x[last]), float(x[last + 1]))
    inside_x, is_zero = x[first : last + 1], r[first : last + 1] == 0
    gaps = float((inside_x.diff() * (is_zero[1:] & is_zero[:-1])).sum())
    if gaps:
        return float(f"{high - low - gaps:.12g}")
    inside = torch.tensor([low + _EDGE * (high - low), high - _EDGE * (high - low)], dtype=x.dtype)
    edges, peak = curve.subject.gradient(inside).abs(), abs(_peak(curve, r))
    fades = math.isfinite(peak) and bool((edges < _LEAST * peak).all())
    return math.inf if fades else high - low


def _end(curve: Curve, inside: float, outside: float) -> float:
    """Where a rule becomes 0 between an x at which it is not and one at which it is."""
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        at = curve.subject.gradient(torch.tensor([middle], dtype=curve.dtype))
        if float(at) == 0:
            outside = middle
        else:
            inside = middle
    return float(f"{inside:.12g}")
