"""The values of a backward rule at points of a range, to which other rules are fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.catalogue import Op, Rule, adapt_rule, qualify_name
from explorer.curves import sample_curves
from explorer.formula.reference import make_even_points

# Rules are compared at these upstream gradients: doubled, negated, large enough to be clipped and too small
# for any threshold. For a rule that is linear in g the first one suffices.
UPSTREAM = (1.0, -1000.0, 1e-3, 2.0, -1.0, 0.1)
_EVEN_POINTS = 301
_OFFSET = 0.381966  # shift of points in steps, off round x, which are often kinks
_CLOSE_STEPS = tuple(10.0 ** (-exponent / 3) for exponent in range(4, 19))  # fractions of the range
_MAX_CENTRES = 12
KINK_MARGIN = 1e-7  # points closer to a kink than this fraction of the range are ignored
_MIN_POINTS = 8
_MAX_SEARCHED = 3  # number of upstream gradients in the search, if the rule is not linear in g
_MAX_SIZE = 1e100  # squares of larger numbers overflow, and those of their reciprocals become 0


@dataclass(frozen=True, eq=False)
class Target:
    """The values of a backward rule with which other rules are compared.

    Two targets are equal if all their numbers are, bit for bit.

    Attributes:
        x: (n,) float64, ascending and distinct.
        weights: (n,) the fraction of the range that each x represents; 0 at a kink, directly next to it, and
            where a value is not finite.
        values: (len(upstream), n), each row divided by its upstream gradient; 0 where the weight is 0.
        upstream: the upstream gradients.
        kinks: positions of the kinks, ascending.
        at_kinks: (len(upstream), kinks) the values at the kinks, divided like ``values``; NaN if unknown.
        overflows: whether the rule overflows over an interval of the range.
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
        """The lowest and the highest x."""
        return float(self.x[0]), float(self.x[-1])

    @property
    def width(self) -> float:
        """The width of the range of x."""
        return float(self.x[-1] - self.x[0])

    @property
    def size(self) -> float:
        """The root of the weighted mean square of the target's values."""
        return float((self.weights * self.values**2).mean(0).sum().sqrt())

    @property
    def peak(self) -> float:
        """The x at which the rule's absolute value is largest."""
        return float(self.x[(self.values[0].abs() * (self.weights > 0)).argmax()])

    @cached_property
    def is_linear(self) -> bool:
        """True if the rule is linear in g, so that its values at one upstream gradient suffice."""
        first = self.values[:1].expand_as(self.values)
        return torch.allclose(self.values, first, rtol=1e-9, atol=1e-12)

    @cached_property
    def first(self) -> Target:
        """A copy of the target that has the first upstream gradient only."""
        return self._select_rows([0])

    @cached_property
    def subset(self) -> Target:
        """A copy of the target with the first upstream gradient and those at which its values differ most.

        If further values do not differ, the first upstream gradients, which are the extremes, are used.
        """
        rows, rounding = [0], 1e-12 * self.size**2
        while len(rows) < min(_MAX_SEARCHED, len(self.upstream)):
            differences = ((self.values[:, None] - self.values[rows]) ** 2 * self.weights).sum(2).amin(1)
            differences = torch.where(differences <= rounding, 0.0, differences)
            differences[rows] = -1.0
            rows.append(int(differences.argmax()))
        return self._select_rows(sorted(rows))

    def _select_rows(self, rows: list[int]) -> Target:
        upstream = tuple(self.upstream[row] for row in rows)
        return replace(self, values=self.values[rows], at_kinks=self.at_kinks[rows], upstream=upstream)

    @property
    def is_enough(self) -> bool:
        """True if enough of the rule's values are finite for a comparison."""
        return int((self.weights > 0).sum()) >= _MIN_POINTS

    @property
    def is_comparable(self) -> bool:
        """True if the rule's values are neither too large nor too small to be squared."""
        largest = float(self.values.abs().max())
        return not self.overflows and (largest == 0 or 1 / _MAX_SIZE <= largest <= _MAX_SIZE)


def sample_target(op: Op, rule: Rule, settings: Mapping[str, float], start: float, stop: float) -> Target:
    """Return a rule's values at even points of a range, and at more points near its kinks and its peak."""
    adapted = adapt_rule(op, rule).parameters
    names = {qualify_name(rule, p) for p in adapted} | {p.name for p in (*op.parameters, *adapted)}
    view: dict[str, Any] = {name: value for name, value in settings.items() if name in names}
    view |= {"start": start, "stop": stop, "points": _EVEN_POINTS, "dtype": "float64"}
    by_g = {g: sample_curves(op, rule, g=g, **view) for g in UPSTREAM}
    first = by_g[1.0]
    kinks = sorted({kink for curves in by_g.values() for kink in curves.kinks[rule.key] or ()})
    values = torch.from_numpy(first.gradients[rule.key])
    peak = float(first.x[values.nan_to_num(0, 0, 0).abs().argmax()])
    x = _make_grid(first.start, first.stop, [peak, *kinks])

    def evaluate(x: NDArray[np.float64]) -> Tensor:
        rows = [torch.from_numpy(curves.evaluate(rule.key, x)) / g for g, curves in by_g.items()]
        return torch.stack(rows)

    at_kinks = evaluate(np.array(kinks, dtype=np.float64))
    return make_target(x, evaluate(x.numpy()), UPSTREAM, kinks, at_kinks)


def make_target(
    x: Tensor, rows: Tensor, upstream: Sequence[float], kinks: Sequence[float], at_kinks: Tensor
) -> Target:
    """Create a target for comparisons from a rule's values at ascending x.

    Args:
        x: (n,) ascending.
        rows: (len(upstream), n), as ``Target.values``, but not necessarily finite.
        upstream: the upstream gradients.
        kinks: positions of the kinks.
        at_kinks: (len(upstream), kinks), as in ``Target``.
    """
    width = float(x[-1] - x[0])
    at = torch.tensor(list(kinks), dtype=torch.float64)
    near = ((x[:, None] - at).abs() <= KINK_MARGIN * width).any(1) if len(at) else torch.zeros_like(x).bool()
    used = rows.isfinite().all(0) & ~near
    cells = torch.cat([x.new_zeros(1), x.diff(), x.new_zeros(1)]) / (2 * width)
    weights = (cells[1:] + cells[:-1]) * used
    infinite = rows.isinf().any(0)
    overflows = bool((infinite[1:] & infinite[:-1]).any())
    values = torch.where(used, rows, 0.0)
    return Target(x, weights, values, tuple(upstream), tuple(kinks), at_kinks, overflows)


def _make_grid(start: float, stop: float, centres: Sequence[float]) -> Tensor:
    steps = torch.tensor(_CLOSE_STEPS, dtype=torch.float64) * (stop - start)
    steps = torch.cat([steps, -steps])
    closer = [centre + steps for centre in centres[:_MAX_CENTRES]]
    even = make_even_points(start, stop, _EVEN_POINTS)
    even[1:-1] += _OFFSET * (stop - start) / _EVEN_POINTS
    x = torch.cat([even, *closer])
    return torch.from_numpy(np.unique(x[(x >= start) & (x <= stop)].numpy()))
