"""Does it leave x and g unchanged, and read g in any layout?"""

from collections.abc import Iterator

import torch
from torch import Tensor

from explorer.checks.curve import Curve
from explorer.checks.result import Result, fails, holds
from explorer.curves.foreign import NoGradientError, Subject, UntriedError, is_same, pull_gradient

_ROWS, _COLUMNS = 6, 4


def check_memory(curve: Curve) -> Result:
    """Return whether x, g and saved tensors stay unchanged, for g in several layouts and two calls."""
    subject = curve.subject
    if name := curve.traits.shadowed_global:
        return fails(f"Backward reads the global {name}, not the {name} of forward: save it on ctx.")
    x = _make_matrix(subject)
    return (
        _check_inputs(subject, x)
        or _check_upstream(subject, x)
        or _check_second_backward(subject, x)
        or _check_layouts(subject, x)
        or _check_two_calls(subject, x)
        or holds("It leaves x, g and what it saved unchanged, and reads g in any layout.")
    )


def _make_matrix(subject: Subject) -> Tensor:
    """Return x in two dimensions if the function takes such x, so that layouts can differ."""
    if subject.trial.suffix or subject.example is not None:
        return subject.sample(-2.3, 2.9, _ROWS)
    x = subject.sample(-2.3, 2.9, _ROWS * _COLUMNS)
    try:
        matrix = x.reshape(_ROWS, _COLUMNS)
        subject.run_both(matrix)
        return matrix
    except UntriedError:
        return x


def _make_upstream(y: Tensor) -> Tensor:
    return (torch.arange(y.numel(), dtype=y.dtype) * 0.7).sin().reshape(y.shape) + 1.3


def _run_forward(subject: Subject, x: Tensor) -> tuple[Tensor, Tensor]:
    """Return y, and the leaf that its input was cloned from."""
    leaf = x.clone().requires_grad_()
    return subject.run(leaf.clone()), leaf


def _check_inputs(subject: Subject, x: Tensor) -> Result | None:
    leaf = x.clone().requires_grad_()
    copy, arguments = leaf.clone(), subject.prepare(x.dtype)
    before = [argument.clone() for argument in arguments if isinstance(argument, Tensor)]
    y = subject.run(copy, arguments)
    if y is not copy and not is_same(copy, x, 0.0):
        return fails("It changes x in place and does not say so: work on a copy, or call ctx.mark_dirty(x).")
    after = [argument for argument in arguments if isinstance(argument, Tensor)]
    if not subject.is_module and not all(is_same(*both, 0.0) for both in zip(before, after, strict=True)):
        return fails("It changes one of its arguments in place: work on a copy.")
    return None


def _check_upstream(subject: Subject, x: Tensor) -> Result | None:
    y, leaf = _run_forward(subject, x)
    g = _make_upstream(y)
    before = g.clone()
    pull_gradient(y, leaf, g)
    if is_same(g, before, 0.0):
        return None
    return fails(
        "Its backward writes into g, which other nodes may still read: work on g.clone(), or use torch.where."
    )


def _check_second_backward(subject: Subject, x: Tensor) -> Result | None:
    """Return the failure of a second backward through a graph, after the first result was overwritten."""
    y, leaf = _run_forward(subject, x)
    if not y.requires_grad:
        return None
    g = _make_upstream(y)
    first, second = None, None
    try:
        (result,) = torch.autograd.grad(y, leaf, g.clone(), retain_graph=True)
        first = result.clone()
        if result._is_view() or result.is_contiguous():
            result.zero_()
        (second,) = torch.autograd.grad(y, leaf, g.clone())
    except RuntimeError as error:
        return fails(f"A second backward through the same graph raises {error}.")
    if is_same(first, second, 0.0):
        return None
    return fails("A second backward gives a different gradient: it changes what it saved, or returns it.")


def _check_layouts(subject: Subject, x: Tensor) -> Result | None:
    y, _ = _run_forward(subject, x)
    for layout, g in _iterate_layouts(y):
        plain = subject.run_both(x, g.contiguous())[1]
        try:
            other = subject.run_both(x, g)[1]
        except NoGradientError as error:
            return fails(f"With g {layout} {error}: it assumes a contiguous g. Call g.contiguous() first.")
        if not _is_near(plain, other):
            observed = f"With g {layout} the gradient is different"
            return fails(f"{observed}: it assumes a contiguous g. Call g.contiguous().")
    if x.dim() == 2 and y.shape == x.shape and not subject.trial.suffix and subject.seed is None:
        transposed = x.t().contiguous().t()
        g = _make_upstream(y)
        if not all(
            _is_near(*parts)
            for parts in zip(subject.run_both(x, g), subject.run_both(transposed, g), strict=True)
        ):
            return fails("With a transposed x the result is different: it assumes a contiguous x.")
    return None


def _iterate_layouts(y: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Yield upstream gradients in memory layouts that are not contiguous, each with a name."""
    if y.dim() == 0:
        return
    g = _make_upstream(y)
    yield "expanded, as y.sum().backward() makes it,", torch.tensor(1.3, dtype=y.dtype).expand(y.shape)
    if y.dim() > 1:
        yield "transposed", g.transpose(0, -1).contiguous().transpose(0, -1)
        yield "expanded along its rows", g[:1].expand(y.shape)
    yield "strided", torch.stack([g, -g], dim=-1)[..., 0]


def _check_two_calls(subject: Subject, x: Tensor) -> Result | None:
    expected = subject.run_both(x, _make_upstream(_run_forward(subject, x)[0]))[1]
    y, leaf = _run_forward(subject, x)
    g = _make_upstream(y)
    subject.run(subject.fit_domain(x.flip(0) * 0.7 + 0.4).clone())
    if _is_near(pull_gradient(y, leaf, g), expected):
        return None
    return fails(
        "After a second forward, the backward of the first gives a different gradient: it keeps state "
        "outside ctx. Save it with ctx.save_for_backward."
    )


def _is_near(left: Tensor, right: Tensor) -> bool:
    return is_same(left, right, 1e3 * max(torch.finfo(left.dtype).eps, 1e-9))
