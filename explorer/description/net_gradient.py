"""Compute the gradient of a learned parameter, summed over given data.

The upstream gradient of each number is y − x, the gradient of half the squared error.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import torch

from explorer import catalogue

Verdict = Literal["grow", "shrink", "rest", "undefined", "cannot"]

NORMAL_NUMBERS = 1000
MAX_NUMBERS = 10_000
BALANCE_TOLERANCE = 1e-9  # a sum below this fraction of the contributions' size is a rounding error


def make_normal_numbers() -> tuple[float, ...]:
    """Return evenly spaced quantiles of the standard normal distribution as numbers with four decimals."""
    normal = NormalDist()
    shares = ((index + 0.5) / NORMAL_NUMBERS for index in range(NORMAL_NUMBERS))
    return tuple(round(normal.inv_cdf(share), 4) for share in shares)


@dataclass(frozen=True)
class NetGradient:
    """The net gradient of a parameter on given data under one rule.

    Attributes:
        rule: the backward rule.
        name: the parameter.
        origin: the origin of the rule's contribution to the parameter; "" if there is no contribution.
        up: the sum of the negative contributions, which make the parameter grow.
        down: the sum of the positive contributions, which make the parameter shrink.
        factor: the scale of the sum; 1 for a rule without a scale.
        scaled: whether the rule scales the sum.
    """

    rule: catalogue.Rule
    name: str
    origin: str = ""
    up: float = 0.0
    down: float = 0.0
    factor: float = 1.0
    scaled: bool = False

    @property
    def total(self) -> float:
        """The sum of all contributions to the parameter's gradient."""
        return self.up + self.down

    @property
    def gradient(self) -> float:
        """The gradient of the parameter, which is the scaled sum of all contributions."""
        return self.factor * self.total

    @property
    def verdict(self) -> Verdict:
        """The effect of a step against the gradient: "grow", "shrink", "rest", "undefined" or "cannot"."""
        if not self.origin:
            return "cannot"
        if not math.isfinite(self.gradient):
            return "undefined"
        if abs(self.total) <= BALANCE_TOLERANCE * (self.down - self.up):
            return "rest"
        return "grow" if self.gradient < 0 else "shrink"


def compute_net_gradient(
    op: str | catalogue.Op,
    rule: str | catalogue.Rule,
    name: str,
    numbers: Sequence[float],
    settings: Mapping[str, float] | None = None,
    weights: Sequence[float] = (),
) -> NetGradient:
    """Return the net gradient of a parameter of an op and a rule.

    Args:
        op: the op or its key.
        rule: the rule or its key.
        name: the parameter.
        numbers: (n,) the data.
        settings: values of parameters by name or ``rule.name``; the others have their defaults.
        weights: (n,) the count of each number, or () for 1.
    """
    op = catalogue.find_op(op)
    rule = catalogue.adapt_rule(op, catalogue.find_rule(rule))
    part = catalogue.find_contribution_or_none(op, rule, name)
    if part is None:
        return NetGradient(rule, name)
    parameters = catalogue.resolve_values(op, rule, settings or {})
    x = torch.tensor(numbers, dtype=torch.float64)
    y = op.parsed.bind(parameters)(x)
    counts = torch.tensor(weights or [1.0] * len(x), dtype=torch.float64)
    parts = part.formula.bind(parameters)(x, y, y - x) * counts
    if not parts.isfinite().all():
        return NetGradient(rule, name, part.origin, math.nan, math.nan)
    up, down = float(parts.clamp(max=0).sum()), float(parts.clamp(min=0).sum())
    factor = part.compute_factor(parameters, round(float(counts.sum())))
    return NetGradient(rule, name, part.origin, up, down, factor, part.scale is not None)
