"""The effect of data on a parameter that learns, against sums and errors computed on the spot in NumPy."""

import math
import re

import numpy as np
import pytest

from explorer.catalogue import list_learnable
from explorer.curves import sample_curves
from explorer.description import equilibria
from explorer.description.equilibria import Equilibria, describe_best, find_equilibria, make_grid
from explorer.description.learning import describe_learning, describe_net_gradient
from explorer.description.net_gradient import compute_net_gradient, make_normal_numbers
from tests.catalogue.fixed import OPS, RULES
from tests.selection import loop_over

NUMBERS = make_normal_numbers()
TERNARY = {"s": 0.6, "qmin": -2.0, "qmax": 1.0}


def quantised(x: np.ndarray, s: float) -> np.ndarray:
    return np.clip(np.round(x / s), -2, 1) * s


def lsq_parts(x: np.ndarray, s: float) -> np.ndarray:
    """Esser et al. 2020, equation 3, times y − x."""
    v = x / s
    inside = np.round(v) - v
    return (quantised(x, s) - x) * np.select([v <= -2, v >= 1], [-2.0, 1.0], inside)


def test_the_normal_numbers_have_its_moments():
    x = np.array(NUMBERS)
    assert abs(x.mean()) < 1e-12
    assert abs(x.std() - 1) < 0.003
    assert (np.diff(x) > 0).all()


def test_the_sum_of_lsq_is_that_of_its_equation():
    resting = compute_net_gradient("quantize", "lsq", "s", NUMBERS, TERNARY)
    parts = lsq_parts(np.array(NUMBERS), 0.6)
    assert resting.up == pytest.approx(parts[parts < 0].sum(), rel=1e-12)
    assert resting.down == pytest.approx(parts[parts > 0].sum(), rel=1e-12)
    assert resting.gradient == pytest.approx(parts.sum() / math.sqrt(len(NUMBERS)), rel=1e-12)
    assert (resting.verdict, resting.origin) == ("grow", "rule")
    assert "s should grow (" in describe_net_gradient(resting)


def test_a_step_too_large_should_shrink():
    resting = compute_net_gradient("quantize", "lsq", "s", NUMBERS, TERNARY | {"s": 3.0})
    assert "s should shrink (" in describe_net_gradient(resting)


def test_a_parameter_that_rule_and_op_name_alike_comes_to_rest_by_its_own_name():
    """LSQ's s is called s_rule next to the s of FP8, and the error does not depend on it."""
    resting = find_equilibria("fp8_e4m3", ["lsq"], "s_rule", NUMBERS)
    assert equilibria.describe_positions(resting, "lsq", "LSQ").startswith("LSQ: s_rule comes to rest at ")
    assert not describe_best(resting)


def test_a_parameter_that_shapes_the_gradient_alone_cannot_learn():
    resting = compute_net_gradient("sign", "clipped", "c", NUMBERS)
    assert resting.verdict == "cannot"
    assert describe_net_gradient(resting).endswith("c cannot learn")


def test_parts_that_are_no_numbers_have_no_sum():
    resting = compute_net_gradient("formula: a * sqrt(x)", "default", "a", NUMBERS)
    assert resting.verdict == "undefined"
    assert "infinite or NaN" in describe_net_gradient(resting)


def test_balanced_parts_rest():
    resting = compute_net_gradient("prelu", "default", "a", NUMBERS, {"a": 1.0})
    assert "a rests here" in describe_net_gradient(resting)
    resting = compute_net_gradient("formula: x - x + a", "default", "a", [0.1, 0.2, 0.3], {"a": 0.2})
    assert (resting.down > 0.09, resting.verdict) == (True, "rest")


def test_s_comes_to_rest_where_its_parts_balance():
    resting = find_equilibria("quantize", ["lsq", "default"], "s", NUMBERS, TERNARY)
    ((at, same),) = resting.positions["lsq"]
    assert at == same
    x = np.array(NUMBERS)
    assert lsq_parts(x, at * (1 - 1e-6)).sum() < 0 < lsq_parts(x, at * (1 + 1e-6)).sum()
    errors = [((quantised(x, s) - x) ** 2).mean() for s in resting.points]
    np.testing.assert_allclose(resting.error, errors, rtol=1e-12)
    assert resting.best == resting.points[int(np.argmin(errors))]
    assert abs(at - resting.best) < 0.1
    assert equilibria.describe_positions(resting, "lsq", "LSQ") == f"LSQ: s comes to rest at {at:.4g}"
    assert describe_best(resting) == f"The mean squared error is least at s = {resting.best:.4g}."


def at_rest(op: str, rule: str, name: str, numbers=NUMBERS, **parameters: float) -> tuple[Equilibria, str]:
    resting = find_equilibria(op, [rule], name, numbers, parameters)
    return resting, equilibria.describe_positions(resting, rule, RULES[rule].label)


def test_a_bound_beyond_all_data_rests_anywhere():
    resting, words = at_rest("clamp", "learned_clamp", "hi", (-0.5, 0.5, 1.25))
    ((low, high),) = resting.positions["learned_clamp"]
    assert low == pytest.approx(1.25)
    assert high == resting.points[-1]
    assert "at 1.25 and above" in words


def test_a_parameter_that_never_rests_says_which_way_it_goes():
    _, words = at_rest("formula: x - x + a * x", "default", "a", NUMBERS)
    assert "comes to rest at 1" in words
    _, words = at_rest("formula: x + exp(-a)", "default", "a", NUMBERS)
    assert words.startswith("Default autograd: a grows all the way to 10")
    _, words = at_rest("formula: x - 1 - exp(a)", "default", "a", NUMBERS)
    assert "shrinks all the way" in words
    _, words = at_rest("formula: x * sin(9 * a)", "default", "a")
    assert re.search(r"a comes to rest at \d+ places from −?\d", words)


def test_a_gradient_that_is_0_leaves_it_where_it_is():
    resting, words = at_rest("formula: where(x > 100, a, x)", "default", "a")
    assert resting.positions == {"default": ()}
    assert words == "Default autograd: a never moves, because the sum is 0 everywhere"


def test_a_gradient_that_is_not_finite_gets_no_claim():
    resting, words = at_rest("formula: x + sqrt(a)", "default", "a")
    gradient = resting.gradients["default"]
    assert np.isnan(gradient[resting.points < 0]).all()
    assert (gradient[resting.points > 0] > 0).all()
    assert resting.positions == {"default": ()}
    assert words.startswith("Default autograd: where a comes to rest is unknown")
    _, words = at_rest("formula: x + 1 / (1 + a**2)", "default", "a")
    assert words.startswith("Default autograd: a never comes to rest")


def test_a_parameter_that_cannot_learn_is_refused_with_the_reason():
    with pytest.raises(ValueError, match="shapes the gradient of clipped alone"):
        find_equilibria("sign", ["clipped"], "c", NUMBERS)


@loop_over("op", [op for op in OPS.values() if op.parameters])
def test_the_range_is_that_of_the_control(op):
    for name in list_learnable(op, RULES["default"]):
        parameter = equilibria.find_parameter(op, (RULES["default"],), name)
        at = make_grid(parameter)
        assert len(at) == equilibria.STEPS
        assert at[0] == parameter.low
        assert at[-1] == pytest.approx(parameter.high, rel=1e-12)
        assert (np.diff(at) > 0).all()


def test_weights_are_numbers_that_are_there_more_often() -> None:
    some, often = (-1.3, 0.2, 0.9, 1.7), (2, 1, 4, 3)
    each = np.repeat(some, often).tolist()
    one = compute_net_gradient("quantize", "lsq", "s", some, TERNARY, often)
    other = compute_net_gradient("quantize", "lsq", "s", each, TERNARY)
    assert (one.up, one.gradient) == pytest.approx((other.up, other.gradient))
    one = find_equilibria("quantize", ["lsq"], "s", some, TERNARY, often)
    other = find_equilibria("quantize", ["lsq"], "s", each, TERNARY)
    np.testing.assert_allclose(one.error, other.error, rtol=1e-12)
    np.testing.assert_allclose(one.gradients["lsq"], other.gradients["lsq"], rtol=1e-9, atol=1e-12)


def test_describe_says_what_the_screen_says():
    curves = sample_curves("quantize", ["lsq"], learns="s", s=0.6)
    expected = describe_net_gradient(compute_net_gradient("quantize", "lsq", "s", NUMBERS, {"s": 0.6}))
    words = f"Over 1,000 standard normal numbers, each with g = y − x: {expected}."
    assert describe_learning(curves) == words
