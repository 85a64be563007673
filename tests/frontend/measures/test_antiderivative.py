"""The antiderivative of a rule, summed in the browser, against the formula that its entry declares."""

from typing import Any

import numpy as np
import pytest
import torch

from explorer.catalogue import find_op, find_rule, values
from explorer.formula import parse
from explorer.instrument.entries import entry
from tests.catalogue.cases import usual_op
from tests.catalogue.fixed import RULES
from tests.frontend.modules import Node

SCRIPT = """
const { sampleCurves } = await import("./formula/curves.js");
const { anchorOf, antiderivativeOf } = await import("./measures/antiderivative.js");
const { isLinear } = await import("./measures/linearity.js");
return given.map(({ op, rule, start, stop, parameters }) => {
  const choice = { start, stop, g: 1, parameters };
  const curves = sampleCurves({ op, rules: [rule] }, choice);
  const found = antiderivativeOf(op, rule, choice, curves);
  return { x: curves.x, y: found && found.y, by: found && found.by, linear: isLinear(op, rule, choice),
    anchor: anchorOf([start, stop]), forward: curves.y };
});
"""
DECLARED = [rule for rule in RULES.values() if rule.linear and rule.antiderivative]


def summed(node: Node, *cases: tuple[Any, ...]) -> list[dict[str, Any]]:
    """The antiderivatives of pairs of an op and a rule, with ends of the range and parameters."""
    given = [
        {"op": entry(find_op(op)), "rule": entry(find_rule(rule)), "start": start, "stop": stop,
         "parameters": parameters}
        for op, rule, start, stop, parameters in cases
    ]  # fmt: skip
    found: list[dict[str, Any]] = node.run(SCRIPT, given)
    return found


def test_it_is_the_declared_one_but_for_a_constant(node: Node) -> None:
    cases = [(usual_op(rule), rule, -3.0, 2.0, {}) for rule in DECLARED]
    for (op, rule, *_), found in zip(cases, summed(node, *cases), strict=True):
        assert rule.antiderivative
        own = parse(rule.antiderivative, variables=("x",), parameters=None).bind(
            values(find_op(op), rule, {})
        )
        wanted = own(torch.tensor(found["x"].copy(), dtype=torch.float64)).numpy()
        apart = found["y"] - wanted
        assert np.ptp(apart) < 1e-6 * (1 + np.ptp(wanted)), rule.key
    assert len(cases) > 30


def test_jumps_are_exact_and_it_meets_the_op_at_0_or_in_the_middle(node: Node) -> None:
    masked, far, step = summed(
        node,
        ("identity", "masked", -2.0, 2.0, {"lo": -0.3, "hi": 0.7}),
        ("square", "straight_through", 1.0, 3.0, {}),
        ("step", "laplace", -3.0, 3.0, {}),
    )
    assert np.abs(masked["y"] - np.clip(masked["x"], -0.3, 0.7)).max() < 1e-13
    assert far["anchor"] == 2
    assert np.abs(far["y"] - (far["x"] + 2)).max() < 1e-13
    at = int(np.searchsorted(step["x"], 0.0))
    assert step["y"][at] == pytest.approx(0.5, abs=1e-9), "between both sides of the jump"


def test_a_constant_difference_is_known_from_another_one(node: Node) -> None:
    relu, jump, other, torchs = summed(
        node,
        ("relu", "seed_relu", -2.0, 2.0, {}),
        ("step", "zero", 0.0, 3.0, {}),
        ("step", "zero", -3.0, 3.0, {}),
        ("sigmoid", "default", -3.0, 3.0, {}),
    )
    assert relu["by"] == 0
    assert jump["by"] == pytest.approx(0.5)
    assert other["by"] is None
    assert torchs["by"] == 0


def test_a_rule_without_a_number_has_none_from_there_on(node: Node) -> None:
    (found,) = summed(node, ("identity", "formula: g * log(x)", -1.0, 1.0, {}))
    assert np.isnan(found["y"]).all(), "0, where it would begin, lies at the end of its domain"


def test_linear_in_g_is_what_the_catalogue_declares(node: Node) -> None:
    rules = [rule for rule in RULES.values() if rule.formula]
    own = ["formula: clamp(g, -5, 5)", "formula: g * (g > 0)", "formula: 3 * g * x", "formula: g + 1e-3"]
    cases = [(usual_op(rule), rule, -3.0, 3.0, {}) for rule in rules]
    found = summed(node, *cases, *(("sign", rule, -3.0, 3.0, {}) for rule in own))
    assert {rule.key: each["linear"] for rule, each in zip(rules, found, strict=False)} == {
        rule.key: rule.linear for rule in rules
    }
    assert [each["linear"] for each in found[len(rules) :]] == [False, False, True, False]
