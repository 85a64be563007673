"""Every rule against its oracle, its antiderivative, its area and its claim to be linear."""

import itertools
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import torch
from torch import Tensor

from explorer.catalogue import Rule, list_kink_points
from explorer.formula import parse
from explorer.gradient import apply
from tests.catalogue import oracles
from tests.catalogue.cases import cases, gradient_through_autograd, settings_of, usual_op
from tests.catalogue.fixed import RULES
from tests.selection import loop_over

WITH_FORMULA = [rule for rule in RULES.values() if rule.formula]
WITH_ANTIDERIVATIVE = [rule for rule in RULES.values() if rule.antiderivative]
FINITE_AREA = [rule for rule in RULES.values() if rule.area not in (None, "infinite")]
INFINITE_AREA = [rule for rule in RULES.values() if rule.area == "infinite"]


def _key(rule: Rule) -> str:
    return rule.key


def _slope(rule: Rule, parameters: dict[str, float]) -> Callable[[Tensor], Tensor]:
    """The rule at g = 1 as a function of x alone."""
    backward = rule.parsed.bind(parameters)
    return lambda x: backward(x, x, torch.ones_like(x))


def _away_from_kinks(rule: Rule, parameters: dict[str, float], distance: float) -> Tensor:
    x = torch.linspace(-2.97, 3.01, 500, dtype=torch.float64)
    kinks = list_kink_points(rule.kinks, parameters, -4, 4, 100)
    return x[[all(abs(float(point) - kink) > distance for kink in kinks) for point in x]]


def test_every_rule_has_an_oracle_and_every_oracle_a_rule():
    assert {rule.key for rule in WITH_FORMULA} == set(oracles.RULES)


@loop_over("rule", WITH_FORMULA)
def test_rule_gives_what_its_oracle_gives(rule):
    for case in cases(rule):
        gradient = gradient_through_autograd(rule, case)
        assert gradient.dtype == case.x.dtype
        difference = (gradient - case.expected).abs()
        worst = int(difference.argmax())
        assert case.agrees(gradient), (
            f"{rule.key} {case.settings} {case.x.dtype}: at x = {case.x[worst]!r}, g = {case.g[worst]!r} "
            f"gave {gradient[worst]!r}, expected {case.expected[worst]!r}"
        )


def test_a_steep_sigmoid_keeps_its_digits_in_float32():
    x = torch.tensor([0.5, 0.66, 0.7, 2.0, -2.0], requires_grad=True)
    (gradient,) = torch.autograd.grad(apply("step", "sigmoid_surrogate", x, a=25).sum(), x)
    far = 25 * x.detach().double()
    due = 25 / (2 + torch.exp(far) + torch.exp(-far))
    torch.testing.assert_close(gradient.double(), due, rtol=1e-5, atol=0)


@loop_over("rule", WITH_FORMULA)
def test_rule_is_finite_far_out(rule):
    far = torch.logspace(-38, 6, 400, dtype=torch.float32)
    x = torch.cat([far, -far, torch.tensor([0.0, -0.0])]).requires_grad_()
    for settings in settings_of(rule):
        for g in (1.0, -1.0):
            y = apply(usual_op(rule), rule, x, **settings)
            (gradient,) = torch.autograd.grad(y, x, torch.full_like(x, g))
            assert gradient.isfinite().all(), x[~gradient.isfinite()]


@loop_over("rule", WITH_FORMULA)
def test_rule_can_be_differentiated_again_without_nan(rule):
    x = torch.tensor([-40.0, -2.0, -1.0, -0.1, 0.0, 0.1, 0.5, 1.0, 2.0, 40.0], dtype=torch.float64)
    g = torch.full_like(x, 0.5).requires_grad_()
    x.requires_grad_()
    y = apply(usual_op(rule), rule, x)
    (gradient,) = torch.autograd.grad(y, x, g, create_graph=True)
    if not gradient.requires_grad:  # it consists of levels
        assert not rule.parsed.carries_gradient
        return
    for second in torch.autograd.grad(gradient.sum(), (x, g), allow_unused=True, materialize_grads=True):
        assert second.isfinite().all()


@loop_over("rule", WITH_FORMULA)
def test_rule_is_linear_in_g_exactly_where_it_says_so(rule):
    x = torch.linspace(-2.51, 2.49, 60, dtype=torch.float64)
    y = usual_op(rule).parsed.bind({p.name: p.default for p in usual_op(rule).parameters})(x)
    backward = rule.parsed.bind({p.name: p.default for p in rule.parameters})

    def respects(first: float, second: float) -> bool:
        each = (first, second, 2 * first + second)
        one, other, both = (backward(x, y, torch.full_like(x, g)) for g in each)
        return torch.allclose(2 * one + other, both, rtol=1e-12, atol=1e-12)

    pairs = itertools.product((1.0, -1.0, 0.3, 0.0), (1.0, -0.7, 2.5))
    assert all(respects(*pair) for pair in pairs) == rule.linear


@pytest.mark.parametrize("rule", [rule for rule in RULES.values() if not rule.linear], ids=_key)
def test_antiderivative_and_area_are_claimed_for_linear_rules_only(rule):
    assert rule.antiderivative is None
    assert rule.area is None


@loop_over("rule", WITH_ANTIDERIVATIVE)
def test_derivative_of_the_antiderivative_is_the_rule(rule):
    for parameters in settings_of(rule):
        read = parse(rule.antiderivative, variables=("x",), parameters=list(parameters))
        antiderivative = read.bind(parameters)
        x, h = _away_from_kinks(rule, parameters, 1e-3), 1e-6
        measured = (antiderivative(x + h) - antiderivative(x - h)) / (2 * h)
        torch.testing.assert_close(measured, _slope(rule, parameters)(x), rtol=2e-7, atol=2e-8)


def _at(slope: Callable[[Tensor], Tensor], x: float) -> float:
    return float(slope(torch.tensor([x], dtype=torch.float64)))


@loop_over("rule", FINITE_AREA)
def test_area_is_the_integral(rule):
    from scipy import integrate  # a second for every process that collects this file

    for parameters in settings_of(rule):
        slope = _slope(rule, parameters)
        kinks = list_kink_points(rule.kinks, parameters, -20, 20, 9)
        edges = sorted({-20.0, -1.0, -0.2, 0.0, 0.2, 1.0, 20.0, *kinks})
        pieces = itertools.pairwise([-np.inf, *edges, np.inf])
        measured = sum(integrate.quad(partial(_at, slope), *piece)[0] for piece in pieces)
        declared = parse(rule.area, variables=(), parameters=list(parameters)).value(parameters)
        assert measured == pytest.approx(declared, rel=1e-6, abs=1e-9), parameters


@loop_over("rule", INFINITE_AREA)
def test_infinite_area_keeps_growing(rule):
    slope = _slope(rule, {p.name: p.default for p in rule.parameters})

    def up_to(end: float) -> float:
        x = torch.linspace(-end, end, 400_001, dtype=torch.float64)
        return abs(float(torch.trapezoid(slope(x), x)))

    first, second, third = up_to(10), up_to(100), up_to(1000)
    assert second - first > 1
    assert third - second > 0.99 * (second - first)
