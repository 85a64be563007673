"""The statistics of a site over its calls."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor

from explorer.model.observing.record import MOST_OF_X, Record, sampled

_POINTS, _OF_ONE = 40_000, 4_000  # elements kept for pictures: of a site, and of one call


@dataclass
class Statistics:
    """The sums over the calls of a site; ``add`` takes one more.

    Attributes:
        calls: how many.
        elements, sum_x, sum_x2: of x, as far as calls keep it.
        known: elements of calls whose forward pass had a backward.
        got, blocked, none: of those, with gradient; without, though some came; where none came.
        came_units, got_units: (units,) whether any element of a unit met, and got, gradient.
        points: x, g and gradient of some elements, (n,) each, by call.
        reasons: why autograd could not follow, in a few words.
    """

    calls: int = 0
    elements: int = 0
    sum_x: float = 0.0
    sum_x2: float = 0.0
    known: int = 0
    got: int = 0
    blocked: int = 0
    none: int = 0
    same_shape: bool = True
    square_out: float = 0.0
    square_in: float = 0.0
    broken: int = 0
    came_units: Tensor | None = None
    got_units: Tensor | None = None
    points: list[tuple[Tensor, Tensor, Tensor]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    def copy(self) -> Statistics:
        """Another one, to which more can be added."""
        return Statistics(**{**vars(self), "points": [*self.points], "reasons": [*self.reasons]})

    def add(self, record: Record, with_backward: bool, axis: int) -> None:
        """Add a call; ``with_backward``: whether its forward pass had one."""
        self.calls += 1
        x = record.x
        self.elements += x.numel()
        self.sum_x += float(x.sum(dtype=torch.float64))
        self.sum_x2 += float(x.double().square().sum())
        if not record.live or (record.cut and record.g is None):
            self.reasons.append(record.cut)
        elif with_backward:
            self._add_gradients(record, axis)

    def _add_gradients(self, record: Record, axis: int) -> None:
        like = torch.zeros(record.shape, dtype=record.x.dtype, device=record.x.device)
        gradient = like if record.gradient is None else record.gradient
        g = like if record.g is None else record.g
        got, came = gradient != 0, g != 0
        self.known += gradient.numel()
        self.got += int(got.sum())
        self.square_out += float(g.double().square().sum())
        self.square_in += float(gradient.double().square().sum())
        self.broken += int((~gradient.isfinite()).sum())
        if g.shape != record.shape:
            self.same_shape = False
            return
        self.blocked += int((came & ~got).sum())
        self.none += int((~came & ~got).sum())
        if g.dim():
            others = [each for each in range(g.dim()) if each != axis]
            self.came_units = _either(self.came_units, _any(came, others))
            self.got_units = _either(self.got_units, _any(got, others))
        self._keep(record.x, g, gradient)

    def _keep(self, x: Tensor, g: Tensor, gradient: Tensor) -> None:
        if sum(len(each) for each, _, _ in self.points) < _POINTS:
            same = [x, *(sampled(each, MOST_OF_X) for each in (g, gradient))]
            kept = [sampled(each, _OF_ONE).double().cpu() for each in same]
            self.points.append((kept[0], kept[1], kept[2]))

    @property
    def mean(self) -> float:
        """The mean of x; NaN of nothing."""
        return self.sum_x / self.elements if self.elements else math.nan

    @property
    def spread(self) -> float:
        """The standard deviation of x; NaN of nothing."""
        if not self.elements:
            return math.nan
        return math.sqrt(max(0.0, self.sum_x2 / self.elements - self.mean**2))

    def share(self, count: int) -> float:
        """A count as a share of the elements whose gradients are known; NaN of none."""
        return count / self.known if self.known else math.nan

    @property
    def sampled(self) -> tuple[Tensor, Tensor, Tensor]:
        """x, g and gradient of some elements, (n,) float64 each."""
        if not self.points:
            return torch.empty(0), torch.empty(0), torch.empty(0)
        x, g, gradient = (torch.cat(each) for each in zip(*self.points, strict=True))
        return x, g, gradient

    @property
    def units(self) -> tuple[int, int, int] | None:
        """How many units there are, how many are dead by the rule, and how many from above."""
        if self.came_units is None or self.got_units is None:
            return None
        dead = ~self.got_units
        by_rule = int((dead & self.came_units).sum())
        return len(dead), by_rule, int(dead.sum()) - by_rule


def _any(values: Tensor, axes: list[int]) -> Tensor:
    return values.any(dim=axes).cpu() if axes else values.cpu()


def _either(before: Tensor | None, now: Tensor) -> Tensor | None:
    return now if before is None or before.shape != now.shape else before | now
