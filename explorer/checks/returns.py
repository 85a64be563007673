"""Checks that backward returns a gradient for x, and that both passes keep dtype and shape."""

import re
from contextlib import suppress

import torch
from torch import Tensor

from explorer.checks.finiteness import DTYPES
from explorer.checks.result import Result, by_design, fails, format_number, holds, name_dtype
from explorer.curves.user_functions.curve import Curve
from explorer.curves.user_functions.elementwise import is_same, merge_points
from explorer.curves.user_functions.subject import Subject, UntriedError, describe_error
from explorer.curves.user_functions.traits import call_backward

# Advice for reasons of a missing gradient, by patterns of their texts.
_ADVICE = {
    "returns None": "x never learns; return zeros_like(x) if that is intended",
    "number of gradients": "return one gradient for each input of forward, None for those without",
    "invalid gradient|returns the shape": "return a gradient of the shape of its input",
    "You must implement": "write a staticmethod backward(ctx, g)",
    "ndarray|expected Variable": "return a tensor of torch",
    "converted to Scalar": "keep tensors: leave out .item(), float() and int()",
    "numpy": "use torch's functions on saved tensors",
    "ambiguous": "replace the if by torch.where",
    "NameError": "save the value in forward, or pass it as an argument",
    "saved_tensor": "save tensors with ctx.save_for_backward and read ctx.saved_tensors",
    "to unpack": "save and read the same tensors in the same order",
    "AttributeError": "set the attribute on ctx in forward",
    "": "correct that line",
}
UNTRIED = "see backward"  # the reason of checks that need a gradient, if there is none
_SHAPES = ((), (0,), (5,), (2, 3), (2, 1, 3))
# Patterns of messages by torch and NumPy about an unsupported dtype, and about a wrong return value.
_UNSUPPORTED = (
    "not implemented for|not support|nsupported|same dtype|did not match|expected scalar type|but got [BH]"
)
_WRONG_RETURN = "number of gradients|invalid gradient"
_FINE_G = 1.0 + 2.0**-40 + 2.0**-30 + 0.3  # an upstream gradient that float32 cannot hold
_MIN_DISTINCT = 40  # a curve with fewer distinct values counts as a staircase


def check_backward(curve: Curve) -> Result:
    """Check whether a backward for g = 1 returns a gradient for x, whatever else requires grad."""
    subject, failure, no_path = curve.subject, curve.traits.failure, curve.traits.no_path
    if no_path:
        advice = "Return x's dtype" if "dtype" in no_path else "Give it a Function with a backward"
        return fails(f"No gradient reaches x, because {no_path}. {advice}.")
    untried = " No check that needs a gradient was tried." * bool(failure)
    if curve.traits.repeats and (not failure or "returns None" in failure) and (fault := _find_need(subject)):
        return fails(f"{fault}: compute it whatever ctx.needs_input_grad says of other inputs.{untried}")
    if failure:
        reason = failure.rpartition(" (")[0] or failure  # the reason without its line number
        advice = next(words for pattern, words in _ADVICE.items() if re.search(pattern, reason))
        return fails(f"{failure[0].upper()}{failure[1:]}: {advice}.{untried}")
    outputs = len(subject.run_all(subject.sample(-1.3, 1.7, 6)))
    if outputs > 1 and (number := _find_ignored(subject, outputs)):
        words = f"Output {number} of forward changes with x, but its upstream gradient never reaches x"
        return fails(f"{words}: add it in backward, or call ctx.mark_non_differentiable on the output.")
    more = f" Forward returns {outputs} outputs: only the first is checked in full, with g = 0 for others."
    return holds(f"It returns a gradient for x.{more * (outputs > 1)}")


def _find_need(subject: Subject) -> str:
    """Return a clause on an input whose gradient depends on whether other inputs require grad, or ""."""
    x = subject.sample(-2.3, 2.9, 11)
    names = {0: "x"} | {k + 1: name for k, name in subject.learned.items()}

    def pull(*needed: int) -> tuple[Tensor, ...]:
        """Return the gradients of inputs that alone require grad; () if backward fails or y has no graph."""
        inputs = [x.clone(), *subject.prepare(x.dtype)]
        leaves = [inputs[k].requires_grad_() for k in needed]
        given = [each.clone() if isinstance(each, Tensor) else each for each in inputs]
        y = subject.run(given[0], tuple(given[1:]))
        with suppress(Exception):
            return torch.autograd.grad(y, leaves, torch.ones_like(y), materialize_grads=True)
        return ()

    for k, together in zip(names, pull(*names), strict=False):
        for alone in pull(k):
            if not is_same(alone, together):
                at = int((alone - together).abs().argmax())
                one, other = (format_number(each.flatten()[at]) for each in (alone, together))
                others = ", ".join(name for j, name in names.items() if j != k)
                return f"If {names[k]} alone requires grad, it gets {one}, and {other} together with {others}"
    return ""


def _find_ignored(subject: Subject, outputs: int) -> int:
    """Return the number, from 2, of an output that depends smoothly on x but gives it no gradient, or 0."""
    x, step = subject.sample(-1.3, 1.7, 6), 1e-3
    for number in range(1, outputs):
        leaf = x.clone().requires_grad_()
        with torch.enable_grad():
            y = subject.run_all(leaf.clone())[number]
        if not isinstance(y, Tensor) or not y.requires_grad:
            continue
        (gradient,) = torch.autograd.grad(y.sum(), leaf, allow_unused=True)
        low, high = (subject.run_all(x * (1 + side))[number] for side in (-step, step))
        is_changing = bool((low != y).all()) and bool((high != y).all())
        if is_changing and (gradient is None or not gradient.any()):
            return number + 1
    return 0


def check_dtype_and_shape(curve: Curve) -> Result:
    """Check that y and the gradient returned by backward have the dtype and shape of x."""
    subject, traits = curve.subject, curve.traits
    if traits.failure:
        raise UntriedError(UNTRIED)
    base, y_dtypes = subject.sample(-1.3, 1.7, 6), dict[torch.dtype, torch.dtype]()
    keeps = subject.run(base.clone()).shape == base.shape
    tried = [(base.to(dtype), f"For {name_dtype(dtype)} x") for dtype in DTYPES]
    if keeps and not traits.dependence:
        tried += [(x, f"For x of shape {tuple(x.shape)}") for x in _make_shaped(subject)]
    for x, case in tried:
        if problem := _check_x(subject, x, case, keeps, y_dtypes):
            return problem
    if len(y_dtypes) < len(DTYPES) and subject.trial.dtype != torch.float64 and traits.dependence:
        words = "It takes x only in {dtype}, the dtype of the tensors that it holds."
        return by_design(words, dtype=subject.trial.dtype)
    for short, long in y_dtypes.items():
        if short != long:
            words = "For {short} x, y is {long} and the gradient is {short}. From here on a net computes in"
            advice = "if that is not intended, end forward with .to(x.dtype), or make tensors in x's dtype"
            return by_design(f"{words} {{long}}: {advice}.", short=short, long=long)
    is_exact = keeps and not (traits.dependence or traits.no_path) and subject.seed is None
    if is_exact and (fault := _check_digits(curve)):
        return fault
    if traits.no_path:
        raise UntriedError(UNTRIED)
    is_plain = is_exact and traits.repeats and not subject.trial.suffix
    for x in filter(Tensor.numel, _make_shaped(subject) if is_plain else ()):
        if not is_same(subject.run_both(x)[1].flatten(), subject.run_both(x.flatten())[1]):
            words = f"For x of shape {tuple(x.shape)} some elements get another gradient than in a vector"
            return fails(f"{words}: compute each from its own x and g, whatever the shape.")
    return holds(f"{'y and the gradient keep' if keeps else 'The gradient keeps'} x's dtype and shape.")


def _make_shaped(subject: Subject) -> list[Tensor]:
    suffix, shaped = subject.trial.suffix, []
    dimensions = [argument.dim() for argument in subject.arguments if isinstance(argument, Tensor)]
    least = max(dimensions, default=0) - len(suffix)
    # A module such as BatchNorm1d may refuse other numbers of dimensions.
    is_rank_fixed = subject.example is not None or (subject.is_module and suffix)
    for shape in _SHAPES:
        if len(shape) == 1 if is_rank_fixed else len(shape) >= least:
            x = torch.linspace(-1.3, 1.7, torch.Size(shape).numel(), dtype=subject.trial.dtype)
            x = subject.fit_domain(x).reshape((*shape, *[1] * len(suffix)))
            shaped.append(x.expand((*shape, *suffix)).contiguous())
    return shaped


def _check_x(
    subject: Subject, x: Tensor, case: str, keeps: bool, y_dtypes: dict[torch.dtype, torch.dtype]
) -> Result | None:
    """Return a failed result if dtypes or shapes are wrong for one x, else None.

    ``case`` says in words what x is. With ``keeps``, y must have the shape of x. The dtype of y is added to
    ``y_dtypes``, under the dtype of x.
    """

    def judge(reason: str) -> Result | None:
        """Return a failed result for the error ``reason``. None if torch lacks the dtype or x is empty."""
        if re.search(_UNSUPPORTED, reason) or not x.numel():
            return None
        is_wrong_return = re.search(_WRONG_RETURN, reason) is not None
        advice = ": return one gradient for each input, each of its input's shape" * is_wrong_return
        return fails(f"{case}, {reason}{advice}.")

    try:
        y, leaf = subject.open_graph(x, subject.prepare(x.dtype, learned=True))
    except UntriedError as error:
        return judge(str(error))
    y_dtypes[x.dtype] = y.dtype
    if not (y.is_floating_point() or y.is_complex()):
        advice = "make it with x's dtype, such as .to(x.dtype) or zeros_like"
        return fails(f"{case}, y is {name_dtype(y.dtype)}: {advice}.")
    if keeps and y.shape != x.shape:
        return fails(f"{case}, y has the shape {tuple(y.shape)}.")
    if not y.requires_grad:
        return None
    try:
        gradient = call_backward(y, leaf)  # before torch casts the returned gradient or sums it to x's shape
        torch.autograd.backward(y, torch.ones_like(y))
    except Exception as error:
        return judge(f"its backward raises {describe_error(error)}")
    if not isinstance(gradient, Tensor):
        return None
    if gradient.shape != x.shape:
        shapes = f"{tuple(gradient.shape)}: give it x's, {tuple(x.shape)}"
        return fails(f"{case}, backward returns the shape {shapes}.")
    shorter = max(torch.finfo(x.dtype).eps, torch.finfo(y.dtype).eps)
    if gradient.is_floating_point() and torch.finfo(gradient.dtype).eps > shorter:
        vanished = f"{case}, backward returns {name_dtype(gradient.dtype)}, and torch casts it silently"
        return fails(f"{vanished}: digits are lost. Compute with g's dtype.")
    return None


def _check_digits(curve: Curve) -> Result | None:
    if curve.dtype != torch.float64:
        return fails("It works in float32 only; with float64 x it raises.")
    if curve.subject.rounds_gradient:
        return by_design("The gradient is rounded to a number format, so it has only that format's digits.")
    r, changed = (curve.subject.gradient(curve.x, g) for g in (_FINE_G, _FINE_G * (1 + 2.0**-6)))
    for name, values in [("the gradient", r)] if curve.is_flat else [("y", curve.y), ("the gradient", r)]:
        nonzero = values[values.isfinite() & (values != 0)]
        # If the rule rounds its gradient to steps of g, a small change of g changes nothing.
        follows_g = values is r and not torch.equal(changed, r)
        is_smooth = follows_g or len(merge_points([nonzero])) >= _MIN_DISTINCT
        if len(nonzero) and is_smooth and bool((nonzero.float().double() == nonzero).all()):
            return fails(f"For float64 x, {name} has only the digits of float32: leave out the cast.")
    return None
