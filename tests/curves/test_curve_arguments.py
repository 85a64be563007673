import math

import numpy as np
import pandas as pd
import pytest
import torch

from explorer.catalogue import MAX_RULES
from explorer.catalogue.records import MAX_ABS_X
from explorer.curves import sample, sample_curves
from explorer.curves.grids import MAX_POINTS
from explorer.formula import FormulaError
from tests.catalogue.fixed import OPS, RULES
from tests.curves.curve_cases import DTYPES, block_of
from tests.selection import loop_over


def _gradient_at(frame: pd.DataFrame, rule: str, x: float) -> float:
    block = block_of(frame, rule)
    (row,) = np.flatnonzero(block["x"] == block["x"].dtype.type(x))
    return float(block["gradient"][row])


def test_parameters_are_given_by_name_for_all_or_for_one_rule():
    frame = sample("identity", ["clipped", "boxcar"], **{"c": 2.0, "boxcar.w": 0.25})
    assert _gradient_at(frame, "clipped", 2.0) == 1
    assert _gradient_at(frame, "boxcar", 0.25) == 2


def test_the_same_rule_twice_counts_once():
    frame = sample("round", ["default", "formula: g*2", "default", "formula: g * 2"])
    assert list(dict.fromkeys(frame["rule"])) == ["default", "formula: g * 2"]
    assert len(frame) == 2 * len(block_of(frame, "default"))


@loop_over(
    ("arguments", "words"),
    [
        ({"rules": "strait"}, "unknown rule 'strait'"),
        ({"rules": []}, "choose 1 to 6 rules, not 0"),
        ({"op": "formula: y"}, '"y" at column 1'),
        ({"rules": "formula: g *"}, "a value is missing"),
        ({"start": math.nan}, "start must be a finite number, not nan"),
        ({"start": None}, "start must be a number, not None"),
        ({"g": "a"}, "g must be a number, not 'a'"),
        ({"stop": np.nextafter(MAX_ABS_X, 2e6)}, "stop must lie within"),
        ({"g": math.nan}, "g must be a finite number, not nan"),
        ({"points": 1}, "points must be a whole number from 2 to 4001, not 1"),
        ({"points": MAX_POINTS + 1}, "not 4002"),
        ({"points": 2.5}, "not 2.5"),
        ({"dtype": "float16"}, "dtype must be float32 or float64, not 'float16'"),
        ({"dtype": torch.int32}, "dtype must be"),
        ({"slope": 1.0}, "unknown parameter 'slope'"),
        ({"rules": list(RULES)[: MAX_RULES + 1]}, "choose 1 to 6 rules, not 7"),
    ],
)
def test_invalid_arguments_are_refused_in_a_plain_sentence(arguments: dict, words: str):
    settings = {"op": "round", "rules": ["default"]} | arguments
    with pytest.raises(ValueError, match=r"^[^\n]+") as caught:
        sample(**settings)
    sentence, *place = str(caught.value).split("\n")
    assert words in sentence
    assert len(place) == (2 if isinstance(caught.value, FormulaError) else 0)


def test_the_limits_themselves_are_allowed():
    frame = sample("relu", list(RULES)[:MAX_RULES], start=-MAX_ABS_X, stop=MAX_ABS_X)
    assert frame["rule"].nunique() == MAX_RULES
    assert frame["x"].abs().max() == MAX_ABS_X
    assert len(sample("identity", "default", points=MAX_POINTS)) == MAX_POINTS


@pytest.mark.parametrize("name", ["x", "y", "g"])
def test_a_rule_may_return_what_it_was_given(name: str):
    frame = sample("formula: x + 1", f"formula: {name}", points=5, g=2.0)
    expected = {"x": frame["x"], "y": frame["x"] + 1, "g": frame["x"] * 0 + 2}[name]
    np.testing.assert_array_equal(frame["gradient"], expected)


def test_a_parameter_that_learns_has_its_part():
    """LSQ's equation 3 at g = 2, between and at the levels; NaN for a rule by which s cannot learn."""
    frame = sample("clamp", ["pact", "clipped"], learns="hi", g=2.0, lo=-1, hi=1)
    assert list(frame.columns) == ["rule", "x", "y", "gradient", "part"]
    pact, clipped = (block_of(frame, rule) for rule in ("pact", "clipped"))
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
    assert parts.float64_curves.learns == "s"


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_bound_that_learns_is_a_tensor_for_torchs_own_gradient(dtype: str):
    """Exactly at a bound torch may share g otherwise with tensors than with numbers: both are torch's."""
    span = {"g": 2.0, "lo": -1, "hi": 1, "dtype": dtype}
    curves = sample_curves("clamp", ["default", "masked"], learns="hi", **span)
    x = torch.from_numpy(curves.x).requires_grad_()
    lo, hi = (torch.full_like(x, bound, requires_grad=True) for bound in (-1, 1))
    upstream = torch.full_like(x, 2.0)
    own, part = torch.autograd.grad(torch.clamp(x, lo, hi), (x, hi), upstream)
    found = curves.gradients["default"], curves.evaluate("default", curves.x), curves.compute_autograd(2.0)
    assert all(np.array_equal(each, own) for each in found)
    assert np.array_equal(curves.parts["default"], part)
    (numbers,) = torch.autograd.grad(torch.clamp(x, -1, 1), x, upstream)
    assert np.array_equal(sample_curves("clamp", "default", **span).evaluate("default", curves.x), numbers)
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
