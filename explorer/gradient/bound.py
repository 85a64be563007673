"""The autograd Function that computes an op in its forward and a backward rule in its backward."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from explorer.catalogue import Op, Rule, adapt_rule, find_op, find_rule, require_deterministic, resolve_values
from explorer.formula import Formula
from explorer.gradient.engine import PositionalSignature, backpropagate, is_compiled_without_grad

Forward = Callable[[Tensor], Tensor]
Pair = tuple[Forward, Callable[[Tensor, Tensor, Tensor], Tensor]]


@dataclass(frozen=True)
class Backward:
    """A backward rule as a function ``(x, y, g) -> gradient``, with its parameter values fixed.

    ``needs_x`` and ``needs_y`` tell whether the rule uses x and y. ``keys`` are those of its op and rule.
    """

    rule: Callable[..., Tensor]
    needs_x: bool
    needs_y: bool
    keys: tuple[str, str] = ("", "")

    def select_saved(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        """Return those of x and y that the backward pass needs, to be saved for it."""
        return ((x,) if self.needs_x else ()) + ((y,) if self.needs_y else ())

    def __call__(self, saved: tuple[Tensor, ...], g: Tensor) -> Tensor:
        """Compute the gradient from the saved tensors, with g as a placeholder for what was not saved."""
        return self.rule(saved[0] if self.needs_x else g, saved[-1] if self.needs_y else g, g)


class _RuleFunction(torch.autograd.Function):
    """The autograd Function of every op with a backward rule, in a form that torch.compile can trace."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, forward: Forward, backward: Backward) -> Tensor:
        return forward(x)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Forward, Backward], output: Tensor) -> None:
        x, _, ctx.rule = inputs
        ctx.save_for_backward(*ctx.rule.select_saved(x, output))

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None]:
        return ctx.rule(ctx.saved_tensors, g), None, None


class _RuleFunctionWithForwardMode(_RuleFunction):
    """Adds forward-mode differentiation to the Function, which torch.compile cannot trace."""

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Forward, Backward], output: Tensor) -> None:
        x, _, ctx.rule = inputs
        if saved := ctx.rule.select_saved(x, output):
            ctx.save_for_backward(*saved)
            ctx.save_for_forward(*saved)

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor, *_: None) -> Tensor:
        gradient: Tensor = ctx.rule(ctx.saved_tensors, tangent)
        return gradient


# torch inspects the signature of forward at every call. Storing it saves 10 of the 400 µs of a step.
_RuleFunction.forward.__signature__ = PositionalSignature()  # type: ignore[attr-defined]

RULE_FUNCTIONS = (_RuleFunction, _RuleFunctionWithForwardMode)

_ZERO = Backward(lambda _x, _y, g: torch.zeros_like(g), needs_x=False, needs_y=False)


@dataclass(frozen=True)
class BoundOp:
    """An op with a backward rule and fixed parameters, which can be called on a tensor.

    ``forward`` is the op alone, ``x -> y``. ``rule`` is None if torch's own autograd of the op is used.
    """

    forward: Forward
    rule: Backward | None

    def __call__(self, x: Tensor) -> Tensor:
        """Apply the op to x, so that autograd follows the rule; y has x's shape and dtype."""
        if self.rule is None or is_compiled_without_grad(x):
            return self.forward(x)
        return _apply_function(x, self.forward, self.rule)

    def gradient(self, x: Tensor, y: Tensor, g: Tensor) -> Tensor:
        """Compute the rule's gradient at x and y for an upstream gradient g, without autograd.

        All tensors have the same shape.
        """
        if self.rule is not None:
            return self.rule((x, y), g)
        leaf = x.detach().requires_grad_()
        with torch.enable_grad():
            return backpropagate(self.forward(leaf), leaf, g)


def bind(op: str | Op, rule: str | Rule, settings: Mapping[str, float]) -> BoundOp:
    """Combine an op with a backward rule and fix their parameter values; others have their defaults.

    Raises ValueError if the op or the rule is random, since y is then not a function of x alone.
    """
    op, rule = find_op(op), find_rule(rule)
    require_deterministic("bind", op, rule)
    bound = bind_formulas(op.parsed, adapt_rule(op, rule).parsed, resolve_values(op, rule, settings))
    if bound.rule is None:
        return bound
    return replace(bound, rule=replace(bound.rule, keys=(op.key, rule.key)))


def bind_formulas(op: Formula, rule: Formula | None, parameters: Mapping[str, float]) -> BoundOp:
    """Combine the formula of an op with that of a backward rule, or with torch's autograd if it is None.

    If torch finds no path from y to x, torch's own gradient is 0.
    """
    forward = bind_unaliased(op, parameters)
    if rule is None:
        return BoundOp(forward, None if op.carries_gradient else _ZERO)
    backward = Backward(bind_unaliased(rule, parameters), "x" in rule.variables, "y" in rule.variables)
    return BoundOp(forward, backward)


def bind_unaliased(formula: Formula, parameters: Mapping[str, float]) -> Callable[..., Tensor]:
    """Compile a formula to a function whose result never shares memory with an input."""
    evaluate = formula.bind(parameters)
    return (lambda *inputs: evaluate(*inputs).clone()) if formula.alias in ("x", "y", "u()") else evaluate


def pair(op: str | Op, rule: str | Rule, settings: Mapping[str, float]) -> Pair:
    """Return an op and a backward rule as two functions, ``x -> y`` and ``(x, y, g) -> gradient``.

    They are for training code that multiplies by its weights itself, without autograd between the layers.
    """
    bound = bind(op, rule, settings)
    return bound.forward, bound.gradient


def _apply_function(x: Tensor, forward: Forward, backward: Backward) -> Tensor:
    function = _RuleFunction if torch.compiler.is_compiling() else _RuleFunctionWithForwardMode
    y: Tensor = function.apply(x, forward, backward)  # type: ignore[no-untyped-call]  # torch's own
    return y
