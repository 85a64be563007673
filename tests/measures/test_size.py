"""Peak, area and support of a rule against oracles in NumPy, and by hand."""

import math

import numpy as np
import pytest

from explorer.catalogue import RULES, find_op, find_rule, resolve_values
from explorer.curves.user_functions.curve import Curve
from explorer.curves.user_functions.subject import prepare_pair
from explorer.measures import measure_size
from tests.catalogue.oracles import RULES as ORACLES
from tests.selection import loop_over

FAR = 2000.0
WEIGHED = ("clipped", "approx_sign", "swish_sign", "ede", "reste", "triangle", "boxcar", "gaussian",
           "multi_gaussian", "laplace", "erf_surrogate", "sigmoid_surrogate", "sparse_fast_sigmoid",
           "tanh_surrogate", "spike_escape", "masked", "lsq", "rdfs")  # fmt: skip
BY_HAND = {
    ("sign", "clipped"): (1, 2, 2),
    ("sign", "approx_sign"): (2, 2, 2),
    ("sign", "straight_through"): (1, math.inf, math.inf),
    ("sign", "reversal"): (-1, -math.inf, math.inf),
    ("sign", "zero"): (0, 0, 0),
    ("sign", "default"): (0, 0, 0),
    ("step", "boxcar"): (1, 1, 1),
    ("step", "laplace"): (0.5, 1, math.inf),
    ("step", "spike_escape"): (25, 50, math.inf),
    ("step", "formula: g * (0 < x) * (x < 0.3) / x"): (None, None, 0.3),
    ("step", "formula: g * relu(1 - x**2)"): (1, 4 / 3, 2),
    ("step", "formula: g * sin(x)"): (1, math.nan, math.inf),
    ("step", "formula: g * x / (1 + x**2)"): (0.5, math.nan, math.inf),
    ("step", "formula: g * x * exp(-x**2)"): (0.4289, 0, math.inf),
    ("step", "formula: g * (2 <= x <= 5)"): (1, 3, 3),
    ("fp4_e2m1", "quest"): (1, 3.75, 3.75),  # 15 levels, at each of which it passes x as near as 1/8
    ("fp8_e4m3", "quest"): (1, 35.25, 35.25),  # up to 4 without a gap, then 55 levels on each side
    ("formula: x**2", "quest"): (1, 0.5176381, 0.5176381),
    ("step", "formula: g * x"): (math.inf, math.nan, math.inf),
    ("step", "formula: -g * x**2"): (-math.inf, -math.inf, math.inf),
    ("step", "formula: g * log(1 + abs(x))"): (math.inf, math.inf, math.inf),
    ("step", "formula: g * x**2 / (1 + x**2)"): (1, math.inf, math.inf),
}  # fmt: skip


def sized(op, rule, **settings):
    op, rule = find_op(op), find_rule(rule)
    return measure_size(Curve(prepare_pair(op, rule, resolve_values(op, rule, settings))))


@loop_over(("op", "rule"), BY_HAND)
def test_known_sizes(op, rule):
    found = sized(op, rule)
    for value, wanted in zip((found.peak, found.area, found.support), BY_HAND[op, rule], strict=True):
        if wanted is not None:
            assert value == pytest.approx(wanted, rel=2e-3, abs=1e-6, nan_ok=True)


@loop_over("key", WEIGHED)
def test_peak_and_area_are_those_of_the_oracle(key):
    """Summed over ±2,000 on a grid of its own, finer around 0."""
    rule = RULES[key]
    parameters = {p.name: p.default for p in rule.parameters}
    near, far = np.linspace(-6, 6, 1_200_001), np.geomspace(6, FAR, 20_001)
    x = np.concatenate([-far[::-1], near, far])
    r = ORACLES[key](x, np.round(x), np.ones_like(x), **parameters)
    found = sized("identity", key, **parameters)
    assert found.peak == pytest.approx(r[np.abs(r).argmax()], rel=1e-4)
    assert found.area == pytest.approx(np.trapezoid(r, x), rel=2e-3)
    inside = x[r != 0]
    if found.support < math.inf:
        assert found.support == pytest.approx(inside.max() - inside.min(), abs=1e-4)


def test_parameters_are_followed():
    wide = sized("sign", "clipped", c=2.5)
    assert (wide.peak, wide.area, wide.support) == (1, 5, 5)
