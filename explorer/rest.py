"""The gradient that data send to a learned parameter, and the values at which it comes to rest.

The upstream gradient of each number is y − x, that of half the squared error.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, pairwise
from statistics import NormalDist
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.catalogue import (
    Op,
    Parameter,
    Rule,
    contribution,
    contribution_or_none,
    find_op,
    find_rule,
    values,
)

Floats = NDArray[np.float64]
Verdict = Literal["grow", "shrink", "rest", "undefined", "cannot"]

NORMAL_NUMBERS = 1000
MOST_NUMBERS = 10_000
STEPS = 121  # values of a parameter between its bounds
HALVINGS = 40
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
) -> Pull:
    """The sum of the parts over numbers, (n,), for a parameter of an op and a rule.

    ``settings``: values of parameters by name or ``rule.name``; those left out are at their default.
    """
    op, rule = find_op(op), find_rule(rule)
    part = contribution_or_none(op, rule, name)
    if part is None:
        return Pull(rule, name)
    parameters = values(op, rule, settings or {})
    x = torch.tensor(numbers, dtype=torch.float64)
    y = op.parsed.bind(parameters)(x)
    parts = part.formula.bind(parameters)(x, y, y - x)
    if not parts.isfinite().all():
        return Pull(rule, name, part.origin, math.nan, math.nan)
    up, down = float(parts.clamp(max=0).sum()), float(parts.clamp(min=0).sum())
    return Pull(
        rule,
        name,
        part.origin,
        up,
        down,
        part.factor(parameters, len(x)),
        part.scale is not None,
    )


@dataclass(frozen=True)
class Rest:
    """A parameter over its range: its gradients, the error, and the values at which it comes to rest.

    Attributes:
        rules: the rules by which it can learn.
        name: the parameter.
        at: (n,) its values, ascending.
        error: (n,) the mean squared error of the op on the numbers.
        gradients: by rule key, (n,): the mean of the parts, without a rule's scale.
        positions: by rule key, pairs of values at which it comes to rest: twice the same where the gradient
            crosses 0 upwards, the two ends of a stretch on which it is 0.
        least: the value among ``at`` with the least error.
    """

    rules: tuple[Rule, ...]
    name: str
    at: Floats
    error: Floats
    gradients: Mapping[str, Floats]
    positions: Mapping[str, tuple[tuple[float, float], ...]]

    @property
    def least(self) -> float | None:
        """The value with the least error, the first of several; None where it is no number."""
        finite = self.error[np.isfinite(self.error)]
        if not len(finite):
            return None
        return float(self.at[np.argmax(self.error <= (1 + BALANCED) * finite.min())])


def rest(
    op: str | Op,
    rules: Sequence[str | Rule],
    name: str,
    numbers: Sequence[float],
    settings: Mapping[str, float] | None = None,
) -> Rest:
    """The values at which a parameter comes to rest on numbers, (n,), under each rule, within its bounds.

    Raises ValueError where it cannot learn by any of the rules.
    """
    op, chosen = find_op(op), tuple(map(find_rule, rules))
    learning = tuple(rule for rule in chosen if contribution_or_none(op, rule, name))
    if not learning:
        contribution(op, chosen[0], name)  # which says why
    at = grid(parameter_of(op, learning, name))
    start = dict(settings or {})

    def mean(rule: Rule, value: float) -> float:
        sent = pull(op, rule, name, numbers, _with(start, rule, name, value))
        return 0.0 if sent.verdict == "rest" else sent.total / len(numbers)

    by_rule = {rule.key: partial(mean, rule) for rule in learning}
    gradients = {key: np.array([mean_at(value) for value in at]) for key, mean_at in by_rule.items()}
    positions = {key: tuple(_at_rest(at, gradients[key], mean_at)) for key, mean_at in by_rule.items()}
    error = np.array([_error(op, learning[0], numbers, _with(start, learning[0], name, v)) for v in at])
    return Rest(learning, name, at, error, gradients, positions)


def parameter_of(op: Op, rules: Sequence[Rule], name: str) -> Parameter:
    """The parameter of a name: the op's, else the first rule's that has it."""
    return next(p for entry in (op, *rules) for p in entry.parameters if p.name == name)


def grid(parameter: Parameter) -> Floats:
    """Values between the bounds of a parameter, ascending, by its scale; (STEPS,)."""
    low, high = parameter.low, parameter.high
    share = np.arange(STEPS) / (STEPS - 1)
    at: Floats = low * (high / low) ** share if parameter.scale == "log" else low + (high - low) * share
    return at


def _with(settings: dict[str, float], rule: Rule, name: str, value: float) -> dict[str, float]:
    return {**settings, name: value, f"{rule.key}.{name}": value}


def _error(op: Op, rule: Rule, numbers: Sequence[float], settings: dict[str, float]) -> float:
    x = torch.tensor(numbers, dtype=torch.float64)
    y = op.parsed.bind(values(op, rule, settings))(x)
    return float(((y - x) ** 2).mean())


def _at_rest(at: Floats, gradient: Floats, mean: Callable[[float], float]) -> Iterator[tuple[float, float]]:
    """Stretches at which steps against the gradient end: it is below 0 to the left and above to the right.

    At an end of the range the other side is enough. Nothing comes to rest beside what is not finite.
    """
    runs = _runs(np.sign(gradient))
    for (left, _, last), (right, first, _) in pairwise(runs):
        if left < 0 < right:
            position = _halved(at[last], at[first], lambda value: mean(value) < 0)
            yield position, position
    for number, (sign, first, last) in enumerate(runs):
        before = runs[number - 1][0] if number else -1.0
        after = runs[number + 1][0] if number + 1 < len(runs) else 1.0
        if sign == 0 and before < 0 < after and len(runs) > 1:
            low = _halved(at[first - 1], at[first], lambda value: mean(value) < 0) if number else at[0]
            ends = number + 1 == len(runs)
            high = at[-1] if ends else _halved(at[last], at[last + 1], lambda value: mean(value) <= 0)
            yield float(low), float(high)


def _runs(signs: Floats) -> list[tuple[float, int, int]]:
    """Each stretch of equal signs: the sign, its first and its last index."""
    runs, first = [], 0
    for _, some in groupby(signs, key=str):
        stretch = list(some)
        runs.append((float(stretch[0]), first, first + len(stretch) - 1))
        first += len(stretch)
    return runs


def _halved(low: float, high: float, is_left: Callable[[float], bool]) -> float:
    """The value, by bisection, at which a condition ends that holds at ``low`` and not at ``high``."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_left(middle) else (low, middle)
    return float(high)
