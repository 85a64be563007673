"""Branch points, at which a training run changes a backward rule, the op or the learning rate."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

from explorer.catalogue import Op, Rule, find_op, find_rule, to_finite
from explorer.formula import number_text, quote
from explorer.training.limits import MAX_BRANCHES

Branch = tuple[int, str, str | float]
"""A step, the name of what changes before it ("lr", "op", "rule" for all, or a rule's key), its new value."""


class Course(NamedTuple):
    """The op, the backward rules and the learning rate of a run at one step."""

    op: str | Op
    rules: tuple[str | Rule, ...]
    lr: float


def check_branches(branch: Any, rules: Sequence[str | Rule], steps: int) -> tuple[Branch, ...]:
    """Return checked branch points in the order of their steps.

    Of several points with the same step and name, the last one counts. Raises ValueError with a plain message
    for invalid points.
    """
    if isinstance(branch, str) or not isinstance(branch, list | tuple):
        raise ValueError(f"branch must be a list of tuples (step, name, value), not {quote(branch)}")
    if len(branch) > MAX_BRANCHES:
        raise ValueError(f"a run branches at most {MAX_BRANCHES} times, not {len(branch)}")
    points = {point[:2]: point for point in (_check_branch(item, rules, steps) for item in branch)}
    return tuple(sorted(points.values(), key=lambda point: point[0]))


def _check_branch(point: Any, rules: Sequence[str | Rule], steps: int) -> Branch:
    if not isinstance(point, list | tuple) or len(point) != 3:
        raise ValueError(
            f"a branch point is (step, name, value), such as (200, 'lr', 0.001), not {quote(point)}"
        )
    step, name, value = point
    keys = [find_rule(rule).key for rule in rules]
    if name not in ("lr", "op", "rule", *keys):
        raise ValueError(f"a branch changes lr, op, rule or one of {', '.join(keys)}, not {quote(name)}")
    if isinstance(step, bool) or not hasattr(step, "__index__") or not 0 <= step < steps:
        raise ValueError(f"a branch point must be a step from 0 to {steps - 1}, not {quote(step)}")
    if name != "lr":
        return operator.index(step), name, (find_op if name == "op" else find_rule)(value).key
    number = to_finite("lr", value)
    if number <= 0:
        raise ValueError(f"lr must be above 0, not {quote(value)}")
    return operator.index(step), name, number


def read_branch(text: str, rules: Sequence[str | Rule]) -> Branch:
    """Parse a branch point written as ``step,name:value`` in a link. Raises ValueError with a clause."""
    step, _, rest = text.partition(",")
    names = ["lr", "op", "rule", *(find_rule(rule).key for rule in rules)]
    matches = [name for name in names if rest.startswith(f"{name}:")]
    if not step.isdecimal() or len(step) > 9 or not rest:
        raise ValueError("it must be a step, a name and a value, such as 200,lr:0.001")
    if not matches:
        raise ValueError(f"only lr, op, rule or one of the rules ({', '.join(names[3:])}) can change")
    name = max(matches, key=len)
    value = rest[len(name) + 1 :]
    try:
        return int(step), name, float(value) if name == "lr" else value
    except ValueError:
        raise ValueError("lr must be a number") from None


def format_branch(branch: Branch) -> str:
    """Return a branch point as the text ``step,name:value`` for a link."""
    step, name, value = branch
    return f"{step},{name}:{value if isinstance(value, str) else number_text(value)}"


def format_branches(branch: Sequence[Branch]) -> str:
    """Return branch points as text with one point per line."""
    return "\n".join(map(format_branch, branch))


def find_course(start: Course, branch: Sequence[Branch], step: int) -> Course:
    """Return the op, rules and learning rate at a step, from 0, of a run that begins with ``start``."""
    past = [point for point in branch if point[0] <= step]
    if not past:
        return start
    op, rules, lr = start
    keys = [find_rule(rule).key for rule in rules]
    for _, name, value in past:
        match name, value:
            case "lr", float():
                lr = value
            case "op", str():
                op = value
            case _, str():
                rules = tuple(
                    value if name in ("rule", key) else rule for key, rule in zip(keys, rules, strict=True)
                )
    return Course(op, rules, lr)


def find_first_difference(branch: Sequence[Branch], other: Sequence[Branch]) -> int | None:
    """Return the first step at which two lists of branch points differ. Returns None if they are equal."""
    return min((point[0] for point in {*branch} ^ {*other}), default=None)


def merge_branches(past: Sequence[Branch], future: Sequence[Branch], step: int) -> tuple[Branch, ...]:
    """Return the branch points of ``past`` before a step and those of ``future`` from that step on."""
    return (*(point for point in past if point[0] < step), *(each for each in future if each[0] >= step))
