"""The autograd Function whose forward computes an op and whose backward computes a backward rule."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from explorer import catalogue
from explorer.formula import Formula
from explorer.gradient.draws import bind_random
from explorer.gradient.engine import PositionalSignature, backpropagate, is_compiled_without_grad

Forward = Callable[[Tensor], Tensor]
Pair = tuple[Forward, Callable[[Tensor, Tensor, Tensor], Tensor]]

_NO_TENSORS: Mapping[str, Tensor] = {}


@dataclass(frozen=True)
class BoundOp:
    """An op with a backward rule and fixed parameters, called like a function of one tensor.

    Parameters and random numbers can also be tensors: all methods take a mapping ``tensors`` from their names
    to values in x's dtype. Each has a shape that broadcasts to x's: one value, or one per channel. x, y and g
    have the same shape.

    Attributes:
        op, rule: functions ``(x, y, g, tensors)``. The rule is None for torch's own autograd.
        saves_x, saves_y: whether x and y are saved for the backward pass.
        parts: a dict from each parameter that learns to a function that computes each element's contribution
            to its gradient.
        contributions: the same contributions as formulas.
        numbers: the parameters that are numbers.
        tensor_names: the parameters that are tensors, in the order of a call.
        is_autograd: whether torch's own autograd computes all gradients.
        random_names: further required keys of ``tensors``: ``"u()"`` if op or rule is random, and ``"f()"``
            and ``"fa()"`` if they use these losses.
        keys: the keys of op and rule; empty strings for formulas that are not in the catalogue.
    """

    op: Callable[..., Tensor]
    rule: Callable[..., Tensor] | None
    saves_x: bool = True
    saves_y: bool = True
    parts: Mapping[str, Callable[..., Tensor]] = field(default_factory=dict)
    contributions: Mapping[str, catalogue.Contribution] = field(default_factory=dict)
    numbers: Mapping[str, float] = field(default_factory=dict)
    tensor_names: tuple[str, ...] = ()
    is_autograd: bool = False
    random_names: frozenset[str] = frozenset()
    keys: tuple[str, str] = ("", "")

    def __call__(self, x: Tensor, tensors: Mapping[str, Tensor] = _NO_TENSORS) -> Tensor:
        """Return the op's output for x. In backward, the rule gives the gradients of x and of the tensors.

        The output has x's shape and dtype.
        """
        if self.is_autograd or is_compiled_without_grad(x, *tensors.values()):
            return self.forward(x, tensors)
        function = _RuleFunction if torch.compiler.is_compiling() else _RuleFunctionWithForwardMode
        y: Tensor = function.apply(x, self, tuple(tensors), *tensors.values())  # type: ignore[no-untyped-call]
        return y

    @property
    def learned_names(self) -> tuple[str, ...]:
        """The names of the parameters that are trained."""
        return tuple(self.contributions)

    def forward(self, x: Tensor, tensors: Mapping[str, Tensor] = _NO_TENSORS) -> Tensor:
        """Return the op's output in a new tensor, without the rule: autograd uses torch's own gradient."""
        return self.op(x, None, None, tensors)

    def gradient(
        self, x: Tensor, y: Tensor, g: Tensor, tensors: Mapping[str, Tensor] = _NO_TENSORS
    ) -> Tensor:
        """Return the gradient of x that the rule computes from an upstream gradient g."""
        if self.rule is not None:
            return self.rule(x, y, g, tensors)
        leaf = x.detach().requires_grad_()
        detached = {name: value.detach() for name, value in tensors.items()}
        with torch.enable_grad():
            return backpropagate(self.forward(leaf, detached), leaf, g)

    def select_saved(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        """Return those of the tensors x and y that have to be saved for the backward pass."""
        return ((x,) if self.saves_x else ()) + ((y,) if self.saves_y else ())

    def compute_contribution(
        self, name: str, x: Tensor, y: Tensor, g: Tensor, tensors: Mapping[str, Tensor]
    ) -> Tensor:
        """Return the unscaled contribution of each element to the gradient of one parameter, in x's shape."""
        return self.parts[name](x, y, g, tensors)

    def compute_factor(self, name: str, elements: float, tensors: Mapping[str, Tensor]) -> float | Tensor:
        """Return the factor on the sum of the contributions of ``elements`` elements that share a value."""
        contribution = self.contributions[name]
        if contribution.scale is None or not set(contribution.scale.parameters) & set(tensors):
            return contribution.compute_factor(self.numbers, elements)
        parameter = tensors[name]
        scale = contribution.scale.with_tensors(tensors).bind(
            {**self.numbers, catalogue.COUNT: float(elements)}
        )
        return scale(parameter, None, None, tensors)

    def compute_total(
        self, name: str, x: Tensor, y: Tensor, g: Tensor, tensors: Mapping[str, Tensor]
    ) -> Tensor:
        """Return the gradient of one parameter, in its shape: the scaled sum of all contributions."""
        part = self.compute_contribution(name, x, y, g, tensors).sum_to_size(tensors[name].shape)
        factor = self.compute_factor(name, x.numel() / max(1, tensors[name].numel()), tensors)
        return part if isinstance(factor, float) and factor == 1 else factor * part


class _RuleFunction(torch.autograd.Function):
    """An autograd Function that computes an op, and whose backward pass computes the rule.

    backward also returns a gradient for each parameter that is a tensor. torch.compile can trace this class.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, bound: BoundOp, names: tuple[str, ...], *tensors: Tensor) -> Tensor:
        return bound.op(x, None, None, dict(zip(names, tensors, strict=True)) if names else _NO_TENSORS)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        x, ctx.bound, ctx.names, *tensors = inputs
        ctx.save_for_backward(*ctx.bound.select_saved(x, output), *tensors)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        bound, (x, y, tensors) = ctx.bound, _restore_saved(ctx, g)
        if not tensors:  # without tensor parameters, this saves 3 of 30 µs
            return bound.gradient(x, y, g), None, None
        needed = ctx.needs_input_grad
        x_gradient = bound.gradient(x, y, g, tensors) if needed[0] else None
        wanted = zip(ctx.names, needed[3:], strict=True)
        totals = [bound.compute_total(name, x, y, g, tensors) if need else None for name, need in wanted]
        return x_gradient, None, None, *totals


class _RuleFunctionWithForwardMode(_RuleFunction):
    """The same autograd Function with forward mode (``jvp``), which torch.compile cannot trace."""

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        x, ctx.bound, ctx.names, *tensors = inputs
        if saved := ctx.bound.select_saved(x, output) + tuple(tensors):
            ctx.save_for_backward(*saved)
            ctx.save_for_forward(*saved)

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor | None, _bound: None, _names: None, *tangents: Tensor | None) -> Tensor:
        x, y, tensors = _restore_saved(ctx, tangent)
        bound: BoundOp = ctx.bound
        moved = torch.zeros_like(y) if tangent is None else bound.gradient(x, y, tangent, tensors)
        for name, change in zip(ctx.names, tangents, strict=True):
            if change is not None and name in bound.contributions:
                elements = x.numel() / max(1, change.numel())
                scaled = (bound.compute_factor(name, elements, tensors) * change).expand_as(x)
                moved = moved + bound.compute_contribution(name, x, y, scaled, tensors)
        return moved


# torch inspects the signature of forward at every call. Storing it saves 10 of the 400 µs of a step.
_RuleFunction.forward.__signature__ = PositionalSignature()  # type: ignore[attr-defined]

BOUNDARY = (_RuleFunction, _RuleFunctionWithForwardMode)
"""The Functions that a ``BoundOp`` calls, depending on torch.compile."""


def _restore_saved(ctx: Any, g: Any) -> tuple[Any, Any, Mapping[str, Tensor]]:
    """Return x, y, and a dict of the saved parameters. If x or y was not saved, g takes its place."""
    bound, saved = ctx.bound, [*ctx.saved_tensors]
    x = saved.pop(0) if bound.saves_x else g
    y = saved.pop(0) if bound.saves_y else g
    return x, y, dict(zip(ctx.names, saved, strict=True)) if saved else _NO_TENSORS


def bind(op: str | catalogue.Op, rule: str | catalogue.Rule, settings: Mapping[str, float]) -> BoundOp:
    """Combine an op and a backward rule into a ``BoundOp`` whose parameters are all numbers.

    ``settings`` is a dict of parameter values; parameters that it lacks get their defaults. Raises ValueError
    if the op or the rule is random, because y then depends on more than x.
    """
    op, rule = catalogue.find_op(op), catalogue.find_rule(rule)
    catalogue.require_deterministic("bind", op, rule)
    return bind_contributions(op, rule, settings, {})


def bind_learnable(
    op: str | catalogue.Op, rule: str | catalogue.Rule, settings: Mapping[str, float], names: Sequence[str]
) -> BoundOp:
    """Combine an op and a backward rule into a ``BoundOp`` whose parameters in ``names`` are tensors.

    These can learn. The other parameters are numbers, as in ``bind``. The op and the rule may be random, and
    may use the loss of an element and of its antithetic sample. Such losses are passed as tensors too. Raises
    ValueError if a parameter cannot learn, see ``catalogue.find_contribution``.
    """
    op, rule = catalogue.find_op(op), catalogue.find_rule(rule)
    contributions = {name: catalogue.find_contribution(op, rule, name, tuple(names)) for name in names}
    return bind_contributions(op, rule, settings, contributions, names)


def bind_contributions(
    op: catalogue.Op,
    rule: catalogue.Rule,
    settings: Mapping[str, float],
    contributions: Mapping[str, catalogue.Contribution],
    names: Sequence[str] = (),
    loss: catalogue.Loss | None = None,
) -> BoundOp:
    """Combine an op, a rule, and formulas for the gradients of parameters into a ``BoundOp``.

    Args:
        op: the op.
        rule: the backward rule.
        settings: the values of the parameters that are numbers.
        contributions: for each parameter that learns, one element's contribution to its gradient.
        names: the parameters that are tensors.
        loss: the loss that formulas evaluate as ``f()``; if None, its values are passed with each call.
    """
    numbers, adapted = catalogue.resolve_values(op, rule, settings), catalogue.adapt_rule(op, rule)
    if loss:
        numbers = loss.values(settings) | numbers
    bound = bind_formulas(op.parsed, adapted.parsed, numbers, contributions, names, loss)
    return replace(bound, keys=(op.key, rule.key))


def bind_formulas(
    op: Formula,
    rule: Formula | None,
    numbers: Mapping[str, float],
    contributions: Mapping[str, catalogue.Contribution] = {},
    names: Sequence[str] = (),
    loss: catalogue.Loss | None = None,
) -> BoundOp:
    """Combine the formulas of an op and a backward rule into a ``BoundOp``.

    A rule of None means torch's autograd. If autograd finds no path from y to x, the gradient is 0. Without
    tensors, x and y are saved only if the rule uses them. The other arguments are those of
    ``bind_contributions``.
    """

    def bind_contribution(part: Formula) -> Callable[..., Tensor]:
        evaluate = part.with_tensors(names).bind(numbers)
        # a result that is an input itself is copied, so that it never shares memory with it
        return (lambda *inputs: evaluate(*inputs).clone()) if part.alias in ("x", "y", "u()") else evaluate

    def bind_formula(formula: Formula) -> Callable[..., Tensor]:
        return bind_random(formula, op, loss, bind_contribution)

    gradients = [*([rule] if rule else []), *(each.formula for each in contributions.values())]
    random_names = frozenset(
        name for each in (op, *gradients) for name in catalogue.expand_losses(each, op, loss).random_names
    )
    is_blocked = rule is None and not op.carries_gradient
    saves_all = bool(names) or any(each.random_names for each in (op, *gradients))

    def saves(name: str) -> bool:
        return saves_all or (not is_blocked and (rule is None or name in rule.variables))

    return BoundOp(
        op=bind_formula(op),
        rule=(lambda x, y, g, tensors: torch.zeros_like(g))
        if is_blocked
        else bind_formula(rule)
        if rule
        else None,
        saves_x=saves("x"),
        saves_y=saves("y"),
        parts={name: bind_formula(each.formula) for name, each in contributions.items()},
        contributions=contributions,
        numbers=numbers,
        tensor_names=tuple(names),
        is_autograd=rule is None
        and not is_blocked
        and all(each.origin == "torch" for each in contributions.values()),
        random_names=random_names,
    )


def pair(op: str | catalogue.Op, rule: str | catalogue.Rule, settings: Mapping[str, float]) -> Pair:
    """Return an op and a backward rule as two functions, ``x -> y`` and ``(x, y, g) -> gradient``.

    The functions serve training code that computes its backward pass without autograd.
    """
    bound = bind(op, rule, settings)
    return bound.forward, bound.gradient
