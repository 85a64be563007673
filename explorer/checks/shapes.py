"""Are dtype and shape kept, forward and backward?"""

import torch
from torch import Tensor
from torch.autograd.function import BackwardCFunction

from explorer.checks.curve import Curve
from explorer.checks.finiteness import DTYPES
from explorer.checks.result import Finding, by_design, fails, holds
from explorer.foreign import Subject, UntriedError, merged, said

_SHAPES = ((), (0,), (5,), (2, 3), (2, 1, 3))
_UNSUPPORTED = ("not implemented for", "not support")  # torch, of a dtype on this device
_GENERIC = 1.0 + 2.0**-40 + 2.0**-30 + 0.3  # an upstream gradient that float32 cannot hold
_DISTINCT = 40  # values from which on a curve is no staircase


def dtype_and_shape(curve: Curve) -> Finding:
    """y and the gradient for four dtypes and for shapes from () to (2, 1, 3), as backward returns it."""
    subject = curve.subject
    base = torch.linspace(-1.3, 1.7, 6, dtype=subject.trial.dtype)
    problem = _learned(subject, subject.lifted(base))
    if problem:
        return problem
    for dtype in DTYPES:
        problem = _tried(subject, subject.lifted(base.to(dtype)), f"For {_name(dtype)} x")
        if problem:
            return problem
    keeps = subject.run(subject.lifted(base)).shape == subject.lifted(base).shape
    for shape in _shapes(subject) if keeps else ():
        x = torch.linspace(-1.3, 1.7, torch.Size(shape).numel(), dtype=subject.trial.dtype).reshape(shape)
        if subject.trial.suffix:
            x = (
                x.reshape(*shape, *[1] * len(subject.trial.suffix))
                .expand(*shape, *subject.trial.suffix)
                .contiguous()
            )
        problem = _tried(subject, x, f"For x of shape {tuple(x.shape)}")
        if problem:
            return problem
    return (keeps and _is_elementwise(curve) and _precision(curve)) or holds(
        "y and the gradient keep x's dtype and shape." if keeps else "The gradient keeps x's dtype and shape."
    )


def _shapes(subject: Subject) -> list[tuple[int, ...]]:
    """Shapes that are x's own, whatever the arguments are broadcast to."""
    least = max((argument.dim() for argument in subject.arguments if isinstance(argument, Tensor)), default=0)
    if subject.shape is not None:
        return [shape for shape in _SHAPES if len(shape) == 1]
    return [shape for shape in _SHAPES if len(shape) >= least - len(subject.trial.suffix)]


def _tried(subject: Subject, x: Tensor, case: str) -> Finding | None:
    leaf = x.clone().requires_grad_()
    try:
        y = subject.run(leaf.clone())
    except UntriedError as error:
        return _raised(x, f"{case} {error}")
    if y.dtype != x.dtype:
        return fails(
            f"{case} y is {_name(y.dtype)}: make it with x's dtype, such as .to(x.dtype) or zeros_like."
        )
    keeps = subject.run(subject.lifted(x.new_zeros(6))).shape == subject.lifted(x.new_zeros(6)).shape
    if keeps and y.shape != x.shape:
        return fails(f"{case} y has the shape {tuple(y.shape)}.")
    if not y.requires_grad:
        return None
    return _raw(y, x, case) or _engine(y, leaf, case)


def _raised(x: Tensor, message: str) -> Finding | None:
    """The finding for a case that raises: None where torch lacks the dtype, or x holds no element."""
    lacking = any(words in message for words in _UNSUPPORTED)
    return None if lacking or not x.numel() else fails(f"{message}.")


def _raw(y: Tensor, x: Tensor, case: str) -> Finding | None:
    """The fault in dtype or shape of backward's own return value, before torch casts or sums it."""
    node = custom_node(y)
    if node is None or node is not _first(y):
        return None
    try:
        returned = node.apply(torch.ones_like(y))  # type: ignore[no-untyped-call]  # torch's own
    except Exception as error:
        return _raised(x, f"{case} backward raises {said(error)}")
    gradient = returned[0] if isinstance(returned, tuple) else returned
    if not isinstance(gradient, Tensor):
        return None
    if gradient.shape != x.shape:
        return fails(
            f"{case} backward returns the shape {tuple(gradient.shape)}: give it x's, {tuple(x.shape)}."
        )
    if torch.finfo(gradient.dtype).eps > torch.finfo(x.dtype).eps:
        lost = f"{case} backward returns {_name(gradient.dtype)}, and torch casts it silently"
        return fails(f"{lost}: digits are lost. Compute with g's dtype.")
    return None


def _engine(y: Tensor, leaf: Tensor, case: str) -> Finding | None:
    try:
        torch.autograd.grad(y, leaf, torch.ones_like(y), allow_unused=True)
    except Exception as error:
        return _raised(leaf, f"{case} its backward raises {said(error)}")
    return None


def _learned(subject: Subject, x: Tensor) -> Finding | None:
    """The fault of a backward that raises once its arguments require grad; None where there is none."""
    leaf = x.clone().requires_grad_()
    y = subject.run(leaf.clone(), subject.prepared(x.dtype, learned=True))
    try:
        if y.requires_grad:
            torch.autograd.backward(y, torch.ones_like(y))
    except Exception as error:
        words = said(error)
        if "gradient" in words and ("number of" in words or "shape" in words):
            return fails(
                f"Its backward raises {words}: return one gradient for each input, each of its input's shape."
            )
        raise UntriedError(f"its backward raises {words}") from error
    return None


def _is_elementwise(curve: Curve) -> bool:
    try:
        return curve.elementwise
    except UntriedError:
        return False


def _precision(curve: Curve) -> Finding | None:
    """Digits that a dtype promises and the values do not have."""
    if curve.dtype != torch.float64:
        return fails("It works in float32 only; with float64 x it raises.")
    if curve.subject.rounds_gradient:
        return by_design("The gradient has the digits of a number format alone: it is rounded to one.")
    r = curve.subject.gradient(curve.x, _GENERIC)
    curves = [("the gradient", r)] if curve.flat or curve.coarse else [("y", curve.y), ("the gradient", r)]
    for what, values in curves:
        some = values[values.isfinite() & (values != 0)]
        if len(merged([some])) >= _DISTINCT and bool((some.float().double() == some).all()):
            return fails(f"For float64 x {what} has only the digits of float32: leave out the cast.")
    some = r[r.isfinite() & (r != 0)]
    if len(some) and bool((some.float().double() == some).all()) and _follows_g(curve, r):
        return fails("For float64 x the gradient has only the digits of float32: leave out the cast.")
    return None


def _follows_g(curve: Curve, r: Tensor) -> bool:
    """Whether the gradient changes with g, as a cast one does; one that is rounded to steps stays."""
    return not torch.equal(curve.subject.gradient(curve.x, _GENERIC * (1 + 2.0**-6)), r)


def custom_node(y: Tensor) -> BackwardCFunction | None:
    """The node of the first Function on the way back from y; None where there is none."""
    waiting = [y.grad_fn]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, BackwardCFunction):
            return node
        waiting += [below for below, _ in node.next_functions] if node is not None else []
    return None


def _first(y: Tensor) -> object:
    return y.grad_fn


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
