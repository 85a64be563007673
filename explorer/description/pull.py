"""The gradient that data send to a learned parameter.

The upstream gradient of each number is y − x, that of half the squared error.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import torch

from explorer.catalogue import Op, Rule, beside, contribution_or_none, find_op, find_rule, values

Verdict = Literal["grow", "shrink", "rest", "undefined", "cannot"]

NORMAL_NUMBERS = 1000
MOST_NUMBERS = 10_000
BALANCED = 1e-9  # of all parts' sizes: a smaller sum is 0 but for rounding


def normal_numbers() -> tuple[float, ...]:
    """The standard normal as numbers: its quantiles at the middles of equal shares, to four digits."""
    normal = NormalDist()
    shares = ((index + 0.5) / NORMAL_NUMBERS for index in range(NORMAL_NUMBERS))
    return tuple(round(normal.inv_cdf(share), 4) for share in shares)


@dataclass(frozen=True)
class Pull:
    """The gradient that given data send to a parameter under one rule.

    Attributes:
        rule: the rule; ``origin`` is that of its contribution, "" where there is none.
        name: the parameter.
        up, down: the sums of the parts that make it grow, below 0, and shrink, above 0.
        factor: the scale of the sum; 1 for a rule without one, which is not ``scaled``.
    """

    rule: Rule
    name: str
    origin: str = ""
    up: float = 0.0
    down: float = 0.0
    factor: float = 1.0
    scaled: bool = False

    @property
    def total(self) -> float:
        """The sum of all parts."""
        return self.up + self.down

    @property
    def gradient(self) -> float:
        """The gradient for the parameter."""
        return self.factor * self.total

    @property
    def verdict(self) -> Verdict:
        """The effect of a step against the gradient on the parameter."""
        if not self.origin:
            return "cannot"
        if not math.isfinite(self.gradient):
            return "undefined"
        if abs(self.total) <= BALANCED * (self.down - self.up):
            return "rest"
        return "grow" if self.gradient < 0 else "shrink"


def pull(
    op: str | Op,
    rule: str | Rule,
    name: str,
    numbers: Sequence[float],
    settings: Mapping[str, float] | None = None,
    weights: Sequence[float] = (),
) -> Pull:
    """Return the sum of the parts over numbers, (n,), for a parameter of an op and a rule.

    ``settings``: values of parameters by name or ``rule.name``; those left out are at their default.
    ``weights``: (n,) how often each number is there, or () for once.
    """
    op = find_op(op)
    rule = beside(op, find_rule(rule))
    part = contribution_or_none(op, rule, name)
    if part is None:
        return Pull(rule, name)
    parameters = values(op, rule, settings or {})
    x = torch.tensor(numbers, dtype=torch.float64)
    y = op.parsed.bind(parameters)(x)
    often = torch.tensor(weights or [1.0] * len(x), dtype=torch.float64)
    parts = part.formula.bind(parameters)(x, y, y - x) * often
    if not parts.isfinite().all():
        return Pull(rule, name, part.origin, math.nan, math.nan)
    up, down = float(parts.clamp(max=0).sum()), float(parts.clamp(min=0).sum())
    return Pull(
        rule,
        name,
        part.origin,
        up,
        down,
        part.factor(parameters, round(float(often.sum()))),
        part.scale is not None,
    )
