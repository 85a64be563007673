import itertools
import math
import sys

import pytest
import torch

from explorer.formula import Formula, parse
from explorer.formula.derivative import differentiate
from explorer.formula.functions import AtBounds
from explorer.formula.measured import at_bounds
from tests.selection import loop_over

# Everything that may meet at a bound: lo above hi, ties, infinities and what is no number among them.
MEETING = torch.cartesian_prod(*3 * [torch.tensor([-math.inf, -1.0, -0.0, 0.0, 0.5, math.inf, math.nan])])
CLAMPS = ["clamp(x, lo, hi)", "clamp_min(x, lo)", "clamp_max(x, hi)"]


@loop_over("g", [1.0, -3.0, math.inf, math.nan])
@loop_over("dtype", [torch.float32, torch.float64])
@loop_over("text", CLAMPS)
def test_bounds_that_are_tensors_as_torch(text: str, dtype: torch.dtype, g: float):
    formula = parse(text, parameters=("lo", "hi"))
    x, lo, hi = (column.to(dtype).contiguous().requires_grad_() for column in MEETING.T)
    leaves = {name: leaf for name, leaf in {"x": x, "lo": lo, "hi": hi}.items() if name in text}
    upstream, bounds = torch.full_like(x, g), {"lo": lo, "hi": hi}
    y = formula.with_tensors(bounds).bind()(x, None, None, bounds)
    expected = torch.autograd.grad(y, list(leaves.values()), upstream)
    for name, gradient in zip(leaves, expected, strict=True):
        tree = differentiate(formula.tree, name, tensors=("lo", "hi"))
        written = Formula(tree).with_tensors(bounds).bind()(x, y, upstream, bounds)
        torch.testing.assert_close(written, gradient, rtol=0, atol=0, equal_nan=True, msg=name)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("text", CLAMPS)
def test_bounds_that_are_numbers_as_torch(text: str, dtype: torch.dtype):
    formula = parse(text, parameters=("lo", "hi"))
    column = MEETING[:, 2].to(dtype)
    for lo, hi in itertools.product(MEETING[:7, 2].tolist(), repeat=2):
        x, bounds = column.clone().requires_grad_(), {"lo": lo, "hi": hi}
        upstream = torch.full_like(x, -3.0)
        (expected,) = torch.autograd.grad(formula.bind(bounds)(x), x, upstream)
        written = formula.gradient.bind(bounds)(x, None, upstream)
        torch.testing.assert_close(written, expected, rtol=0, atol=0, equal_nan=True, msg=str(bounds))


SHARES = [AtBounds(1.0, 1.0, 1.0), AtBounds(0.0, 0.5, 0.5)]  # up to version 2.13, and since then


def test_torch_does_at_bounds_what_the_table_knows():
    assert at_bounds() in SHARES


def test_torch_is_asked_wherever_gradients_are_off():
    at_bounds.cache_clear()
    with torch.inference_mode():
        assert at_bounds() in SHARES


@pytest.mark.parametrize(
    ("text", "passes", "shares"),
    [
        ("clamp(x, 0, c)", "where(0 <= x <= c, g, 0)", "where(0 < x < c, g, 0)"),
        ("clamp_min(x, 0)", "where(x >= 0, g, 0)", "where(x > 0, g, 0)"),
        ("clamp_max(x, 0)", "where(x <= 0, g, 0)", "where(x < 0, g, 0)"),
        ("clamp_min(0, x)", "where(0 < x, g, 0)", "where(0 > x, 0, g / where(0 == x, 2, 1))"),
        ("clamp_max(x, numel(x))", "where(x <= numel(x), g, 0)", "where(x < numel(x), g, 0)"),
        (
            "clamp_max(x, mean(x))",
            "where(x <= mean(x), g, 0) + mean(where(x > mean(x), g, 0))",
            "where(x > mean(x), 0, g / where(x == mean(x), 2, 1)) + "
            "mean(where(x < mean(x), 0, g / where(x == mean(x), 2, 1)))",
        ),
    ],
)
def test_gradients_at_a_bound_are_those_of_torch(monkeypatch, text, passes, shares):
    for at, gradient in zip(SHARES, (passes, shares), strict=True):
        monkeypatch.setattr(sys.modules[differentiate.__module__], "at_bounds", lambda at=at: at)
        assert parse(text, parameters=("c",)).gradient.text == gradient


def test_gradients_of_learned_bounds_are_those_of_torch(monkeypatch):
    monkeypatch.setattr(sys.modules[differentiate.__module__], "at_bounds", lambda: SHARES[1])
    formula = parse("clamp(x, lo, hi)", parameters=("lo", "hi"))
    written = [Formula(differentiate(formula.tree, name)).text for name in ("lo", "hi")]
    assert written == [
        "where((x < lo) & (lo <= hi), g, where((x == lo) & (lo < hi), g / 2, 0))",
        "where((x > hi) & (lo <= hi) | (hi < lo), g, where((x == hi) & (lo < hi), g / 2, 0))",
    ]
    halved = "where((x < lo) | (x > hi), 0, g / where(((x == lo) | (x == hi)) & (lo < hi), 2, 1))"
    assert formula.derive_gradient(("hi",)).text == formula.with_tensors(("lo",)).gradient.text == halved
    assert formula.derive_gradient(()) == formula.derive_gradient(("c",)) == formula.gradient
    inner = parse("clamp(x / s, lo, hi)", parameters=("s", "lo", "hi")).tree
    alone, beside = (Formula(differentiate(inner, "s", tensors=each)).text for each in ((), ("hi",)))
    assert "where(lo < x / s < hi, g, 0)" in alone
    assert "where((x / s < lo) | (x / s > hi), 0, g / where(" in beside


def test_the_gradient_of_any_name():
    tree = parse("g * y * (abs(x) <= 1)").tree
    assert Formula(differentiate(tree, "y")).text == "g * (abs(x) <= 1) * g"
    assert Formula(differentiate(tree, "x")).text == "0"


def test_a_gradient_that_would_fill_pages_is_none():
    text = "x"
    for _ in range(13):
        text = f"softsign({text})"
    assert parse(text).gradient is None
