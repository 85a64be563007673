"""The antiderivative of a rule against the formula that its entry declares."""

import numpy as np
import pytest
import torch

from explorer.catalogue import find_op, resolve_values
from explorer.formula import parse
from explorer.measures.implied import ImpliedForwards, compute_implied_forwards
from tests.catalogue.cases import usual_op
from tests.catalogue.fixed import RULES

DECLARED = [rule for rule in RULES.values() if rule.linear and rule.antiderivative]


def implied(op: str, rule: str, start: float, stop: float, **parameters: float) -> ImpliedForwards:
    return compute_implied_forwards(op, rule, start=start, stop=stop, **parameters)


def test_it_is_the_declared_one_but_for_a_constant() -> None:
    for rule in DECLARED:
        assert rule.antiderivative
        op = find_op(usual_op(rule))
        found = implied(op.key, rule.key, -3, 2)
        own = parse(rule.antiderivative, variables=("x",), parameters=None).bind(resolve_values(op, rule, {}))
        wanted = own(torch.tensor(found.curves.x)).numpy()
        apart = found.implied[rule.key].y - wanted
        assert np.ptp(apart) < 1e-6 * (1 + np.ptp(wanted)), rule.key
    assert len(DECLARED) > 30


def test_jumps_are_exact_and_it_meets_the_op_at_0_or_in_the_middle() -> None:
    masked = implied("identity", "masked", -2, 2, lo=-0.3, hi=0.7)
    assert np.abs(masked.implied["masked"].y - np.clip(masked.curves.x, -0.3, 0.7)).max() < 1e-13
    far = implied("square", "straight_through", 1, 3)
    assert np.abs(far.implied["straight_through"].y - (far.curves.x + 2)).max() < 1e-13
    assert far.lead.endswith("through y at x = 2.")
    step = implied("step", "laplace", -3, 3)
    at = int(np.searchsorted(step.curves.x, 0.0))
    assert step.implied["laplace"].y[at] == pytest.approx(0.5, abs=1e-9), "between both sides of the jump"


@pytest.mark.parametrize(("op", "rule", "start", "by", "words"), [
    ("relu", "seed_relu", -2.0, 0, "is the op itself."),
    ("step", "zero", 0.0, 0.5, "it is the op up to a constant, 0.5."),
    ("step", "zero", -3.0, None, ""),
    ("sigmoid", "default", -3.0, 0, "is the op itself."),
])  # fmt: skip
def test_a_constant_difference_is_known_from_another_one(op, rule, start, by, words):
    found = implied(op, rule, start, 3)
    assert found.implied[rule].offset == (by if by is None else pytest.approx(by))
    assert found.describe(rule).endswith(words)


def test_a_rule_that_has_none_is_named() -> None:
    """0, where the logarithm would begin, lies at the end of its domain."""
    for rule, words in {
        "formula: g * log(x)": "cannot be integrated here.",
        "clip_value": "is not linear in g, so it is the slope of no single function.",
    }.items():
        found = implied("identity", rule, -1, 1)
        assert (found.implied[rule].y, found.lead) == (None, "")
        assert found.describe(rule).endswith(words)
