"""Does torch.compile keep the rule?"""

from dataclasses import replace

import torch
from torch import Tensor

from explorer.checks.curve import Curve
from explorer.checks.result import Result, by_design, fails, holds, unknown
from explorer.curves.foreign import Subject, UntriedError, is_same

# It traces as every backend does, and tracing is where a Function gets lost; it needs no compiler of C++.
_BACKEND = "aot_eager"
_NEAR = 1e-4
_MOST_COMPILED = 10_000  # all rules go through one Function, which torch would no longer trace after eight


def check_compile(curve: Curve) -> Result:
    """Return whether the compiled function gives the same y and gradient, for g of ones and expanded."""
    subject = curve.subject
    x = subject.sample(-2.3, 2.9, 101, torch.float32)
    y, r = subject.run_both(x)
    try:
        from torch._dynamo import config  # it takes seconds to import, and only this check needs it

        fast = torch.compile(subject.call, backend=_BACKEND)
        upstreams = torch.ones_like(y), torch.ones(()).expand(y.shape)
        with config.patch(recompile_limit=_MOST_COMPILED, accumulated_recompile_limit=_MOST_COMPILED):
            results = [replace(subject, call=fast).run_both(x, g) for g in upstreams]
            is_whole = _is_whole(subject, x)
    except UntriedError as error:
        return unknown(f"Compiled {error}.")
    if curve.nature.draws:
        return holds("Traced by torch.compile it runs; it draws at random, so values are not compared.")
    if all(is_same(y, fast_y, _NEAR) and is_same(r, fast_r, _NEAR) for fast_y, fast_r in results):
        if not is_whole:
            return by_design(
                "Compiled it gives the same y and gradient, but not as one graph: fullgraph=True raises."
            )
        return holds("Traced by torch.compile it gives the same y and the same gradient.")
    return fails(
        "Compiled, it gives another result: look for state outside ctx and for a g assumed to be contiguous."
    )


def _is_whole(subject: Subject, x: Tensor) -> bool:
    """Return whether torch compiles it without a graph break."""
    whole = torch.compile(lambda *inputs: subject.call(*inputs), backend=_BACKEND, fullgraph=True)
    try:
        whole(x.clone().requires_grad_(), *subject.prepare(x.dtype))
    except Exception:
        return False
    return True
