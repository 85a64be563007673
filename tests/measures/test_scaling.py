"""Sizes of rules against closed forms, and rules scaled to one area or one width."""

import math

import numpy as np
import pytest

import explorer
from explorer.catalogue import find_op, find_rule
from explorer.measures import list_suitable_rules
from explorer.measures.scaling import Kind, find_sizes, scale_rules
from tests.catalogue.fixed import RULES
from tests.selection import take_part

# Full widths at half height, by hand, and where the peak is.
WIDTHS = {
    "laplace": (2 * math.log(2) / 2, {"a": 2}, 0),
    "gaussian": (2 * math.sqrt(2 * math.log(2)) * 0.3, {"s": 0.3}, 0),
    "atan_surrogate": (4 / (math.pi * 4), {"a": 4}, 0),
    "triangle": (2 / 2 / 2, {"a": 2}, 0),
    "sigmoid_surrogate": (4 * math.acosh(math.sqrt(2)) / 5, {"a": 5}, 0),
    "formula: g / (1 + (x - 3)**2 * 4)": (1, {}, 3),
    "formula: g * exp(-(x + 2.3456)**2) * 7": (2 * math.sqrt(math.log(2)), {}, -2.3456),
}


@pytest.mark.parametrize("rule", WIDTHS)
def test_widths_by_hand(rule: str) -> None:
    wanted, settings, peak = WIDTHS[rule]
    names = sorted(parameter.name for parameter in find_rule(rule).parameters)
    found = find_sizes("step", rule, dict(zip(names, settings.values(), strict=True)))
    assert (found.width.value, found.width.reason) == (pytest.approx(wanted, rel=1e-6), "")
    assert found.peak == pytest.approx(peak, abs=1e-6)


@pytest.mark.parametrize(("op", "rule", "kind", "reason"), [
    ("step", "straight_through", "area", "has no finite area"),
    ("step", "straight_through", "width", "never falls to half its height"),
    ("step", "clipped", "width", "is flat on top, so it has no peak to scale"),
    ("step", "multi_gaussian", "width", "has lobes"),
    ("quantize", "rdfs", "width", "has lobes"),
    ("step", "default", "area", "is torch's own gradient of the op"),
    ("step", "zero", "area", "blocks everything"),
    ("step", "formula: g * x * exp(-x**2)", "area", "has an area of 0"),
    ("step", "formula: g * sin(x)", "area", "cannot be integrated"),
    ("step", "formula: g * (0 < x) * (x <= 1) / x", "area", "cannot be integrated"),
    ("step", "clip_value", "area", "is not linear in g, so its size depends on g"),
    ("sign", "magnitude_aware", "area", "depends on all x at once"),
    ("sign", "formula: g * (1 - y**2 / 2) * exp(-abs(x))", "width", "is written in y"),
    ("bernoulli", "st_gumbel", "area", "changes with each draw"),
    ("bernoulli", "reinmax", "width", "changes with each draw"),
    ("bernoulli", "reinforce", "area", "depends on the loss"),
    ("bernoulli", "flip", "area", "depends on the loss"),
    ("bernoulli", "sigmoid_st", "area", ""),  # which hangs on x alone
])  # fmt: skip
def test_a_rule_that_cannot_be_scaled_gets_a_reason(op: str, rule: str, kind: str, reason: str) -> None:
    assert getattr(find_sizes(op, rule, {}), kind).reason.startswith(reason)


FIRST = "formula: 3 * g * relu(1 - abs(x / 2))"


@pytest.mark.parametrize("kind", ["area", "width"])
def test_scaled_rules_have_one_size(kind: Kind) -> None:
    """Every surrogate of a step next to one rule; it keeps its peak, and its shape."""
    op = find_op("step")
    size = getattr(find_sizes(op, FIRST, {}), kind).value
    for key in take_part(rule.key for rule in list_suitable_rules(op)):
        own = find_sizes(op, key, {})
        if getattr(own, kind).reason:
            continue
        found = scale_rules(op, [FIRST, key], {}, kind)
        if not found.rules:
            assert getattr(own, kind).value == pytest.approx(size, rel=1e-5), key
            continue
        rule = found.rules[key]
        after = find_sizes(op, rule, {})
        assert rule.label == f"{key}_scaled"
        assert getattr(after, kind).value == pytest.approx(size, rel=1e-4), key
        other = "width" if kind == "area" else "area"
        before_other, after_other = getattr(own, other).value, getattr(after, other).value
        factor = size / getattr(own, kind).value if kind == "width" else 1.0
        np.testing.assert_allclose(after_other, before_other * factor, rtol=3e-3)


def test_a_parameter_of_the_op_stays_a_name_and_own_ones_become_numbers() -> None:
    found = scale_rules("quantize", ["quantize_masked", "rdfs"], {"s": 0.5}, "area")
    (rule,) = found.rules.values()
    assert {p.name for p in rule.parameters} == {"qmin", "qmax", "s"}
    assert found.sentence.endswith("(without its own gradient for s).")
    assert RULES["rdfs"].label in found.sentence


def test_a_custom_rule_keeps_its_name_when_it_is_scaled() -> None:
    own = "formula: Bump = g * exp(-x**2)"
    (rule,) = scale_rules("step", ["triangle", own], {}, "area").rules.values()
    assert rule.label == "Bump"
    before, after = (explorer.sample("step", [key], dtype="float64").gradient for key in (own, rule.key))
    np.testing.assert_allclose(after, before / math.sqrt(math.pi), rtol=1e-5)


def test_without_two_rules_there_is_nothing_to_scale() -> None:
    for rules, kind in ((["default", "straight_through"], "area"), (["triangle", "clipped"], "width")):
        with pytest.raises(ValueError, match=f"two must have a finite {kind}"):
            scale_rules("step", rules, {}, kind)  # type: ignore[arg-type]  # the two kinds
