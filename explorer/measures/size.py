"""The size of a rule at g = 1: how high it is, how much it weighs, how wide it reaches."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.checks.curve import Curve
from explorer.foreign import FAR
from explorer.formula import parse

_HALVINGS = 80  # of the step in which a rule ends: to the last bit
_SAME = 1e-6  # of a peak: one below 0 that is no higher than the one above is not the peak
_EDGE, _LEAST = 1e-3, 1e-9  # within this share of a support a rule that ends has this share of its peak


@dataclass(frozen=True)
class Size:
    """The size of a rule beside an op at g = 1.

    Attributes:
        peak: its largest value by size, with its sign; infinite at a pole, 0 where it blocks everything.
        area: its integral over all x; infinite where that goes on growing, NaN where it cannot be
            summed, as at a steep pole, or where its parts above and below 0 only cancel, as of a wave
            without end.
        support: the distance from the first x at which it is not 0 to the last; infinite for tails.
    """

    peak: float
    area: float
    support: float


def size_of(curve: Curve) -> Size:
    """The size of the rule of a curve, from float64."""
    x = curve.integral[0]
    r = curve.subject.gradient(x)
    return Size(_peak(r), _area(curve), _support(curve, x, r))


def _peak(r: Tensor) -> float:
    known = r[~r.isnan()]
    if not len(known):
        return math.nan
    low, high = (float(end) + 0.0 for end in known.aminmax())
    return low if -low > high * (1 + _SAME) else high


def _area(curve: Curve) -> float:
    """As the entry declares it; else summed."""
    declared = curve.subject.declared
    if declared and declared.area not in (None, "infinite"):
        assert declared.area
        return parse(declared.area, variables=(), parameters=None).value(curve.subject.parameters)
    if curve.unsummable:
        return math.nan
    area = curve.area() + 0.0
    return math.nan if curve.is_endless and (math.isfinite(area) or curve.cancels) else area


def _support(curve: Curve, x: Tensor, r: Tensor) -> float:
    moves = (r.nan_to_num(nan=1.0) != 0).nonzero()[:, 0]
    if not len(moves):
        return 0.0
    first, last = int(moves[0]), int(moves[-1])
    if first == 0 or last == len(x) - 1 or x[last] - x[first] > FAR:
        return math.inf
    low = _end(curve, float(x[first]), float(x[first - 1]))
    high = _end(curve, float(x[last]), float(x[last + 1]))
    inside = torch.tensor([low + _EDGE * (high - low), high - _EDGE * (high - low)], dtype=x.dtype)
    edges, peak = curve.subject.gradient(inside).abs(), abs(_peak(r))
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
