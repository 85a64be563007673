"""All curves of a backward rule, for any parameters, width and shift, from which one is fitted."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product

import torch
from torch import Tensor

from explorer.catalogue import Lattice, Op, Parameter, Rule, adapt_rule, resolve_values
from explorer.formula import CONSTANTS, parse
from explorer.formula.operands import find_casts
from explorer.formula.reference import replace_pair_reductions
from explorer.formula.torch_operations import get_torch_operation
from explorer.formula.tree import Name, Node, Number, children, find_names
from explorer.gradient import BoundOp, bind_formulas

_GRID = {0: 1, 1: 25, 2: 8, 3: 5}  # values to try per parameter, by the number of parameters
WIDTHS = (1 / 20, 20.0)

Names = Mapping[str, Tensor]
Evaluate = Callable[[Names], Tensor]


def needs_op(rule: Rule, op: Op) -> bool:
    """Return whether the curve of a backward rule depends on the op."""
    shared = {p.name for p in adapt_rule(op, rule).parameters} & {p.name for p in op.parameters}
    return rule.parsed is None or "y" in rule.parsed.variables or bool(shared)


@dataclass(frozen=True, eq=False)
class Family:
    """All curves of a backward rule under different parameters, widths and shifts.

    A curve is a row of coordinates (a "member"), in which equal steps have similar effects: each parameter
    (its logarithm if its slider is logarithmic), the logarithm of the width, and the shift. Curves are
    evaluated for each upstream gradient in ``upstream``; means are taken over the range ``span``.
    """

    op: Op
    rule: Rule
    settings: Mapping[str, float]
    span: tuple[float, float]
    upstream: tuple[float, ...]

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The rule's parameters to fit, without those that the op has too."""
        shared = {parameter.name for parameter in self.op.parameters}
        return tuple(p for p in self.rule.parameters if p.name not in shared)

    @cached_property
    def bounds(self) -> tuple[Tensor, Tensor]:
        """The lowest and the highest value of each of a curve's coordinates, (k,) each."""
        ends = [(p.low, p.high) for p in self.parameters]
        reach = self.span[1] - self.span[0]
        low = self.to_coordinates([low for low, _ in ends], WIDTHS[0], -reach)
        return low, self.to_coordinates([high for _, high in ends], WIDTHS[1], reach)

    @cached_property
    def default(self) -> Tensor:
        """The coordinates of the curve with default parameters, width 1 and shift 0."""
        return self.to_coordinates([p.default for p in self.parameters])

    def to_coordinates(self, parameters: Sequence[float], width: float = 1.0, shift: float = 0.0) -> Tensor:
        """Return a curve's parameters, width and shift as coordinates, some of which are logarithms."""
        scaled = [
            math.log(value) if p.scale == "log" else value
            for p, value in zip(self.parameters, parameters, strict=True)
        ]
        return torch.tensor([*scaled, math.log(width), shift], dtype=torch.float64)

    def make_member(self, numbers: Sequence[float]) -> Tensor:
        """Return the coordinates of a curve, given its parameters, its width and its shift in this order.

        Parameters are clamped to their bounds, and the width to at least 1/20.
        """
        *parameters, width, shift = numbers
        inside = [
            min(max(value, p.low), p.high) for p, value in zip(self.parameters, parameters, strict=True)
        ]
        return self.to_coordinates(inside, max(width, WIDTHS[0]), shift)

    def to_numbers(self, members: Tensor) -> Tensor:
        """Return rows of coordinates converted back to parameters, width and shift."""
        logarithmic = [p.scale == "log" for p in self.parameters] + [True, False]
        return torch.where(torch.tensor(logarithmic), members.exp(), members)

    def make_grid(self) -> Tensor:
        """Return coordinates of curves spread over the parameters' bounds, the default curve first."""
        low, high = self.bounds
        count = _GRID.get(len(self.parameters), 3)
        axes = [torch.linspace(a, b, count).tolist() for a, b in zip(low[:-2], high[:-2], strict=True)]
        rows = [[*row, 0.0, 0.0] for row in product(*axes)] if axes else []
        return torch.cat([self.default[None], torch.tensor(rows, dtype=torch.float64).reshape(-1, len(low))])

    def compute_curves(self, members: Tensor, x: Tensor) -> Tensor:
        """Return m curves' gradients at n x, (m, upstream, n), each divided by its upstream gradient."""
        numbers = self.to_numbers(members)
        return self._evaluate(numbers, (x - numbers[:, -1:]) / numbers[:, -2:-1])

    def _evaluate(self, numbers: Tensor, inner: Tensor) -> Tensor:
        rows = []
        for g, bound, backward, needs_y in self._compiled:
            upstream = torch.full_like(inner, g)
            if backward is None:
                row = bound.gradient(inner, inner, upstream)
            else:
                y = bound.forward(inner) if needs_y else inner
                values = {**self._name_parameters(numbers), "x": inner, "y": y, "g": upstream}
                row = backward(values).expand_as(inner)
            rows.append(row / g)
        return torch.stack(rows, dim=1)

    def evaluate_at(self, member: Tensor, x: float, near: float) -> Tensor:
        """Return the gradients of one curve at one x, each divided by its upstream gradient: (upstream, k).

        A kink of the curve at most ``near`` from x counts as x and is evaluated exactly. If width and shift
        place it between two float64 numbers, x may be on either side of it, and the values of both sides are
        returned as well.
        """
        numbers = self.to_numbers(member[None])
        width, shift = numbers[0, -2:].tolist()
        kinks = self._find_inner_kinks(numbers)[0]
        inner = kinks[((kinks * width + shift) - x).abs() <= near]
        at = inner if len(inner) else torch.tensor([(x - shift) / width], dtype=torch.float64)
        if not _is_exact(inner.tolist(), width, shift, x):
            sides = [torch.nextafter(at, torch.full_like(at, end)) for end in (-torch.inf, torch.inf)]
            at = torch.cat([at, *sides])
        return self._evaluate(numbers, at[None])[0]

    @cached_property
    def _compiled(self) -> list[tuple[float, BoundOp, Evaluate | None, bool]]:
        """The compiled formulas for each upstream gradient.

        Each item has the upstream gradient, the op, the rule's formula (None for torch's own gradient), and
        whether this formula uses y. Means over the range are already numbers.
        """
        compiled = []
        parameters = resolve_values(self.op, self.rule, self.settings)
        for g in self.upstream:
            forward, backward, bound = replace_pair_reductions(
                self.op.parsed, self.rule.parsed, parameters, *self.span, g
            )
            evaluate = None if backward is None else broadcast(backward.tree, self._make_constants(bound))
            needs_y = backward is not None and "y" in backward.variables
            compiled.append((g, bind_formulas(forward, None, bound), evaluate, needs_y))
        return compiled

    def _make_constants(self, bound: Mapping[str, float]) -> dict[str, Tensor]:
        fitted = {p.name for p in self.parameters}
        fixed = {name: value for name, value in bound.items() if name not in fitted}
        return {name: torch.tensor(value, dtype=torch.float64) for name, value in fixed.items()}

    def find_kinks(self, members: Tensor) -> Tensor:
        """Return the positions of the declared kinks of each curve, two for a lattice. Shape (m, kinks)."""
        numbers = self.to_numbers(members)
        return self._find_inner_kinks(numbers) * numbers[:, -2:-1] + numbers[:, -1:]

    def _find_inner_kinks(self, numbers: Tensor) -> Tensor:
        parameters = self._name_parameters(numbers)
        columns = [kink(parameters).expand(len(numbers), 1) for kink in self._kinks]
        return torch.cat(columns, 1) if columns else numbers.new_zeros(len(numbers), 0)

    def _name_parameters(self, numbers: Tensor) -> dict[str, Tensor]:
        return {p.name: numbers[:, index : index + 1] for index, p in enumerate(self.parameters)}

    @cached_property
    def _kinks(self) -> list[Evaluate]:
        rule = self.rule.parsed
        kinks = list(self.rule.kinks or ()) + list(
            (self.op.kinks or ()) if not rule or "y" in rule.variables else ()
        )
        texts: list[str] = []
        for kink in kinks:
            texts += [kink.offset, f"{kink.offset} + {kink.spacing}"] if isinstance(kink, Lattice) else [kink]
        constants = self._make_constants(resolve_values(self.op, self.rule, self.settings))
        return [broadcast(parse(text, variables=(), parameters=None).tree, constants) for text in texts]


def _is_exact(kinks: Sequence[float], width: float, shift: float, x: float) -> bool:
    if (width, shift) == (1.0, 0.0):
        return True
    places = [Fraction(kink) * Fraction(width) + Fraction(shift) for kink in kinks]
    return bool(places) and all(place == Fraction(x) for place in places)


def broadcast(tree: Node, constants: Names) -> Evaluate:
    """Compile an expression to a function of a dict of tensors, which are broadcast to a common shape.

    ``constants`` maps names with a fixed value to tensors without dimensions.
    """
    match tree:
        case Number(value):
            return _make_constant(torch.tensor(value, dtype=torch.float64))
        case Name(name) if name in constants:
            return _make_constant(constants[name])
        case Name(name) if name in CONSTANTS:
            return _make_constant(torch.tensor(getattr(math, name), dtype=torch.float64))
        case Name(name):
            return operator.itemgetter(name)
    parts = [broadcast(child, constants) for child in children(tree)]
    call, casts = get_torch_operation(tree), find_casts(tree)

    def evaluate(scope: Names) -> Tensor:
        values = [part(scope) for part in parts]
        pairs = zip(values, casts, strict=True)
        result: Tensor = call(*[each.to(torch.float64) if cast else each for each, cast in pairs])
        return result

    if not set(find_names(tree)) - set(constants) - set(CONSTANTS):
        return _make_constant(evaluate({}))
    return evaluate


def _make_constant(value: Tensor) -> Evaluate:
    return lambda scope: value
