"""Is the gradient of the gradient right?"""

import torch
from torch import Tensor

from explorer.checks.curve import Curve
from explorer.checks.derivative import is_derivative
from explorer.checks.result import Result, by_design, fails, format_number, format_position, holds, unknown
from explorer.curves.foreign import Subject, describe_error

_POINTS, _FEW = 97, 13
_REACH = 3.0


class _RefusalError(Exception):
    """Torch refuses to differentiate the function twice."""


def check_double_backward(curve: Curve) -> Result:
    """Return whether autograd of the backward, by x and by g, agrees with differences of the gradient."""
    subject = curve.subject
    curve.require_elementwise()
    count = _POINTS if curve.axis == "x" else _FEW
    x = subject.fit_domain(torch.linspace(-_REACH, _REACH, count, dtype=curve.dtype) + 0.00731)
    g = torch.full_like(x, 1.3)
    r = subject.gradient(x, g)
    h, step = (1e-4, 0.01) if curve.is_fine else (2e-2, 0.25)
    wide, due_x = ((subject.gradient(x + k, g) - subject.gradient(x - k, g)) / (2 * k) for k in (h, h / 2))
    off = (wide - due_x).abs()
    sure = due_x.isfinite() & wide.isfinite() & (off <= 1e-2 * due_x.abs() + 1e-5)
    due_g = (subject.gradient(x, g + step) - subject.gradient(x, g - step)) / (2 * step)
    bends = bool((due_x[sure].abs() > 1e-6).any())
    try:
        second_x, second_g = _differentiate_twice(subject, x, g)
    except _RefusalError as error:
        return _judge_refusal(curve, str(error), bends)
    wrong_g = r.isfinite() & ((second_g - due_g).abs() > max(1e-4, 1e2 * curve.eps) * (due_g.abs() + 1e-3))
    if bool(wrong_g.any()):
        rounded, larger = subject.gradient(x, g + 2.0**-11), subject.gradient(x, 4 * g)
        is_step = torch.equal(rounded[wrong_g], r[wrong_g]) and bool(r[wrong_g].any())
        if subject.rounds_gradient or (is_step and not torch.equal(larger[wrong_g], r[wrong_g])):
            return by_design("The gradient is g rounded to steps: its derivative by g ignores the rounding.")
        at, actual, expected = _find_worst(x, second_g, due_g, wrong_g)
        words = f"At {curve.axis} = {format_position(at)} the derivative of the gradient by g is"
        words = f"{words} {format_number(actual)}, but {format_number(expected)} is due"
        return fails(f"{words}: use g itself in backward, without .data, detach or NumPy.", at, actual)
    size = due_x[sure].abs().max() if bool(sure.any()) else torch.tensor(0.0)
    wrong = sure & ((second_x - due_x).abs() > 1e-3 * due_x.abs() + off + 1e-5 * (1 + size))
    if bool(wrong.any()):
        return _judge(curve, *_find_worst(x, second_x, due_x, wrong))
    if bends:
        return holds("Its second derivative is right.")
    return holds(
        "Its second derivative is 0 between kinks, which is right: the gradient is piecewise constant."
    )


def _differentiate_twice(subject: Subject, x: Tensor, g: Tensor) -> tuple[Tensor, Tensor]:
    """Return the gradients of the gradient's sum by x and by g, from autograd; 0 if there is no path."""
    leaf, upstream = (subject.broadcast(values).clone() for values in (x, g))
    leaf.requires_grad_()
    with torch.enable_grad():
        y = subject.run(leaf.clone())
        upstream = upstream.to(y.dtype).requires_grad_()
        if not y.requires_grad:
            return torch.zeros_like(x), torch.zeros_like(g)
        try:
            r = torch.autograd.grad(y, leaf, upstream, create_graph=True, allow_unused=True)[0]
            if r is None or not r.requires_grad:
                return torch.zeros_like(x), torch.zeros_like(g)
            torch.autograd.backward(
                subject.reduce_rows(r).sum()
            )  # unlike grad, it reaches once_differentiable
        except Exception as error:
            raise _RefusalError(describe_error(error)) from error
    by_x, by_g = (torch.zeros_like(part) if part.grad is None else part.grad for part in (leaf, upstream))
    return subject.reduce_rows(by_x), subject.reduce_rows(by_g)


def _judge_refusal(curve: Curve, words: str, bends: bool) -> Result:
    if "once_differentiable" in words:
        reason = "It is marked once_differentiable: torch refuses a second derivative instead of a wrong one."
        return by_design(reason)
    if "is not implemented" in words or curve.subject.declared or curve.axis != "x":
        return by_design(f"Torch refuses a second derivative ({words}), and so it is never wrong.")
    if not bends:
        return unknown(f"A second derivative raises {words}.")
    return fails(
        f"A second derivative raises {words}: mark backward once_differentiable, or use torch's functions."
    )


def _find_worst(x: Tensor, actual: Tensor, due: Tensor, wrong: Tensor) -> tuple[float, float, float]:
    """Return the x with the largest deviation, the actual value there, and the due one."""
    worst = int(torch.where(wrong, (actual - due).abs(), 0.0).argmax())
    return float(x[worst]), float(actual[worst]), float(due[worst])


def _judge(curve: Curve, at: float, actual: float, expected: float) -> Result:
    words = (
        f"At {curve.axis} = {format_position(at)} its second derivative is silently {format_number(actual)}"
    )
    words = f"{words}, where {format_number(expected)} is due"
    if curve.subject.declared or not is_derivative(curve):
        reason = "the rule stands in for a derivative, and its own derivative means little"
        return by_design(f"{words}; {reason}.", at, actual)
    advice = "save x or y with save_for_backward and compute the rest in backward"
    return fails(f"{words}: {advice}, or mark backward once_differentiable.", at, actual)
