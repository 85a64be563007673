"""The questions on one rule: its checks, its neighbours in the catalogue, and its row in the table."""

from explorer.catalogue import RULES, find_op, find_rule
from explorer.catalogue.losses import require_deterministic
from explorer.catalogue.records import MAX_ABS_X
from explorer.checks import Result, check_pair
from explorer.checks.result import MEANINGS
from explorer.formula import truncate
from explorer.measures import make_row
from explorer.measures.nearest import Neighbour, nearest
from explorer.questions import Answer

_STOCHASTIC = (
    "{name} depends on a random draw or a loss, so it has no single curve to compare with other rules."
)
_MAX_NEIGHBOURS = 4
_MAX_DISTANCE = 0.5  # relative distance from which rules are no neighbours
_CLOSE = 0.1  # relative distance below which rules are close
_MAX_RATIO = 4.0  # a similar rule says nothing if it is stretched or a parameter is changed by more


def list_checks(op: str, rule: str, parameters: dict[str, float]) -> Answer:
    """Return under "lines" the results of all checks of an op with a rule, worst first; "terms" explains."""
    results = check_pair(op, rule, parameters).worst_first
    lines = [_make_line(result, "name", "verdict", "mark", "sentence") for result in results]
    return {"lines": lines, "terms": MEANINGS}


def list_neighbours(op: str, rule: str, parameters: dict[str, float], start: float, stop: float) -> Answer:
    """Return under "lines" the catalogue's rules that are near a rule over a range, nearest first.

    "close" is a sentence about the nearest one if the curves are hardly distinguishable, otherwise "". A rule
    that is similar only at extreme numbers is left out.

    Raises ValueError for a stochastic op or rule.
    """
    if stochastic := next((one for one in (find_op(op), find_rule(rule)) if one.is_random), None):
        raise ValueError(_STOCHASTIC.format(name=truncate(stochastic.label)))
    neighbours = [one for one in nearest(op, rule, start=start, stop=stop, **parameters) if one.rule != rule]
    near = [one for one in neighbours if one.distance < _MAX_DISTANCE and _is_sensible(one)][:_MAX_NEIGHBOURS]
    lines, close = [_make_line(one, "rule", "sentence", "parameters") for one in near], ""
    if near and near[0].distance < _CLOSE:
        close = near[0].sentence if near[0].is_same else f"Close to {near[0].sentence}"
    return {"lines": lines, "close": close}


def _is_sensible(one: Neighbour) -> bool:
    """Return whether a rule is the same with short numbers, or similar with numbers near its defaults."""
    if one.is_same:  # two long numbers, or more, only move a mask's ends out of sight
        return sum(value != float(f"{value:.2g}") for value in one.parameters.values()) < 2
    shown = {parameter.display_name: parameter for parameter in RULES[one.rule].parameters}
    fitted = [(shown[name], value) for name, value in one.parameters.items()]
    ratios = [one.width, one.factor, *(value / each.default for each, value in fitted if each.default)]
    is_inside = all(each.low < value < each.high for each, value in fitted)
    is_plain = not fitted or one.width == 1 or not one.shift
    return is_inside and is_plain and all(1 / _MAX_RATIO <= ratio <= _MAX_RATIO for ratio in ratios)


def answer_row(op: str, rule: str, parameters: dict[str, float]) -> Answer:
    """Return a rule's row in the table that compares all rules for an op."""
    entries = find_op(op), find_rule(rule)
    require_deterministic("compare", *entries)
    return {"row": make_row(*entries, parameters).plain}


def _make_line(result: Result | Neighbour, *fields: str) -> Answer:
    """Return some `fields` of a result as a dict, and its x under `where`, None if that is off the chart."""
    visible = result.where is not None and abs(result.where) <= MAX_ABS_X
    return {name: getattr(result, name) for name in fields} | {
        "where": float(f"{result.where:.6g}") if visible else None
    }
