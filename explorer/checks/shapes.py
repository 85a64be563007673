"""Are dtype and shape kept, forward and backward?"""

import torch
from torch import Tensor
from torch.autograd.function import BackwardCFunction

from explorer.checks.curve import Curve
from explorer.checks.finiteness import DTYPES
from explorer.checks.result import Result, by_design, fails, holds, name_dtype
from explorer.checks.traits import call_backward
from explorer.curves.foreign import Subject, UntriedError, describe_error, merge_points

_SHAPES = ((), (0,), (5,), (2, 3), (2, 1, 3))
_UNSUPPORTED = (
    *("not implemented for", "not support", "nsupported", "same dtype", "did not match"),
    *("expected scalar type", "but got BFloat16", "but got Half"),
)  # words of torch and NumPy on a dtype that an operation lacks
_WRONG_RETURN = ("number of gradients", "invalid gradient", "shape")  # torch's words on a wrong return value
_FINE_G = 1.0 + 2.0**-40 + 2.0**-30 + 0.3  # an upstream gradient that float32 cannot hold
_MIN_DISTINCT = 40  # values; a curve with fewer counts as a staircase


def check_dtype_and_shape(curve: Curve) -> Result:
    """Return whether y and the gradient, as backward returns it, keep x's dtype and shape."""
    subject, traits = curve.subject, curve.traits
    if traits.failure:
        if any(words in traits.failure for words in _WRONG_RETURN):
            return fails(f"{traits.failure.capitalize()}: return one gradient for each input, in its shape.")
        raise UntriedError("backward returns no gradient for x")
    base = subject.sample(-1.3, 1.7, 6)
    problem = _check_learned(subject, base)
    if problem:
        return problem
    seen: list[tuple[torch.dtype, torch.dtype]] = []
    for dtype in DTYPES:
        problem = _check_x(subject, base.to(dtype), f"For {name_dtype(dtype)} x", seen)
        if problem:
            return problem
    keeps = subject.run(base.clone()).shape == base.shape
    for x in _make_shaped(subject) if keeps and not traits.dependence else ():
        problem = _check_x(subject, x, f"For x of shape {tuple(x.shape)}", [])
        if problem:
            return problem
    if len(seen) < len(DTYPES) and subject.trial.dtype != torch.float64 and traits.dependence:
        return by_design(
            f"It takes x only in {name_dtype(subject.trial.dtype)}, the dtype of the tensors that it holds."
        )
    if changed := next(((x, y) for x, y in seen if x != y), None):
        short, long = map(name_dtype, changed)
        return by_design(
            f"For {short} x, y is {long} and the gradient is {short}. From here on a net computes in {long}: "
            "if that is not intended, end forward with .to(x.dtype), or make tensors in x's dtype."
        )
    if keeps and not (traits.dependence or traits.draws or traits.no_path) and (few := _check_digits(curve)):
        return few
    if traits.no_path:
        raise UntriedError("backward returns no gradient for x")
    return holds(
        "y and the gradient keep x's dtype and shape." if keeps else "The gradient keeps x's dtype and shape."
    )


def _make_shaped(subject: Subject) -> list[Tensor]:
    """Return x in several shapes, with no fewer dimensions than any argument: broadcasting keeps them."""
    suffix = subject.trial.suffix
    least = max((argument.dim() for argument in subject.arguments if isinstance(argument, Tensor)), default=0)
    shapes = [shape for shape in _SHAPES if len(shape) >= least - len(suffix)]
    if subject.example is not None:
        shapes = [shape for shape in _SHAPES if len(shape) == 1]
    made = []
    for shape in shapes:
        x = torch.linspace(-1.3, 1.7, torch.Size(shape).numel(), dtype=subject.trial.dtype)
        x = subject.fit_domain(x).reshape((*shape, *[1] * len(suffix)))
        made.append(x.expand((*shape, *suffix)).contiguous())
    return made


def _check_x(
    subject: Subject, x: Tensor, case: str, seen: list[tuple[torch.dtype, torch.dtype]]
) -> Result | None:
    """Return the fault for one x; None if there is none. Adds the dtypes of x and y to ``seen``."""
    leaf = x.clone().requires_grad_()
    try:
        y = subject.run(leaf.clone())
    except UntriedError as error:
        return _judge_exception(x, f"{case}, {error}")
    seen.append((x.dtype, y.dtype))
    if not y.dtype.is_floating_point:
        return fails(
            f"{case}, y is {name_dtype(y.dtype)}: make it with x's dtype, such as .to(x.dtype) or zeros_like."
        )
    base = subject.sample(-1.3, 1.7, 6)
    if subject.run(base.clone()).shape == base.shape and y.shape != x.shape:
        return fails(f"{case}, y has the shape {tuple(y.shape)}.")
    if not y.requires_grad:
        return None
    return _check_return_value(y, x, case) or _check_engine(y, leaf, case)


def _judge_exception(x: Tensor, message: str) -> Result | None:
    """Return the finding for a case that raises: None if torch lacks the dtype, or x holds no element."""
    lacking = any(words in message for words in _UNSUPPORTED)
    return None if lacking or not x.numel() else fails(f"{message}.")


def _check_return_value(y: Tensor, x: Tensor, case: str) -> Result | None:
    """Return the fault in the dtype or shape of backward's return value, before torch casts or sums it."""
    try:
        gradient = call_backward(y)
    except Exception as error:
        return _judge_exception(x, f"{case}, backward raises {describe_error(error)}")
    if not isinstance(gradient, Tensor):
        return None
    if gradient.shape != x.shape:
        return fails(
            f"{case}, backward returns the shape {tuple(gradient.shape)}: give it x's, {tuple(x.shape)}."
        )
    shorter = max(torch.finfo(x.dtype).eps, torch.finfo(y.dtype).eps)
    if gradient.is_floating_point() and torch.finfo(gradient.dtype).eps > shorter:
        vanished = f"{case}, backward returns {name_dtype(gradient.dtype)}, and torch casts it silently"
        return fails(f"{vanished}: digits are lost. Compute with g's dtype.")
    return None


def _check_engine(y: Tensor, leaf: Tensor, case: str) -> Result | None:
    try:
        torch.autograd.grad(y, leaf, torch.ones_like(y), allow_unused=True)
    except Exception as error:
        return _judge_exception(leaf, f"{case}, its backward raises {describe_error(error)}")
    return None


def _check_learned(subject: Subject, x: Tensor) -> Result | None:
    """Return the fault of a backward that raises once its arguments require grad; None if there is none."""
    leaf = x.clone().requires_grad_()
    y = subject.run(leaf.clone(), subject.prepare(x.dtype, learned=True))
    try:
        if y.requires_grad:
            torch.autograd.backward(y, torch.ones_like(y))
    except Exception as error:
        words = describe_error(error)
        if "gradient" in words and ("number of" in words or "shape" in words):
            return fails(
                f"Its backward raises {words}: return one gradient for each input, each of its input's shape."
            )
        raise UntriedError(f"its backward raises {words}") from error
    return None


def _check_digits(curve: Curve) -> Result | None:
    """Return the fault of values with fewer digits than their dtype holds; None if there is none."""
    if curve.dtype != torch.float64:
        return fails("It works in float32 only; with float64 x it raises.")
    if curve.subject.rounds_gradient:
        return by_design("The gradient is rounded to a number format, so it has only that format's digits.")
    r = curve.subject.gradient(curve.x, _FINE_G)
    for what, values in [("the gradient", r)] if curve.is_flat else [("y", curve.y), ("the gradient", r)]:
        some = values[values.isfinite() & (values != 0)]
        is_smooth = len(merge_points([some])) >= _MIN_DISTINCT or (values is r and _depends_on_g(curve, r))
        if len(some) and is_smooth and bool((some.float().double() == some).all()):
            return fails(f"For float64 x, {what} has only the digits of float32: leave out the cast.")
    return None


def _depends_on_g(curve: Curve, r: Tensor) -> bool:
    """Return whether a small change of g changes the gradient, unlike one that is rounded to steps."""
    return not torch.equal(curve.subject.gradient(curve.x, _FINE_G * (1 + 2.0**-6)), r)


def find_custom_node(y: Tensor) -> BackwardCFunction | None:
    """Return the node of the first Function on the way back from y; None if there is none."""
    waiting = [y.grad_fn]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, BackwardCFunction):
            return node
        waiting += [below for below, _ in node.next_functions] if node is not None else []
    return None
