"""Is the gradient the derivative of the op?"""

import torch
from torch import Tensor

from explorer.checks.curve import Curve
from explorer.checks.inheritance import match_rule
from explorer.checks.linearity import find_effect_of_others
from explorer.checks.masks import find_idle_mask
from explorer.checks.result import Finding, by_design, fails, format_number, format_position, holds, unknown

_LEAST_TRUSTED = 0.1  # of the points at which y is finite
_TIE = 1e-9
_SLIP = 0.05  # a factor nearer to 1 than this is a slip, not a choice


def check_derivative(curve: Curve) -> Finding:
    """Return whether the gradient for g = 1 equals central differences of the op, away from kinks."""
    off = (curve.gradient - curve.slope).abs()
    deviating = curve.trusted & (off > curve.tolerance)
    broken = curve.y.isfinite() & curve.gradient.isnan() & (curve.x.abs() < 100)
    if broken.any() and bool(curve.gradient.isnan().all()):
        return fails("The gradient is NaN everywhere, although y is a number.")
    if not curve.flat and int(curve.trusted.sum()) < max(_LEAST_TRUSTED * int(curve.y.isfinite().sum()), 1):
        return _judge_unsteady(curve)
    if not deviating.any() and not broken.any():
        if find_effect_of_others(curve):
            return unknown("For one g everywhere it is, but it depends on other elements: see linear in g.")
        return _confirm(curve, off)
    if broken.any() and not deviating.any():
        at = float(curve.x[broken][0])
        return fails(f"At x = {format_position(at)} y is a number but the gradient is NaN.", at)
    worst = find_clearest(curve.x, off, deviating)
    return _judge_deviation(curve, deviating, worst)


def find_clearest(x: Tensor, off: Tensor, deviating: Tensor) -> int:
    """Return the index, among the points with about the largest deviation, of the x nearest to ±1.

    Of several that are equally near up to rounding it is the largest, so that machines agree.
    """
    weighed = torch.where(deviating, off / (1 + x.abs()), 0.0)
    large = deviating & (weighed >= 0.7 * weighed.max())
    distance = torch.where(large, (x.abs() - 1).abs(), torch.inf)
    return int((distance <= distance.min() + _TIE).nonzero()[-1])


def is_derivative(curve: Curve) -> bool:
    """Return whether the rule is the op's derivative at each x whose slope is known."""
    return not bool((curve.trusted & ((curve.gradient - curve.slope).abs() > curve.tolerance)).any())


def find_factor(curve: Curve) -> float | None:
    """Return the constant factor between the rule and the op's derivative; None if there is none."""
    sure = curve.trusted
    slope, r, tolerance = curve.slope[sure], curve.gradient[sure], curve.tolerance[sure]
    if not bool((slope.abs() > 10 * tolerance).any()):  # differences of a level op are noise
        return None
    value = float((slope * r).sum() / slope.square().sum())
    if abs(value - round(value, 6)) < 1e-6:
        value = round(value, 6)
    near = (r - value * slope).abs() <= (1 + abs(value)) * tolerance + 1e-6 * slope.abs()
    return value if bool(near.all()) and value else None


def _confirm(curve: Curve, off: Tensor) -> Finding:
    if curve.flat:
        return holds("The op is level between its jumps, and so the gradient is 0: true, and nothing learns.")
    relative = off / (curve.slope.abs() + 1)
    largest = float(torch.where(curve.trusted, relative, 0.0).max())
    reach = float(curve.x[curve.trusted].abs().max())
    return holds(
        f"It is the op's derivative up to |x| = {format_number(reach)}; relative difference at most "
        f"{largest:.1g}.",
        None,
        largest,
    )


def _judge_unsteady(curve: Curve) -> Finding:
    y = curve.y[curve.y.isfinite()]
    if curve.is_fine and len(y) and bool((y.float().double() == y).all()):
        return fails(
            "Differences of y are noise: it computes in float32 even if x is float64. Leave out the cast."
        )
    return unknown("y has no slope that differences could tell: it jumps or bends at nearly every point.")


def _judge_deviation(curve: Curve, deviating: Tensor, worst: int) -> Finding:
    at, r, slope = (float(values[worst]) for values in (curve.x, curve.gradient, curve.slope))
    observed = (
        f"At x = {format_position(at)} the gradient is {format_number(r)}, the op's slope "
        f"{format_number(slope)}"
    )
    size = abs(r - slope)
    declared = curve.subject.declared
    if declared and declared.parsed is None and curve.subject.rounds_gradient:
        return by_design(f"Torch's own backward of a cast passes g on, cast as well. {observed}.", at, size)
    if declared and declared.parsed is None:
        return by_design(
            f"Torch differentiates values taken over all elements as well. {observed}.", at, size
        )
    if declared:
        return by_design(
            f"{declared.label} is not the op's derivative and does not claim to be. {observed}.", at, size
        )
    if mask := find_idle_mask(curve):
        return fails(f"{observed}: {mask}. Compare x with the bounds.", at, size)
    if curve.flat:
        return by_design(
            f"The op is level between its jumps, so its derivative is 0: the rule stands in. {observed}.",
            at,
            size,
        )
    if curve.identity:
        return by_design(f"The op changes nothing, so only the rule matters. {observed}.", at, size)
    times = find_factor(curve)
    if times is not None and abs(times - 1) < _SLIP:
        return fails(
            f"It is {times:.6g} times the op's derivative, everywhere: a constant is slightly off.", at, times
        )
    if times is not None and times > 0:
        return by_design(f"It is {format_number(times)} times the op's derivative, everywhere.", at, times)
    inherited = match_rule(curve)
    if inherited:
        return by_design(
            f"It is the catalogue's {inherited.text}, which is not the op's derivative. {observed}.", at, size
        )
    if times is not None:
        return fails(
            f"It is {format_number(times)} times the op's derivative: turn the sign round.", at, times
        )
    if len(curve.jumps[0]) >= 2 and not bool(curve.slope[deviating].any()):
        return by_design(f"The op jumps and is level there, so the rule stands in. {observed}.", at, size)
    share = float(deviating.sum() / curve.trusted.sum())
    part = "everywhere" if share > 0.9 else _describe_stretch(curve, deviating)
    return fails(
        f"{observed}: it is not the derivative {part}. Compare the backward with the forward there.", at, size
    )


def _describe_stretch(curve: Curve, deviating: Tensor) -> str:
    x = curve.x[deviating]
    low, high = float(x.min()), float(x.max())
    if low == high:
        return f"at {format_position(low)}"
    return f"between {format_number(low)} and {format_number(high)}"
