"""A rule of the catalogue as a family of curves: by its parameters, a width and a shift."""

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

from explorer.catalogue import Kink, Lattice, Op, Parameter, Rule, beside, values
from explorer.formula import CONSTANTS, parse
from explorer.formula.operands import casts
from explorer.formula.reference import fixed_pair
from explorer.formula.torch_operations import operation
from explorer.formula.tree import Name, Node, Number, children, names
from explorer.gradient import BoundOp, bind_formulas

_GRID = {0: 1, 1: 25, 2: 8, 3: 5}  # values of each parameter, by how many there are
WIDTHS = (1 / 20, 20.0)

Names = Mapping[str, Tensor]
Evaluate = Callable[[Names], Tensor]


def depends(rule: Rule, op: Op) -> bool:
    """Whether the curve of a rule depends on the op."""
    shared = {p.name for p in beside(op, rule).parameters} & {p.name for p in op.parameters}
    return rule.parsed is None or "y" in rule.parsed.variables or bool(shared)


@dataclass(frozen=True, eq=False)
class Family:
    """All curves of a rule under its parameters, a width and a shift.

    A member is a row of numbers, in coordinates in which equal steps matter alike: each parameter (its
    logarithm where the slider moves by factors), the logarithm of the width, the shift.
    """

    op: Op
    rule: Rule
    settings: Mapping[str, float]
    span: tuple[float, float]
    upstream: tuple[float, ...]

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters to be fitted: those that the op does not have."""
        shared = {parameter.name for parameter in self.op.parameters}
        return tuple(p for p in self.rule.parameters if p.name not in shared)

    @cached_property
    def bounds(self) -> tuple[Tensor, Tensor]:
        """The least and the greatest member, number by number."""
        ends = [(p.low, p.high) for p in self.parameters]
        reach = self.span[1] - self.span[0]
        low = self.coordinates([low for low, _ in ends], WIDTHS[0], -reach)
        return low, self.coordinates([high for _, high in ends], WIDTHS[1], reach)

    @cached_property
    def usual(self) -> Tensor:
        """The member with every parameter at its default, as wide as it is and where it is."""
        return self.coordinates([p.default for p in self.parameters])

    def coordinates(self, parameters: Sequence[float], width: float = 1.0, shift: float = 0.0) -> Tensor:
        """The member of these values."""
        own = [
            math.log(value) if p.scale == "log" else value
            for p, value in zip(self.parameters, parameters, strict=True)
        ]
        return torch.tensor([*own, math.log(width), shift], dtype=torch.float64)

    def member(self, numbers: Sequence[float]) -> Tensor:
        """The member of these parameters, width and shift, put within their bounds."""
        *parameters, width, shift = numbers
        inside = [
            min(max(value, p.low), p.high) for p, value in zip(self.parameters, parameters, strict=True)
        ]
        return self.coordinates(inside, max(width, WIDTHS[0]), shift)

    def numbers(self, members: Tensor) -> Tensor:
        """The values of members: parameters, width, shift; as ``members``, (m, k)."""
        logarithmic = [p.scale == "log" for p in self.parameters] + [True, False]
        return torch.where(torch.tensor(logarithmic), members.exp(), members)

    def grid(self) -> Tensor:
        """Members all over the parameters' bounds, the usual one first; (m, k)."""
        low, high = self.bounds
        count = _GRID.get(len(self.parameters), 3)
        axes = [torch.linspace(a, b, count).tolist() for a, b in zip(low[:-2], high[:-2], strict=True)]
        rows = [[*row, 0.0, 0.0] for row in product(*axes)] if axes else []
        return torch.cat([self.usual[None], torch.tensor(rows, dtype=torch.float64).reshape(-1, len(low))])

    def curves(self, members: Tensor, x: Tensor) -> Tensor:
        """The gradients of members at x (n,), each row divided by its upstream gradient; (m, upstream, n)."""
        numbers = self.numbers(members)
        return self._curves(numbers, (x - numbers[:, -1:]) / numbers[:, -2:-1])

    def _curves(self, numbers: Tensor, inner: Tensor) -> Tensor:
        rows = [self._row(source, g, numbers, inner) / g for g, source in self._sources]
        return torch.stack(rows, dim=1)

    def values_at(self, member: Tensor, x: float, near: float) -> Tensor:
        """The gradients of a member (k,) at one x; (upstream, n), n different values where x is not exact.

        A kink of its own is met exactly; where width and shift put it between two float64, x may lie on
        either side of it.
        """
        numbers = self.numbers(member[None])
        width, shift = numbers[0, -2:].tolist()
        own = self._inner_kinks(numbers)[0]
        inner = own[((own * width + shift) - x).abs() <= near]
        at = inner if len(inner) else torch.tensor([(x - shift) / width], dtype=torch.float64)
        if not _is_exact(inner.tolist(), width, shift, x):
            beside = [torch.nextafter(at, torch.full_like(at, way)) for way in (-torch.inf, torch.inf)]
            at = torch.cat([at, *beside])
        return self._curves(numbers, at[None])[0]

    def _row(self, source: _Source, g: float, numbers: Tensor, inner: Tensor) -> Tensor:
        upstream = torch.full_like(inner, g)
        if source.backward is None:
            return source.bound.gradient(inner, inner, upstream)
        y = source.bound.forward(inner) if source.needs_y else inner
        return source.backward({**self._own(numbers), "x": inner, "y": y, "g": upstream}).expand_as(inner)

    @cached_property
    def _sources(self) -> list[tuple[float, _Source]]:
        return [(g, self._source(g)) for g in self.upstream]

    def _source(self, g: float) -> _Source:
        """The rule's formula for one upstream gradient, with every mean over the range a number."""
        parameters = values(self.op, self.rule, self.settings)
        op, rule = self.op.parsed, self.rule.parsed
        forward, backward, bound = fixed_pair(op, rule, parameters, *self.span, g)
        known = {name: torch.tensor(value, dtype=torch.float64) for name, value in self._known(bound).items()}
        evaluate = None if backward is None else broadcast(backward.tree, known)
        needs_y = backward is not None and "y" in backward.variables
        return _Source(evaluate, bind_formulas(forward, None, bound), needs_y)

    def _known(self, bound: Mapping[str, float]) -> dict[str, float]:
        """The parameters that are the same number for all members."""
        fitted = {p.name for p in self.parameters}
        return {name: value for name, value in bound.items() if name not in fitted}

    def kinks(self, members: Tensor) -> Tensor:
        """The positions of declared kinks, two of a lattice, per member; (m, kinks)."""
        numbers = self.numbers(members)
        return self._inner_kinks(numbers) * numbers[:, -2:-1] + numbers[:, -1:]

    def _inner_kinks(self, numbers: Tensor) -> Tensor:
        own = self._own(numbers)
        columns = [kink(own).expand(len(numbers), 1) for kink in self._kinks]
        return torch.cat(columns, 1) if columns else numbers.new_zeros(len(numbers), 0)

    def _own(self, numbers: Tensor) -> dict[str, Tensor]:
        return {p.name: numbers[:, index : index + 1] for index, p in enumerate(self.parameters)}

    @cached_property
    def _kinks(self) -> list[Evaluate]:
        rule = self.rule.parsed
        kinks = list(self.rule.kinks or ()) + list(
            (self.op.kinks or ()) if not rule or "y" in rule.variables else ()
        )
        texts = [text for kink in kinks for text in _one_by_one(kink)]
        bound = values(self.op, self.rule, self.settings)
        known = {name: torch.tensor(value, dtype=torch.float64) for name, value in self._known(bound).items()}
        return [broadcast(parse(text, variables=(), parameters=None).tree, known) for text in texts]


def _is_exact(kinks: Sequence[float], width: float, shift: float, x: float) -> bool:
    """Whether width and shift put these kinks on x without rounding; so it is where they change nothing."""
    if (width, shift) == (1.0, 0.0):
        return True
    places = [Fraction(kink) * Fraction(width) + Fraction(shift) for kink in kinks]
    return bool(places) and all(place == Fraction(x) for place in places)


def _one_by_one(kink: Kink) -> tuple[str, ...]:
    if isinstance(kink, Lattice):
        return kink.offset, f"{kink.offset} + {kink.spacing}"
    return (kink,)


@dataclass(frozen=True, eq=False)
class _Source:
    """The functions that evaluate a rule, None for torch's own gradient, and the op."""

    backward: Evaluate | None
    bound: BoundOp
    needs_y: bool


def broadcast(tree: Node, known: Names) -> Evaluate:
    """A formula as a function of the tensors that the other names stand for, broadcast against each other.

    ``known`` are the names that are numbers, as tensors without a dimension.
    """
    match tree:
        case Number(value):
            return _constant(torch.tensor(value, dtype=torch.float64))
        case Name(name) if name in known:
            return _constant(known[name])
        case Name(name) if name in CONSTANTS:
            return _constant(torch.tensor(getattr(math, name), dtype=torch.float64))
        case Name(name):
            return operator.itemgetter(name)
    parts = [broadcast(child, known) for child in children(tree)]
    parts = [_in_float64(part) if cast else part for part, cast in zip(parts, casts(tree), strict=True)]
    call = operation(tree)
    if not set(names(tree)) - set(known) - set(CONSTANTS):
        return _constant(call(*[part({}) for part in parts]))
    return lambda scope: call(*[part(scope) for part in parts])


def _constant(value: Tensor) -> Evaluate:
    return lambda scope: value


def _in_float64(part: Evaluate) -> Evaluate:
    return lambda scope: part(scope).to(torch.float64)
