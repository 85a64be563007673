"""The autograd boundary where an op meets a backward rule."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from explorer.catalogue import Op, Rule, beside, find_op, find_rule, require_fixed, values
from explorer.formula import Formula
from explorer.gradient.engine import Positional, is_compiled_plain, pulled_back

Forward = Callable[[Tensor], Tensor]
Pair = tuple[Forward, Callable[[Tensor, Tensor, Tensor], Tensor]]


@dataclass(frozen=True)
class Backward:
    """A bound rule ``(x, y, g) -> gradient``, whether it needs x and y, and the keys of its op and rule."""

    rule: Callable[..., Tensor]
    needs_x: bool
    needs_y: bool
    keys: tuple[str, str] = ("", "")

    def kept(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        """The ones of x and y that are kept for backward."""
        return ((x,) if self.needs_x else ()) + ((y,) if self.needs_y else ())

    def __call__(self, saved: tuple[Tensor, ...], g: Tensor) -> Tensor:
        """The gradient; g stands in for x or y where it was not saved."""
        return self.rule(saved[0] if self.needs_x else g, saved[-1] if self.needs_y else g, g)


class _RuleFunction(torch.autograd.Function):
    """Forward by the op, backward by the rule: one Function for all of them, which torch.compile reads."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, forward: Forward, backward: Backward) -> Tensor:
        return forward(x)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Forward, Backward], output: Tensor) -> None:
        x, _, ctx.rule = inputs
        ctx.save_for_backward(*ctx.rule.kept(x, output))

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None]:
        return ctx.rule(ctx.saved_tensors, g), None, None


class _RuleFunctionWithForwardMode(_RuleFunction):
    """The same with forward mode, which torch.compile does not read."""

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Forward, Backward], output: Tensor) -> None:
        x, _, ctx.rule = inputs
        if kept := ctx.rule.kept(x, output):
            ctx.save_for_backward(*kept)
            ctx.save_for_forward(*kept)

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor, *_: None) -> Tensor:
        gradient: Tensor = ctx.rule(ctx.saved_tensors, tangent)
        return gradient


# torch inspects forward's signature at every call; ready at hand it saves 10 µs of a training step's 400.
_RuleFunction.forward.__signature__ = Positional()  # type: ignore[attr-defined]

RULE_FUNCTIONS = (_RuleFunction, _RuleFunctionWithForwardMode)

_ZERO = Backward(lambda _x, _y, g: torch.zeros_like(g), needs_x=False, needs_y=False)


@dataclass(frozen=True)
class Bound:
    """An op bound to a rule: called on x it gives a y whose autograd follows the rule.

    ``forward`` is the op alone, ``x -> y``; ``rule`` is None for torch's own autograd of it, if there is any.
    """

    forward: Forward
    rule: Backward | None

    def __call__(self, x: Tensor) -> Tensor:
        """y with x's shape and dtype."""
        if self.rule is None or is_compiled_plain(x):
            return self.forward(x)
        return _applied(x, self.forward, self.rule)

    def gradient(self, x: Tensor, y: Tensor, g: Tensor) -> Tensor:
        """The rule's gradient for an upstream gradient at x and y, outside any graph; all of one shape."""
        if self.rule is not None:
            return self.rule((x, y), g)
        leaf = x.detach().requires_grad_()
        with torch.enable_grad():
            return pulled_back(self.forward(leaf), leaf, g)


def bind(op: str | Op, rule: str | Rule, settings: Mapping[str, float]) -> Bound:
    """An op bound to a rule; ``settings`` holds parameter values as for ``catalogue.values``.

    Raises ValueError for a pair that draws: it is no function of x alone.
    """
    op, rule = find_op(op), find_rule(rule)
    require_fixed("bind", op, rule)
    bound = joined(op.parsed, beside(op, rule).parsed, values(op, rule, settings))
    if bound.rule is None:
        return bound
    return replace(bound, rule=replace(bound.rule, keys=(op.key, rule.key)))


def joined(op: Formula, rule: Formula | None, parameters: Mapping[str, float]) -> Bound:
    """The formula of an op bound to that of a rule; to torch's own autograd where there is none.

    Where torch sees no path from y to x, its own gradient is 0.
    """
    forward = in_own_memory(op, parameters)
    if rule is None:
        return Bound(forward, None if op.carries_gradient else _ZERO)
    backward = Backward(in_own_memory(rule, parameters), "x" in rule.variables, "y" in rule.variables)
    return Bound(forward, backward)


def in_own_memory(formula: Formula, parameters: Mapping[str, float]) -> Callable[..., Tensor]:
    """The function that evaluates a formula into memory of its own: changes of the result reach no input."""
    evaluate = formula.bind(parameters)
    return (lambda *inputs: evaluate(*inputs).clone()) if formula.alias in ("x", "y", "u()") else evaluate


def pair(op: str | Op, rule: str | Rule, settings: Mapping[str, float]) -> Pair:
    """The two functions that ``bind`` joins: ``x -> y`` and ``(x, y, g) -> gradient``.

    They serve a training that multiplies by its weights itself, without autograd between the layers.
    """
    bound = bind(op, rule, settings)
    return bound.forward, bound.gradient


def _applied(x: Tensor, forward: Forward, backward: Backward) -> Tensor:
    function = _RuleFunction if torch.compiler.is_compiling() else _RuleFunctionWithForwardMode
    y: Tensor = function.apply(x, forward, backward)  # type: ignore[no-untyped-call]  # torch's own
    return y
