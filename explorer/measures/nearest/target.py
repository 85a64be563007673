"""Targets of a comparison: the values of a rule at points of a range, weighted by width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer.catalogue import Op, Rule, beside, qualified
from explorer.curves import sample_curves
from explorer.formula.reference import even_points

# Upstream gradients that a rule is asked about: twice, the other way round, beyond any bound one would clip
# at, and below any that small ones are dropped at. One that is linear in g is known from the first.
UPSTREAM = (1.0, -1000.0, 1e-3, 2.0, -1.0, 0.1)
_EVEN = 301
_OFF = 0.381966  # of a step: keeps even points off the round numbers where kinks are
_CLOSER = tuple(10.0 ** (-exponent / 3) for exponent in range(4, 19))  # of the range: around what is narrow
_MOST_CENTRES = 12
BESIDE_KINK = 1e-7  # of the range: as near as that a point says on which side of a kink it lies, no more
_FEW = 8
_SEARCHED = 3  # upstream gradients at which a rule that is not linear in g is searched
_LARGEST = 1e100  # in size: beyond, and below its reciprocal, squares overflow or vanish


@dataclass(frozen=True, eq=False)
class Target:
    """A rule as it is compared; two are equal where all their numbers are, bit for bit.

    Attributes:
        x: (n,) float64, ascending and distinct.
        weights: (n,) the share of the range each x stands for; 0 at a kink and right beside it, and where
            there is no finite value.
        values: (len(upstream), n), each row divided by its upstream gradient; 0 where the weight is.
        upstream: the upstream gradients.
        kinks: ascending.
        at_kinks: (len(upstream), kinks) the values exactly there, divided as the others; NaN where that is
            not known.
        overflows: whether it overflows over a stretch of the range.
    """

    x: Tensor
    weights: Tensor
    values: Tensor
    upstream: tuple[float, ...]
    kinks: tuple[float, ...]
    at_kinks: Tensor
    overflows: bool = False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Target) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)

    @cached_property
    def _digest(self) -> bytes:
        numbers = self.x, self.weights, self.values, self.at_kinks
        shapes = repr((self.upstream, self.kinks, [part.shape for part in numbers]))
        return sha256(shapes.encode() + b"".join(part.numpy().tobytes() for part in numbers)).digest()

    @property
    def span(self) -> tuple[float, float]:
        """The range."""
        return float(self.x[0]), float(self.x[-1])

    @property
    def width(self) -> float:
        """The width of the range."""
        return float(self.x[-1] - self.x[0])

    @property
    def size(self) -> float:
        """The root of the weighted mean of its squares."""
        return float((self.weights * self.values**2).mean(0).sum().sqrt())

    @property
    def peak(self) -> float:
        """The x at which the rule is farthest from 0."""
        return float(self.x[(self.values[0].abs() * (self.weights > 0)).argmax()])

    @cached_property
    def is_linear(self) -> bool:
        """Whether the rule is linear in g, so that the first upstream gradient suffices."""
        first = self.values[:1].expand_as(self.values)
        return torch.allclose(self.values, first, rtol=1e-9, atol=1e-12)

    @cached_property
    def first(self) -> Target:
        """The same for the first upstream gradient alone."""
        return self._at([0])

    @cached_property
    def few(self) -> Target:
        """The target at the first upstream gradient and those at which its values differ most.

        Of those at which they do not differ the first ones, which are the extremes, count.
        """
        chosen, rounding = [0], 1e-12 * self.size**2
        while len(chosen) < min(_SEARCHED, len(self.upstream)):
            apart = ((self.values[:, None] - self.values[chosen]) ** 2 * self.weights).sum(2).amin(1)
            apart = torch.where(apart <= rounding, 0.0, apart)
            apart[chosen] = -1.0
            chosen.append(int(apart.argmax()))
        return self._at(sorted(chosen))

    def _at(self, rows: list[int]) -> Target:
        """Return the target at the upstream gradients of some rows."""
        upstream = tuple(self.upstream[row] for row in rows)
        return replace(self, values=self.values[rows], at_kinks=self.at_kinks[rows], upstream=upstream)

    @property
    def is_enough(self) -> bool:
        """Whether enough points are finite for a comparison."""
        return int((self.weights > 0).sum()) >= _FEW

    @property
    def is_comparable(self) -> bool:
        """Whether the squares of its values neither overflow nor vanish, and its range has no overflow."""
        largest = float(self.values.abs().max())
        return not self.overflows and (largest == 0 or 1 / _LARGEST <= largest <= _LARGEST)


def target_of(op: Op, rule: Rule, settings: Mapping[str, float], start: float, stop: float) -> Target:
    """A rule over a range: on even points, and closer ones around its kinks and its peak."""
    chosen: dict[str, Any] = {name: value for name, value in settings.items() if name in _names(op, rule)}
    by_g = {
        g: sample_curves(op, rule, start=start, stop=stop, points=_EVEN, g=g, dtype="float64", **chosen)
        for g in UPSTREAM
    }
    first = by_g[1.0]
    kinks = sorted({kink for curves in by_g.values() for kink in curves.kinks[rule.key] or ()})
    values = torch.from_numpy(first.gradients[rule.key])
    peak = float(first.x[values.nan_to_num(0, 0, 0).abs().argmax()])
    x = _points(first.start, first.stop, [peak, *kinks])
    rows = torch.stack([torch.from_numpy(curves.at(rule.key, x.numpy())) / g for g, curves in by_g.items()])
    at = np.array(kinks, dtype=np.float64)
    exact = torch.stack([torch.from_numpy(curves.at(rule.key, at)) / g for g, curves in by_g.items()])
    return measured(x, rows, UPSTREAM, kinks, exact)


def measured(
    x: Tensor, rows: Tensor, upstream: Sequence[float], kinks: Sequence[float], at_kinks: Tensor
) -> Target:
    """A target of values at ascending x; ``rows`` as ``Target.values``, but not yet finite everywhere."""
    width = float(x[-1] - x[0])
    at = torch.tensor(list(kinks), dtype=torch.float64)
    near = ((x[:, None] - at).abs() <= BESIDE_KINK * width).any(1) if len(at) else torch.zeros_like(x).bool()
    used = rows.isfinite().all(0) & ~near
    cells = torch.cat([x.new_zeros(1), x.diff(), x.new_zeros(1)]) / (2 * width)
    weights = (cells[1:] + cells[:-1]) * used
    infinite = rows.isinf().any(0)
    overflows = bool((infinite[1:] & infinite[:-1]).any())
    values = torch.where(used, rows, 0.0)
    return Target(x, weights, values, tuple(upstream), tuple(kinks), at_kinks, overflows)


def _names(op: Op, rule: Rule) -> set[str]:
    own = beside(op, rule).parameters
    return {qualified(rule, p) for p in own} | {p.name for p in (*op.parameters, *own)}


def _points(start: float, stop: float, centres: Sequence[float]) -> Tensor:
    """Even points of a range, and ever closer ones on both sides of some x; ascending and distinct."""
    steps = torch.tensor([*_CLOSER, *(-step for step in _CLOSER)], dtype=torch.float64) * (stop - start)
    closer = [centre + steps for centre in centres[:_MOST_CENTRES]]
    even = even_points(start, stop, _EVEN)
    even[1:-1] += _OFF * (stop - start) / _EVEN
    x = torch.cat([even, *closer])
    return torch.from_numpy(np.unique(x[(x >= start) & (x <= stop)].numpy()))
