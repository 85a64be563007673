"""Find the catalogue's rule with the same curve as a user's function, to use the rule's declarations.

Curves are the same if they agree at every x, for g and −g, up to a given factor. ``explorer.nearest`` finds
rules that are only similar, over a range.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import torch
from torch import Tensor

from explorer.catalogue import RULES, Rule
from explorer.checks.linearity import find_effect_of_others
from explorer.checks.result import format_number
from explorer.curves.bisection import round_position
from explorer.curves.user_functions.curve import Curve

_MORE_G = (2.0, -0.5, 100.0)  # further upstream gradients to try after 1 and −1
_ANYWHERE = ("jumps", "bounded")  # op families that suit a rule without a family
_HEIGHTS = {"sign": 2.0, "step": 1.0}  # jump heights of the ops that a family of rules replaces
_MIN_LEVEL = 1e-3  # lower bound of a fitted parameter that the rule can learn
_TOO_FAR = 2.0  # fits are not refined from a start with a larger relative error
_TOLERANCE, _STEP, _MAX_IDLE = 1e-6, 1e-6, 3


@dataclass(frozen=True)
class Match:
    """A rule of the catalogue with the parameter values that give it the same curve as a user's function."""

    rule: Rule
    parameters: Mapping[str, float]

    @property
    def text(self) -> str:
        """The rule's label and, in brackets, its parameters."""
        values = ", ".join(f"{name} = {value:.3g}" for name, value in self.parameters.items())
        return f"{self.rule.label} ({values})" if values else self.rule.label


def describe_match(curve: Curve, factor: float = 1.0) -> str:
    """Return words for the catalogue rule that equals ``factor`` times the gradient, or "" if none does."""
    match = match_rule(curve, factor)
    times = "" if factor == 1.0 else f"{format_number(1 / factor)} times "
    return f"{times}the catalogue's {match.text}" if match else ""


@lru_cache(maxsize=8)
def match_rule(curve: Curve, factor: float = 1.0) -> Match | None:
    """Return a catalogue rule that suits the op and equals ``factor`` times the gradient, or None.

    Rules with a declared fault never match, nor does a gradient that overflows, depends on other elements, or
    is too narrow to be seen.
    """
    if bool(curve.gradient.isinf().any()) or find_effect_of_others(curve):
        return None
    if not bool(curve.gradient.any()) and bool(curve.integral[1].any()):
        return None
    gradients = {g: factor * curve.subject.gradient(curve.x, g) for g in (1.0, -1.0, *_MORE_G)}
    matched = _match_op(curve, gradients)
    if matched is None and bool(gradients[1.0].any()):  # a rule that clips large g is judged by small ones
        matched = _match_op(
            curve, {g: factor * curve.subject.gradient(curve.x, g / 1e3) * 1e3 for g in gradients}
        )
    is_jump = curve.is_flat and (not curve.is_staircase or factor != 1.0)
    if matched is None and is_jump and all(_is_close(gradients[g], g * gradients[1.0]) for g in _MORE_G):
        return _match_jump(curve, factor)
    return matched


def _match_op(curve: Curve, gradients: Mapping[float, Tensor]) -> Match | None:
    """Return the first catalogue rule with this gradient, and parameters read from the curve, or None."""
    x, y = curve.x, curve.y
    lo, hi = float(y.min()), float(y.max())
    is_bounded, is_rectifier = _is_close(y, x.clamp(lo, hi)), _is_close(y, x.relu())
    fitting = {"jumps": curve.is_flat, "bounded": is_bounded, "rectifier": is_rectifier}
    families = {family for family, fits in fitting.items() if fits}
    bounds = [] if curve.is_flat else [lo, hi]
    # A bounded staircase needs a mask of its own range; any other op with jumps may have any mask.
    if curve.is_flat and (math.isinf(curve.rise) or (curve.subject.op and not curve.is_staircase)):
        bounds = [round_position(at) for at in curve.gradient_jumps[0].tolist()]
    values_read = {"slope": float(gradients[1.0][0])}
    values_read |= {"lo": bounds[0], "hi": bounds[1]} if len(bounds) == 2 else {}
    for rule in RULES.values():
        names = {parameter.name for parameter in rule.parameters}
        suits = not rule.fault and families & {*(rule.suits or _ANYWHERE)}
        if rule.parsed and suits and names <= {*values_read}:
            parameters = {name: value for name, value in values_read.items() if name in names}
            evaluate = rule.parsed.bind(parameters)
            if all(_is_close(evaluate(x, y, torch.full_like(x, g)), r) for g, r in gradients.items()):
                return Match(rule, parameters)
    return None


def _match_jump(curve: Curve, factor: float) -> Match | None:
    """Return the first rule for ops that jump that equals the gradient, with fitted parameters, or None.

    The rules are centred on the op's jump. Among rules of infinite area, those that learn are for two jumps,
    the others for one.
    """
    at, rises = curve.jumps[0], float(curve.jumps[1].sum())
    u = curve.x - float(at.mean())
    near = u.abs() < 50
    u, r = u[near][::2], factor * curve.gradient[near][::2]
    for family, height in sorted(_HEIGHTS.items(), key=lambda row: abs(row[1] - abs(rises))):
        for rule in RULES.values():
            if rule.group != family or not rule.parsed or not rule.linear or not rises:
                continue
            needs_others = "y" in rule.parsed.variables or "mean(" in (rule.formula or "")
            if needs_others or (rule.area == "infinite" and bool(rule.learned) != (len(at) > 1)):
                continue
            parameters = _fit(rule, u, r * (height / rises), curve)
            if parameters is not None:
                return Match(rule, parameters)
    return None


def _fit(rule: Rule, u: Tensor, target: Tensor, curve: Curve) -> dict[str, float] | None:
    assert rule.parsed
    names = tuple(parameter.name for parameter in rule.parameters)
    evaluate, y, g = rule.parsed.with_tensors(names).bind({}), torch.zeros_like(u), torch.ones_like(u)

    def compute_residuals(values: Tensor) -> Tensor:
        return evaluate(u, y, g, dict(zip(names, values, strict=True))) - target

    def measure_error(values: Tensor) -> float:
        return float(compute_residuals(values).nan_to_num(nan=1e9).norm())

    def is_match(values: Tensor) -> bool:
        return bool(compute_residuals(values).abs().max() <= _TOLERANCE * target.abs().max())

    # The fit starts from defaults, numbers in the function, and edges of the curve.
    edges = (curve.gradient_jumps[0] - curve.jumps[0].mean()).abs().tolist()[:4]
    hints = dict.fromkeys(round(hint, 9) for hint in (*curve.subject.numbers, *edges) if hint > 0)
    choices = [[item.default, *([] if rule.learned else [item.low]), *hints] for item in rule.parameters]
    choices = choices if len(choices) < 3 else [each[:5] for each in choices]
    starts = (torch.tensor(values, dtype=u.dtype) for values in product(*choices))
    best = min(starts, key=measure_error)
    if names and not is_match(best) and measure_error(best) <= _TOO_FAR * float(target.norm()):
        best = _refine(compute_residuals, best)
    least, values = _MIN_LEVEL if rule.learned else 0.0, dict(zip(names, best.tolist(), strict=True))
    ends = [(max(parameter.low * 0.99, least), parameter.high * 1.01) for parameter in rule.parameters]
    inside = all(low <= value <= high for (low, high), value in zip(ends, values.values(), strict=True))
    return values if inside and is_match(best) else None


def _refine(residuals: Callable[[Tensor], Tensor], values: Tensor) -> Tensor:
    """Return positive parameter values refined by damped Gauss–Newton steps on their logarithms.

    ``residuals`` maps parameter values to the errors to minimize. Torch's optimisers are not used, because
    they import its compiler, which exceeds the time limit of a check.
    """
    logs, damping, idle = values.clamp(min=1e-3).log(), 1e-3, 0
    error, unit = residuals(logs.exp()), torch.eye(len(logs), dtype=logs.dtype)
    while idle < _MAX_IDLE:
        columns = [(residuals((logs + _STEP * single).exp()) - error) / _STEP for single in unit]
        jacobian = torch.stack(columns, 1).nan_to_num(nan=0.0, posinf=0.0, neginf=0.0)
        normal = jacobian.T @ jacobian
        damped = normal + damping * torch.diag(normal.diagonal()) + 1e-15 * unit
        tried = logs + torch.linalg.solve(damped, -jacobian.T @ error).clamp(-1, 1)
        left, before = float(residuals(tried.exp()).square().sum()), float(error.square().sum())
        idle = idle + 1 if not left < 0.7 * before else 0
        if left < before:
            logs, error, damping = tried, residuals(tried.exp()), damping / 5
        else:
            damping *= 10
    return logs.exp()


def _is_close(left: Tensor, right: Tensor) -> bool:
    return bool(torch.allclose(left, right, rtol=1e-6, atol=1e-9 * min(1.0, float(right.abs().max()))))
