"""Checks that a rule's gradient is the op's derivative, and that the gradient's own derivative is right."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from explorer.checks.finiteness import describe_idle_mask
from explorer.checks.linearity import find_effect_of_others
from explorer.checks.matching import match_rule
from explorer.checks.result import Result, by_design, fails, format_number, format_unequal, holds, unknown
from explorer.curves.user_functions.curve import Curve, differentiate
from explorer.curves.user_functions.subject import NoGradientError, Subject, describe_error
from explorer.formula import format_percent

_MIN_TRUSTED = 0.1  # minimum fraction of points with finite y
_TIE = 1e-9
_SLIP = 0.05  # a factor closer to 1 than this is a mistake, not a choice of scale
_LEVEL_STEP = 1e-9  # y is level at x if it is the same this far to the left and to the right, relative to x
_MOSTLY = 0.98  # minimum fraction of level points: a few are beside a jump
_SMALL = 1e-6  # upstream gradient too small for any rule to clip, and a step beside jumps
_MANY = 64  # with more jumps, the gradient is a staircase
_G = 1.3  # g of second derivatives: clipping to 1, or rounding to halves, has a step at 1
_REACH, _POINTS, _LINE_POINTS = 3.0, 97, 13  # range and number of x for second derivatives


def check_derivative(curve: Curve) -> Result:
    """Check whether a rule's gradient for g = 1 equals central differences of the op, away from kinks."""
    x, off = curve.x, (curve.gradient - curve.slope).abs()
    deviating = curve.trusted & (off > curve.tolerance)
    is_broken = curve.y.isfinite() & curve.gradient.isnan() & (x.abs() < 100)
    if is_broken.any() and bool(curve.gradient.isnan().all()):
        return fails("The gradient is NaN everywhere, although y is a number.")
    if not curve.is_flat and int(curve.trusted.sum()) < max(_MIN_TRUSTED * int(curve.y.isfinite().sum()), 1):
        if curve.is_line and any(len(line.jumps[0]) for line in curve.siblings):
            return by_design("The op jumps at nearly every point, so the rule stands in for a derivative.")
        y = curve.y[curve.y.isfinite()]
        if curve.is_fine and len(y) and bool((y.float().double() == y).all()):
            words = "Differences of y are noise: it computes in float32 even if x is float64."
            return fails(f"{words} Leave out the cast.")
        return unknown("The slope of y could not be measured: y jumps or bends at nearly every point.")
    if deviating.any():
        # Of the x with about the largest deviation, from −8 to 8 if any there, take the nearest to ±1.
        # If several are equally near up to rounding, take the largest, so that all machines agree.
        named = near if (near := deviating & (x.abs() <= 8)).any() else deviating
        weighed = torch.where(named, off / (1 + x.abs()), 0.0)
        distance = torch.where(named & (weighed >= 0.7 * weighed.max()), (x.abs() - 1).abs(), torch.inf)
        worst = int((distance <= distance.min() + _TIE).nonzero()[-1])
        return _judge_deviation(curve, deviating, worst)
    if is_broken.any():
        return fails("At x = {at} y is a number but the gradient is NaN.", x[is_broken][0])
    if narrow := _find_narrow_fault(curve):
        return narrow
    if find_effect_of_others(curve):
        return unknown("With the same g everywhere it is, but it depends on other elements: see linear in g.")
    if curve.is_flat and bool(curve.integral[1].any()):
        return by_design(
            "The gradient is 0 except near the op's jumps, where the rule stands in for a slope."
        )
    if curve.is_flat:
        return holds("The op is level between jumps, so its gradient is rightly 0: nothing before it learns.")
    largest = float(torch.where(curve.trusted, off / (curve.slope.abs() + 1), 0.0).max())
    words = f"It is the op's derivative up to |x| = {{reach}}; relative difference at most {largest:.1g}."
    return holds(words, None, largest, reach=x[curve.trusted].abs().max())


def _find_narrow_fault(curve: Curve) -> Result | None:
    """Return a failed result if the gradient jumps where the slope of y does not, between two samples."""
    jumps = curve.gradient_jumps[0] if curve.is_fine and not curve.is_line else curve.x[:0]
    if curve.is_flat or not 0 < len(jumps) <= _MANY:
        return None
    h = _SMALL * jumps.abs().clamp(min=1.0)
    x = curve.subject.clip(torch.cat([jumps - 3 * h, jumps + 3 * h]))
    slope, error = differentiate(curve.subject.y, x, _SMALL)
    gradient = curve.subject.gradient(x)
    off = torch.where(error <= 1e-3 * (slope.abs() + 1e-3), (gradient - slope).abs() / (1 + slope.abs()), 0.0)
    worst = int(off.argmax())
    words = "Next to x = {at} the gradient is {figure}, the op's slope {slope}: a branch or bound is wrong."
    return fails(words, x[worst], gradient[worst], slope=slope[worst]) if off[worst] > 1e-3 else None


def is_derivative(curve: Curve) -> bool:
    """Return whether a rule equals the op's derivative at every x with a known slope."""
    return not bool((curve.trusted & ((curve.gradient - curve.slope).abs() > curve.tolerance)).any())


def _find_factor(curve: Curve, g: float = 1.0) -> float | None:
    """Return the factor from the op's derivative to the gradient ÷ g, or None if it is not constant."""
    sure, r = curve.trusted, curve.gradient if g == 1.0 else curve.subject.gradient(curve.x, g) / g
    slope, r, tolerance = curve.slope[sure], r[sure], curve.tolerance[sure]
    if not bool((slope.abs() > 10 * tolerance).any()):  # slopes of a piecewise constant op are noise
        return None
    value = float((slope * r).sum() / slope.square().sum())
    value = round(value, 6) if abs(value - round(value, 6)) < 1e-6 else value
    near = (r - value * slope).abs() <= (1 + abs(value)) * tolerance + 1e-6 * slope.abs()
    return value if bool(near.all()) and value else None


def is_bounded_by_argument(curve: Curve, learned: bool = False) -> bool:
    """Return whether the largest or smallest y equals an argument of the function or a product of two.

    With ``learned``, only arguments that require grad count.
    """
    tensors = [a for a in curve.subject.arguments if isinstance(a, Tensor) and a.numel() == 1]
    numbers = [float(a) for a in tensors if a.requires_grad or not learned]
    if not learned:
        numbers += [a for a in curve.subject.arguments if type(a) in (int, float)]
    products = [a * b for a in numbers for b in [1.0, *numbers] if a]
    ends = [float(curve.y.min()), float(curve.y.max())]
    return any(end and math.isclose(end, product, rel_tol=1e-6) for end in ends for product in products)


def _judge_deviation(curve: Curve, deviating: Tensor, worst: int) -> Result:
    """Return the result; ``deviating`` masks the x that differ, ``worst`` is the index of the x to report."""
    at, r, slope = (float(values[worst]) for values in (curve.x, curve.gradient, curve.slope))
    size, declared, subject = abs(r - slope), curve.subject.declared, curve.subject
    gradient, due = format_unequal(r, slope)
    observed = f"At x = {{at}} the gradient is {gradient}, the op's slope {due}"
    jumps = max(len(line.jumps[0]) for line in curve.siblings)

    def excuse(reason: str) -> Result:
        return by_design(f"{{reason}}. {observed}.", at, size, reason=reason)

    if declared and declared.parsed:
        return excuse(f"{declared.label} is not the op's derivative and does not claim to be")
    if declared and subject.rounds_gradient:
        return excuse("Torch's own backward of a cast passes g on, and casts it too")
    if declared:
        return excuse("Torch also differentiates what is computed over all elements")
    if mask := describe_idle_mask(curve):
        return fails(f"{observed}: {mask}. Compare x with the bounds.", at, size)
    if curve.is_flat:
        return excuse("The op is level between its jumps, so its derivative is 0: the rule stands in for it")
    if curve.is_identity:
        return excuse("The op is the identity, so only the rule matters")
    if curve.is_line and jumps:
        return excuse("The op jumps, so the rule stands in for a derivative")
    times, *other_factors = (_find_factor(line) for line in curve.siblings)
    if times and any(factor is None or abs(factor - times) > 1e-4 * abs(times) for factor in other_factors):
        times = None
    if times and abs(times - 1) < _SLIP:
        words = f"It is {times:.6g} times the op's derivative, everywhere: a constant is slightly off."
        return fails(words, at, times)
    if times and times > 0:
        return _judge_factor(curve, times, at)
    if inherited := match_rule(curve):
        if inherited.rule.area == "infinite" and is_bounded_by_argument(curve, learned=True):
            reason = "a learned argument bounds y, so x is due no gradient beyond it: mask g with that bound"
            return fails(f"{observed}: {reason}.", at, size)
        return excuse(f"It is the catalogue's {inherited.text}, which is not the op's derivative")
    if times:
        return fails("It is {figure} times the op's derivative: turn the sign round.", at, times)
    if jumps >= 2 and _is_level(curve, deviating):
        return excuse("The op jumps and is level there, so the rule stands in")
    x = curve.x[deviating]
    share = int(deviating.sum()) / int(curve.trusted.sum())
    least, most = (0.9 * end for end in curve.x[curve.trusted].aminmax())
    # The ends of what was checked are no finding about the function.
    part = {
        (False, False): "at {at}" if len(x) == 1 else "between {low} and {high}",
        (True, False): "below {high}",
        (False, True): "above {low}",
        (True, True): f"at {format_percent(share)} of the checked x",
    }[bool(x.min() <= least), bool(x.max() >= most)]
    words = f"{observed}: it is not the derivative {part}. Compare the backward with the forward there."
    return fails(words, at, size, low=x.min(), high=x.max())


def _is_level(curve: Curve, mask: Tensor) -> bool:
    if not curve.is_fine:
        return not bool(curve.slope[mask].any())
    x = curve.x[mask]
    h = _LEVEL_STEP * x.abs().clamp(min=1.0)
    level = curve.subject.y(x - h) == curve.subject.y(x + h)
    return bool(level.double().mean() > _MOSTLY)


def _judge_factor(curve: Curve, times: float, at: float) -> Result:
    """Return the result for ``times`` the op's derivative as gradient: by design if the code has it."""
    least = _find_factor(curve, _SMALL)
    if least is not None and abs(least - 1) < _SLIP:
        return by_design("It is the op's derivative for small g, and {figure} times it for g = 1.", at, times)
    observed, numbers = "It is {figure} times the op's derivative, everywhere.", curve.subject.constants
    if curve.subject.op or any(math.isclose(times, abs(number), rel_tol=1e-4) for number in numbers):
        return by_design(observed, at, times)
    doubt = f"That is intended if gradients are to be scaled; otherwise a factor {format_number(1 / times)}"
    return unknown(f"{observed} {doubt} is missing.", at, times)


def check_double_backward(curve: Curve) -> Result:
    """Check the derivatives of the gradient by x and by g: autograd against finite differences."""
    curve.require_elementwise()
    subject, gradient_of = curve.subject, curve.subject.gradient
    count = _LINE_POINTS if curve.is_line else _POINTS
    x = subject.fit_domain(torch.linspace(-_REACH, _REACH, count, dtype=curve.dtype) + 0.00731)
    g = torch.full_like(x, _G)
    r, (h, step) = gradient_of(x, g), (1e-4, 0.01) if curve.is_fine else (2e-2, 0.25)
    due_x, off = differentiate(lambda x: gradient_of(x, g), x, h)
    due_g, _ = differentiate(lambda g: gradient_of(x, g), g, step)
    sure = due_x.isfinite() & off.isfinite() & (off <= 1e-2 * due_x.abs() + 1e-5)
    bends = bool((due_x[sure].abs() > 1e-6).any())
    try:
        second_x, second_g = _differentiate_twice(subject, x, g)
    except NoGradientError as error:
        if "once_differentiable" in str(error):
            reason = "torch refuses a second derivative instead of a wrong one"
            return by_design(f"It is marked once_differentiable: {reason}.")
        if "is not implemented" in str(error) or subject.declared or curve.is_line:
            return by_design(f"Torch refuses a second derivative ({error}), and so it is never wrong.")
        advice = ": mark backward once_differentiable, or use torch's functions"
        return (fails if bends else unknown)(f"A second derivative raises {error}{advice * bends}.")
    wrong = r.isfinite() & ((second_g - due_g).abs() > max(1e-4, 1e2 * curve.eps) * (due_g.abs() + 1e-3))
    if bool(wrong.any()):
        rounded, larger = gradient_of(x, g + 2.0**-14)[wrong], gradient_of(x, 4 * g)[wrong]
        is_step = torch.equal(rounded, r[wrong]) and not torch.equal(larger, r[wrong])
        if subject.rounds_gradient or (is_step and bool(r[wrong].any())):
            return by_design("The gradient is g rounded to steps: its derivative by g ignores the rounding.")
        words = (
            f"At x = {{at}}, g = {_G}, the derivative of the gradient by g is {{figure}}, but {{due}} is due"
        )
        advice = "use g itself in backward, without .data, detach or NumPy"
        return _report_worst(fails, f"{words}: {advice}.", x, second_g, due_g, wrong)
    size = due_x[sure].abs().max() if bool(sure.any()) else torch.tensor(0.0)
    wrong = sure & ((second_x - due_x).abs() > 1e-3 * due_x.abs() + off + 1e-5 * (1 + size))
    if bool(wrong.any()):
        words = f"At x = {{at}}, g = {_G}, its second derivative is silently {{figure}}, where {{due}} is due"
        if subject.declared or not is_derivative(curve):
            reason = "the rule stands in for a derivative, and its own derivative means little"
            return _report_worst(by_design, f"{words}; {reason}.", x, second_x, due_x, wrong)
        advice = "save x or y with save_for_backward and compute the rest in backward"
        words = f"{words}: {advice}, or mark backward once_differentiable."
        return _report_worst(fails, words, x, second_x, due_x, wrong)
    agrees = ((curve.gradient - curve.slope).abs() <= curve.tolerance)[curve.trusted]
    if not ((len(agrees) and agrees.all()) or (curve.is_flat and not bends)):
        words = "Differentiating its backward again gives that backward's own derivative"
        return holds(words + ", 0 between kinks" * (not bends) + ".")
    words = "Its second derivative is 0 between kinks, which is right: the gradient is piecewise constant."
    return holds("Its second derivative is right." if bends else words)


def _differentiate_twice(subject: Subject, x: Tensor, g: Tensor) -> tuple[Tensor, Tensor]:
    """Return the derivatives of the summed gradient by x and by g, from autograd; 0 if there is no path.

    Raises NoGradientError if torch refuses to differentiate the function twice.
    """
    y, leaf = subject.open_graph(subject.broadcast(x))
    upstream = subject.broadcast(g).to(y.dtype, copy=True).requires_grad_()
    try:
        r = torch.autograd.grad(y, leaf, upstream, create_graph=True, allow_unused=True)[0]
        if r is not None and r.requires_grad:
            # torch.autograd.grad() ignores once_differentiable
            torch.autograd.backward(subject.reduce_rows(r).sum())
    except Exception as error:
        raise NoGradientError(describe_error(error)) from error
    by_x, by_g = (torch.zeros_like(part) if part.grad is None else part.grad for part in (leaf, upstream))
    return subject.reduce_rows(by_x), subject.reduce_rows(by_g)


def _report_worst(
    judge: Callable[..., Result], words: str, x: Tensor, actual: Tensor, due: Tensor, wrong: Tensor
) -> Result:
    """Return the result of ``judge`` at the x of ``wrong`` at which ``actual`` and ``due`` differ most."""
    worst = int(torch.where(wrong, (actual - due).abs(), 0.0).argmax())
    return judge(words, x[worst], actual[worst], due=due[worst])
