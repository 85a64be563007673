"""Does it leave alone what is not its own, and read g as it comes?"""

from collections.abc import Iterator

import torch
from torch import Tensor

from explorer.checks.curve import Curve
from explorer.checks.result import Finding, fails, holds
from explorer.foreign import NoGradientError, Subject, UntriedError, pulled

_ROWS, _COLUMNS = 6, 4


def memory(curve: Curve) -> Finding:
    """x, g and saved tensors before and after; g in several layouts; two calls before a backward."""
    assert curve.steady
    subject = curve.subject
    x = _matrix(subject)
    return (
        _inputs_unchanged(subject, x)
        or _upstream_unchanged(subject, x)
        or _again(subject, x)
        or _laid_out_otherwise(subject, x)
        or _called_twice(subject, x)
        or holds("It changes neither x nor g nor what it saved, and reads g in any layout.")
    )


def _matrix(subject: Subject) -> Tensor:
    """x in two dimensions where it takes them, so that layouts can differ; else as it takes it."""
    x = torch.linspace(-2.3, 2.9, _ROWS * _COLUMNS, dtype=subject.trial.dtype)
    if subject.trial.suffix:
        return subject.lifted(x[:_ROWS])
    try:
        matrix = x.reshape(_ROWS, _COLUMNS)
        subject.both(matrix)
        return matrix
    except UntriedError:
        return x


def _upstream(y: Tensor) -> Tensor:
    return (torch.arange(y.numel(), dtype=y.dtype) * 0.7).sin().reshape(y.shape) + 1.3


def _forward(subject: Subject, x: Tensor) -> tuple[Tensor, Tensor]:
    """y, and the leaf that its input was cloned from."""
    leaf = x.clone().requires_grad_()
    return subject.run(leaf.clone()), leaf


def _inputs_unchanged(subject: Subject, x: Tensor) -> Finding | None:
    leaf = x.clone().requires_grad_()
    copy, arguments = leaf.clone(), subject.prepared(x.dtype)
    before = [argument.clone() for argument in arguments if isinstance(argument, Tensor)]
    y = subject.run(copy, arguments)
    if y is not copy and not _same(copy, x):
        return fails("It changes x in place and does not say so: work on a copy, or call ctx.mark_dirty(x).")
    after = [argument for argument in arguments if isinstance(argument, Tensor)]
    if not all(_same(*both) for both in zip(before, after, strict=True)):
        return fails("It changes one of its arguments in place: work on a copy.")
    return None


def _upstream_unchanged(subject: Subject, x: Tensor) -> Finding | None:
    y, leaf = _forward(subject, x)
    g = _upstream(y)
    before = g.clone()
    pulled(y, leaf, g)
    if _same(g, before):
        return None
    return fails(
        "Its backward writes into g, which others still read: work on g.clone(), or use torch.where."
    )


def _again(subject: Subject, x: Tensor) -> Finding | None:
    """A second backward through the same graph, after the first one's result was overwritten."""
    y, leaf = _forward(subject, x)
    if not y.requires_grad:
        return None
    g = _upstream(y)
    first, second = None, None
    try:
        (result,) = torch.autograd.grad(y, leaf, g.clone(), retain_graph=True)
        first = result.clone()
        if result._is_view() or result.is_contiguous():
            result.zero_()
        (second,) = torch.autograd.grad(y, leaf, g.clone())
    except RuntimeError as error:
        return fails(f"A second backward through the same graph raises {error}.")
    if _same(first, second):
        return None
    return fails("A second backward gives another gradient: it changes what it saved, or returns it itself.")


def _laid_out_otherwise(subject: Subject, x: Tensor) -> Finding | None:
    y, _ = _forward(subject, x)
    for layout, g in _layouts(y):
        plain = subject.both(x, g.contiguous())[1]
        try:
            other = subject.both(x, g)[1]
        except NoGradientError as error:
            return fails(f"With g {layout} {error}: it takes g for contiguous. Call g.contiguous() first.")
        if not _near(plain, other):
            observed = f"With g {layout} the gradient is another one"
            return fails(f"{observed}, for it takes g for contiguous: call g.contiguous().")
    if x.dim() == 2 and y.shape == x.shape and not subject.trial.suffix:
        turned = x.t().contiguous().t()
        g = _upstream(y)
        if not all(_near(*parts) for parts in zip(subject.both(x, g), subject.both(turned, g), strict=True)):
            return fails("With a transposed x the result is another one: it takes x for contiguous.")
    return None


def _layouts(y: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Upstream gradients in other memory layouts than row by row, each with a name."""
    if y.dim() == 0:
        return
    g = _upstream(y)
    yield "expanded, as y.sum().backward() makes it,", torch.tensor(1.3, dtype=y.dtype).expand(y.shape)
    if y.dim() > 1:
        yield "transposed", g.transpose(0, -1).contiguous().transpose(0, -1)
        yield "expanded along its rows", g[:1].expand(y.shape)
    yield "strided", torch.stack([g, -g], dim=-1)[..., 0]


def _called_twice(subject: Subject, x: Tensor) -> Finding | None:
    alone = subject.both(x, _upstream(_forward(subject, x)[0]))[1]
    y, leaf = _forward(subject, x)
    g = _upstream(y)
    subject.run((x.flip(0) * 0.7 + 0.4).clone())
    if _near(pulled(y, leaf, g), alone):
        return None
    return fails(
        "After a second forward the first one's backward gives another gradient: it keeps its state outside "
        "ctx. Save it with ctx.save_for_backward."
    )


def _same(left: Tensor, right: Tensor) -> bool:
    return torch.equal(left.nan_to_num(), right.nan_to_num())


def _near(left: Tensor, right: Tensor) -> bool:
    tolerance = 1e3 * torch.finfo(left.dtype).eps
    return left.shape == right.shape and torch.allclose(left, right, tolerance, tolerance, equal_nan=True)
