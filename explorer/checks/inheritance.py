"""The catalogue's rule with the same curve as a user's function, which inherits its declarations.

The same means everywhere, for g and −g, with no factor. ``explorer.nearest`` finds rules that come near over
a range, up to a factor.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import torch
from torch import Tensor

from explorer.catalogue import RULES, Rule
from explorer.checks.curve import MANY_JUMPS, Curve
from explorer.checks.linearity import find_effect_of_others

# Families for which a rule for any op is meant: on a smooth op g alone is a forgotten derivative.
_FURTHER = (2.0, -0.5, 100.0)  # g
_ANYWHERE = ("jumps", "bounded")
_HEIGHTS = {"sign": 2.0, "step": 1.0}  # heights of the jumps that families of rules replace
_TOO_FAR = 2.0  # of a curve's size: a start with more is not refined
_ABOUT_ZERO = 1e-3
_SAME, _STEP, _MOST_IDLE, _MOST_CANDIDATES = 1e-6, 1e-6, 3, 14


@dataclass(frozen=True)
class Match:
    """A rule of the catalogue and the parameters with which it has the same curve, factor 1."""

    rule: Rule
    parameters: Mapping[str, float]

    @property
    def text(self) -> str:
        """Its label and, in brackets, its parameters."""
        values = ", ".join(f"{name} = {value:.3g}" for name, value in self.parameters.items())
        return f"{self.rule.label} ({values})" if values else self.rule.label


@lru_cache(maxsize=2)
def match_rule(curve: Curve) -> Match | None:
    """Return the catalogue's rule that suits the op and has the same gradient, for several g; or None.

    A declared fault is never inherited. A factor makes another rule.
    A gradient that overflows, or that depends on other elements, is no rule's.
    """
    if bool(curve.gradient.isinf().any()) or find_effect_of_others(curve):
        return None
    matched = next(_iterate_for_op(curve), None)
    if matched is None and curve.flat and len(curve.jumps[0]) < MANY_JUMPS and _is_linear(curve):
        matched = next(_iterate_for_jump(curve, 1.0), None)
    return matched


@lru_cache(maxsize=2)
def match_scaled(curve: Curve, factor: float) -> Match | None:
    """Return the catalogue's rule for a jump that equals ``factor`` times the gradient; or None."""
    if bool(curve.gradient.isinf().any()) or not curve.flat or not _is_linear(curve):
        return None
    return next(_iterate_for_jump(curve, factor), None)


def _is_linear(curve: Curve) -> bool:
    """Return whether the gradient for several g is g times that for 1."""
    return all(_is_close(curve.subject.gradient(curve.x, g), g * curve.gradient) for g in _FURTHER)


def _iterate_for_op(curve: Curve) -> Iterator[Match]:
    """Yield rules whose parameters, if they have any, are those of the op."""
    x, y = curve.x, curve.y
    pulls = {g: curve.subject.gradient(x, g) for g in (1.0, -1.0, *_FURTHER)}
    lo, hi = float(y.min()), float(y.max())
    families = _find_families(curve, lo, hi)
    for rule in RULES.values():
        if rule.parsed is None or rule.fault or not families & {*(rule.suits or _ANYWHERE)}:
            continue
        for parameters in _iterate_settings(rule, pulls[1.0], lo, hi, curve):
            evaluate = rule.parsed.bind(parameters)
            if all(_is_close(evaluate(x, y, torch.full_like(x, g)), r) for g, r in pulls.items()):
                yield Match(rule, parameters)


def _find_families(curve: Curve, lo: float, hi: float) -> set[str]:
    holds = {
        "jumps": curve.flat,
        "bounded": _is_close(curve.y, curve.x.clamp(lo, hi)),
        "rectifier": _is_close(curve.y, curve.x.relu()),
    }
    return {family for family, does in holds.items() if does}


def _iterate_settings(
    rule: Rule, up: Tensor, lo: float, hi: float, curve: Curve
) -> Iterator[dict[str, float]]:
    names = {parameter.name for parameter in rule.parameters}
    if not names:
        yield {}
    elif names == {"lo", "hi"} and not curve.flat:
        yield {"lo": lo, "hi": hi}
    elif names == {"slope"}:
        yield {"slope": float(up[0])}


def _iterate_for_jump(curve: Curve, factor: float) -> Iterator[Match]:
    """Yield rules made for a jump, at the jump; their parameters are fitted, their factor is given."""
    at, heights = curve.jumps
    size = float(heights.sum()) / factor
    if size == 0:
        return
    centre = float(at.mean())
    x, r = curve.x, curve.gradient
    u = x - centre
    near = u.abs() < 50
    u, r = u[near][::2], r[near][::2]
    rises = abs(float(heights.sum()))
    for family, height in sorted(_HEIGHTS.items(), key=lambda row: abs(row[1] - rises)):
        target = r * (height / size)
        for rule in RULES.values():
            if rule.group == family and rule.parsed and rule.linear and "y" not in rule.parsed.variables:
                parameters = _fit(rule, u, target, curve, centre)
                if parameters is not None:
                    yield Match(rule, parameters)


def _fit(rule: Rule, u: Tensor, target: Tensor, curve: Curve, centre: float) -> dict[str, float] | None:
    assert rule.parsed
    names = tuple(parameter.name for parameter in rule.parameters)
    if "mean(" in (rule.formula or ""):
        return None
    evaluate, y, g = rule.parsed.varying(names).bind({}), torch.zeros_like(u), torch.ones_like(u)

    def measure_distance(values: Tensor) -> Tensor:
        return evaluate(u, y, g, dict(zip(names, values, strict=True))) - target

    starts = [
        torch.tensor(values, dtype=u.dtype) for values in _iterate_candidates(rule, target, curve, centre)
    ]
    best = min(starts, key=lambda values: float(measure_distance(values).nan_to_num(nan=1e9).square().sum()))
    if float(measure_distance(best).nan_to_num(nan=1e9).norm()) > _TOO_FAR * float(target.norm()):
        return None
    best = _refine(measure_distance, best) if names and not _is_zero(measure_distance(best), target) else best
    if not _is_zero(measure_distance(best), target) or not _is_within(rule, best) or _is_partial(rule, best):
        return None
    return dict(zip(names, best.tolist(), strict=True))


def _iterate_candidates(
    rule: Rule, target: Tensor, curve: Curve, centre: float
) -> Iterator[tuple[float, ...]]:
    """Yield parameter values to try: defaults, the function's own numbers, edges and peak of the curve."""
    peak = float(target.abs().max())
    edges = (curve.breaks[0] - centre).abs().tolist()[:4]
    hints = [
        *curve.subject.numbers,
        *edges,
        *(1 / edge for edge in edges if edge > 1e-6),
        peak,
        4 * peak,
        2 * peak,
    ]
    hints = list(dict.fromkeys(round(hint, 9) for hint in hints if hint > 0))[:_MOST_CANDIDATES]
    item = [[parameter.default, *hints] for parameter in rule.parameters]
    return product(*(item if len(item) < 3 else [values[:5] for values in item]))


def _refine(distance: Callable[[Tensor], Tensor], values: Tensor) -> Tensor:
    """Return values after damped Gauss–Newton steps on the logarithms of positive parameters."""
    logs, damping, idle = values.clamp(min=1e-3).log(), 1e-3, 0
    error, unit = distance(logs.exp()), torch.eye(len(logs), dtype=logs.dtype)
    while idle < _MOST_IDLE:
        jacobian = torch.stack(
            [(distance((logs + _STEP * single).exp()) - error) / _STEP for single in unit], 1
        )
        square = jacobian.nan_to_num(nan=0.0, posinf=0.0, neginf=0.0)
        normal = square.T @ square
        damped = normal + damping * torch.diag(normal.diagonal()) + 1e-15 * unit
        tried = logs + torch.linalg.solve(damped, -square.T @ error).clamp(-1, 1)
        left, before = float(distance(tried.exp()).square().sum()), float(error.square().sum())
        idle = idle + 1 if not left < 0.7 * before else 0
        if left < before:
            logs, error, damping = tried, distance(tried.exp()), damping / 5
        else:
            damping *= 10
    return logs.exp()


def _is_within(rule: Rule, values: Tensor) -> bool:
    """Return whether parameters lie within the bounds of the rule's controls."""
    pairs = zip(rule.parameters, values.tolist(), strict=True)
    return all(parameter.low * 0.99 <= value <= parameter.high * 1.01 for parameter, value in pairs)


def _is_partial(rule: Rule, values: Tensor) -> bool:
    """Return whether a parameter is about 0 whose default is not, so that a part of the rule is missing."""
    pairs = zip(rule.parameters, values.tolist(), strict=True)
    return any(parameter.default and abs(value) < _ABOUT_ZERO for parameter, value in pairs)


def _is_zero(distance: Tensor, target: Tensor) -> bool:
    return bool(distance.abs().max() <= _SAME * target.abs().max())


def _is_close(left: Tensor, right: Tensor) -> bool:
    least = min(1.0, float(right.abs().max()))
    return bool(torch.allclose(left, right, rtol=1e-6, atol=1e-9 * least))
