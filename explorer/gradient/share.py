"""The share of straight-through's gradient that a rule passes on given data."""

import math
from collections.abc import Iterable

import torch
from torch import Tensor

from explorer.catalogue import Op, Rule, checked, find_op, find_rule, require_fixed
from explorer.gradient.bound import Bound, bind
from explorer.gradient.wide import with_float64


def share(op: str | Op, rule: str | Rule, x: Tensor, g: Tensor | float = 1.0, **parameters: float) -> float:
    """The share of straight-through's gradient that a rule passes: mean |rule(x, g)| ÷ mean |g|.

    Args:
        op: key of ``OPS``, or ``"formula: …"`` in x.
        rule: key of ``RULES``, or ``"formula: …"`` in x, y, g.
        x: floating tensor of any shape, the inputs of the op.
        g: the upstream gradient of each x, in x's shape, or one number for all of them.
        **parameters: as for ``sample``.

    Returns:
        0 where the rule blocks everything, 1 for straight-through, above 1 where it amplifies; NaN without
        data, where all g are 0, and where the rule is not finite at one of them.

    Raises:
        ValueError: an unknown key or parameter; TypeError: x is no floating tensor.
    """
    if not isinstance(x, Tensor) or not x.is_floating_point():
        raise TypeError(f"x must be a floating tensor, not {type(x).__name__}: use x.float()")
    op, rule = find_op(op), find_rule(rule)
    require_fixed("share", op, rule)
    upstream = torch.as_tensor(g, dtype=x.dtype, device=x.device).expand_as(x)
    return share_of_all(bind(op, rule, checked(op, (rule,), parameters)), [(x, upstream)])


@torch.no_grad()
def share_of_all(bound: Bound, seen: Iterable[tuple[Tensor, Tensor]]) -> float:
    """The share over several tensors x with their g, as one: those of each layer of a net.

    A mean in a formula is over each tensor alone.
    """
    before = behind = 0.0
    for x, g in seen:
        gradient = bound.gradient(x, bound.forward(x), g.contiguous())
        before += float(with_float64(g).abs().sum(dtype=torch.float64))
        behind += float(with_float64(gradient).abs().sum(dtype=torch.float64))
    return behind / before if before and math.isfinite(behind) else math.nan
