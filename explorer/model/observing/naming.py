"""Search for the catalogue's op and rule that match the measured values and gradients of a site."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache

import torch
from torch import Tensor

from explorer.catalogue import OPS, RULES, Op, Rule
from explorer.formula.printing import number_text as number
from explorer.gradient import bind
from explorer.model.observing.rows import Row, Sample

OWN_RULE, _WINDOW_RULE = "own", "masked"
_COMPARED = 500  # number of elements compared to name a rule
_CLOSE = 1e-4
_PER_UNIT = 8  # least number of elements per unit for a window per unit
_FEW_VALUES = 9  # with this many distinct values of x or fewer, no op is named
_FACTORS, _NEAR_ONE = 64.0, 0.02  # largest factor on a rule; tolerance within which a factor counts as 1
_GRID = (0.1, 0.2, 0.25, 0.5, 0.75, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 8.0, 10.0, 20.0, 25.0, 50.0, 100.0)


def op_of(row: Row) -> str:
    """Return the catalogue's key of a site's op, or "" if no op matches the measured values."""
    if row.key:
        return row.key
    pairs = [(item.x, item.y) for item in row.samples if item.y is not None]
    if not pairs:
        return ""
    x, y = (torch.cat(item) for item in zip(*pairs, strict=True))
    if len(torch.unique(x)) <= _FEW_VALUES:
        return ""
    first = [row.op] if row.op in OPS else []
    return next((key for key in (*first, *OPS) if _is_computing(key, x, y)), "")


def _is_computing(key: str, x: Tensor, y: Tensor) -> bool:
    if OPS[key].is_random:
        return False
    with suppress(ValueError, RuntimeError, TypeError):
        return bool(torch.allclose(bind(key, "default", {}).forward(x), y, rtol=1e-4, atol=1e-5))
    return False


def measure_rule(row: Row) -> str:
    """Return the name of a site's rule: its key, with a parameter or factor if it needs one, or "own".

    "own" means that no rule of the catalogue gives the measured gradients, "" that none were measured.
    """
    if row.rule:
        return row.rule
    samples: Sequence[Sample] = row.samples
    if not samples:
        return ""
    op = op_of(row)
    given = row.parameters if op == row.key else {}
    numbers = {n: float(v) for n, v in given.items() if not isinstance(v, Tensor) or v.numel() == 1}
    name = rule_of(op, numbers, *row.points)
    if name == OWN_RULE:
        name = _fit_unit_windows(*row.points, torch.cat([item.units for item in samples]))
    return "straight_through" if name == "default" and op not in OPS else name


def _fit_unit_windows(x: Tensor, g: Tensor, gradient: Tensor, unit: Tensor) -> str:
    """Return the name of the rule that passes g in a window of its own for each unit, or "own"."""
    has_passed, count = gradient != 0, int(unit.max()) + 1
    if len(x) < _PER_UNIT * count:
        return OWN_RULE
    lo, hi = (
        torch.full((count,), -sign * torch.inf, dtype=x.dtype).scatter_reduce(
            0, unit[has_passed], x[has_passed], "amin" if sign < 0 else "amax"
        )
        for sign in (-1, 1)
    )
    expected = g * ((lo[unit] <= x) & (x <= hi[unit]))
    return f"{_WINDOW_RULE} for each unit" if torch.allclose(expected, gradient, rtol=_CLOSE) else OWN_RULE


def rule_of(op: str, parameters: Mapping[str, float], x: Tensor, g: Tensor, gradient: Tensor) -> str:
    """Return the name of the rule that gives the measured gradients. All tensors are (n,) float64.

    Returns "default" for torch's own gradient, ``OWN`` if no rule fits, and "" if no gradient came. The op
    uses the given parameters and the rule its defaults. If no rule fits like that, one parameter or a factor
    is fitted.
    """
    has_gradient = g.abs() > 1e-9 * g.abs().max() if len(g) else g.bool()
    step = max(1, int(has_gradient.sum()) // _COMPARED)
    x, g, gradient = (item[has_gradient][::step].float().double() for item in (x, g, gradient))
    if not len(x):
        return ""
    data = (x, g, gradient)
    rules = _list_candidates(op)
    for rule in rules:
        if _find_factor(op, rule, parameters, *data) == 1:
            return rule.key
    return _fit_rule(op, rules, parameters, *data) if bool(gradient.any()) else OWN_RULE


def _fit_rule(
    op: str, rules: Sequence[Rule], parameters: Mapping[str, float], x: Tensor, g: Tensor, gradient: Tensor
) -> str:
    """Return the name of the rule that fits with a factor or another parameter value, or ``OWN``."""
    for rule in rules:
        factor = _find_factor(op, rule, parameters, x, g, gradient)
        if factor is not None and rule.key not in ("default", "zero"):
            return f"{rule.key} × {number(round(factor, 4))}"
    passing = x[gradient != 0]
    for rule in rules:
        if rule.key == _WINDOW_RULE:
            window = {"lo": float(passing.min()), "hi": float(passing.max())}
            if _find_factor(op, rule, {**parameters, **window}, x, g, gradient) == 1:
                return f"{rule.key} " + " ".join(
                    f"{n}={number(float(f'{v:.3g}'))}" for n, v in window.items()
                )
        names = [p.name for p in rule.parameters if p.name not in ("lo", "hi")]
        for value in _GRID if rule.parsed is not None and len(names) == 1 else ():
            if _find_factor(op, rule, {**parameters, names[0]: value}, x, g, gradient) == 1:
                return f"{rule.key} {names[0]}={number(value)}"
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
    known_op: str | Op = op if op in OPS else "identity"
    if op not in OPS and (rule.parsed is None or "y" in rule.parsed.variables):
        return None
    with suppress(ValueError, RuntimeError):
        bound = bind(known_op, rule, parameters)
        expected = bound.gradient(x, bound.forward(x), g)
        atol = _CLOSE * float(g.abs().max()) + 1e-30
        if torch.allclose(expected, gradient, rtol=_CLOSE, atol=atol):
            return 1.0
        square = float((expected * expected).sum())
        factor = float((expected * gradient).sum()) / square if square else 0.0
        if abs(factor - 1) < _NEAR_ONE or not 1 / _FACTORS < abs(factor) < _FACTORS:
            return None
        if torch.allclose(factor * expected, gradient, rtol=_CLOSE, atol=atol * min(1.0, abs(factor))):
            return factor
    return None
