"""The size of a backward rule at g = 1: its peak, its area and the length of its support."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.curves.bisection import bisect
from explorer.curves.user_functions.curve import Curve
from explorer.curves.user_functions.elementwise import FAR, NEAR, OFF, merge_points
from explorer.formula import parse

_FINE_POINTS, _MAX_ENDS = 40_001, 4_000  # points in a search for gaps, and maximum number of gap ends
_GAP_RANGE = 512.0  # maximum |x| of even points, which show gaps between levels of 8-bit formats
_TOLERANCE = 1e-6  # a negative peak has to exceed the positive one by this fraction
_EDGE, _MIN_SHARE = 1e-3, 1e-9  # a rule fades if it is below _MIN_SHARE of its peak at _EDGE of the support


@dataclass(frozen=True)
class Size:
    """The peak, the area and the support of a backward rule with an op, at g = 1.

    Attributes:
        peak: the value with the largest absolute value; infinite if unbounded, 0 if the rule blocks
            everything.
        area: the integral over all x; infinite if it diverges. NaN if it cannot be computed, as at a steep
            pole, or if infinite positive and negative parts cancel, as for an endless wave.
        support: the total length of the intervals on which the rule is not 0; infinite for tails.
    """

    peak: float
    area: float
    support: float


def measure_size(curve: Curve) -> Size:
    """Return the peak, area and support of a curve's backward rule, computed in float64."""
    x, r = _refine_grid(curve)
    support = _measure_support(curve, x, r)
    return Size(_find_peak(curve, r), _measure_area(curve, x, r, support), support)


def _refine_grid(curve: Curve) -> tuple[Tensor, Tensor]:
    """Return x and the rule's gradient, refined around each x at which the gradient becomes 0."""
    x, gradient_of = curve.integral[0], curve.subject.gradient
    far = torch.logspace(-6, math.log10(FAR) - 1e-4, _FINE_POINTS // 2, dtype=x.dtype)
    even = torch.linspace(-1, 1, _FINE_POINTS, dtype=x.dtype) + OFF / _FINE_POINTS
    fine = merge_points([x, -far, NEAR * even, _GAP_RANGE * even, far])
    zero = gradient_of(fine) == 0
    cells = (zero[1:] != zero[:-1]).nonzero()[:, 0]
    if not 2 < len(cells) < _MAX_ENDS:
        return x, gradient_of(x)
    ends = bisect(lambda x: (gradient_of(x) == 0) == zero[cells], fine[cells], fine[cells + 1])
    fine = merge_points([fine, *ends])
    return fine, gradient_of(fine)


def _find_peak(curve: Curve, r: Tensor) -> float:
    far = torch.tensor([FAR * 100.0**step for step in range(5)], dtype=torch.float64)
    for x in (-far, far):
        values = curve.subject.gradient(x.to(curve.dtype)).double()
        steps = values.abs().diff()[-3:]
        if values.isinf()[1:].any() or bool((steps > 0).all() and (steps[1:] > 0.99 * steps[:-1]).all()):
            end = math.copysign(math.inf, float(values[~values.isnan()][-1]))
            r = torch.cat([r, r.new_tensor([end])])
    r = r[~r.isnan()]
    if not len(r):
        return math.nan
    low, high = (float(end) + 0.0 for end in r.aminmax())
    return low if -low > high * (1 + _TOLERANCE) else high


def _measure_area(curve: Curve, x: Tensor, r: Tensor, support: float) -> float:
    """Return a rule's integral over all x: the area declared in the catalogue, or a computed one.

    The integral is taken over the points ``x`` if the rule has gaps.
    """
    declared = curve.subject.declared
    if declared and declared.area not in (None, "infinite"):
        assert declared.area
        return parse(declared.area, variables=(), parameters=None).value(curve.subject.parameters)
    has_gaps = len(x) > len(curve.integral[0]) and math.isfinite(support) and bool(r.isfinite().all())
    return float(torch.trapezoid(r, x)) if has_gaps else curve.area


def _measure_support(curve: Curve, x: Tensor, r: Tensor) -> float:
    nonzero = (r.nan_to_num(nan=1.0) != 0).nonzero()[:, 0]
    if not len(nonzero):
        return 0.0
    first, last = int(nonzero[0]), int(nonzero[-1])
    if first == 0 or last == len(x) - 1 or x[last] - x[first] > FAR:
        return math.inf
    ends, _ = bisect(lambda x: curve.subject.gradient(x) != 0, x[[first, last]], x[[first - 1, last + 1]])
    low, high = (float(f"{end:.12g}") for end in ends.tolist())
    inside_x, is_zero = x[first : last + 1], r[first : last + 1] == 0
    gaps = float((inside_x.diff() * (is_zero[1:] & is_zero[:-1])).sum())
    if gaps:
        return float(f"{high - low - gaps:.12g}")
    inside = torch.tensor([low + _EDGE * (high - low), high - _EDGE * (high - low)], dtype=x.dtype)
    edges, peak = curve.subject.gradient(inside).abs(), abs(_find_peak(curve, r))
    return math.inf if math.isfinite(peak) and bool((edges < _MIN_SHARE * peak).all()) else high - low
