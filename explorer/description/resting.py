"""The values at which a learned parameter comes to rest on data."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, pairwise

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
from explorer.description.learning import LEARNING_WORDS, MOST_POSITIONS
from explorer.description.pull import BALANCED, pull
from explorer.description.words import in_digits
from explorer.formula import listed

Floats = NDArray[np.float64]

STEPS = 121  # values of a parameter between its bounds
_HALVINGS = 40  # of an interval in which it comes to rest


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
    weights: Sequence[float] = (),
) -> Rest:
    """Return the values within its bounds at which a parameter comes to rest on numbers, (n,), by rule.

    ``weights``: (n,) how often each number is there, or () for once. Raises ValueError where the parameter
    cannot learn by any of the rules.
    """
    op, chosen = find_op(op), tuple(map(find_rule, rules))
    learning = tuple(rule for rule in chosen if contribution_or_none(op, rule, name))
    if not learning:
        contribution(op, chosen[0], name)  # which says why
    at = grid(parameter_of(op, learning, name))
    start, count = dict(settings or {}), sum(weights) or len(numbers)

    def mean(rule: Rule, value: float) -> float:
        sent = pull(op, rule, name, numbers, _with(start, rule, name, value), weights)
        return 0.0 if sent.verdict == "rest" else sent.total / count

    by_rule = {rule.key: partial(mean, rule) for rule in learning}
    gradients = {key: np.array([mean_at(value) for value in at]) for key, mean_at in by_rule.items()}
    positions = {key: tuple(_at_rest(at, gradients[key], mean_at)) for key, mean_at in by_rule.items()}
    error = np.array(
        [_error(op, learning[0], numbers, weights, _with(start, learning[0], name, v)) for v in at]
    )
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


def _error(
    op: Op, rule: Rule, numbers: Sequence[float], weights: Sequence[float], settings: dict[str, float]
) -> float:
    x = torch.tensor(numbers, dtype=torch.float64)
    y = op.parsed.bind(values(op, rule, settings))(x)
    return float(np.average(((y - x) ** 2).numpy(), weights=weights or None))


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
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_left(middle) else (low, middle)
    return float(high)


def rest_words(rest: Rest) -> list[str]:
    """Return sentences on the values at which a parameter comes to rest, and on that with the least error."""
    sentences = [position_words(rest, rule.key, rule.label) for rule in rest.rules]
    return [*sentences, *([least_words(rest)] if rest.least is not None else [])]


def least_words(rest: Rest) -> str:
    """Return the sentence on the value with the least error; "" where there is none."""
    if rest.least is None:
        return ""
    return LEARNING_WORDS["least"].format(name=rest.name, at=in_digits(rest.least))


def position_words(rest: Rest, key: str, label: str) -> str:
    """Return the sentence on the values at which a parameter comes to rest under one rule."""
    positions, gradient = rest.positions[key], rest.gradients[key]
    ends = {"low": in_digits(float(rest.at[0])), "high": in_digits(float(rest.at[-1]))}
    texts = [_stretch_words(*position) for position in positions]
    if len(positions) > MOST_POSITIONS:
        ends = {"low": in_digits(min(map(min, positions))), "high": in_digits(max(map(max, positions)))}
    said = {"rule": label, "name": rest.name, "count": len(positions), **ends}
    said["places"] = listed(texts) if texts else ""
    return LEARNING_WORDS[_manner(len(positions), gradient)].format(**said)


def _manner(positions: int, gradient: Floats) -> str:
    """The key of the words for a parameter that comes to rest at so many positions."""
    if positions:
        return "places" if positions <= MOST_POSITIONS else "many"
    if not np.isfinite(gradient).all():
        return "unknown"
    if (gradient == 0).all():
        return "still"
    if (gradient <= 0).all():
        return "grows"
    return "shrinks" if (gradient >= 0).all() else "nowhere"


def _stretch_words(low: float, high: float) -> str:
    if low == high:
        return in_digits(low)
    return LEARNING_WORDS["stretch"].format(low=in_digits(low), high=in_digits(high))
