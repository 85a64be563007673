"""The declared kinks are those a numerical search finds, no more and no fewer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor

from explorer.catalogue import OPS, RULES, Op, Rule, kink_points
from tests.catalogue.cases import settings_of, usual_op
from tests.catalogue.finder import kinks_of

START, STOP = -3.012345, 7.034567


def _assert_declared(found: list[float], declared: list[float]) -> None:
    assert found == pytest.approx(declared, abs=1e-4), f"found {found}, declared {declared}"


@pytest.mark.parametrize("op", OPS.values(), ids=lambda op: op.key)
def test_kinks_of_op(op: Op):
    for parameters in settings_of(op):
        forward = op.parsed.bind(parameters)
        _assert_declared(kinks_of(forward, START, STOP), kink_points(op.kinks, parameters, START, STOP, 100))


@pytest.mark.parametrize("rule", [rule for rule in RULES.values() if rule.formula], ids=lambda rule: rule.key)
def test_kinks_of_rule(rule: Rule):
    op = usual_op(rule)
    forward = op.parsed.bind({p.name: p.default for p in op.parameters})
    for parameters in settings_of(rule):
        found: list[float] = []
        for g in (1.0, 2.0, -1.0):  # a rule that is not linear may show a kink at some g only
            slope = partial(_slope, forward, rule.parsed.bind(parameters), g)
            new = kinks_of(slope, START, STOP)
            found += [point for point in new if all(abs(point - other) > 1e-4 for other in found)]
        kinks = rule.kinks + (op.kinks if "y" in rule.parsed.variables else ())
        _assert_declared(sorted(found), kink_points(kinks, parameters, START, STOP, 100))


def _slope(forward: Callable[..., Tensor], backward: Callable[..., Tensor], g: float, x: Tensor) -> Tensor:
    return backward(x, forward(x), torch.full_like(x, g))


@pytest.mark.parametrize(
    ("function", "kinks"),
    [
        (torch.abs, [0.0]),
        (torch.sin, []),
        (torch.frac, [-3.0, -2.0, -1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]),
        (lambda x: torch.exp(-((20 * x) ** 2)), []),
        (lambda x: x + 1e-3 * (x > 0.3), [0.3]),
    ],
    ids=["abs", "sin", "frac", "narrow bell", "small jump"],
)
def test_the_search_itself(function, kinks):
    _assert_declared(kinks_of(function, START, STOP), kinks)
