"""Curves as arrays of numbers, however they were computed; describing them needs no torch."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.catalogue import Op, Rule
from explorer.formula.tree import Call, ForeignCall, walk

POINTS = 601
EVEN, KINK, NEIGHBOUR = 0, 1, 2
FORWARD = "forward"
_FLOAT32_STEPS = 8  # float32 numbers per step of the grid; with fewer, curves need float64

Floats = NDArray[np.floating[Any]]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SampledCurves(ABC):
    """An op and the gradients of its rules at the same x.

    Attributes:
        op, rules: the entries; ``parameters`` holds their parameter values by name.
        start, stop, points, g: the request; start is less than stop.
        x: (n,) float32 or float64, ascending and distinct.
        marks: (n,) int8: 0 for a point of the even grid, 1 for a kink of any curve, 2 for a float next to a
            kink.
        y: (n,) forward values, of x's dtype.
        gradients: by rule key, (n,) of x's dtype.
        kinks: by "forward", rule key or ``to_part_key(rule key)``, as floats of the dtype; None if there are
            too many to plot.
        loss: for a stochastic op or rule, the formula of y whose derivative, times g, is the upstream
            gradient; y, gradients and parts are then means over the random draws. "" otherwise.
        spreads: by "forward" and rule key, (n,): the standard deviation over the random draws; empty if there
            are none.
        unbiased: (n,) g times the slope of the mean loss in x, the mean gradient of an unbiased rule; None
            for deterministic ops and rules.
        learns: the parameter whose contributions are sampled too, or "".
        parts: by rule key, (n,) of x's dtype: the contribution of one element to that parameter's gradient,
            unscaled. Rules by which it cannot learn are left out.
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
        """Every curve, by "forward", rule key or ``to_part_key(rule key)``."""
        parts = {to_part_key(key): values for key, values in self.parts.items()}
        return {FORWARD: self.y, **self.gradients, **parts}

    @cached_property
    def degrees(self) -> dict[str, float]:
        """The degree in x of each curve's polynomials between kinks; inf if unknown."""
        y = self.op.compute_degree()
        degrees = {rule.key: rule.compute_degree(y) if rule.parsed else max(y - 1, 0) for rule in self.rules}
        return {FORWARD: y, **degrees}

    @cached_property
    def declared(self) -> dict[str, bool]:
        """Whether the catalogue declares the kinks of each curve, so that none is missed."""
        op = self.op.kinks is not None
        without_y = {
            rule.key: rule.parsed is not None and "y" not in rule.parsed.variables for rule in self.rules
        }
        rules = {rule.key: rule.kinks is not None and (op or without_y[rule.key]) for rule in self.rules}
        return {FORWARD: op, **rules}

    def mask_flat(self) -> Mask:
        """Return a mask of the points at which the op has slope 0, except kinks and their neighbours; (n,).

        A user-defined function may have any backward, so its slope is measured to the neighbouring points.
        """
        parts = [*walk(self.op.parsed.tree)]
        if any(isinstance(part, ForeignCall) for part in parts):
            is_constant = np.concatenate([[True], self.y[1:] == self.y[:-1], [True]])
            is_level: Mask = is_constant[1:] & is_constant[:-1] & ~self.mask_near_kinks(FORWARD)
            return is_level
        is_detached = any(isinstance(part, Call) and part.function == "detach" for part in parts)
        is_flat: Mask = (self.compute_autograd(1.0) == 0) & ~self.mask_near_kinks(FORWARD) & (not is_detached)
        return is_flat

    def mask_near_kinks(self, key: str) -> Mask:
        """Return a mask of the points that are a kink of one curve or a float next to it; (n,)."""
        is_near = np.zeros(len(self.x), dtype=bool)
        indices = np.searchsorted(self.x, np.asarray(self.kinks[key] or (), dtype=self.x.dtype))
        for step in range(-2, 3):
            is_near[np.clip(indices + step, 0, len(is_near) - 1)] = True
        is_near &= self.marks != EVEN
        return is_near

    @abstractmethod
    def evaluate(self, key: str, x: Floats) -> Floats:
        """Return the values of one curve at other x within the range; (m,), of their dtype."""

    @abstractmethod
    def compute_autograd(self, g: float) -> Floats:
        """Return torch's own gradient of the op for an upstream gradient; (n,)."""


def to_part_key(rule: str) -> str:
    """Return the key of a rule's contributions among curves and kinks."""
    return f"part {rule}"


def choose_dtype(span: tuple[float, float]) -> str:
    """Return "float32", or "float64" if the range is too narrow for the spacing of float32 numbers."""
    spacing = math.ldexp(1.0, math.frexp(max(map(abs, span)))[1] - 24)  # float32 has 24 binary digits
    return "float32" if (span[1] - span[0]) / (POINTS - 1) > _FLOAT32_STEPS * spacing else "float64"
