"""Is the gradient the derivative of the op?"""

import torch
from torch import Tensor

from explorer.checks.curve import Curve
from explorer.checks.inheritance import match
from explorer.checks.result import Finding, by_design, fails, holds, position, short, unknown

_LEAST_TRUSTED = 0.1  # of the points
_TIE = 1e-9


def true_derivative(curve: Curve) -> Finding:
    """The gradient for g = 1 against central differences of the op, away from kinks, over ±10,000."""
    off = (curve.gradient - curve.slope).abs()
    beyond = curve.trusted & (off > curve.tolerance)
    broken = curve.y.isfinite() & curve.gradient.isnan() & (curve.x.abs() < 100)
    if broken.any() and bool(curve.gradient.isnan().all()):
        return fails("The gradient is NaN everywhere, although y is a number.")
    if float(curve.trusted.double().mean()) < _LEAST_TRUSTED:
        return _unsteady(curve)
    if not beyond.any() and not broken.any():
        return _right(curve, off)
    if broken.any() and not beyond.any():
        at = float(curve.x[broken][0])
        return fails(f"At x = {position(at)} y is a number but the gradient is none (NaN).", at)
    worst = clearest(curve.x, off, beyond)
    return _deviates(curve, beyond, worst)


def clearest(x: Tensor, off: Tensor, beyond: Tensor) -> int:
    """The index, among the points with about the largest deviation, of the x nearest to ±1.

    Of several that are equally near up to rounding it is the largest, so that machines agree.
    """
    weighed = torch.where(beyond, off / (1 + x.abs()), 0.0)
    large = beyond & (weighed >= 0.7 * weighed.max())
    apart = torch.where(large, (x.abs() - 1).abs(), torch.inf)
    return int((apart <= apart.min() + _TIE).nonzero()[-1])


def is_derivative(curve: Curve) -> bool:
    """Whether the rule is the op's derivative wherever that is known."""
    return not bool((curve.trusted & ((curve.gradient - curve.slope).abs() > curve.tolerance)).any())


def factor(curve: Curve) -> float | None:
    """The constant factor between the rule and the op's derivative; None where there is none."""
    sure = curve.trusted
    slope, r = curve.slope[sure], curve.gradient[sure]
    if not slope.abs().max() > 0:
        return None
    value = float((slope * r).sum() / slope.square().sum())
    if abs(value - round(value, 6)) < 1e-6:
        value = round(value, 6)
    near = (r - value * slope).abs() <= (1 + abs(value)) * curve.tolerance[sure] + 1e-6 * slope.abs()
    return value if bool(near.all()) and value else None


def _right(curve: Curve, off: Tensor) -> Finding:
    if curve.flat:
        return holds("The op is level between its jumps, and so the gradient is 0: true, and nothing learns.")
    largest = float(torch.where(curve.trusted, off, 0.0).max())
    reach = float(curve.x[curve.trusted].abs().max())
    return holds(
        f"It is the op's derivative up to |x| = {short(reach)}; difference at most {largest:.1g}.",
        None,
        largest,
    )


def _unsteady(curve: Curve) -> Finding:
    if curve.coarse:
        return by_design("The op rounds to the digits of a short float: the rule stands in for a derivative.")
    y = curve.y[curve.y.isfinite()]
    if curve.dtype == torch.float64 and len(y) and bool((y.float().double() == y).all()):
        return fails(
            "Differences of y are noise: it computes in float32 even where x is float64. Leave out the cast."
        )
    return unknown("y has no slope that differences could tell: it jumps or bends at nearly every point.")


def _deviates(curve: Curve, beyond: Tensor, worst: int) -> Finding:
    at, r, slope = (float(values[worst]) for values in (curve.x, curve.gradient, curve.slope))
    observed = f"At x = {position(at)} the gradient is {short(r)}, the op's slope {short(slope)}"
    size = abs(r - slope)
    declared = curve.subject.declared
    if declared and declared.parsed is None and curve.subject.rounds_gradient:
        return by_design(f"Torch's own backward of a cast passes g on, cast as well. {observed}.", at, size)
    if declared and declared.parsed is None:
        return by_design(
            f"Torch differentiates what is taken over all elements as well. {observed}.", at, size
        )
    if declared:
        return by_design(
            f"{declared.label} is not the op's derivative and does not claim to be. {observed}.", at, size
        )
    if curve.flat or curve.coarse:
        return by_design(
            f"The op is level between its jumps, so its derivative is 0: the rule stands in. {observed}.",
            at,
            size,
        )
    if curve.identity:
        return by_design(f"The op changes nothing, so the rule is all it is there for. {observed}.", at, size)
    times = factor(curve)
    if times is not None and times > 0:
        return by_design(f"It is {short(times)} times the op's derivative, everywhere.", at, times)
    inherited = match(curve)
    if inherited:
        return by_design(
            f"It is the catalogue's {inherited.text}, which is not the op's derivative. {observed}.", at, size
        )
    if times is not None:
        return fails(f"It is {short(times)} times the op's derivative: turn the sign round.", at, times)
    share = float(beyond.sum() / curve.trusted.sum())
    part = "everywhere" if share > 0.9 else _stretch(curve, beyond)
    return fails(
        f"{observed}: it is not the derivative {part}. Compare the backward with the forward there.", at, size
    )


def _stretch(curve: Curve, beyond: Tensor) -> str:
    x = curve.x[beyond]
    low, high = float(x.min()), float(x.max())
    if low == high:
        return f"at {position(low)}"
    return f"between {short(low)} and {short(high)}"
