"""Branch points: steps from which a run goes on with another rule, op or learning rate."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

from explorer.catalogue import Op, Rule, find_op, find_rule, to_finite
from explorer.formula import number_text, quote
from explorer.training.limits import MAX_BRANCHES

Branch = tuple[int, str, str | float]
"""A step, what changes before it is taken ("lr", "op", "rule" for all, or the key of one), and to what."""


class Course(NamedTuple):
    """The course of a run at a step: its op, the rule of each of its lines, and the learning rate."""

    op: str | Op
    rules: tuple[str | Rule, ...]
    lr: float


def checked_branches(branch: Any, rules: Sequence[str | Rule], steps: int) -> tuple[Branch, ...]:
    """Branch points in the order of their steps; the last of the same step and name counts.

    Raises ValueError with a plain sentence for what cannot be.
    """
    if isinstance(branch, str) or not isinstance(branch, list | tuple):
        raise ValueError(f"branch must be a list of (step, name, value), not {quote(branch)}")
    if len(branch) > MAX_BRANCHES:
        raise ValueError(f"a run branches at most {MAX_BRANCHES} times, not {len(branch)}")
    points = {point[:2]: point for point in (_checked(each, rules, steps) for each in branch)}
    return tuple(sorted(points.values(), key=lambda point: point[0]))


def _checked(point: Any, rules: Sequence[str | Rule], steps: int) -> Branch:
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
    return operator.index(step), name, _value(name, value)


def _value(name: str, value: Any) -> str | float:
    if name != "lr":
        return (find_op if name == "op" else find_rule)(value).key
    number = to_finite("lr", value)
    if number <= 0:
        raise ValueError(f"lr must be above 0, not {quote(value)}")
    return number


def read_branch(text: str, rules: Sequence[str | Rule]) -> Branch:
    """The branch point that a link writes ``step,name:value``. Raises ValueError with a clause."""
    step, _, rest = text.partition(",")
    names = ["lr", "op", "rule", *(find_rule(rule).key for rule in rules)]
    known = [name for name in names if rest.startswith(f"{name}:")]
    if not step.isdecimal() or len(step) > 9 or not rest:
        raise ValueError("it must be a step, a name and a value, such as 200,lr:0.001")
    if not known:
        raise ValueError(f"what changes must be lr, op, rule or one of the rules: {', '.join(names[3:])}")
    name = max(known, key=len)
    value = rest[len(name) + 1 :]
    return int(step), name, _number(value) if name == "lr" else value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("lr must be a number") from None


def branch_text(branch: Branch) -> str:
    """A branch point as a link writes it."""
    step, name, value = branch
    return f"{step},{name}:{value if isinstance(value, str) else number_text(value)}"


def branches_text(branch: Sequence[Branch]) -> str:
    """Several branch points, one a line."""
    return "\n".join(map(branch_text, branch))


def course(start: Course, branch: Sequence[Branch], step: int) -> Course:
    """The course in force at a step, from 0."""
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


def parting(one: Sequence[Branch], other: Sequence[Branch]) -> int | None:
    """The first step at which two lists of branch points differ; None where they are the same."""
    return min((point[0] for point in {*one} ^ {*other}), default=None)


def merged(past: Sequence[Branch], future: Sequence[Branch], step: int) -> tuple[Branch, ...]:
    """The branch points of the past before a step, and those of the future from it on."""
    return (*(each for each in past if each[0] < step), *(each for each in future if each[0] >= step))
