"""Is the gradient of the gradient right?"""

import torch
from torch import Tensor

from explorer.checks.curve import Curve
from explorer.checks.derivative import is_derivative
from explorer.checks.result import Finding, by_design, fails, holds, position, short, unknown
from explorer.foreign import Subject, said

_POINTS = 97
_REACH = 3.0


def double_backward(curve: Curve) -> Finding:
    """Autograd through the backward, to x and to g, against differences of the gradient in float64."""
    subject = curve.subject
    assert curve.elementwise
    x = torch.linspace(-_REACH, _REACH, _POINTS, dtype=curve.dtype) + 0.00731
    g = torch.full_like(x, 1.3)
    r = subject.gradient(x, g)
    due_x, off, sure = _differences(subject, x, g, curve)
    due_g = (subject.gradient(x, g + 0.01) - subject.gradient(x, g - 0.01)) / 0.02
    try:
        second_x, second_g = _second(subject, x, g)
    except _NotTwiceError as error:
        return _refused(curve, error, bool((due_x[sure].abs() > 1e-6).any()))
    wrong_g = r.isfinite() & ((second_g - due_g).abs() > 1e-4 * (due_g.abs() + 1e-3))
    if bool(wrong_g.any()) and subject.rounds_gradient:
        return by_design(
            "The gradient is g rounded to a number format, which rises in steps: towards g torch casts again."
        )
    if bool(wrong_g.any()):
        worst = int(torch.where(wrong_g, (second_g - due_g).abs(), 0.0).argmax())
        at, got, due = (float(values[worst]) for values in (x, second_g, due_g))
        return fails(
            f"At x = {position(at)} the gradient's own gradient towards g is {short(got)}, {short(due)} is "
            "due: use g itself in backward, without .data, detach or NumPy.", at, got,
        )  # fmt: skip
    size = due_x[sure].abs().max() if bool(sure.any()) else torch.tensor(0.0)
    wrong = sure & ((second_x - due_x).abs() > 1e-3 * due_x.abs() + off + 1e-5 * (1 + size))
    return _judged(curve, x, second_x, due_x, wrong) if bool(wrong.any()) else holds(_right(due_x, sure))


class _NotTwiceError(Exception):
    """Torch says that it cannot be differentiated twice."""


def _second(subject: Subject, x: Tensor, g: Tensor) -> tuple[Tensor, Tensor]:
    """The gradients of the gradient's sum by x and by g, from autograd; 0 where there is no path."""
    leaf, upstream = (subject.lifted(values).clone().requires_grad_() for values in (x, g))
    with torch.enable_grad():
        y = subject.run(leaf.clone())
        if not y.requires_grad:
            return torch.zeros_like(x), torch.zeros_like(g)
        try:
            r = torch.autograd.grad(y, leaf, upstream, create_graph=True, allow_unused=True)[0]
            if r is None or not r.requires_grad:
                return torch.zeros_like(x), torch.zeros_like(g)
            torch.autograd.backward(subject.lowered(r).sum())  # unlike grad, it meets once_differentiable
        except Exception as error:
            raise _NotTwiceError(said(error)) from error
    first, towards = (torch.zeros_like(part) if part.grad is None else part.grad for part in (leaf, upstream))
    return subject.lowered(first), subject.lowered(towards)


def _differences(subject: Subject, x: Tensor, g: Tensor, curve: Curve) -> tuple[Tensor, Tensor, Tensor]:
    """The slope of the gradient by differences, its likely error, and a mask of the x where it is known."""
    h = 1e-4 if curve.dtype == torch.float64 else 2e-2
    wide, fine = (
        (subject.gradient(x + step, g) - subject.gradient(x - step, g)) / (2 * step) for step in (h, h / 2)
    )
    off = (wide - fine).abs()
    sure = fine.isfinite() & wide.isfinite() & (off <= 1e-2 * fine.abs() + 1e-5)
    return fine, off, sure


def _refused(curve: Curve, error: _NotTwiceError, bends: bool) -> Finding:
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


def _right(due: Tensor, sure: Tensor) -> str:
    if bool((due[sure].abs() > 1e-6).any()):
        return "Its second derivative is right."
    return "Its second derivative is 0 between kinks, which is right: the gradient is made of level pieces."


def _judged(curve: Curve, x: Tensor, second: Tensor, due: Tensor, wrong: Tensor) -> Finding:
    at = int(torch.where(wrong, (second - due).abs(), 0.0).argmax())
    got, wanted, where = float(second[at]), float(due[at]), float(x[at])
    silent = "silently 0" if not bool(second[wrong].any()) else f"silently {short(got)}"
    observed = f"At x = {position(where)} its second derivative is {silent}, where {short(wanted)} is due"
    if curve.subject.declared or not is_derivative(curve):
        return by_design(
            f"{observed}; the rule stands in for a derivative, and a second one of it means little.",
            where,
            got,
        )
    return fails(
        f"{observed}: save x or y with save_for_backward and compute the rest in backward, or mark backward "
        "once_differentiable.", where, got,
    )  # fmt: skip
