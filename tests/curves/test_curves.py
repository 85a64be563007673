"""Sampled curves: a tidy table, the kinks in it exactly, and nothing impossible let in."""

import numpy as np
import pandas as pd
import pytest
import torch

from explorer.curves import sample, sample_curves
from explorer.curves.kinks import find_kinks
from explorer.curves.sampled import EVEN
from explorer.gradient import apply
from tests.catalogue.fixed import OPS, RULES
from tests.curves.curve_cases import DTYPES, block_of
from tests.selection import loop_over


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_tidy_table(dtype: str):
    rules = ["default", "straight_through", "formula: 3 * g"]
    frame = sample("round", rules, start=-2, stop=2, points=9, dtype=dtype, g=2.0)
    assert list(frame.columns) == ["rule", "x", "y", "gradient"]
    assert list(dict.fromkeys(frame["rule"])) == rules
    assert [frame[column].dtype for column in ("x", "y", "gradient")] == [DTYPES[dtype]] * 3
    assert list(frame.index) == list(range(len(frame)))
    x = block_of(frame, "default")["x"]
    assert x.is_monotonic_increasing
    assert x.is_unique
    assert set(np.linspace(-2, 2, 9)) <= set(x)
    for rule, factor in zip(rules, (0, 2, 6), strict=True):
        block = block_of(frame, rule)
        pd.testing.assert_series_equal(block["x"], x)
        assert set(block["gradient"]) == {factor}
        assert (block["y"] == np.round(block["x"])).all()


def test_curves_hold_what_a_picture_needs():
    curves = sample_curves("clamp", ["default", "clipped"], start=2, stop=-2, g=-3, c=0.5)
    assert curves.op is OPS["clamp"]
    assert curves.labels == {key: RULES[key].label for key in ("default", "clipped")}
    assert (curves.start, curves.stop, curves.points, curves.g) == (-2, 2, 601, -3)
    assert curves.parameters == {"c": 0.5}
    assert curves.kinks == {"forward": (0, 1), "default": (0, 1), "clipped": (-0.5, 0, 0.5, 1)}
    assert list(curves.columns) == ["forward", "default", "clipped"]


def test_torchs_gradient_of_a_polynomial_has_a_degree_less():
    for degree in (1, 2, 3):
        curves = sample_curves(f"formula: x**{degree}", ["default", "straight_through"])
        assert (curves.degrees["forward"], curves.degrees["default"]) == (degree, degree - 1)


def test_a_table_is_a_view_of_its_curves():
    frame = sample("clamp", ["default", "clipped"], c=0.5)
    assert list(frame.attrs) == ["curves"]
    curves = frame.attrs["curves"]
    pd.testing.assert_frame_equal(frame, curves.frame)
    frame["y"] = 0.0
    assert curves.frame["y"].any()
    assert frame.copy().attrs["curves"] is curves


def test_the_same_in_float64():
    curves = sample_curves("clamp", "clipped", start=0, stop=2, points=11, g=-2, c=0.3)
    double = sample_curves("clamp", "clipped", start=0, stop=2, points=11, g=-2, c=0.3, dtype="float64")
    pd.testing.assert_frame_equal(curves.float64_curves.frame, double.frame)
    assert double.float64_curves is double


@pytest.mark.parametrize(("op", "rule", "value"), [
    ("identity", "magnitude_aware", 1.0), ("scaled_binarize", "default", 0.0),
    ("formula: mean(x**2)", "zero", 4 / 3),
])  # fmt: skip
def test_a_mean_depends_on_the_range_alone(op: str, rule: str, value: float):
    """Not on the points drawn, the kinks, or the other rules."""
    settings = {"start": -2, "stop": 2, "dtype": "float64", "c": 0.5}
    settings = settings if rule == "magnitude_aware" else {**settings, "c": 1.0}
    one = sample_curves(op, [rule, "clipped"], points=11, **settings)
    other = sample_curves(op, ["soft_round", rule, "formula: floor(9*x)", "clipped"], points=1001, **settings)
    shared = np.isin(other.x, one.x)
    np.testing.assert_array_equal(other.y[shared], one.y[np.isin(one.x, other.x)])
    np.testing.assert_array_equal(other.gradients[rule][shared], one.gradients[rule][np.isin(one.x, other.x)])
    shown = one.y if op.startswith("formula") else one.gradients[rule]
    assert shown[np.abs(one.x) < 0.25].max() == pytest.approx(value, abs=2e-3)


def test_default_of_a_mean_is_torch_s_in_the_limit():
    """At the reference's own points: what torch gives for a tensor of just them."""
    text = "formula: mean(abs(x)) * where(x >= 0, 1, -1) + x * mean(x * mean(x**2))"
    curves = sample_curves(text, "default", start=-1, stop=3, points=2001, g=2.0, dtype="float64")
    x = torch.linspace(-1, 3, 2001, dtype=torch.float64).requires_grad_()
    apply(text, "default", x).backward(torch.full_like(x, 2.0))
    at = np.searchsorted(x.detach().numpy(), curves.x[curves.marks == EVEN])
    away = (curves.marks == EVEN) & (np.abs(curves.x) > 1e-9)
    np.testing.assert_allclose(
        curves.gradients["default"][away], np.interp(curves.x[away], x.detach(), x.grad), rtol=1e-9
    )
    assert len(at) > 1990


@loop_over("dtype", DTYPES)
@loop_over("op", OPS.values())
def test_every_kink_of_an_op_is_sampled_on_both_sides(op, dtype: str):
    """The kink itself and its nearest floats are there, with the values torch has there."""
    frame = sample(op, ["default", "straight_through"], start=-2.5, stop=2.5, points=7, g=2.0, dtype=dtype)
    number = DTYPES[dtype]
    settings = {p.name: p.default for p in op.parameters}
    at = np.array(find_kinks(op, None, settings, -2.5, 2.5), dtype=number)
    assert len(at) or op.kinks is not None, "the search finds kinks that are not declared"
    assert bool(len(at)) == bool(op.kinks is None or find_kinks(op, None, settings, -2.5, 2.5))
    wanted = {*at, *np.nextafter(at, number(-np.inf)), *np.nextafter(at, number(np.inf))}
    sampled = block_of(frame, "default")
    assert {x for x in wanted if -2.5 <= x <= 2.5} <= set(sampled["x"])
    if "mean" in op.formula:
        return  # apply's mean is that of its tensor, a curve's that of the range
    x = torch.from_numpy(sampled["x"].to_numpy().copy()).requires_grad_()
    y = apply(op, "default", x)
    np.testing.assert_array_equal(y.detach(), sampled["y"])
    if y.requires_grad:
        y.backward(torch.full_like(y, 2.0))
        np.testing.assert_array_equal(x.grad, sampled["gradient"])
    assert (block_of(frame, "straight_through")["gradient"] == 2).all()


@loop_over("rule", [rule for rule in RULES.values() if rule.kinks])
def test_every_kink_of_a_rule_is_sampled_on_both_sides(rule):
    settings = {p.name: p.default for p in rule.parameters}
    at = np.array(find_kinks(OPS["identity"], rule, settings, -2.5, 2.5), dtype=np.float32)
    assert len(at)
    block = block_of(sample("identity", rule, start=-2.5, stop=2.5, points=7), rule.key)
    for side in (-np.inf, np.inf):
        assert set(np.nextafter(at, np.float32(side))) <= set(block["x"])
    if "mean" in rule.formula:
        return  # over the range, not over these x
    y = x = torch.from_numpy(block["x"].to_numpy().copy())
    expected = rule.parsed.bind(settings)(x, y, torch.ones_like(x))
    np.testing.assert_array_equal(block["gradient"], expected)
