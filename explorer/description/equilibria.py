"""Find the equilibria of a learned parameter: values at which its gradient on the data is 0."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, pairwise

import numpy as np
import torch
from numpy.typing import NDArray

from explorer import catalogue
from explorer.description.learning import LEARNING_WORDS, MAX_POSITIONS
from explorer.description.net_gradient import BALANCE_TOLERANCE, compute_net_gradient
from explorer.formula import format_number, join_texts

Floats = NDArray[np.float64]

STEPS = 121  # the number of test values between the bounds of a parameter
_BISECTIONS = 40  # the number of bisections of an interval that contains an equilibrium


@dataclass(frozen=True)
class Equilibria:
    """The gradients, the error and the equilibria of a parameter over its range.

    Attributes:
        rules: the rules by which the parameter can learn.
        name: the parameter.
        points: (n,) values of the parameter, ascending.
        error: (n,) the mean squared error of the op on the numbers.
        gradients: a dict from rule keys to (n,) mean contributions, without the rule's scale.
        positions: a dict from rule keys to equilibria, as pairs of values: equal values where the gradient
            increases through 0, or the two ends of an interval on which it is 0.
    """

    rules: tuple[catalogue.Rule, ...]
    name: str
    points: Floats
    error: Floats
    gradients: Mapping[str, Floats]
    positions: Mapping[str, tuple[tuple[float, float], ...]]

    @property
    def best(self) -> float | None:
        """The parameter value with the smallest error. None if no error is finite or all are equal."""
        finite = self.error[np.isfinite(self.error)]
        is_smallest = self.error <= (1 + BALANCE_TOLERANCE) * finite.min(initial=np.inf)
        return None if is_smallest.all() or not len(finite) else float(self.points[np.argmax(is_smallest)])


def find_equilibria(
    op: str | catalogue.Op,
    rules: Sequence[str | catalogue.Rule],
    name: str,
    numbers: Sequence[float],
    settings: Mapping[str, float] | None = None,
    weights: Sequence[float] = (),
) -> Equilibria:
    """Find the values at which a parameter comes to rest under each backward rule.

    Args:
        op: the op or its key.
        rules: the rules or their keys.
        name: the parameter.
        numbers: (n,) the data.
        settings: values of other parameters by name or ``rule.name``; the others have their defaults.
        weights: (n,) the count of each number, or () for 1.

    Raises:
        ValueError: if the parameter cannot learn by any of the rules.
    """
    op, entries = catalogue.find_op(op), tuple(map(catalogue.find_rule, rules))
    learning = tuple(rule for rule in entries if catalogue.find_contribution_or_none(op, rule, name))
    if not learning:
        catalogue.find_contribution(op, entries[0], name)  # raises ValueError if the parameter cannot learn
    at = make_grid(find_parameter(op, learning, name))
    start, count = dict(settings or {}), sum(weights) or len(numbers)

    def compute_mean(rule: catalogue.Rule, value: float) -> float:
        net = compute_net_gradient(op, rule, name, numbers, _set_parameter(start, rule, name, value), weights)
        return 0.0 if net.verdict == "rest" else net.total / count

    means = {rule.key: partial(compute_mean, rule) for rule in learning}
    gradients = {key: np.array([mean_at(value) for value in at]) for key, mean_at in means.items()}
    positions = {key: tuple(_find_positions(at, gradients[key], mean_at)) for key, mean_at in means.items()}
    x, errors = torch.tensor(numbers, dtype=torch.float64), []
    for value in at:
        parameters = catalogue.resolve_values(
            op, learning[0], _set_parameter(start, learning[0], name, value)
        )
        y = op.parsed.bind(parameters)(x)
        errors.append(float(np.average(((y - x) ** 2).numpy(), weights=weights or None)))
    return Equilibria(learning, name, at, np.array(errors), gradients, positions)


def find_parameter(op: catalogue.Op, rules: Sequence[catalogue.Rule], name: str) -> catalogue.Parameter:
    """Return the parameter with a given name, from the op or else from the first rule that has it."""
    entries = (op, *(catalogue.adapt_rule(op, rule) for rule in rules))
    return next(p for entry in entries for p in entry.parameters if p.name == name)


def make_grid(parameter: catalogue.Parameter) -> Floats:
    """Return evenly spaced values between the bounds of a parameter, on its linear or logarithmic scale."""
    low, high = parameter.low, parameter.high
    share = np.arange(STEPS) / (STEPS - 1)
    at: Floats = low * (high / low) ** share if parameter.scale == "log" else low + (high - low) * share
    return at


def _set_parameter(
    settings: dict[str, float], rule: catalogue.Rule, name: str, value: float
) -> dict[str, float]:
    return {**settings, name: value, f"{rule.key}.{name}": value}


def _find_positions(
    at: Floats, gradient: Floats, mean: Callable[[float], float]
) -> Iterator[tuple[float, float]]:
    """Yield the intervals in which gradient descent ends, where the gradient rises from negative to positive.

    An interval is a pair of parameter values, which are equal for a single point. At an end of the range, one
    side is enough. An interval next to a value that is not finite is left out.
    """
    runs = _find_sign_runs(np.sign(gradient))
    for (left, _, last), (right, first, _) in pairwise(runs):
        if left < 0 < right:
            position = _bisect(at[last], at[first], lambda value: mean(value) < 0)
            yield position, position
    for number, (sign, first, last) in enumerate(runs):
        before = runs[number - 1][0] if number else -1.0
        after = runs[number + 1][0] if number + 1 < len(runs) else 1.0
        if sign == 0 and before < 0 < after and len(runs) > 1:
            low = _bisect(at[first - 1], at[first], lambda value: mean(value) < 0) if number else at[0]
            is_last = number + 1 == len(runs)
            high = at[-1] if is_last else _bisect(at[last], at[last + 1], lambda value: mean(value) <= 0)
            yield float(low), float(high)


def _find_sign_runs(signs: Floats) -> list[tuple[float, int, int]]:
    runs, first = [], 0
    for _, group in groupby(signs, key=str):
        stretch = list(group)
        runs.append((float(stretch[0]), first, first + len(stretch) - 1))
        first += len(stretch)
    return runs


def _bisect(low: float, high: float, is_left: Callable[[float], bool]) -> float:
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_left(middle) else (low, middle)
    return float(high)


def describe_best(result: Equilibria) -> str:
    """Return a sentence on the value with the smallest error, "" if no error is finite or all are equal."""
    if result.best is None:
        return ""
    return LEARNING_WORDS["least"].format(name=result.name, at=format_number(result.best))


def describe_positions(result: Equilibria, key: str, label: str) -> str:
    """Return a sentence on the values in ``result`` at which the rule ``key`` stops changing a parameter."""
    positions, gradient = result.positions[key], result.gradients[key]
    ends = {"low": format_number(float(result.points[0])), "high": format_number(float(result.points[-1]))}
    texts = [_format_interval(result.points, *position) for position in positions]
    if len(positions) > MAX_POSITIONS:
        low, high = min(map(min, positions)), max(map(max, positions))
        ends = {"low": format_number(low), "high": format_number(high)}
    fields = {"rule": label, "name": result.name, "count": len(positions), **ends}
    fields["places"] = join_texts(texts) if texts else ""
    return LEARNING_WORDS[_choose_text(len(positions), gradient)].format(**fields)


def _choose_text(positions: int, gradient: Floats) -> str:
    if positions:
        return "places" if positions <= MAX_POSITIONS else "many"
    if not np.isfinite(gradient).all():
        return "unknown"
    if (gradient == 0).all():
        return "still"
    if (gradient <= 0).all():
        return "grows"
    return "shrinks" if (gradient >= 0).all() else "nowhere"


def _format_interval(points: Floats, low: float, high: float) -> str:
    if low == high:
        return format_number(low)
    text = "above" if high == points[-1] else "below" if low == points[0] else "stretch"
    return LEARNING_WORDS[text].format(low=format_number(low), high=format_number(high))
