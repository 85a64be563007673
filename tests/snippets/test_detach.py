"""The detach trick: exactly the op's values, the rule's gradient, and no code where it cannot be."""

import pytest
import torch

from explorer.catalogue import find_op, find_rule
from explorer.formula import parse
from explorer.formula.printing import CANONICAL, source
from explorer.gradient import bind
from explorer.snippets import detach_snippet
from explorer.snippets.detach import local_gradient
from explorer.snippets.pair import paired
from tests.catalogue.cases import usual_op
from tests.catalogue.fixed import OPS, RULES
from tests.snippets.cases import OWN, trials
from tests.snippets.runner import defined

LINEAR = [key for key, rule in RULES.items() if rule.formula and rule.linear]
PRODUCTS = [(usual_op(find_rule(rule)).key, rule) for rule in LINEAR] + [(op, LINEAR[-1]) for op in OPS]
BY_HAND = [pair for pair in OWN if pair[1] != "default" and detach_snippet(*pair)]


def _curve(function, x, g):
    x = x.clone().requires_grad_()
    y = function(x)
    return y.detach(), torch.autograd.grad(y, x, g)[0]


@pytest.mark.parametrize(("op", "rule"), PRODUCTS + BY_HAND)
def test_detach_gives_the_ops_values_and_the_rules_gradient(op, rule):
    function = defined(detach_snippet(op, rule))[paired(op, rule, {}).name]
    for parameters, points in trials(find_op(op), find_rule(rule)):
        for dtype, tolerance in ((torch.float32, 2e-6), (torch.float64, 1e-14)):
            x = torch.tensor(points, dtype=torch.float64).to(dtype)
            for g in (1.0, -2.0, 0.3):
                upstream = torch.full_like(x, g)
                y, gradient = _curve(lambda x, p=parameters: function(x, **p), x, upstream)
                exact, expected = _curve(bind(op, rule, parameters), x, upstream)
                sure = (gradient * x).isfinite()
                assert _bits(y[sure]) == _bits(exact[sure])
                torch.testing.assert_close(gradient, expected, rtol=tolerance, atol=1e-40, equal_nan=True)


def _bits(values):
    return values.view(torch.uint8).tolist()


@pytest.mark.parametrize("rule", RULES)
def test_there_is_a_detach_trick_for_linear_rules_only(rule):
    entry = RULES[rule]
    code = detach_snippet("round", rule)
    assert (code is not None) == (entry.formula is not None and entry.linear)
    if code:
        assert "autograd.Function" not in code
        assert defined(code)[paired("round", rule, {}).name](torch.zeros(2)).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("rule", "factor"),
    [
        ("g", "1"),
        ("-g * a", "-1 * a"),
        ("a * -g", "a * -1"),
        ("g * (x > 0) / 2", "(x > 0) / 2"),
        ("2 * (x * g) / a", "2 * x / a"),
        ("g * x + g / y", "x + 1 / y"),
        ("g - g", "1 - 1"),
        ("where(x > 0, g, 0)", "where(x > 0, 1, 0)"),
        ("where(x > 0, 0, where(y > 0, a * g, g))", "where(x > 0, 0, where(y > 0, a, 1))"),
    ],
)
def test_the_factor_of_a_product(rule, factor):
    result = local_gradient(parse(rule, parameters=("a",)).tree)
    assert source(result, CANONICAL) == factor


@pytest.mark.parametrize(
    "rule",
    ["1", "x", "g * g", "g**2", "g + 1", "1 / g", "abs(g)", "mean(g)", "g * (g > 0)", "where(g > 0, g, 0)",
     "where(x > 0, g, 1)", "a**g", "max(g, 0)", "g / g", "0"],
)  # fmt: skip
def test_what_is_no_product_has_no_factor(rule):
    assert local_gradient(parse(rule, parameters=("a",)).tree) is None
