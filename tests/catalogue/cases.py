"""The grid every entry is held against its oracle on: kinks, both zeros and their nearest neighbours."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from explorer.catalogue import Op, Parameter, Rule, list_kink_points, resolve_values
from explorer.curves.kinks import find_kinks
from explorer.gradient import apply
from tests.catalogue import oracles
from tests.catalogue.fixed import OPS, RULES

DTYPES = (torch.float32, torch.float64)
UPSTREAM = (1.0, 2.0, -1.0, 0.0, 0.5, 2.0**-11, -(2.0**-11))
# For rules that only look at g: beyond the largest number of a format, between two of them, and near 0.
WIDE = (1000.0, 100.0, 448.0005, 1.0625, -0.53125, 0.0131, 0.0068, 0.0029)
TOLERANCE = {torch.float32: 2e-6, torch.float64: 1e-13}

_PLAIN = np.concatenate([np.linspace(-3, 3, 41), [-30.7, -7.3, -1e-3, 1e-3, 7.3, 30.7, 1e-30]])


def settings_of(*entries: Op | Rule) -> Iterator[dict[str, float]]:
    """Parameter values to try: the defaults, larger ones, smaller ones. Whole numbers stay whole."""
    parameters = {p.name: p for entry in reversed(entries) for p in entry.parameters}.values()
    yield {p.name: p.default for p in parameters}
    if parameters:
        yield {p.name: _varied(p, p.default * 2) for p in parameters}
        yield {p.name: _varied(p, _halved(p.default)) for p in parameters}
    for whole in (p for p in parameters if is_whole(p)):
        for value in _wholes(whole):
            yield {p.name: p.default for p in parameters} | {whole.name: value}


def is_whole(parameter: Parameter) -> bool:
    return "whole number" in parameter.meaning


def _wholes(parameter: Parameter) -> list[float]:
    """A few whole numbers for a parameter, all of them where these are few."""
    low, high, near = int(parameter.low), int(parameter.high), int(parameter.default)
    every = range(low, high + 1) if high - low < 8 else (near - 3, near + 2)
    return [float(value) for value in every if low <= value <= high and value != near]


def _halved(value: float) -> float:
    return float(math.ceil(value / 2)) if abs(value) >= 3 else value / 2


def _varied(parameter: Parameter, value: float) -> float:
    return min(max(value or 0.25, parameter.low), parameter.high)


def grid(op: Op, rule: Rule | None, parameters: Mapping[str, float], dtype: torch.dtype) -> np.ndarray:
    """x: plain points, 0 and −0, and every kink within ±8 with the nearest numbers on both sides."""
    number = np.float32 if dtype is torch.float32 else np.float64
    kinks = all_kinks(op, rule, parameters, -8, 8)
    special = np.array([0.0, -0.0, *kinks], dtype=number)
    up, down = (np.nextafter(special, number(end)) for end in (np.inf, -np.inf))
    return np.concatenate([_PLAIN.astype(number), special, up, down, special * number(1.0005)])


def all_kinks(op, rule, parameters, start, stop):
    """The kinks of an op, and of a rule on it: declared, or found where an entry declares none."""
    found = []
    for entry in (op, *([rule] if rule else [])):
        if entry.kinks is not None:
            found += list_kink_points(entry.kinks, parameters, start, stop, 200)
        else:
            found += find_kinks(op, None if entry is op else rule, parameters, start, stop) or []
    return found


def usual_op(rule: Rule) -> Op:
    """An op the rule is for: the first of a family it suits, or round."""
    return next(op for op in OPS.values() if not rule.suits or op.family in rule.suits)


def suiting(op: Op) -> list[Rule]:
    return [rule for rule in RULES.values() if not rule.suits or op.family in rule.suits]


@dataclass(frozen=True)
class Case:
    """One grid with every upstream gradient on it, and what the oracle says."""

    op: Op
    settings: Mapping[str, float]
    x: Tensor
    y: Tensor
    g: Tensor
    expected: Tensor

    def agrees(self, gradient: Tensor) -> bool:
        """Whether a gradient is what the oracle says, to the rounding of the dtype."""
        tolerance = TOLERANCE[self.x.dtype]
        size = max(1.0, float(self.expected.abs().max()))
        found = gradient.to(torch.float64)
        return torch.allclose(found, self.expected, rtol=10 * tolerance, atol=tolerance * size)


def cases(rule: Rule) -> Iterator[Case]:
    """Every dtype and parameter setting of a rule, on an op it is for."""
    op = usual_op(rule)
    for dtype in DTYPES:
        for settings in settings_of(rule):
            parameters = resolve_values(op, rule, settings)
            points = grid(op, rule, parameters, dtype)
            upstream = UPSTREAM if rule.linear or "x" in rule.parsed.variables else (*UPSTREAM, *WIDE)
            x = np.tile(points, len(upstream))
            g = np.repeat(np.array(upstream, dtype=points.dtype), len(points))
            y = apply(op, "zero", torch.from_numpy(x), **own(op, parameters))
            due = oracles.RULES[rule.key](x, y.numpy(), g, **own(rule, parameters))
            expected = torch.from_numpy(due.astype(np.float64))
            yield Case(op, settings, torch.from_numpy(x), y, torch.from_numpy(g), expected)


def own(entry: Op | Rule, parameters: Mapping[str, float]) -> dict[str, float]:
    """The values of an entry's own parameters."""
    return {p.name: parameters[p.name] for p in entry.parameters}


def gradient_through_autograd(rule: Rule, case: Case) -> Tensor:
    """The gradient of torch.autograd when the rule is applied."""
    x = case.x.clone().requires_grad_()
    y = apply(case.op, rule, x, **case.settings)
    return torch.autograd.grad(y, x, case.g)[0]
