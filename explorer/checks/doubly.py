"""Is the gradient of the gradient right?"""

import torch
from torch import Tensor

from explorer.checks.curve import Curve
from explorer.checks.derivative import is_derivative
from explorer.checks.result import Finding, by_design, fails, format_number, format_position, holds, unknown
from explorer.curves.foreign import Subject, describe_error

_POINTS = 97
_REACH = 3.0


def check_double_backward(curve: Curve) -> Finding:
    """Return whether autograd through the backward, to x and to g, gives differences of the gradient."""
    subject = curve.subject
    curve.require_elementwise()
    x = subject.fit_domain(torch.linspace(-_REACH, _REACH, _POINTS, dtype=curve.dtype) + 0.00731)
    g = torch.full_like(x, 1.3)
    r = subject.gradient(x, g)
    due_x, off, sure = _compute_differences(subject, x, g, curve)
    step = 0.01 if curve.is_fine else 0.25
    due_g = (subject.gradient(x, g + step) - subject.gradient(x, g - step)) / (2 * step)
    try:
        second_x, second_g = _differentiate_twice(subject, x, g)
    except _NotTwiceError as error:
        return _judge_refusal(curve, error, bool((due_x[sure].abs() > 1e-6).any()))
    wrong_g = r.isfinite() & ((second_g - due_g).abs() > max(1e-4, 1e2 * curve.eps) * (due_g.abs() + 1e-3))
    if bool(wrong_g.any()) and subject.rounds_gradient:
        return by_design(
            "The gradient is g rounded to a number format, which rises in steps: towards g torch casts again."
        )
    if bool(wrong_g.any()):
        rounded = subject.gradient(x, g + 2.0**-11)
        is_step = torch.equal(rounded[wrong_g], r[wrong_g]) and bool(r[wrong_g].any())
        if is_step and not torch.equal(subject.gradient(x, 4 * g)[wrong_g], r[wrong_g]):
            return by_design(
                "The gradient is g rounded to steps: towards g its own gradient passes the rounding."
            )
        worst = int(torch.where(wrong_g, (second_g - due_g).abs(), 0.0).argmax())
        at, actual, expected = (float(values[worst]) for values in (x, second_g, due_g))
        return fails(
            f"At x = {format_position(at)} the gradient's own gradient towards g is {format_number(actual)}, "
            f"{format_number(expected)} is "
            "due: use g itself in backward, without .data, detach or NumPy.", at, actual,
        )  # fmt: skip
    size = due_x[sure].abs().max() if bool(sure.any()) else torch.tensor(0.0)
    wrong = sure & ((second_x - due_x).abs() > 1e-3 * due_x.abs() + off + 1e-5 * (1 + size))
    return _judge(curve, x, second_x, due_x, wrong) if bool(wrong.any()) else holds(_confirm(due_x, sure))


class _NotTwiceError(Exception):
    """Torch says that it cannot be differentiated twice."""


def _differentiate_twice(subject: Subject, x: Tensor, g: Tensor) -> tuple[Tensor, Tensor]:
    """Return the gradients of the gradient's sum by x and by g, from autograd; 0 if there is no path."""
    leaf, upstream = (subject.lift(values).clone() for values in (x, g))
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
            torch.autograd.backward(subject.lower(r).sum())  # unlike grad, it meets once_differentiable
        except Exception as error:
            raise _NotTwiceError(describe_error(error)) from error
    first, towards = (torch.zeros_like(part) if part.grad is None else part.grad for part in (leaf, upstream))
    return subject.lower(first), subject.lower(towards)


def _compute_differences(
    subject: Subject, x: Tensor, g: Tensor, curve: Curve
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradient's slope by differences, its error, and a mask of the x with a known slope."""
    h = 1e-4 if curve.is_fine else 2e-2
    wide, fine = (
        (subject.gradient(x + step, g) - subject.gradient(x - step, g)) / (2 * step) for step in (h, h / 2)
    )
    off = (wide - fine).abs()
    sure = fine.isfinite() & wide.isfinite() & (off <= 1e-2 * fine.abs() + 1e-5)
    return fine, off, sure


def _judge_refusal(curve: Curve, error: _NotTwiceError, bends: bool) -> Finding:
    words = str(error)
    if "once_differentiable" in words:
        return by_design(
            "It is marked once_differentiable: torch refuses a second derivative instead of a wrong one."
        )
    if "is not implemented" in words or curve.subject.declared:
        return by_design(f"Torch refuses a second derivative ({words}), and so it is never wrong.")
    if not bends:
        return unknown(f"A second derivative raises {words}.")
    return fails(
        f"A second derivative raises {words}: mark it once_differentiable, or use torch's functions."
    )


def _confirm(expected: Tensor, sure: Tensor) -> str:
    if bool((expected[sure].abs() > 1e-6).any()):
        return "Its second derivative is right."
    return "Its second derivative is 0 between kinks, which is right: the gradient is made of level pieces."


def _judge(curve: Curve, x: Tensor, second: Tensor, expected: Tensor, wrong: Tensor) -> Finding:
    at = int(torch.where(wrong, (second - expected).abs(), 0.0).argmax())
    actual, wanted, where = float(second[at]), float(expected[at]), float(x[at])
    silent = "silently 0" if not bool(second[wrong].any()) else f"silently {format_number(actual)}"
    observed = (
        f"At x = {format_position(where)} its second derivative is {silent}, where "
        f"{format_number(wanted)} is due"
    )
    if curve.subject.declared or not is_derivative(curve):
        return by_design(
            f"{observed}; the rule stands in for a derivative, and a second one of it means little.",
            where,
            actual,
        )
    return fails(
        f"{observed}: save x or y with save_for_backward and compute the rest in backward, or mark backward "
        "once_differentiable.", where, actual,
    )  # fmt: skip
