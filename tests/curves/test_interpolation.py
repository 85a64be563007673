"""Somebody's own functions in the instrument: points that say of themselves that they are."""

import json
import pickle
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

import explorer
from explorer.curves import Curves, sample, sample_curves
from explorer.curves.interpolation import interpolate_functions
from explorer.instrument import make_entry
from explorer.lessons import ClampGradient
from tests.frontend import modules

SAMPLE = """
    const { sampleCurves } = await import("./formula/curves.js");
    return sampleCurves(given, given.choice);
"""


@pytest.fixture(scope="module")
def node() -> Iterator[modules.Node]:
    with modules.node() as node:
        yield node


def drawn(node, curves: Curves, g: float):
    """The curves that the browser computes from the entries."""
    op, rules = interpolate_functions(curves)
    entries = {"op": make_entry(op), "rules": [*map(make_entry, rules)]}
    entries = json.loads(json.dumps(entries, allow_nan=False))
    choice = {"start": curves.start, "stop": curves.stop, "g": g, "parameters": dict(curves.parameters)}
    return node.run(SAMPLE, entries | {"choice": choice})


@pytest.mark.parametrize(
    ("op", "rules"),
    [
        (torch.round, ["default", "straight_through", nn.Tanh()]),
        (nn.Softplus(), ["default", "formula: g * y"]),
        ("clamp", ["default", nn.Hardtanh()]),
    ],
    ids=["a function", "a module", "a key beside a module"],
)
def test_the_browser_draws_the_functions_values(node, op, rules):
    parameters = {"hi": 0.5} if op == "clamp" else {}
    for g in (1.0, -0.5):
        curves = sample_curves(op, rules, g=g, dtype="float64", **parameters)
        seen = drawn(node, sample_curves(op, rules, dtype="float64", **parameters), g)
        np.testing.assert_allclose(seen["x"], curves.x, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(seen["y"], curves.y, rtol=1e-5, atol=1e-5)
        for key, values in curves.gradients.items():
            np.testing.assert_allclose(seen["gradients"][key], values, rtol=1e-5, atol=1e-5)


def test_a_rule_that_is_not_linear_in_g_is_interpolated_at_one_g_only(node):
    curves = sample_curves("clamp", ClampGradient, g=2, dtype="float64")
    (rule,) = interpolate_functions(curves)[1]
    assert rule.formula == "sampled at g = 2 only, at 1,812 x from −9 to 9"
    (key,) = curves.gradients
    np.testing.assert_array_equal(drawn(node, curves, 2.0)["gradients"][key], curves.gradients[key])
    assert np.isnan(drawn(node, curves, 1.0)["gradients"][key]).all()


def test_entries_of_the_catalogue_stay_formulas():
    curves = sample_curves("clamp", ["default", "masked"])
    assert interpolate_functions(curves) == (curves.op, curves.rules)


def test_the_page_says_that_functions_are_sampled():
    html = explorer.instrument(torch.round, ["default", nn.Tanh()], start=-1, stop=2).html()
    assert "sampled at 1,8" in html
    assert "x from \\u22124 to 5" in html or "x from −4 to 5" in html


def test_a_table_of_a_sampled_function_can_be_pickled():
    def own(x):
        return torch.relu(x)

    frame = sample(own, ["default", "straight_through"])
    again = pickle.loads(pickle.dumps(frame))
    pd.testing.assert_frame_equal(again, frame)
    curves = again.attrs["curves"]
    x = np.array([-1.5, 0.5, 2.0], np.float32)
    assert curves.evaluate("default", x).tolist() == [0, 1, 1]
    assert curves.evaluate("forward", x).tolist() == [0, 0.5, 2]
    assert curves.kinks == frame.attrs["curves"].kinks
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(again)), frame)
