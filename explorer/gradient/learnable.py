"""The autograd Function of an op and a backward rule whose parameters or random numbers are tensors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from explorer.catalogue import (
    COUNT,
    Contribution,
    Loss,
    Op,
    Rule,
    adapt_rule,
    expand_losses,
    find_contribution,
    find_op,
    find_rule,
    resolve_values,
)
from explorer.formula import Formula
from explorer.gradient.bound import bind_unaliased
from explorer.gradient.draws import bind_random
from explorer.gradient.engine import PositionalSignature, backpropagate, is_compiled_without_grad


@dataclass(frozen=True)
class LearnableOp:
    """An op with a backward rule whose parameters and random numbers are passed as tensors.

    The argument ``tensors`` of all methods maps the names of parameters to tensors, each in x's dtype and of
    a shape that broadcasts to x's: one value, or one for each channel. x, y and g have the same shape.

    Attributes:
        op, rule: functions ``(x, y, g, tensors)``; rule is None for torch's own autograd.
        parts: by parameter that learns, the function of one element's contribution to its gradient.
        contributions: the same contributions as formulas.
        numbers: the parameters that are numbers.
        tensor_names: the parameters that are tensors, in the order of a call.
        is_autograd: whether torch's own autograd gives every gradient that is needed.
        random_names: further keys that ``tensors`` must hold: ``"u()"`` if op or rule is random, and
            ``"f()"`` and ``"fa()"`` if they use these losses.
    """

    op: Callable[..., Tensor]
    rule: Callable[..., Tensor] | None
    parts: Mapping[str, Callable[..., Tensor]]
    contributions: Mapping[str, Contribution]
    numbers: Mapping[str, float]
    tensor_names: tuple[str, ...]
    is_autograd: bool = False
    random_names: frozenset[str] = frozenset()

    def __call__(self, x: Tensor, tensors: Mapping[str, Tensor]) -> Tensor:
        """Apply the op to x, so that autograd follows the rule for x and for the tensors."""
        if self.is_autograd or is_compiled_without_grad(x, *tensors.values()):
            return self.forward(x, tensors)
        function = _LearnableFunction if torch.compiler.is_compiling() else _LearnableFunctionWithForwardMode
        y: Tensor = function.apply(x, self, tuple(tensors), *tensors.values())  # type: ignore[no-untyped-call]
        return y

    @property
    def learned_names(self) -> tuple[str, ...]:
        """The names of the parameters that learn."""
        return tuple(self.contributions)

    def forward(self, x: Tensor, tensors: Mapping[str, Tensor]) -> Tensor:
        """Compute the op without the rule; the result never shares memory with an input."""
        return self.op(x, None, None, tensors)

    def gradient(self, x: Tensor, y: Tensor, g: Tensor, tensors: Mapping[str, Tensor]) -> Tensor:
        """Compute the rule's gradient for x, without autograd."""
        if self.rule is not None:
            return self.rule(x, y, g, tensors)
        leaf, detached = (
            x.detach().requires_grad_(),
            {name: value.detach() for name, value in tensors.items()},
        )
        with torch.enable_grad():
            y = self.forward(leaf, detached)
            return backpropagate(y, leaf, g) if y.requires_grad else torch.zeros_like(g)

    def compute_part(
        self, name: str, x: Tensor, y: Tensor, g: Tensor, tensors: Mapping[str, Tensor]
    ) -> Tensor:
        """Compute each element's contribution to a parameter's gradient, in x's shape, unscaled."""
        return self.parts[name](x, y, g, tensors)

    def compute_factor(self, name: str, elements: float, tensors: Mapping[str, Tensor]) -> float | Tensor:
        """Return the factor on the sum of contributions if ``elements`` elements use the same value."""
        contribution = self.contributions[name]
        if contribution.scale is None or not set(contribution.scale.parameters) & set(tensors):
            return contribution.compute_factor(self.numbers, elements)
        parameter = tensors[name]
        scale = contribution.scale.with_tensors(tensors).bind({**self.numbers, COUNT: float(elements)})
        return scale(parameter, None, None, tensors)

    def compute_total(
        self, name: str, x: Tensor, y: Tensor, g: Tensor, tensors: Mapping[str, Tensor]
    ) -> Tensor:
        """Compute a parameter's gradient in its own shape: all contributions, summed and scaled."""
        part = self.compute_part(name, x, y, g, tensors).sum_to_size(tensors[name].shape)
        factor = self.compute_factor(name, x.numel() / max(1, tensors[name].numel()), tensors)
        return part if isinstance(factor, float) and factor == 1 else factor * part


def bind_learnable(
    op: str | Op, rule: str | Rule, settings: Mapping[str, float], names: Sequence[str]
) -> LearnableOp:
    """Combine an op with a backward rule, with the parameters in ``names`` as tensors that can learn.

    Other parameters are numbers, as for ``bind``. Op and rule may be random, and may use the loss of an
    element and of its antithetic sample; these losses are then passed as tensors too.

    Raises ValueError for a parameter that cannot learn, see ``catalogue.find_contribution``.
    """
    op, rule = find_op(op), find_rule(rule)
    contributions = {name: find_contribution(op, rule, name, tuple(names)) for name in names}
    return bind_contributions(op, rule, settings, names, contributions)


def bind_contributions(
    op: Op,
    rule: Rule,
    settings: Mapping[str, float],
    names: Sequence[str],
    contributions: Mapping[str, Contribution],
    loss: Loss | None = None,
) -> LearnableOp:
    """Combine an op with a backward rule, given the contributions to the gradients of its parameters.

    ``names`` are the parameters passed as tensors. With a loss, formulas that use it evaluate it themselves.
    """
    numbers, rule = resolve_values(op, rule, settings), adapt_rule(op, rule)
    if loss:
        numbers = loss.values(settings) | numbers

    def bind_formula(formula: Formula) -> Callable[..., Tensor]:
        return bind_random(
            formula, op.parsed, loss, lambda each: bind_unaliased(each.with_tensors(names), numbers)
        )

    formulas = [op.parsed, *([rule.parsed] if rule.parsed else [])]
    formulas += [item.formula for item in contributions.values()]
    parts = {name: bind_formula(each.formula) for name, each in contributions.items()}
    return LearnableOp(
        op=bind_formula(op.parsed),
        rule=bind_formula(rule.parsed) if rule.parsed else None,
        parts=parts,
        contributions=contributions,
        numbers=numbers,
        tensor_names=tuple(names),
        is_autograd=rule.parsed is None
        and op.parsed.carries_gradient
        and all(each.origin == "torch" for each in contributions.values()),
        random_names=frozenset(
            name for each in formulas for name in expand_losses(each, op.parsed, loss).random_names
        ),
    )


class _LearnableFunction(torch.autograd.Function):
    """The autograd Function of ops whose parameters are tensors, in a form that torch.compile can trace.

    Forward computes the op. Backward computes the rule for x, and summed contributions for the tensors.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, learning: LearnableOp, names: tuple[str, ...], *tensors: Tensor) -> Tensor:
        return learning.forward(x, dict(zip(names, tensors, strict=True)))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        x, ctx.learning, ctx.names, *tensors = inputs
        ctx.save_for_backward(x, output, *tensors)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        x, y, *saved = ctx.saved_tensors
        tensors, needed = dict(zip(ctx.names, saved, strict=True)), ctx.needs_input_grad
        learning: LearnableOp = ctx.learning
        x_gradient = learning.gradient(x, y, g, tensors) if needed[0] else None
        wanted = zip(ctx.names, needed[3:], strict=True)
        totals = [learning.compute_total(name, x, y, g, tensors) if need else None for name, need in wanted]
        return x_gradient, None, None, *totals


class _LearnableFunctionWithForwardMode(_LearnableFunction):
    """Adds forward-mode differentiation to the Function, which torch.compile cannot trace."""

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        _LearnableFunction.setup_context(ctx, inputs, output)
        x, _, _, *tensors = inputs
        ctx.save_for_forward(x, output, *tensors)

    @staticmethod
    def jvp(
        ctx: Any, tangent: Tensor | None, _learning: None, _names: None, *tangents: Tensor | None
    ) -> Tensor:
        x, y, *saved = ctx.saved_tensors
        tensors = dict(zip(ctx.names, saved, strict=True))
        learning: LearnableOp = ctx.learning
        moved = torch.zeros_like(y) if tangent is None else learning.gradient(x, y, tangent, tensors)
        for name, change in zip(ctx.names, tangents, strict=True):
            if change is not None and name in learning.contributions:
                elements = x.numel() / max(1, change.numel())
                scaled = (learning.compute_factor(name, elements, tensors) * change).expand_as(x)
                moved = moved + learning.compute_part(name, x, y, scaled, tensors)
        return moved


_LearnableFunction.forward.__signature__ = PositionalSignature()  # type: ignore[attr-defined]

LEARNABLE_FUNCTIONS = (_LearnableFunction, _LearnableFunctionWithForwardMode)
