"""The single autograd boundary: where an op meets a backward rule."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from explorer.catalogue import Op, Rule, checked, find_op, find_rule, values
from explorer.formula import Formula, FormulaError

Forward = Callable[[Tensor], Tensor]
Pair = tuple[Forward, Callable[[Tensor, Tensor, Tensor], Tensor]]


@dataclass(frozen=True)
class Backward:
    """A bound rule ``(x, y, g) -> gradient``, and whether it needs x and y."""

    rule: Callable[..., Tensor]
    needs_x: bool
    needs_y: bool

    def __call__(self, kept: tuple[Tensor, ...], g: Tensor) -> Tensor:
        """The gradient, in memory of its own; g stands in for what was not kept."""
        x = kept[0] if self.needs_x else g
        y = kept[-1] if self.needs_y else g
        gradient = self.rule(x, y, g)
        return gradient.clone() if any(gradient is tensor for tensor in kept) else gradient


class _RuleFunction(torch.autograd.Function):
    """Forward by the op, backward by the rule: one Function for all of them."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, forward: Forward, backward: Backward) -> Tensor:
        return _fresh(forward(x), x)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Forward, Backward], output: Tensor) -> None:
        x, _, ctx.rule = inputs
        kept = [tensor for tensor, needed in ((x, ctx.rule.needs_x), (output, ctx.rule.needs_y)) if needed]
        ctx.save_for_backward(*kept)
        ctx.save_for_forward(*kept)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None]:
        return ctx.rule(ctx.saved_tensors, g), None, None

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor, *_: None) -> Tensor:
        gradient: Tensor = ctx.rule(ctx.saved_tensors, tangent)
        return gradient


def _fresh(y: Tensor, x: Tensor) -> Tensor:
    """``y`` in memory of its own, so that changing it in place leaves x alone."""
    return y.clone() if y is x else y


# torch inspects forward's signature at every call; ready at hand it saves 10 µs of a training step's 400.
_RuleFunction.forward.__signature__ = inspect.signature(_RuleFunction.forward)  # type: ignore[attr-defined]

_ZERO = Backward(lambda _x, _y, g: torch.zeros_like(g), needs_x=False, needs_y=False)


def bind(op: str | Op, rule: str | Rule, settings: Mapping[str, float]) -> Forward:
    """The function ``x -> y`` that computes the op forward and the rule backward.

    ``settings`` holds parameter values as for ``catalogue.values``.
    """
    op, rule = find_op(op), find_rule(rule)
    return joined(op.parsed, rule.parsed, values(op, rule, settings))


def joined(op: Formula, rule: Formula | None, parameters: Mapping[str, float]) -> Forward:
    """The function ``x -> y`` of two formulas: the op's forward, the rule's backward.

    Without a rule it is torch's own autograd of the op, 0 where torch sees no path from y back to x.
    """
    forward = op.bind(parameters)
    if rule is not None:
        backward = Backward(rule.bind(parameters), "x" in rule.variables, "y" in rule.variables)
        return lambda x: _applied(x, forward, backward)

    def default(x: Tensor) -> Tensor:
        y = forward(x)
        if x.requires_grad and not y.requires_grad and torch.is_grad_enabled():
            return _applied(x, forward, _ZERO)
        return _fresh(y, x)

    return default


def _applied(x: Tensor, forward: Forward, backward: Backward) -> Tensor:
    y: Tensor = _RuleFunction.apply(x, forward, backward)  # type: ignore[no-untyped-call]  # torch's own
    return y


def pair(op: str | Op, rule: str | Rule, settings: Mapping[str, float]) -> Pair:
    """What ``bind`` joins, apart and without a graph: ``x -> y`` and ``(x, y, g) -> gradient``."""
    op, rule = find_op(op), find_rule(rule)
    parameters = values(op, rule, settings)
    forward = op.parsed.bind(parameters)

    def default(x: Tensor, _y: Tensor, g: Tensor) -> Tensor:
        leaf = x.detach().requires_grad_()
        with torch.enable_grad():
            y = forward(leaf)
        return torch.autograd.grad(y, leaf, g)[0] if y.requires_grad else torch.zeros_like(g)

    return forward, rule.parsed.bind(parameters) if rule.parsed else default


def apply(op: str | Op, rule: str | Rule, x: Tensor, **parameters: float) -> Tensor:
    """Compute an op on a tensor so that ``backward`` follows a rule.

    Args:
        op: key of ``OPS``, or ``"formula: …"`` in x.
        rule: key of ``RULES``, or ``"formula: …"`` in x, y, g.
        x: floating tensor of any shape and device.
        **parameters: values by name; an op and a rule share what has the same name.

    Returns:
        y with x's shape and dtype. Only what the rule's formula names, of x and y, is kept for
        backward; the rest may be changed in place. Double backward and torch.func's ``grad`` and
        ``vmap`` work where the rule's formula is differentiable. Forward mode (``jvp``, ``jacfwd``,
        ``hessian``) gives what the rule returns for the tangent as upstream gradient, so also where
        a rule is not linear in g. At a kink the gradient is what the rule's formula says there; for
        "default", what torch does.

    Raises:
        ValueError: an unknown key or parameter, or a value that is not finite; FormulaError, with
            a caret under the column, for a formula that cannot be read.
        TypeError: x is not a floating tensor.
    """
    title = f"apply({_name(op)}, {_name(rule)})"
    try:
        op, rule = find_op(op), find_rule(rule)
        chosen = checked(op, (rule,), parameters)
    except FormulaError as error:
        raise FormulaError(f"{title}: {error.message}", error.column, error.text) from None
    except ValueError as error:
        raise ValueError(f"{title}: {error}") from None
    if not isinstance(x, Tensor) or not x.is_floating_point():
        kind = str(x.dtype) if isinstance(x, Tensor) else type(x).__name__
        raise TypeError(f"{title}: x must be a floating tensor, not {kind}: use x.float()")
    return bind(op, rule, chosen)(x)


def _name(entry: object) -> str:
    return repr(entry.key if isinstance(entry, Op | Rule) else entry)
