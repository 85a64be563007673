"""Does torch.compile keep the rule?"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from explorer.checks.curve import Curve
from explorer.checks.result import Finding, by_design, fails, holds, unknown
from explorer.foreign import Subject, pulled, said

# It traces as every backend does, and tracing is where a Function gets lost; it needs no compiler of C++.
_BACKEND = "aot_eager"
_MOST_COMPILED = 10_000  # all rules go through one Function, which torch would no longer trace after eight


def compiled(curve: Curve) -> Finding:
    """The compiled function forward and backward, with g of ones and expanded, against the plain one."""
    assert curve.steady
    subject = curve.subject
    x = subject.lifted(torch.linspace(-2.3, 2.9, 101))
    y, r = subject.both(x)
    try:
        from torch._dynamo import config  # it takes seconds to import, and only this check needs it

        fast = torch.compile(subject.call, backend=_BACKEND)
        upstreams = torch.ones_like(y), torch.ones(()).expand(y.shape)
        with config.patch(recompile_limit=_MOST_COMPILED, accumulated_recompile_limit=_MOST_COMPILED):
            results = [_passed(subject, fast, x, g) for g in upstreams]
            is_whole = _is_whole(subject, x)
    except Exception as error:
        return unknown(f"Compiled it raises {said(error)}.")
    if all(_near(y, fast_y) and _near(r, fast_r) for fast_y, fast_r in results):
        if not is_whole:
            return by_design(
                "Compiled it gives the same y and gradient, but not as one graph: fullgraph=True raises."
            )
        return holds("Traced by torch.compile it gives the same y and the same gradient.")
    return fails(
        "Compiled, it gives another result: look for state outside ctx and for a g assumed to be contiguous."
    )


def _is_whole(subject: Subject, x: Tensor) -> bool:
    """Whether torch compiles it without a graph break."""
    whole = torch.compile(lambda *inputs: subject.call(*inputs), backend=_BACKEND, fullgraph=True)
    try:
        whole(x.clone().requires_grad_(), *subject.prepared(x.dtype))
    except Exception:
        return False
    return True


def _passed(subject: Subject, fast: Callable[..., Any], x: Tensor, g: Tensor) -> tuple[Tensor, Tensor]:
    leaf = x.clone().requires_grad_()
    y = fast(leaf.clone(), *subject.prepared(x.dtype))
    return y.detach(), pulled(y, leaf, g)


def _near(left: Tensor, right: Tensor) -> bool:
    return left.shape == right.shape and torch.allclose(left, right, 1e-4, 1e-5, equal_nan=True)
