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
        """The gradient; g stands in for what was not kept."""
        return self.rule(kept[0] if self.needs_x else g, kept[-1] if self.needs_y else g, g)


class _RuleFunction(torch.autograd.Function):
    """Forward by the op, backward by the rule: one Function for all of them."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, forward: Forward, backward: Backward) -> Tensor:
        return forward(x)

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


# torch inspects forward's signature at every call; ready at hand it saves 10 µs of a training step's 400.
_RuleFunction.forward.__signature__ = inspect.signature(_RuleFunction.forward)  # type: ignore[attr-defined]

_ZERO = Backward(lambda _x, _y, g: torch.zeros_like(g), needs_x=False, needs_y=False)


@dataclass(frozen=True)
class Bound:
    """An op bound to a rule: called on x it gives a y whose autograd follows the rule.

    ``forward`` is the op alone, ``x -> y``; ``rule`` is None for torch's own autograd of it.
    """

    forward: Forward
    rule: Backward | None

    def __call__(self, x: Tensor) -> Tensor:
        """y with x's shape and dtype; torch's own gradient is 0 where torch sees no path from y to x."""
        if self.rule is not None:
            return _applied(x, self.forward, self.rule)
        y = self.forward(x)
        if x.requires_grad and not y.requires_grad and torch.is_grad_enabled():
            return _applied(x, self.forward, _ZERO)
        return y

    def gradient(self, x: Tensor, y: Tensor, g: Tensor) -> Tensor:
        """What the rule makes of an upstream gradient at x and y, outside any graph; all of one shape."""
        if self.rule is not None:
            return self.rule((x, y), g)
        leaf = x.detach().requires_grad_()
        with torch.enable_grad():
            return torch.autograd.grad(self(leaf), leaf, g)[0]


def bind(op: str | Op, rule: str | Rule, settings: Mapping[str, float]) -> Bound:
    """An op bound to a rule; ``settings`` holds parameter values as for ``catalogue.values``."""
    op, rule = find_op(op), find_rule(rule)
    return joined(op.parsed, rule.parsed, values(op, rule, settings))


def joined(op: Formula, rule: Formula | None, parameters: Mapping[str, float]) -> Bound:
    """The formula of an op bound to that of a rule; to torch's own autograd where there is none."""
    forward = _fresh(op, parameters)
    if rule is None:
        return Bound(forward, None)
    backward = Backward(_fresh(rule, parameters), "x" in rule.variables, "y" in rule.variables)
    return Bound(forward, backward)


def _fresh(formula: Formula, parameters: Mapping[str, float]) -> Callable[..., Tensor]:
    """What evaluates a formula into memory of its own: neither x nor y changes with its result."""
    evaluate = formula.bind(parameters)
    return (lambda *inputs: evaluate(*inputs).clone()) if formula.alias in ("x", "y") else evaluate


def pair(op: str | Op, rule: str | Rule, settings: Mapping[str, float]) -> Pair:
    """What ``bind`` joins, apart: ``x -> y`` and ``(x, y, g) -> gradient``.

    For a training that multiplies by its weights itself: it asks no autograd to walk a graph between the
    layers, and needs the gradient before and behind the rule.
    """
    bound = bind(op, rule, settings)
    return bound.forward, bound.gradient


def _applied(x: Tensor, forward: Forward, backward: Backward) -> Tensor:
    y: Tensor = _RuleFunction.apply(x, forward, backward)  # type: ignore[no-untyped-call]  # torch's own
    return y


def apply(op: str | Op, rule: str | Rule, x: Tensor, **parameters: float) -> Tensor:
    """Compute an op on a tensor so that ``backward`` follows a rule.

    Args:
        op: key of ``OPS``, or ``"formula: …"`` in x.
        rule: key of ``RULES``, or ``"formula: …"`` in x, y, g.
        x: floating tensor of any shape and device.
        **parameters: numbers by name; an op and a rule share what has the same name. They get no gradient,
            so a tensor that requires one is refused, unless under ``torch.no_grad``.

    Returns:
        y with x's shape and dtype. Only what the rule's formula names, of x and y, is kept for
        backward; the rest may be changed in place. Double backward and torch.func's ``grad`` and
        ``vmap`` work where the rule's formula is differentiable. Forward mode (``jvp``, ``jacfwd``,
        ``hessian``) gives what the rule returns for the tangent as upstream gradient, so also where
        a rule is not linear in g. At a kink the gradient is what the rule's formula says there; for
        "default", what torch does.

    Raises:
        ValueError: an unknown key or parameter, a value that is not finite or that requires grad;
            FormulaError, with a caret under the column, for a formula that cannot be read.
        TypeError: x is not a floating tensor.
    """
    title = f"apply({_name(op)}, {_name(rule)})"
    try:
        op, rule = find_op(op), find_rule(rule)
        chosen = checked(op, (rule,), {name: _constant(name, value) for name, value in parameters.items()})
    except FormulaError as error:
        raise FormulaError(f"{title}: {error.message}", error.column, error.text) from None
    except ValueError as error:
        raise ValueError(f"{title}: {error}") from None
    if not isinstance(x, Tensor) or not x.is_floating_point():
        kind = str(x.dtype) if isinstance(x, Tensor) else type(x).__name__
        raise TypeError(f"{title}: x must be a floating tensor, not {kind}: use x.float()")
    return bind(op, rule, chosen)(x)


def _constant(name: str, value: Any) -> Any:
    """A parameter's value without a graph; ValueError where a gradient would be lost."""
    if not isinstance(value, Tensor):
        return value
    if value.requires_grad and torch.is_grad_enabled():
        raise ValueError(f"parameter {name} requires grad, but only x gets a gradient: pass {name}.detach()")
    return value.detach()


def _name(entry: object) -> str:
    return repr(entry.key if isinstance(entry, Op | Rule) else entry)
