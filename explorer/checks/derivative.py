"""Is the gradient the derivative of the op?"""

import math

import torch
from torch import Tensor

from explorer.checks.curve import Curve
from explorer.checks.linearity import find_effect_of_others
from explorer.checks.masks import describe_idle_mask
from explorer.checks.matching import match_rule
from explorer.checks.result import (
    Result,
    by_design,
    fails,
    format_number,
    format_position,
    format_unequal,
    holds,
    unknown,
)

_MIN_TRUSTED = 0.1  # share of the points at which y is finite
_TIE = 1e-9
_SLIP = 0.05  # a factor nearer to 1 than this is a slip, not a choice
_SMALL = 1e-6  # a g that no rule clips


def check_derivative(curve: Curve) -> Result:
    """Return whether the gradient for g = 1 equals central differences of the op, away from kinks."""
    off = (curve.gradient - curve.slope).abs()
    deviating = curve.trusted & (off > curve.tolerance)
    broken = curve.y.isfinite() & curve.gradient.isnan() & (curve.x.abs() < 100)
    if broken.any() and bool(curve.gradient.isnan().all()):
        return fails("The gradient is NaN everywhere, although y is a number.")
    if not curve.is_flat and int(curve.trusted.sum()) < max(_MIN_TRUSTED * int(curve.y.isfinite().sum()), 1):
        return _judge_unknown_slope(curve)
    if deviating.any():
        return _judge_deviation(curve, deviating, find_clearest(curve.x, off, deviating))
    if broken.any():
        at = float(curve.x[broken][0])
        words = f"At {curve.axis} = {format_position(at)} y is a number but the gradient is NaN."
        return fails(words, at)
    if find_effect_of_others(curve):
        return unknown("With the same g everywhere it is, but it depends on other elements: see linear in g.")
    if curve.is_flat:
        return holds("The op is level between its jumps, so its gradient is rightly 0, and nothing learns.")
    largest = float(torch.where(curve.trusted, off / (curve.slope.abs() + 1), 0.0).max())
    reach = f"up to |{curve.axis}| = {format_number(float(curve.x[curve.trusted].abs().max()))}"
    words = f"It is the op's derivative {reach}; relative difference at most {largest:.1g}."
    return holds(words, None, largest)


def find_clearest(x: Tensor, off: Tensor, deviating: Tensor) -> int:
    """Return the index, among the points with about the largest deviation, of the x nearest to ±1.

    If several x are equally near up to rounding, it is the largest, so that all machines agree.
    """
    weighed = torch.where(deviating, off / (1 + x.abs()), 0.0)
    large = deviating & (weighed >= 0.7 * weighed.max())
    distance = torch.where(large, (x.abs() - 1).abs(), torch.inf)
    return int((distance <= distance.min() + _TIE).nonzero()[-1])


def is_derivative(curve: Curve) -> bool:
    """Return whether the rule is the op's derivative at each x whose slope is known."""
    return not bool((curve.trusted & ((curve.gradient - curve.slope).abs() > curve.tolerance)).any())


def find_factor(curve: Curve, g: float = 1.0) -> float | None:
    """Return the constant ratio of gradient / g to the op's derivative; None if there is none."""
    sure, r = curve.trusted, curve.gradient if g == 1.0 else curve.subject.gradient(curve.x, g) / g
    slope, r, tolerance = curve.slope[sure], r[sure], curve.tolerance[sure]
    if not bool((slope.abs() > 10 * tolerance).any()):  # differences of a level op are noise
        return None
    value = float((slope * r).sum() / slope.square().sum())
    if abs(value - round(value, 6)) < 1e-6:
        value = round(value, 6)
    near = (r - value * slope).abs() <= (1 + abs(value)) * tolerance + 1e-6 * slope.abs()
    return value if bool(near.all()) and value else None


def is_bounded_by_argument(curve: Curve, learned: bool = False) -> bool:
    """Return whether y ends at an argument of the function or at the product of two.

    ``learned``: consider only arguments that require grad.
    """
    single = [a for a in curve.subject.arguments if not isinstance(a, Tensor) or a.numel() == 1]
    if learned:
        single = [a for a in single if isinstance(a, Tensor) and a.requires_grad]
    numbers = [float(a) for a in single if isinstance(a, int | float | Tensor) and not isinstance(a, bool)]
    products = [a * b for a in numbers for b in [1.0, *numbers] if a]
    ends = [float(curve.y.min()), float(curve.y.max())]
    return any(end and math.isclose(end, product, rel_tol=1e-6) for end in ends for product in products)


def _judge_unknown_slope(curve: Curve) -> Result:
    if curve.axis != "x" and any(len(each.jumps[0]) for each in curve.siblings):
        return by_design("The op jumps at nearly every point, so the rule stands in for a derivative.")
    y = curve.y[curve.y.isfinite()]
    if curve.is_fine and len(y) and bool((y.float().double() == y).all()):
        words = "Differences of y are noise: it computes in float32 even if x is float64. Leave out the cast."
        return fails(words)
    return unknown("The slope of y could not be measured: y jumps or bends at nearly every point.")


def _judge_deviation(curve: Curve, deviating: Tensor, worst: int) -> Result:
    at, r, slope = (float(values[worst]) for values in (curve.x, curve.gradient, curve.slope))
    gradient, due = format_unequal(r, slope)
    observed = f"At {curve.axis} = {format_position(at)} the gradient is {gradient}, the op's slope {due}"
    size, declared = abs(r - slope), curve.subject.declared
    jumps = max(len(each.jumps[0]) for each in curve.siblings)
    if declared:
        reason = f"{declared.label} is not the op's derivative and does not claim to be"
        if declared.parsed is None and curve.subject.rounds_gradient:
            reason = "Torch's own backward of a cast passes g on, and casts it too"
        elif declared.parsed is None:
            reason = "Torch also differentiates what is computed over all elements"
        return by_design(f"{reason}. {observed}.", at, size)
    if mask := describe_idle_mask(curve):
        return fails(f"{observed}: {mask}. Compare x with the bounds.", at, size)
    if curve.is_flat:
        reason = "The op is level between its jumps, so its derivative is 0: the rule stands in for it"
        return by_design(f"{reason}. {observed}.", at, size)
    if curve.is_identity:
        return by_design(f"The op is the identity, so only the rule matters. {observed}.", at, size)
    if curve.axis != "x" and jumps:
        return by_design(f"The op jumps, so the rule stands in for a derivative. {observed}.", at, size)
    times, *others = (find_factor(each) for each in curve.siblings)
    if times is not None and any(other is None or abs(other - times) > 1e-4 * abs(times) for other in others):
        times = None
    if times is not None and (times > 0 or abs(times - 1) < _SLIP):
        return _judge_factor(curve, times, at)
    if inherited := match_rule(curve):
        if inherited.rule.area == "infinite" and is_bounded_by_argument(curve, learned=True):
            reason = "a learned argument bounds y, so x is due no gradient beyond it: mask g with that bound"
            return fails(f"{observed}: {reason}.", at, size)
        reason = f"It is the catalogue's {inherited.text}, which is not the op's derivative"
        return by_design(f"{reason}. {observed}.", at, size)
    if times is not None:
        return fails(
            f"It is {format_number(times)} times the op's derivative: turn the sign round.", at, times
        )
    if jumps >= 2 and not bool(curve.slope[deviating].any()):
        return by_design(f"The op jumps and is level there, so the rule stands in. {observed}.", at, size)
    share = float(deviating.sum() / curve.trusted.sum())
    part = "everywhere" if share > 0.9 else _describe_interval(curve.x[deviating])
    advice = "Compare the backward with the forward there"
    return fails(f"{observed}: it is not the derivative {part}. {advice}.", at, size)


def _judge_factor(curve: Curve, times: float, at: float) -> Result:
    """Return the finding on a constant factor: by design if a formula, the code or an argument has it."""
    observed = f"It is {format_number(times)} times the op's derivative, everywhere"
    if abs(times - 1) < _SLIP:
        observed = f"It is {times:.6g} times the op's derivative, everywhere"
        return fails(f"{observed}: a constant is slightly off.", at, times)
    least = find_factor(curve, _SMALL)
    if least is not None and abs(least - 1) < _SLIP:
        return by_design(
            f"It is the op's derivative for small g, and {times:.3g} times it for g = 1.", at, times
        )
    numbers = curve.subject.constants
    if curve.subject.op or any(math.isclose(times, abs(number), rel_tol=1e-4) for number in numbers):
        return by_design(f"{observed}.", at, times)
    factor = format_number(1 / times)
    return unknown(
        f"{observed}. That is intended if gradients are to be scaled; otherwise a factor {factor} is missing."
    )


def _describe_interval(x: Tensor) -> str:
    low, high = float(x.min()), float(x.max())
    if low == high:
        return f"at {format_position(low)}"
    return f"between {format_number(low)} and {format_number(high)}"
