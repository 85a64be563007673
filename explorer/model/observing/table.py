"""The tables of an observation: sites with the op and rule that match their values, and parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from explorer.catalogue import OPS, RULES, Rule
from explorer.formula.printing import number_text as number
from explorer.gradient import bind
from explorer.model.observing.rows import Row

if TYPE_CHECKING:
    from explorer.model.observing.listener import Listener

COLUMNS = (
    "site", "op", "computes", "rule", "line", "calls", "x_mean", "x_sd", "g_out", "g_in", "share_grad",
    "blocked_here", "none_came", "units", "dead_by_rule", "dead_from_above", "note",
)  # fmt: skip
PARAMETER_COLUMNS = ("parameter", "gradient", "site", "op", "line", "why")
_NOTES = {"trick": "detach trick", "mask": "mask computed from its own x"}

OWN_RULE, _WINDOW_RULE = "own", "masked"
_COMPARED = 500  # number of elements compared to name a rule
_CLOSE = 1e-4
_PER_UNIT = 8  # least number of elements per unit for a window per unit
_FEW_VALUES = 9  # with this many distinct values of x or fewer, no op is named
_FACTORS, _NEAR_ONE = 64.0, 0.02  # largest factor on a rule; tolerance within which a factor counts as 1
_GRID = (0.1, 0.2, 0.25, 0.5, 0.75, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 8.0, 10.0, 20.0, 25.0, 50.0, 100.0)


def make_row(name: str, row: Row) -> dict[str, Any]:
    """Return the row of a site in ``Observation.frame``. ``elements`` counts those with known gradients."""
    units = row.units
    count, by_rule, from_above = units if units else (math.nan,) * 3
    has_backward = bool(row.known)
    notes = [_NOTES[row.kind]] if row.kind in _NOTES else []
    notes += ["carries a detach trick"] if row.carries else []
    notes += [f"{'in some calls ' * has_backward}{reason}" for reason in row.reasons]
    notes += [f"{row.broken} gradients are not finite"] if row.broken else []
    notes += [] if row.same_shape else ["y has another shape than x"]
    return {
        "site": name,
        "op": row.op,
        "computes": op_of(row),
        "rule": measure_rule(row),
        "line": row.site.line,
        "calls": row.calls,
        "x_mean": row.mean if row.elements else math.nan,
        "x_sd": math.sqrt(row.variance) if row.elements else math.nan,
        "g_out": math.sqrt(row.square_out) if has_backward else math.nan,
        "g_in": math.sqrt(row.square_in) if has_backward else math.nan,
        "share_grad": row.share(row.got),
        "blocked_here": row.share(row.blocked) if row.same_shape else math.nan,
        "none_came": row.share(row.none) if row.same_shape else math.nan,
        "units": count,
        "dead_by_rule": by_rule,
        "dead_from_above": from_above,
        "note": "; ".join(notes),
        "elements": row.known,
    }


def make_parameter_rows(listener: Listener, names: Mapping[Any, str]) -> list[dict[str, Any]]:
    """Return a table row for each parameter that took part in a backward; see ``Observation.parameters``."""
    rows: list[tuple[Any, ...]] = []
    for name, parameter in listener.model.named_parameters():
        if (blame := listener.find_blame(name)) is not None:
            site, line = ("", math.nan) if blame.site is None else (blame.site.names[0], blame.site.line)
            rows.append((name, blame.gradient, names.get(blame.site, site), blame.op, line, blame.reason))
        elif listener.arrived.get(name) or not parameter.requires_grad:
            gradient = "arrives" if listener.arrived.get(name) else "frozen"
            rows.append((name, gradient, "", "", math.nan, ""))
    return [dict(zip(PARAMETER_COLUMNS, row, strict=True)) for row in rows]


def op_of(row: Row) -> str:
    """Return the catalogue's key of a site's op, or "" if no op matches the measured values."""
    pairs = [(item.x, item.y) for item in row.samples if item.y is not None]
    if row.key or not pairs:
        return row.key
    x, y = (torch.cat(item) for item in zip(*pairs, strict=True))
    is_clear = len(torch.unique(x)) > _FEW_VALUES and bool((y != y[0]).any())
    keys = [*([row.op] if row.op in OPS else []), "identity", *OPS] if is_clear else []
    for key in keys:
        with suppress(ValueError, RuntimeError, TypeError):
            expected = None if OPS[key].is_random else bind(key, "default", {}).forward(x)
            if expected is not None and torch.allclose(expected, y, rtol=1e-4, atol=1e-5):
                return key
    return ""


def measure_rule(row: Row) -> str:
    """Return the name of a site's rule: its key, with a parameter or factor if it needs one, or "own".

    "own" means that no rule of the catalogue gives the measured gradients, "" that none were measured.
    """
    if row.rule or not row.samples:
        return row.rule
    op = op_of(row)
    given = row.parameters if op == row.key else {}
    given = {n: v.detach() if isinstance(v, Tensor) else v for n, v in given.items()}
    numbers = {n: float(v) for n, v in given.items() if not isinstance(v, Tensor) or v.numel() == 1}
    name = rule_of(op, numbers, *row.points)
    if name == OWN_RULE:
        units = torch.cat([item.find_units(row.axis or 0) for item in row.samples])
        name = _fit_unit_windows(*row.points, units)
    return "straight_through" if name == "default" and op not in OPS else name


def _fit_unit_windows(x: Tensor, g: Tensor, gradient: Tensor, unit: Tensor) -> str:
    """Return the name of the rule that passes g in a window of its own for each unit, or "own"."""
    has_passed, count = gradient != 0, int(unit.max()) + 1
    if len(x) < _PER_UNIT * count:
        return OWN_RULE
    empty, at = torch.full((count,), torch.inf, dtype=x.dtype), (0, unit[has_passed], x[has_passed])
    lo, hi = empty.scatter_reduce(*at, "amin"), (-empty).scatter_reduce(*at, "amax")
    expected = g * ((lo[unit] <= x) & (x <= hi[unit]))
    is_close = torch.allclose(expected, gradient, rtol=_CLOSE, atol=_CLOSE * float(g.abs().max()))
    return f"{_WINDOW_RULE} for each unit" if is_close else OWN_RULE


def rule_of(op: str, parameters: Mapping[str, float], x: Tensor, g: Tensor, gradient: Tensor) -> str:
    """Return the name of the rule that gives the measured gradients. All tensors are (n,) float64.

    Returns "default" for torch's own gradient, "own" if no rule fits, and "" if no gradient came. The op
    uses the given parameters and the rule its defaults. If no rule fits like that, one parameter or a factor
    is fitted.
    """
    has_gradient = g.abs() > 1e-9 * g.abs().max() if len(g) else g.bool()
    step = max(1, int(has_gradient.sum()) // _COMPARED)
    x, g, gradient = data = [item[has_gradient][::step].float().double() for item in (x, g, gradient)]
    if not len(x):
        return ""
    rules, factors = _list_candidates(op), list[float | None]()
    for rule in rules:
        factors.append(_find_factor(op, rule, parameters, *data))
        if factors[-1] == 1:
            return rule.key
    if not gradient.any():
        return OWN_RULE
    for rule, factor in zip(rules, factors, strict=True):
        if factor is not None and rule.key not in ("default", "zero"):
            return f"{rule.key} × {number(round(factor, 4))}"
    passing = x[gradient != 0]
    for rule in rules:
        values: list[dict[str, float]] = []
        if rule.key == _WINDOW_RULE:
            values = [{"lo": float(passing.min()), "hi": float(passing.max())}]
        names = [p.name for p in rule.parameters if p.name not in ("lo", "hi")]
        if rule.parsed is not None and len(names) == 1:
            values += [{names[0]: value} for value in _GRID]
        for given in values:
            if _find_factor(op, rule, {**parameters, **given}, *data) == 1:
                return " ".join([rule.key, *(f"{n}={number(float(f'{v:.3g}'))}" for n, v in given.items())])
    return OWN_RULE


@lru_cache(maxsize=64)
def _list_candidates(op: str) -> tuple[Rule, ...]:
    first = ["default"] if op in OPS else []
    family = OPS[op].family if op in OPS else ""
    suiting = [key for key, rule in RULES.items() if not rule.suits or family in rule.suits or not family]
    return tuple(RULES[key] for key in dict.fromkeys([*first, "straight_through", "zero", *suiting]))


def _find_factor(
    op: str, rule: Rule, parameters: Mapping[str, float], x: Tensor, g: Tensor, gradient: Tensor
) -> float | None:
    """Return the factor by which a rule gives the measured gradients, or None if there is none."""
    if op not in OPS and (rule.parsed is None or "y" in rule.parsed.variables):
        return None
    with suppress(ValueError, RuntimeError):
        bound = bind(op if op in OPS else "identity", rule, parameters)
        expected = bound.gradient(x, bound.forward(x), g)
        atol = _CLOSE * float(g.abs().max()) + 1e-30
        if torch.allclose(expected, gradient, rtol=_CLOSE, atol=atol):
            return 1.0
        square = float((expected * expected).sum())
        factor = float((expected * gradient).sum()) / square if square else 0.0
        is_scale = rule.key == "straight_through"  # the scale of LSQ's gradient is a small factor
        is_possible = abs(factor - 1) >= _NEAR_ONE and (is_scale or 1 / _FACTORS < abs(factor) < _FACTORS)
        atol *= min(1.0, abs(factor))
        if is_possible and torch.allclose(factor * expected, gradient, rtol=_CLOSE, atol=atol):
            return factor
    return None
