"""Facts about a function that its checks need, found out once before they run."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import BackwardCFunction

from explorer.curves.user_functions.elementwise import FAR_FACTOR, NEAR, find_dependence, is_same
from explorer.curves.user_functions.subject import NoGradientError, Subject

# Names of autograd's nodes that change the shape or dtype of a tensor but not its values.
_RESHAPING = ("Clone", "View", "Expand", "Unsqueeze", "Squeeze", "UnsafeView", "Reshape", "ToCopy", "Alias")


@dataclass(frozen=True)
class Traits:
    """Facts about a function that its checks need: its dtype, faults of its backward, and its dependence.

    Attributes:
        y_dtype: the dtype of y for x in the dtype that the function accepts.
        failure: a clause that says why and at which line the backward failed; "" if it returned a gradient.
        no_path: a clause that says why no gradient can reach x; "" if one can.
        dependence: a clause that says why y is not elementwise; "" if it is.
        repeats: whether two backwards for the same x and g agree bit for bit, provided that their y do.
    """

    y_dtype: torch.dtype
    failure: str
    no_path: str
    dependence: str
    repeats: bool


def find_traits(subject: Subject) -> Traits:
    """Run a function on test values and return facts about it. Raises UntriedError if its forward fails."""
    x = subject.sample(-NEAR, NEAR, 64)
    y, leaf = subject.open_graph(x)
    failure, no_path, repeats, dependence = _describe_wrong_shape(y, leaf), "", True, find_dependence(subject)
    try:
        (first, r), (second, second_gradient) = subject.run_both(x), subject.run_both(x)
        repeats = is_same(r, second_gradient, 0.0) or not is_same(first, second, 0.0)
        is_plain = not (subject.function or subject.op or subject.seed is not None)
        if is_plain and not dependence and _mixes_upstream(subject, x, y, r):
            dependence = "it is not elementwise: the gradient at one x depends on the other elements"
    except NoGradientError as error:
        failure = f"{error} ({error.line})" if error.line else str(error)
    if not y.requires_grad:
        reason = "no operation between x and y has a gradient"
        reason = "its forward marks it as not differentiable" if subject.function else reason
        no_path = f"y does not require grad: {reason}"
        if not (y.is_floating_point() or y.is_complex()):
            no_path = f"y is of dtype {str(y.dtype).removeprefix('torch.')}, which carries no gradient"
    return Traits(y.dtype, failure, no_path, dependence, repeats)


def call_backward(y: Tensor, leaf: Tensor) -> Any:
    """Call a Function's own backward with g = 1, and return its gradient for its first input.

    If the Function has other outputs, their upstream gradient is 0. Returns None unless y is the output of a
    Function whose first input is ``leaf`` or a copy of it. Errors of backward are passed on.
    """
    node: Any = y.grad_fn
    below: Any = node.next_functions[0][0] if isinstance(node, BackwardCFunction) else None
    while below and below.name().startswith("Clone"):
        below = below.next_functions[0][0]
    if node is None or getattr(below, "variable", None) is not leaf:
        return None
    outputs = getattr(node, "_input_metadata", ())  # a private attribute of torch, tested with 2.13
    upstream = [torch.zeros(output.shape, dtype=output.dtype, device=output.device) for output in outputs]
    upstream[y.output_nr : y.output_nr + 1] = [torch.ones_like(y)]
    returned = node.apply(*upstream)
    return returned[0] if isinstance(returned, tuple) else returned


def has_custom_node(y: Tensor) -> bool:
    """Return whether a custom Function is in the graph of y."""
    return any(True for _ in iterate_custom_nodes(y))


def is_input_of_function(leaf: Tensor, y: Tensor) -> bool:
    """Return whether a custom Function in the graph of y takes a leaf as input, perhaps in another shape."""
    for node in iterate_custom_nodes(y):
        for below, _ in node.next_functions:
            while below and below.name().startswith(_RESHAPING):
                below = below.next_functions[0][0]
            if getattr(below, "variable", None) is leaf:
                return True
    return False


def iterate_custom_nodes(y: Tensor) -> Iterator[Any]:
    """Yield the contexts of all custom Functions in the graph of y."""
    waiting: list[Any] = [y.grad_fn]
    seen: set[Any] = {None}
    while waiting:
        if (node := waiting.pop(0)) in seen:
            continue
        seen.add(node)
        waiting += [below for below, _ in node.next_functions]
        if isinstance(node, BackwardCFunction):
            yield node


def _describe_wrong_shape(y: Tensor, x: Tensor) -> str:
    try:
        gradient = call_backward(y, x)
    except Exception:
        return ""  # autograd's engine raises this exception itself
    if not isinstance(gradient, Tensor) or gradient.shape == x.shape:
        return ""
    return f"its backward returns the shape {tuple(gradient.shape)} for x of shape {tuple(x.shape)}"


def _mixes_upstream(subject: Subject, x: Tensor, y: Tensor, r: Tensor) -> bool:
    """Return whether the gradient ``r`` for g = 1 at some x changes if g or x changes at other x only."""
    g, moved = torch.ones_like(y), x.clone()
    g[::2] = 2.0
    moved[::2] = subject.fit_domain(FAR_FACTOR * x)[::2]
    pulled = (subject.run_both(x, g)[1], subject.run_both(moved)[1])
    return not all(
        is_same(each[1::2], r[1::2], 1e-9 if r.dtype == torch.float64 else 1e-4) for each in pulled
    )
