"""Sampled curves: a tidy table, the kinks in it exactly, and nothing impossible let in."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
import torch

from explorer.curves import grids, readings, sample, sample_curves, sampling
from explorer.curves.grids import LARGEST_RANGE, MOST_POINTS
from explorer.curves.kinks import kinks
from explorer.curves.sampling import MOST_RULES
from explorer.formula import FormulaError
from explorer.gradient import apply
from explorer.sampled import EVEN
from tests.catalogue.fixed import OPS, RULES
from tests.selection import loop_over

DTYPES = {"float32": np.float32, "float64": np.float64}
SIX = [list(RULES)[start : start + MOST_RULES] for start in range(0, len(RULES), MOST_RULES)]


def _block(frame: pd.DataFrame, rule: str) -> pd.DataFrame:
    return frame[frame["rule"] == rule].reset_index(drop=True)


def _gradient_at(frame: pd.DataFrame, rule: str, x: float) -> float:
    block = _block(frame, rule)
    (row,) = np.flatnonzero(block["x"] == block["x"].dtype.type(x))
    return float(block["gradient"][row])


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_tidy_table(dtype: str):
    rules = ["default", "straight_through", "formula: 3 * g"]
    frame = sample("round", rules, start=-2, stop=2, points=9, dtype=dtype, g=2.0)
    assert list(frame.columns) == ["rule", "x", "y", "gradient"]
    assert list(dict.fromkeys(frame["rule"])) == rules
    assert [frame[column].dtype for column in ("x", "y", "gradient")] == [DTYPES[dtype]] * 3
    assert list(frame.index) == list(range(len(frame)))
    x = _block(frame, "default")["x"]
    assert x.is_monotonic_increasing
    assert x.is_unique
    assert set(np.linspace(-2, 2, 9)) <= set(x)
    for rule, factor in zip(rules, (0, 2, 6), strict=True):
        block = _block(frame, rule)
        pd.testing.assert_series_equal(block["x"], x)
        assert set(block["gradient"]) == {factor}
        assert (block["y"] == np.round(block["x"])).all()


def test_torch_dtypes_are_taken_too():
    pd.testing.assert_frame_equal(
        sample("tanh", "default", dtype=torch.float64), sample("tanh", "default", dtype="float64")
    )


def test_curves_hold_what_a_picture_needs():
    curves = sample_curves("clamp", ["default", "clipped"], start=2, stop=-2, g=-3, c=0.5)
    assert curves.op is OPS["clamp"]
    assert curves.labels == {key: RULES[key].label for key in ("default", "clipped")}
    assert (curves.start, curves.stop, curves.points, curves.g) == (-2, 2, 601, -3)
    assert curves.parameters == {"c": 0.5}
    assert curves.kinks == {"forward": (0, 1), "default": (0, 1), "clipped": (-0.5, 0, 0.5, 1)}
    assert list(curves.columns) == ["forward", "default", "clipped"]


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
    pd.testing.assert_frame_equal(curves.exact.frame, double.frame)
    assert double.exact is double


@pytest.mark.parametrize(
    ("op", "rule", "value"),
    [
        ("identity", "magnitude_aware", 1.0),
        ("scaled_binarize", "default", 0.0),
        ("formula: mean(x**2)", "zero", 4 / 3),
    ],
)
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
    at = np.array(kinks(op, None, settings, -2.5, 2.5), dtype=number)
    assert len(at) or op.kinks is not None, "the search finds kinks that are not declared"
    assert bool(len(at)) == bool(op.kinks is None or kinks(op, None, settings, -2.5, 2.5))
    wanted = {*at, *np.nextafter(at, number(-np.inf)), *np.nextafter(at, number(np.inf))}
    sampled = _block(frame, "default")
    assert {x for x in wanted if -2.5 <= x <= 2.5} <= set(sampled["x"])
    if "mean" in op.formula:
        return  # apply's mean is that of its tensor, a curve's that of the range
    x = torch.from_numpy(sampled["x"].to_numpy().copy()).requires_grad_()
    y = apply(op, "default", x)
    np.testing.assert_array_equal(y.detach(), sampled["y"])
    if y.requires_grad:
        y.backward(torch.full_like(y, 2.0))
        np.testing.assert_array_equal(x.grad, sampled["gradient"])
    assert (_block(frame, "straight_through")["gradient"] == 2).all()


@loop_over("rule", [rule for rule in RULES.values() if rule.kinks])
def test_every_kink_of_a_rule_is_sampled_on_both_sides(rule):
    settings = {p.name: p.default for p in rule.parameters}
    at = np.array(kinks(OPS["identity"], rule, settings, -2.5, 2.5), dtype=np.float32)
    assert len(at)
    block = _block(sample("identity", rule, start=-2.5, stop=2.5, points=7), rule.key)
    for side in (-np.inf, np.inf):
        assert set(np.nextafter(at, np.float32(side))) <= set(block["x"])
    if "mean" in rule.formula:
        return  # over the range, not over these x
    y = x = torch.from_numpy(block["x"].to_numpy().copy())
    expected = rule.parsed.bind(settings)(x, y, torch.ones_like(x))
    np.testing.assert_array_equal(block["gradient"], expected)


def test_a_jump_is_told_from_its_limits():
    frame = sample("round", "default", start=-1, stop=1, points=3, dtype="float64")
    y = dict(zip(frame["x"], frame["y"], strict=True))
    assert y[0.5] == y[math.nextafter(0.5, 0)] == 0
    assert y[math.nextafter(0.5, 1)] == 1


def test_parameters_are_given_by_name_for_all_or_for_one_rule():
    frame = sample("identity", ["clipped", "boxcar"], **{"c": 2.0, "boxcar.w": 0.25})
    assert _gradient_at(frame, "clipped", 2.0) == 1
    assert _gradient_at(frame, "boxcar", 0.25) == 2


def test_the_same_rule_twice_counts_once():
    frame = sample("round", ["default", "formula: g*2", "default", "formula: g * 2"])
    assert list(dict.fromkeys(frame["rule"])) == ["default", "formula: g * 2"]
    assert len(frame) == 2 * len(_block(frame, "default"))


@loop_over("op", OPS)
def test_every_op_with_every_rule(op: str):
    for rules in SIX:
        frame = sample(op, rules, points=21, g=-2.0)
        assert list(dict.fromkeys(frame["rule"])) == rules
        forward = [_block(frame, rule)["y"] for rule in rules]
        assert all(forward[0].equals(y) for y in forward)


@loop_over(
    ("arguments", "words"),
    [
        ({"op": "rund"}, "unknown op 'rund'"),
        ({"rules": "strait"}, "unknown rule 'strait'"),
        ({"rules": []}, "choose 1 to 6 rules, not 0"),
        ({"op": "formula: y"}, '"y" at column 1'),
        ({"rules": "formula: g *"}, "a value is missing"),
        ({"start": math.nan}, "start must be a finite number, not nan"),
        ({"stop": math.inf}, "stop must be a finite number, not inf"),
        ({"start": None}, "start must be a number, not None"),
        ({"g": "a"}, "g must be a number, not 'a'"),
        ({"stop": np.nextafter(LARGEST_RANGE, 2e6)}, "stop must lie within"),
        ({"g": math.nan}, "g must be a finite number, not nan"),
        ({"g": -math.inf}, "g must be a finite number, not -inf"),
        ({"points": 1}, "points must be a whole number from 2 to 4001, not 1"),
        ({"points": MOST_POINTS + 1}, "not 4002"),
        ({"points": 2.5}, "not 2.5"),
        ({"dtype": "float16"}, "dtype must be float32 or float64, not 'float16'"),
        ({"dtype": torch.int32}, "dtype must be"),
        ({"slope": 1.0}, "unknown parameter 'slope'"),
        ({"rules": "clipped", "c": math.nan}, "parameter c must be a finite number, not nan"),
        ({"rules": "clipped", "clipped.d": 1.0}, "unknown parameter 'clipped.d'"),
        ({"rules": list(RULES)[: MOST_RULES + 1]}, "choose 1 to 6 rules, not 7"),
    ],
)
def test_what_cannot_be_is_refused_in_a_plain_sentence(arguments: dict, words: str):
    settings = {"op": "round", "rules": ["default"]} | arguments
    with pytest.raises(ValueError, match=r"^[^\n]+") as caught:
        sample(**settings)
    sentence, *place = str(caught.value).split("\n")
    assert words in sentence
    assert len(place) == (2 if isinstance(caught.value, FormulaError) else 0)


def test_the_limits_themselves_are_allowed():
    frame = sample("relu", list(RULES)[:MOST_RULES], start=-LARGEST_RANGE, stop=LARGEST_RANGE)
    assert frame["rule"].nunique() == MOST_RULES
    assert frame["x"].abs().max() == LARGEST_RANGE
    assert len(sample("identity", "default", points=MOST_POINTS)) == MOST_POINTS


def test_each_limit_can_be_2(monkeypatch):
    monkeypatch.setattr(grids, "MOST_POINTS", 2)
    monkeypatch.setattr(sampling, "MOST_RULES", 2)
    monkeypatch.setattr(grids, "LARGEST_RANGE", 2)
    two = {"rules": ["default", "zero"], "start": -2, "stop": 2, "points": 2}
    assert set(sample("identity", **two)["x"]) == {-2, 2}
    for more in ({"points": 3}, {"rules": ["default", "zero", "scale"]}, {"start": -3}, {"stop": 2.1}):
        with pytest.raises(ValueError, match="2"):
            sample("identity", **(two | more))


@pytest.mark.parametrize("name", ["x", "y", "g"])
def test_a_rule_may_return_what_it_was_given(name: str):
    frame = sample("formula: x + 1", f"formula: {name}", points=5, g=2.0)
    expected = {"x": frame["x"], "y": frame["x"] + 1, "g": frame["x"] * 0 + 2}[name]
    np.testing.assert_array_equal(frame["gradient"], expected)
    x = torch.ones(3, requires_grad=True)
    apply("identity", f"formula: {name}", x).sum().backward()
    assert x.grad is not None
    assert x.grad.data_ptr() != x.data_ptr()
    assert not x.grad.requires_grad


def test_readings_stand_around_each_kink():
    table = readings("relu", ["default", "seed_relu"], start=-1, stop=1, g=2.0, points=3)
    near = float(np.nextafter(np.float32(0), np.float32(1)))
    assert list(table.columns) == ["x", "y", "torch", RULES["seed_relu"].label]
    assert table["x"].tolist() == [-1, -near, 0, near, 1]
    assert table["y"].tolist() == [0, 0, 0, near, 1]
    assert table["torch"].tolist() == [0, 0, 0, 2, 2]
    assert table[RULES["seed_relu"].label].tolist() == [0, 0, 2, 2, 2]


def test_readings_of_own_rules_called_like_a_column():
    rules = ["formula: x", "formula: y", "formula: 3 * g"]
    table = readings("formula: c * x", rules, start=-1, stop=1, g=2.0, c=2.0, points=2)
    assert list(table.columns) == ["x", "y", "torch", "formula: x", "formula: y", "3 * g"]
    assert table.to_numpy().tolist() == [[-1, -2, 4, -1, -2, 6], [1, 2, 4, 1, 2, 6]]


def test_a_parameter_that_learns_has_its_part():
    """LSQ's equation 3 at g = 2, between and at the levels; NaN for a rule by which s cannot learn."""
    frame = sample("clamp", ["pact", "clipped"], learns="hi", g=2.0, lo=-1, hi=1)
    assert list(frame.columns) == ["rule", "x", "y", "gradient", "part"]
    pact, clipped = (_block(frame, rule) for rule in ("pact", "clipped"))
    np.testing.assert_array_equal(pact["part"], 2.0 * (pact["x"] >= 1))
    x = torch.tensor(clipped["x"].to_numpy())
    lo, hi = (torch.full_like(x, bound, requires_grad=True) for bound in (-1, 1))
    (torchs,) = torch.autograd.grad(torch.clamp(x, lo, hi), hi, torch.full_like(x, 2.0))
    np.testing.assert_array_equal(clipped["part"], torchs)  # of the op
    parts = sample_curves("quantize", "lsq", learns="s", s=0.5, dtype="float64")
    v = parts.x / 0.5
    inside = np.round(v) - v
    low, high = (next(p.default for p in OPS["quantize"].parameters if p.name == n) for n in ("qmin", "qmax"))
    wanted = np.select([v <= low, v >= high], [low, high], inside)
    np.testing.assert_allclose(parts.parts["lsq"], wanted, rtol=1e-12, atol=1e-12)
    assert parts.exact.learns == "s"


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_bound_that_learns_is_a_tensor_for_torchs_own_gradient(dtype: str):
    """Exactly at a bound torch may share g otherwise with tensors than with numbers: both are torch's."""
    span = {"g": 2.0, "lo": -1, "hi": 1, "dtype": dtype}
    curves = sample_curves("clamp", ["default", "masked"], learns="hi", **span)
    x = torch.from_numpy(curves.x).requires_grad_()
    lo, hi = (torch.full_like(x, bound, requires_grad=True) for bound in (-1, 1))
    upstream = torch.full_like(x, 2.0)
    own, part = torch.autograd.grad(torch.clamp(x, lo, hi), (x, hi), upstream)
    for result in (curves.gradients["default"], curves.at("default", curves.x), curves.autograd(2.0)):
        assert np.array_equal(result, own)
    assert np.array_equal(curves.parts["default"], part)
    (numbers,) = torch.autograd.grad(torch.clamp(x, -1, 1), x, upstream)
    assert np.array_equal(sample_curves("clamp", "default", **span).at("default", curves.x), numbers)
    assert np.array_equal(curves.gradients["masked"], 2.0 * (abs(curves.x) <= 1))


def test_a_part_is_infinite_where_g_is_too_large_for_its_dtype():
    """As gradients are: float32 ends before 1e39."""
    at = {"learns": "s", "g": 1e39, "start": -9.0, "stop": -8.0}
    assert (sample("quantize", "lsq", **at)["part"] == -np.inf).all()
    assert np.isfinite(sample("quantize", "lsq", dtype="float64", **at)["part"]).all()


def test_a_name_that_cannot_learn_is_refused():
    with pytest.raises(ValueError, match="shapes the gradient of clipped alone"):
        sample("sign", ["clipped"], learns="c")
    with pytest.raises(ValueError, match="unknown parameter 'z'"):
        sample("sign", ["clipped"], learns="z")
