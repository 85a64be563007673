"""The traits of a subject: found once, before the checks, which all read this record."""

import dis
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import BackwardCFunction

from explorer.checks.result import name_dtype
from explorer.curves.foreign.elementwise import NEAR, find_dependence, has_random_output, is_same
from explorer.curves.foreign.subject import SEED, NoGradientError, Subject


@dataclass(frozen=True)
class Traits:
    """The traits of a subject.

    Attributes:
        y_dtype: the dtype of y for x in the dtype of the trial.
        failure: why the backward returned no gradient, as a clause; "" if it returned one.
        failure_line: where it failed, as ``file:line: code``; "" if that is not known.
        no_path: why no gradient can reach x, as a clause; "" if one can.
        dependence: why y is not elementwise, as a clause; "" if it is.
        draws: whether the forward draws at random; a seed is then set before each call.
        repeats: whether two backwards for the same x and g agree bit for bit, if their y do.
        shadowed_global: a global that backward reads under the name of a variable of forward; "" if none.
        outputs: the number of outputs, of which y is the first.
    """

    y_dtype: torch.dtype
    failure: str
    failure_line: str
    no_path: str
    dependence: str
    draws: bool
    repeats: bool
    shadowed_global: str
    outputs: int


def fix_seed(subject: Subject) -> Subject:
    """Return the subject; if it draws at random, with a seed that is set before each forward."""
    return replace(subject, seed=SEED) if has_random_output(subject) else subject


def find_traits(subject: Subject) -> Traits:
    """Return the traits of a subject; raises UntriedError if its forward cannot be tried."""
    x, is_function = subject.sample(-NEAR, NEAR, 64), subject.function is not None
    y = subject.run(x.clone().requires_grad_().clone())
    failure, line, repeats, dependence = _describe_wrong_shape(y, x), "", True, find_dependence(subject)
    try:
        (first, r), (second, again) = subject.run_both(x), subject.run_both(x)
        repeats = is_same(r, again, 0.0) or not is_same(first, second, 0.0)
        is_plain = not (is_function or subject.op or subject.seed is not None)
        if is_plain and not dependence and _mixes_upstream(subject, x, y, r):
            dependence = "it is not elementwise: the gradient at one x depends on the other elements"
    except NoGradientError as error:
        failure, line = str(error), error.line
    return Traits(
        y.dtype,
        failure,
        line,
        "" if y.requires_grad else _explain_no_path(y.dtype, is_function),
        dependence,
        subject.seed is not None,
        repeats,
        _find_shadowed_global(subject.function),
        len(subject.run_all(x.clone())),
    )


def call_backward(y: Tensor) -> Any:
    """Return what a Function's backward itself returns for x, for g = 1 on y and 0 on its other outputs.

    None if y comes from no Function. Raises whatever backward raises.
    """
    node = y.grad_fn
    if not isinstance(node, BackwardCFunction):
        return None
    outputs = getattr(node, "_input_metadata", ())  # torch's own, tried with 2.13
    upstream = [torch.zeros(item.shape, dtype=item.dtype, device=item.device) for item in outputs]
    upstream[y.output_nr : y.output_nr + 1] = [torch.ones_like(y)]
    returned = node.apply(*upstream)
    return returned[0] if isinstance(returned, tuple) else returned


def has_custom_node(y: Tensor) -> bool:
    """Return whether a Function lies on the way back from y."""
    waiting = [y.grad_fn]
    while waiting and not isinstance(node := waiting.pop(), BackwardCFunction):
        waiting += [below for below, _ in node.next_functions if below is not None] if node else []
    return bool(waiting) or isinstance(node, BackwardCFunction)


def _describe_wrong_shape(y: Tensor, x: Tensor) -> str:
    """Return a clause on a gradient of another shape than x, which torch would sum silently; "" if none."""
    try:
        gradient = call_backward(y)
    except Exception:
        return ""  # the engine raises it again
    if not isinstance(gradient, Tensor) or gradient.shape == x.shape:
        return ""
    return f"its backward returns the shape {tuple(gradient.shape)} for x of shape {tuple(x.shape)}"


def _mixes_upstream(subject: Subject, x: Tensor, y: Tensor, r: Tensor) -> bool:
    """Return whether autograd's gradient at one x depends on the g of other x."""
    g = torch.ones_like(y)
    g[::2] = 2.0
    pulled = subject.run_both(x, g)[1]
    return not is_same(pulled[1::2], r[1::2], 1e-9 if r.dtype == torch.float64 else 1e-4)


def _explain_no_path(dtype: torch.dtype, is_function: bool) -> str:
    if not (dtype.is_floating_point or dtype.is_complex):
        return f"y is of dtype {name_dtype(dtype)}, which carries no gradient"
    reason = "its forward marks it as not differentiable"
    return (
        f"y does not require grad: {reason if is_function else 'no operation between x and y has a gradient'}"
    )


def _find_shadowed_global(function: type[torch.autograd.Function] | None) -> str:
    forward, backward = (getattr(function, name, None) for name in ("forward", "backward"))
    if not (isinstance(forward, FunctionType) and isinstance(backward, FunctionType)):
        return ""
    read = {item.argval for item in dis.get_instructions(backward) if item.opname == "LOAD_GLOBAL"}
    names = (name for name in forward.__code__.co_varnames if name in read)
    known = (torch.Tensor, int, float)
    return next((name for name in names if isinstance(backward.__globals__.get(name), known)), "")
