"""The headline above the curves."""

import pytest
import torch

import explorer
from explorer.curves import sample_curves
from explorer.description import MAIN_LENGTH, make_description
from tests.catalogue.fixed import OPS, RULES
from tests.selection import loop_over


def told(op: str, *rules: str, start: float = -3.0, stop: float = 3.0, g: float = 1.0) -> str:
    return make_description(sample_curves(op, rules, start=start, stop=stop, g=g)).head


@loop_over("op", OPS)
def test_only_of_an_op_that_returns_nothing_but_zeros_it_says_that_nothing_can_learn(op: str):
    """By autograd itself, at points that are no kinks as a rule."""
    x = torch.linspace(-2.9, 3.3, 37, dtype=torch.float64).add(0.0123).requires_grad_()
    y = explorer.apply(op, "default", x).sum()
    gradient = torch.autograd.grad(y, x)[0] if y.requires_grad else torch.zeros_like(x)
    says = "its true gradient is 0, so nothing before it can learn" in told(op, "default")
    assert says == (not gradient.any())


def test_a_rule_with_a_fault_is_named_with_what_it_returns():
    sentence = told("clamp", "default", "straight_through", "published_clamp", start=-1, stop=2, g=2)
    label = RULES["published_clamp"].label
    assert sentence == f"At g = 2 {label} returns 1 for x above 1, where the true gradient is 0."
    frame = explorer.sample("clamp", ["default", "published_clamp"], start=-1, stop=2, g=2)
    above = frame[frame["x"] > 1].groupby("rule")["gradient"].unique()
    assert {key: values.tolist() for key, values in above.items()} == {"default": [0], "published_clamp": [1]}


def test_no_rule_is_faulted_if_the_true_gradient_is_not_among_the_curves():
    assert "returns" not in told("clamp", "published_clamp", "straight_through", g=2)


@pytest.mark.parametrize("rule", [key for key, rule in RULES.items() if rule.fault])
def test_a_headline_stays_short(rule: str):
    for op in OPS:
        assert len(told(op, "default", rule)) <= MAIN_LENGTH


def test_a_statement_for_every_x_is_not_limited_to_the_plotted_range():
    nothing_learns = "its true gradient is 0, so nothing before it can learn."
    assert told("round", "default") == f"Round is flat: {nothing_learns}"
