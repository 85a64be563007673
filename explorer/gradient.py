"""The single autograd boundary: where an op meets a backward rule."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from explorer.catalogue import Op, Rule, find_op, find_rule, values

Forward = Callable[[Tensor], Tensor]
Backward = Callable[[Tensor, Tensor, Tensor], Tensor]


class _RuleFunction(torch.autograd.Function):
    """Forward by the op, backward by the rule: one Function for all of them."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, forward: Forward, backward: Backward) -> Tensor:
        return _fresh(forward(x), x)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Forward, Backward], output: Tensor) -> None:
        x, _, ctx.backward_rule = inputs
        ctx.save_for_backward(x, output)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None]:
        x, y = ctx.saved_tensors
        gradient = ctx.backward_rule(x, y, g)
        return gradient.clone() if gradient is x or gradient is y else gradient, None, None


def _fresh(y: Tensor, x: Tensor) -> Tensor:
    """``y`` in memory of its own, so that changing it in place leaves x alone."""
    return y.clone() if y is x else y


# torch inspects forward's signature at every call; ready at hand it saves 10 µs of a training step's 400.
_RuleFunction.forward.__signature__ = inspect.signature(_RuleFunction.forward)  # type: ignore[attr-defined]


def _zero(_x: Tensor, _y: Tensor, g: Tensor) -> Tensor:
    return torch.zeros_like(g)


def bind(op: str | Op, rule: str | Rule, settings: Mapping[str, float]) -> Callable[[Tensor], Tensor]:
    """The function ``x -> y`` that computes the op forward and the rule backward.

    ``settings`` holds parameter values as for ``catalogue.values``. What "default" gives is
    torch's own autograd of the op, 0 where torch sees no path from y back to x.
    """
    op, rule = find_op(op), find_rule(rule)
    parameters = values(op, rule, settings)
    forward = op.parsed.bind(parameters)
    if rule.parsed is not None:
        backward = rule.parsed.bind(parameters)
        return lambda x: _applied(x, forward, backward)

    def default(x: Tensor) -> Tensor:
        y = forward(x)
        if x.requires_grad and not y.requires_grad and torch.is_grad_enabled():
            return _applied(x, forward, _zero)
        return _fresh(y, x)

    return default


def _applied(x: Tensor, forward: Forward, backward: Backward) -> Tensor:
    y: Tensor = _RuleFunction.apply(x, forward, backward)  # type: ignore[no-untyped-call]  # torch's own
    return y


def apply(op: str | Op, rule: str | Rule, x: Tensor, **parameters: float) -> Tensor:
    """Compute an op on a tensor so that ``backward`` follows a rule.

    Args:
        op: key of ``OPS``, or ``"formula: …"`` in x.
        rule: key of ``RULES``, or ``"formula: …"`` in x, y, g.
        x: floating tensor of any shape and device.
        **parameters: values by name; an op and a rule share what has the same name.

    Returns:
        y with x's shape and dtype. Double backward and torch.func's ``grad`` and ``vmap`` work
        where the rule's formula is differentiable. At a kink the gradient is what the rule's
        formula says there; for "default", what torch does.

    Raises:
        ValueError: an unknown key or parameter, or a value that is not finite.
        TypeError: x is not a floating tensor.
    """
    if not isinstance(x, Tensor) or not x.is_floating_point():
        kind = str(x.dtype) if isinstance(x, Tensor) else type(x).__name__
        raise TypeError(f"x must be a floating tensor, not {kind}: use x.float()")
    op, rule = find_op(op), find_rule(rule)
    return bind(op, rule, checked(op, (rule,), parameters))(x)


def checked(op: Op, rules: tuple[Rule, ...], parameters: Mapping[str, float]) -> dict[str, float]:
    """Parameter values as floats; ValueError for a name no entry has or a value that is not finite."""
    known = {p.name for p in op.parameters} | {p.name for rule in rules for p in rule.parameters}
    qualified = {f"{rule.key}.{p.name}" for rule in rules for p in rule.parameters}
    result = {}
    for name, value in parameters.items():
        if name not in known | qualified:
            takes = f"takes {', '.join(sorted(known))}" if known else "takes no parameters"
            chosen = " with ".join([op.key, ", ".join(rule.key for rule in rules)])
            raise ValueError(f"unknown parameter {name!r}: {chosen} {takes}")
        result[name] = finite(f"parameter {name}", value)
    return result


def finite(name: str, value: Any) -> float:
    """A finite float; ValueError with its name for anything else, texts and truth values included."""
    try:
        if isinstance(value, bool | str):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be a number, not {value!r}") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number, not {value!r}")
    return number
