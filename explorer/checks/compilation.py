"""Does the rule give the same under torch.compile?"""

from dataclasses import replace

import torch
from torch import Tensor

from explorer.checks.curve import Curve
from explorer.checks.result import Result, by_design, fails, holds, unknown
from explorer.curves.foreign import Subject, UntriedError, is_same

# Every backend traces, and tracing is where a Function may get lost; this one needs no C++ compiler.
_BACKEND = "aot_eager"
_TOLERANCE = 1e-4
_RECOMPILE_LIMIT = 10_000  # all rules go through one Function, which torch would no longer trace after eight


def check_compile(curve: Curve) -> Result:
    """Return whether the compiled function gives the same y and gradient, for g contiguous and expanded."""
    subject = curve.subject
    x = subject.sample(-2.3, 2.9, 101, torch.float32)
    y, r = subject.run_both(x)
    try:
        from torch._dynamo import config  # it takes seconds to import, and only this check needs it

        fast = torch.compile(subject.call, backend=_BACKEND)
        upstreams = torch.ones_like(y), torch.ones(()).expand(y.shape)
        with config.patch(recompile_limit=_RECOMPILE_LIMIT, accumulated_recompile_limit=_RECOMPILE_LIMIT):
            results = [replace(subject, call=fast).run_both(x, g) for g in upstreams]
            is_one_graph = _is_one_graph(subject, x)
    except UntriedError as error:
        return unknown(f"Compiled {error}.")
    if curve.traits.draws:
        return holds("Traced by torch.compile it runs; it draws at random, so values are not compared.")
    if all(is_same(y, fast_y, _TOLERANCE) and is_same(r, fast_r, _TOLERANCE) for fast_y, fast_r in results):
        if not is_one_graph:
            return by_design(
                "Compiled it gives the same y and gradient, but not as one graph: fullgraph=True raises."
            )
        return holds("Traced by torch.compile it gives the same y and the same gradient.")
    return fails(
        "Compiled, it gives a different result: look for state outside ctx and a g assumed to be contiguous."
    )


def _is_one_graph(subject: Subject, x: Tensor) -> bool:
    """Return whether torch compiles the function without a graph break."""
    whole = torch.compile(lambda *inputs: subject.call(*inputs), backend=_BACKEND, fullgraph=True)
    try:
        whole(x.clone().requires_grad_(), *subject.prepare(x.dtype))
    except Exception:
        return False
    return True
