"""The base class of sampled curves and the values of their evaluators, which need NumPy but not torch."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from explorer.catalogue import Op, Rule
from explorer.formula.tree import Call, UserCall, walk

POINTS = 601
EVEN, KINK, NEIGHBOUR = 0, 1, 2
FORWARD = "forward"
_FLOAT32_STEPS = 8  # with fewer float32 numbers per step of the grid, curves need float64

Floats = NDArray[np.floating[Any]]
Mask = NDArray[np.bool_]


class CurveValues(NamedTuple):
    """The values of an op and of its gradients by several backward rules, all at the same x.

    For a stochastic op or rule, they are means over random numbers, and ``spreads`` holds the standard
    deviation of each curve. Otherwise it is empty, and the gradient ``unbiased`` is None.
    """

    y: Floats
    gradients: dict[str, Floats]
    spreads: Mapping[str, Floats]
    unbiased: Floats | None


@dataclass(frozen=True, eq=False)
class SampledCurves(ABC):
    """An op's output and its gradients by several backward rules, sampled at the same x.

    Attributes:
        op, rules: the catalogue entries; ``parameters`` maps the names of their parameters to values.
        start, stop, points, g: the requested range, number of even points and upstream gradient.
        x: (n,) float32 or float64, ascending and distinct; the arrays below have its shape and dtype.
        marks: int8: 0 for a point of the even grid, 1 for a kink of any curve, 2 for a float next to a kink.
        y: the op's output.
        gradients: the gradient by each rule, by the rule's key.
        kinks: rounded kinks, or None if there are too many to plot, by the keys of ``columns``.
        loss: for a stochastic op or rule, the loss as a formula of y; its derivative times g is the upstream
            gradient, and y, gradients and parts are means over the random draws. "" otherwise.
        spreads: the standard deviations over random draws, by "forward" and each rule's key; may be empty.
        unbiased: g times the slope of the mean loss in x, which is the mean gradient of an unbiased rule.
            None for deterministic ops and rules.
        learns: the name of the parameter whose contributions are sampled too, or "".
        parts: the unscaled contributions of single elements to that parameter's gradient, by the key of each
            rule by which the parameter can learn.
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
        """A dict from the key of each backward rule to its label on screen."""
        return {rule.key: rule.label for rule in self.rules}

    @cached_property
    def columns(self) -> dict[str, Floats]:
        """A dict of all sampled values.

        The keys: "forward" for the op's output, a rule's key for its gradient, and
        ``to_contribution_key(rule key)`` for its contributions to a parameter's gradient.
        """
        parts = {to_contribution_key(key): values for key, values in self.parts.items()}
        return {FORWARD: self.y, **self.gradients, **parts}

    @cached_property
    def degrees(self) -> dict[str, float]:
        """A dict from each curve's key to its degree as a polynomial between two kinks, or inf if unknown."""
        y = self.op.compute_degree()
        degrees = {rule.key: rule.compute_degree(y) if rule.parsed else max(y - 1, 0) for rule in self.rules}
        return {FORWARD: y, **degrees}

    @cached_property
    def declared(self) -> dict[str, bool]:
        """A dict from each curve's key to True if the catalogue declares all kinks of the curve."""
        op = self.op.kinks is not None
        without_y = {
            rule.key: rule.parsed is not None and "y" not in rule.parsed.variables for rule in self.rules
        }
        rules = {rule.key: rule.kinks is not None and (op or without_y[rule.key]) for rule in self.rules}
        return {FORWARD: op, **rules}

    def mask_flat(self) -> Mask:
        """Return a mask of the points at which the op's slope is 0, leaving out kinks and their neighbours.

        For a user-defined function, whose backward may differ from its slope, neighbouring points give the
        slope.
        """
        parts = [*walk(self.op.parsed.tree)]
        if any(isinstance(part, UserCall) for part in parts):
            is_constant = np.concatenate([[True], self.y[1:] == self.y[:-1], [True]])
            is_level: Mask = is_constant[1:] & is_constant[:-1] & ~self.mask_near_kinks(FORWARD)
            return is_level
        is_detached = any(isinstance(part, Call) and part.function == "detach" for part in parts)
        is_flat: Mask = (self.compute_autograd(1.0) == 0) & ~self.mask_near_kinks(FORWARD) & (not is_detached)
        return is_flat

    def mask_near_kinks(self, key: str) -> Mask:
        """Return a mask of the sampled points that are a kink of the given curve or a float next to one."""
        is_near = np.zeros(len(self.x), dtype=bool)
        indices = np.searchsorted(self.x, np.asarray(self.kinks[key] or (), dtype=self.x.dtype))
        for step in range(-2, 3):
            is_near[np.clip(indices + step, 0, len(is_near) - 1)] = True
        is_near &= self.marks != EVEN
        return is_near

    @abstractmethod
    def evaluate(self, key: str, x: Floats) -> Floats:
        """Evaluate one of the curves at other x within the sampled range. Returns x's dtype."""

    @abstractmethod
    def compute_autograd(self, g: float) -> Floats:
        """Compute torch's own gradient of the op at each sampled x, for an upstream gradient g."""


def to_contribution_key(rule: str) -> str:
    """Return the key, in dicts of curves, of the contributions to a parameter's gradient by a rule."""
    return f"part {rule}"


def choose_dtype(span: tuple[float, float]) -> str:
    """Choose "float32" for a range of x, or "float64" if float32 numbers are too coarse for its width."""
    spacing = math.ldexp(1.0, math.frexp(max(map(abs, span)))[1] - 24)  # of float32, with 24 binary digits
    return "float32" if (span[1] - span[0]) / (POINTS - 1) > _FLOAT32_STEPS * spacing else "float64"
