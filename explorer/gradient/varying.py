"""The autograd boundary where parameters are tensors that may learn, and where a pair draws."""

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
    beside,
    contribution,
    find_op,
    find_rule,
    settled,
    values,
)
from explorer.formula import Formula
from explorer.gradient.bound import in_own_memory
from explorer.gradient.draws import drawing
from explorer.gradient.engine import Positional, is_compiled_plain, pulled_back


@dataclass(frozen=True)
class Learning:
    """An op with a rule where some parameters are tensors, which get gradients of their own.

    ``tensors`` holds these parameters by name, each of x's dtype and of a shape that broadcasts to x's: one
    value, or one for each channel; ``given`` are their names in the order of a call. x, y and g are of one
    shape. ``autograd`` says whether torch's own autograd gives every gradient that is wanted. What the pair
    ``draws`` is given among the tensors: ``"u()"`` where there is anything, ``"f()"`` and ``"fa()"`` where
    they are among it.
    """

    op: Callable[..., Tensor]
    rule: Callable[..., Tensor] | None
    parts: Mapping[str, Callable[..., Tensor]]
    contributions: Mapping[str, Contribution]
    numbers: Mapping[str, float]
    given: tuple[str, ...]
    autograd: bool = False
    draws: frozenset[str] = frozenset()

    def __call__(self, x: Tensor, tensors: Mapping[str, Tensor]) -> Tensor:
        """y with x's shape and dtype, with gradients for x and for the tensors; only ``apply`` calls it."""
        if self.autograd or is_compiled_plain(x, *tensors.values()):
            return self.forward(x, tensors)
        function = _LearningFunction if torch.compiler.is_compiling() else _LearningFunctionWithForwardMode
        y: Tensor = function.apply(x, self, tuple(tensors), *tensors.values())  # type: ignore[no-untyped-call]
        return y

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters that learn."""
        return tuple(self.contributions)

    def forward(self, x: Tensor, tensors: Mapping[str, Tensor]) -> Tensor:
        """The op: y, of x's shape and dtype, in memory of its own."""
        return self.op(x, None, None, tensors)

    def gradient(self, x: Tensor, y: Tensor, g: Tensor, tensors: Mapping[str, Tensor]) -> Tensor:
        """The rule's gradient for x, outside any graph."""
        if self.rule is not None:
            return self.rule(x, y, g, tensors)
        leaf, fixed = x.detach().requires_grad_(), {name: value.detach() for name, value in tensors.items()}
        with torch.enable_grad():
            y = self.forward(leaf, fixed)
            return pulled_back(y, leaf, g) if y.requires_grad else torch.zeros_like(g)

    def part(self, name: str, x: Tensor, y: Tensor, g: Tensor, tensors: Mapping[str, Tensor]) -> Tensor:
        """The contribution of each element to a parameter's gradient, of x's shape, unscaled."""
        return self.parts[name](x, y, g, tensors)

    def factor(self, name: str, elements: float, tensors: Mapping[str, Tensor]) -> float | Tensor:
        """The factor on the sum for ``elements`` that share a value of the parameter."""
        contributed = self.contributions[name]
        if contributed.scale is None or not set(contributed.scale.parameters) & set(tensors):
            return contributed.factor(self.numbers, elements)
        like = tensors[name]
        scale = contributed.scale.varying(tensors).bind({**self.numbers, COUNT: float(elements)})
        return scale(like, None, None, tensors)

    def total(self, name: str, x: Tensor, y: Tensor, g: Tensor, tensors: Mapping[str, Tensor]) -> Tensor:
        """A parameter's gradient, in the parameter's shape: the contributions, summed and scaled."""
        part = self.part(name, x, y, g, tensors).sum_to_size(tensors[name].shape)
        factor = self.factor(name, x.numel() / max(1, tensors[name].numel()), tensors)
        return part if isinstance(factor, float) and factor == 1 else factor * part


def learning(op: str | Op, rule: str | Rule, settings: Mapping[str, float], names: Sequence[str]) -> Learning:
    """An op bound to a rule with ``names`` as tensors; the other parameters are numbers, as for ``bind``.

    It may draw, and may name the loss of an element and of its twin, which are then tensors as well.

    Raises ValueError for a name that cannot learn, see ``catalogue.contribution``.
    """
    op, rule = find_op(op), find_rule(rule)
    contributions = {name: contribution(op, rule, name, tuple(names)) for name in names}
    return learning_by(op, rule, settings, names, contributions)


def learning_by(
    op: Op,
    rule: Rule,
    settings: Mapping[str, float],
    names: Sequence[str],
    contributions: Mapping[str, Contribution],
    loss: Loss | None = None,
) -> Learning:
    """The same by the ``contributions`` of those that learn; where a loss is given, formulas may name it."""
    numbers, rule = values(op, rule, settings), beside(op, rule)
    if loss:
        numbers = loss.values(settings) | numbers

    def bound(formula: Formula) -> Callable[..., Tensor]:
        return drawing(formula, op.parsed, loss, lambda each: in_own_memory(each.varying(names), numbers))

    formulas = [op.parsed, *([rule.parsed] if rule.parsed else [])]
    formulas += [each.formula for each in contributions.values()]
    parts = {name: bound(each.formula) for name, each in contributions.items()}
    return Learning(
        op=bound(op.parsed),
        rule=bound(rule.parsed) if rule.parsed else None,
        parts=parts,
        contributions=contributions,
        numbers=numbers,
        given=tuple(names),
        autograd=rule.parsed is None
        and op.parsed.carries_gradient
        and all(each.origin == "torch" for each in contributions.values()),
        draws=frozenset(name for each in formulas for name in settled(each, op.parsed, loss).draws),
    )


class _LearningFunction(torch.autograd.Function):
    """Forward by the op; backward by the rule for x, and by what elements contribute for the tensors.

    torch.compile reads it.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, learning: Learning, names: tuple[str, ...], *tensors: Tensor) -> Tensor:
        return learning.forward(x, dict(zip(names, tensors, strict=True)))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        x, ctx.learning, ctx.names, *tensors = inputs
        ctx.save_for_backward(x, output, *tensors)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        x, y, *saved = ctx.saved_tensors
        tensors, needed = dict(zip(ctx.names, saved, strict=True)), ctx.needs_input_grad
        learning: Learning = ctx.learning
        own = learning.gradient(x, y, g, tensors) if needed[0] else None
        wanted = zip(ctx.names, needed[3:], strict=True)
        totals = [learning.total(name, x, y, g, tensors) if need else None for name, need in wanted]
        return own, None, None, *totals


class _LearningFunctionWithForwardMode(_LearningFunction):
    """The same with forward mode, which torch.compile does not read."""

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        _LearningFunction.setup_context(ctx, inputs, output)
        x, _, _, *tensors = inputs
        ctx.save_for_forward(x, output, *tensors)

    @staticmethod
    def jvp(
        ctx: Any, tangent: Tensor | None, _learning: None, _names: None, *tangents: Tensor | None
    ) -> Tensor:
        x, y, *saved = ctx.saved_tensors
        tensors = dict(zip(ctx.names, saved, strict=True))
        learning: Learning = ctx.learning
        moved = torch.zeros_like(y) if tangent is None else learning.gradient(x, y, tangent, tensors)
        for name, change in zip(ctx.names, tangents, strict=True):
            if change is not None and name in learning.contributions:
                elements = x.numel() / max(1, change.numel())
                scaled = (learning.factor(name, elements, tensors) * change).expand_as(x)
                moved = moved + learning.part(name, x, y, scaled, tensors)
        return moved


_LearningFunction.forward.__signature__ = Positional()  # type: ignore[attr-defined]

LEARNING_FUNCTIONS = (_LearningFunction, _LearningFunctionWithForwardMode)
