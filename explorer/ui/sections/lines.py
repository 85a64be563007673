"""The lines on a rule below the chart: its checks, near rules of the catalogue, its row of the table."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from explorer.catalogue import find_op, find_rule, values
from explorer.catalogue.losses import require_fixed
from explorer.checks import Result, check_pair
from explorer.formula import shortened
from explorer.measures import row_of
from explorer.nearest import Neighbour, nearest
from explorer.sampled import LARGEST_RANGE

Answer = dict[str, Any]
Settings = tuple[tuple[str, float], ...]

_DRAWING = "There is no one curve to lay beside those of other rules: {name} hangs on a draw or a loss."
_MOST_NEIGHBOURS, _FAR = 4, 0.5  # how many are listed, and the distance from which on none is


def checks(op: str, rule: str, parameters: Mapping[str, float]) -> Answer:
    """Lines of the checks of an op with a rule, worst first; a message if they fail."""
    return _answered(_checked, op, rule, tuple(sorted(parameters.items())))


def neighbours(op: str, rule: str, parameters: Mapping[str, float], start: float, stop: float) -> Answer:
    """The rules of the catalogue near another over a range, nearest first; a message where there are none."""
    return _answered(_neighbours, op, rule, tuple(sorted(parameters.items())), start, stop)


def row(op: str, rule: str, parameters: Mapping[str, float]) -> Answer:
    """The row of a rule in the table of all that suit an op, as its one line; a message if there is none.

    It is ``Row.plain``.
    """
    return _answered(_row_at, op, rule, parameters)


def _answered(look: Callable[..., Answer], *of: Any) -> Answer:
    try:
        return look(*of)
    except ValueError as error:
        return {"message": f"{error}."}


@lru_cache(maxsize=512)
def _checked(op: str, rule: str, settings: Settings) -> Answer:
    results = check_pair(op, rule, dict(settings)).worst_first
    return {"lines": [_line(result, "name", "verdict", "mark", "sentence") for result in results]}


def _row_at(op: str, rule: str, parameters: Mapping[str, float]) -> Answer:
    """By the values that concern it: with others it is the same row."""
    entries = find_op(op), find_rule(rule)
    require_fixed("compare", *entries)
    own = values(*entries, parameters)
    return _row(op, rule, tuple(sorted(own.items())))


@lru_cache(maxsize=2048)
def _row(op: str, rule: str, settings: Settings) -> Answer:
    return {"lines": [row_of(find_op(op), find_rule(rule), dict(settings)).plain]}


@lru_cache(maxsize=512)
def _neighbours(op: str, rule: str, settings: Settings, start: float, stop: float) -> Answer:
    if drawing := next((one for one in (find_op(op), find_rule(rule)) if one.draws), None):
        return {"message": _DRAWING.format(name=shortened(drawing.label))}
    others = [one for one in nearest(op, rule, start=start, stop=stop, **dict(settings)) if one.rule != rule]
    near = [one for one in others if one.distance < _FAR][:_MOST_NEIGHBOURS]
    return {"lines": [_line(one, "rule", "sentence", "parameters") for one in near]}


def _line(result: Result | Neighbour, *fields: str) -> Answer:
    """Fields of a result, and the x ``where`` it can be seen: None outside the largest range."""
    visible = result.where is not None and abs(result.where) <= LARGEST_RANGE
    return {name: getattr(result, name) for name in fields} | {
        "where": float(f"{result.where:.6g}") if visible else None
    }
