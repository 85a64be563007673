"""The size of a rule's gradient on given data, relative to straight-through's."""

import math
from collections.abc import Iterable

import torch
from torch import Tensor

from explorer.catalogue import Op, Rule, check_values, find_op, find_rule, require_deterministic
from explorer.gradient.bound import BoundOp, bind
from explorer.gradient.float64 import with_float64


def share(op: str | Op, rule: str | Rule, x: Tensor, g: Tensor | float = 1.0, **parameters: float) -> float:
    """Compute the relative size of a rule's gradient, mean |rule(x, g)| ÷ mean |g|; 1 for straight-through.

    Args:
        op: key of ``OPS``, or ``"formula: …"`` in x.
        rule: key of ``RULES``, or ``"formula: …"`` in x, y, g.
        x: floating tensor of any shape, the inputs of the op.
        g: the upstream gradient of each x, in x's shape, or one number for all of them.
        **parameters: as for ``sample``.

    Returns:
        0 if the rule blocks every gradient, 1 for straight-through, above 1 if the rule amplifies. NaN if x
        is empty, if all g are 0, or if any gradient by the rule is not finite.

    Raises:
        ValueError: for an unknown key or parameter.
        TypeError: if x is not a floating tensor.
    """
    if not isinstance(x, Tensor) or not x.is_floating_point():
        raise TypeError(f"x must be a floating tensor, got {type(x).__name__}: use x.float()")
    op, rule = find_op(op), find_rule(rule)
    require_deterministic("share", op, rule)
    upstream = torch.as_tensor(g, dtype=x.dtype, device=x.device).expand_as(x)
    return share_of_all(bind(op, rule, check_values(op, (rule,), parameters)), [(x, upstream)])


@torch.no_grad()
def share_of_all(bound: BoundOp, data: Iterable[tuple[Tensor, Tensor]]) -> float:
    """Return mean |gradient| ÷ mean |g| over several pairs of tensors (x, g), such as one pair per layer.

    The result is NaN if all g are 0 or a gradient is not finite. A reduction in a formula, such as
    ``mean(…)``, is computed for each x separately.
    """
    size_g = size_gradient = 0.0
    for x, g in data:
        gradient = bound.gradient(x, bound.forward(x), g.contiguous())
        size_g += float(with_float64(g).abs().sum(dtype=torch.float64))
        size_gradient += float(with_float64(gradient).abs().sum(dtype=torch.float64))
    return size_gradient / size_g if size_g and math.isfinite(size_gradient) else math.nan
