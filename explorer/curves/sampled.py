"""Curves as numbers, whoever computed them; no torch is needed to describe them."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.catalogue import Op, Rule
from explorer.formula.tree import Call, Foreign, walk

POINTS = 601
EVEN, KINK, BESIDE = 0, 1, 2
FORWARD = "forward"
_FLOAT32_STEPS = 8  # a step of the grid below this many float32 numbers needs float64

Floats = NDArray[np.floating[Any]]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Sampled(ABC):
    """An op and the gradients of its rules at the same x.

    Attributes:
        op, rules: the entries; ``parameters`` holds the values chosen for them, by name.
        start, stop, points, g: the request, start below stop.
        x: (n,) float32 or float64, ascending and distinct.
        marks: (n,) int8: 0 for a point of the even grid, 1 for a kink of any curve, 2 for one of the
            floats beside a kink.
        y: (n,) forward values, of x's dtype.
        gradients: by rule key, (n,) of x's dtype.
        kinks: by "forward", rule key or ``part_key`` of one, as floats of the dtype; None for too many to be
            shown.
        loss: of a pair that draws, the formula of y whose derivative, times g, is the upstream gradient; then
            y, gradients and parts are means over what is drawn. "" for others.
        spreads: by "forward" and rule key, (n,): the standard deviation over what is drawn, where it is.
        unbiased: (n,) g times the slope of the mean loss in x, which an unbiased rule returns on average;
            None where nothing is drawn.
        learns: the parameter whose contributions are sampled too, or "".
        parts: by rule key, (n,) of x's dtype: what one element contributes to the gradient for it, unscaled;
            without the rules by which it cannot learn.
    """

    op: Op
    rules: tuple[Rule, ...]
    parameters: Mapping[str, float]
    start: float
    stop: float
    points: int
    g: float
    x: Floats
    marks: NDArray[np.int8]
    y: Floats
    gradients: Mapping[str, Floats]
    kinks: Mapping[str, tuple[float, ...] | None]
    learns: str = ""
    parts: Mapping[str, Floats] = field(default_factory=dict)
    loss: str = ""
    spreads: Mapping[str, Floats] = field(default_factory=dict)
    unbiased: Floats | None = None

    @property
    def labels(self) -> dict[str, str]:
        """The label of each rule on screen, by its key."""
        return {rule.key: rule.label for rule in self.rules}

    @cached_property
    def columns(self) -> dict[str, Floats]:
        """Every curve, by "forward", rule key or ``part_key`` of one."""
        parts = {part_key(key): values for key, values in self.parts.items()}
        return {FORWARD: self.y, **self.gradients, **parts}

    @cached_property
    def degrees(self) -> dict[str, float]:
        """The degree of each curve's polynomials between kinks; inf where it is not known."""
        y = self.op.known_degree()
        degrees = {rule.key: rule.known_degree(y) if rule.parsed else max(y - 1, 0) for rule in self.rules}
        return {FORWARD: y, **degrees}

    @cached_property
    def declared(self) -> dict[str, bool]:
        """Whether the catalogue declares the kinks of each curve, so that none is missed."""
        op = self.op.kinks is not None
        alone = {
            rule.key: rule.parsed is not None and "y" not in rule.parsed.variables for rule in self.rules
        }
        rules = {rule.key: rule.kinks is not None and (op or alone[rule.key]) for rule in self.rules}
        return {FORWARD: op, **rules}

    def flat(self) -> Mask:
        """Mask of the points at which the op has slope 0, kinks and their neighbours left out; (n,).

        A function that is no formula may have any backward: its slope is that to the neighbouring points.
        """
        parts = [*walk(self.op.parsed.tree)]
        if any(isinstance(part, Foreign) for part in parts):
            still = np.concatenate([[True], self.y[1:] == self.y[:-1], [True]])
            level: Mask = still[1:] & still[:-1] & ~self.around(FORWARD)
            return level
        detached = any(isinstance(part, Call) and part.function == "detach" for part in parts)
        flat: Mask = (self.autograd(1.0) == 0) & ~self.around(FORWARD) & (not detached)
        return flat

    def around(self, key: str) -> Mask:
        """Mask of the points that are a kink of one curve, or one of the floats beside it; (n,)."""
        near = np.zeros(len(self.x), dtype=bool)
        at = np.searchsorted(self.x, np.asarray(self.kinks[key] or (), dtype=self.x.dtype))
        for step in range(-2, 3):
            near[np.clip(at + step, 0, len(near) - 1)] = True
        near &= self.marks != EVEN
        return near

    @abstractmethod
    def at(self, key: str, x: Floats) -> Floats:
        """The values of one curve at other x of the range; (m,), of their dtype."""

    @abstractmethod
    def autograd(self, g: float) -> Floats:
        """Torch's own gradient of the op for an upstream gradient; (n,)."""


def part_key(rule: str) -> str:
    """The key of a rule's contributions among curves and kinks."""
    return f"part {rule}"


def dtype_of(span: tuple[float, float]) -> str:
    """Float32, unless the range is so narrow that its numbers lie too far apart."""
    apart = math.ldexp(1.0, math.frexp(max(map(abs, span)))[1] - 24)  # float32 has 24 digits
    return "float32" if (span[1] - span[0]) / (POINTS - 1) > _FLOAT32_STEPS * apart else "float64"
