"""Every function and operator with constants at the ends of what numbers can be: nothing ever crashes."""

import math
import re
from contextlib import nullcontext, suppress
from itertools import product

import pytest
import torch

from explorer.formula import FUNCTIONS, parse
from explorer.gradient import bind
from explorer.snippets import jax_snippet, layout, snippet
from explorer.snippets.pair import make_pair
from tests.selection import take_part
from tests.snippets.runner import defined

SIZES = (0.0, 5e-324, 1e-45, 1e-39, 1e-8, 1.0, 6e4, 7e4, 3e38, 1e39, 1e300, 1.7e308)
EXTREMES = [sign * size for size in SIZES for sign in (1, -1)]
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
REFUSALS = (ArithmeticError, ValueError, RuntimeError)  # Python's and torch's own
OPERATORS = ["x + c", "c - x", "x * c", "x / c", "c / x", "x ** c", "c ** x", "1 * (x < c)", "1 * (c == x)",
             "where(c > 0, x, c)", "c", "x + sqrt(c) / log(c) + exp(c) ** c", "x * (c < 1 < d)",
             "x * c / d", "(x - c) * c ** d", "clamp(c, x, d)", "where(x > c, c, d)"]  # fmt: skip


def _calls():
    for row in FUNCTIONS.values():
        for arguments in (("x", "c", "d", "2"), *([] if row.reduces else [("c", "d", "c", "d")])):
            first = f"{arguments[0]} > 1" if row.name == "where" else arguments[0]
            yield f"x + {row.name}({', '.join((first, *arguments[1 : row.arity]))})"


TEXTS = take_part([*_calls(), *OPERATORS])


@pytest.fixture(autouse=True)
def unformatted(monkeypatch):
    """Laying out takes longer than all the rest, and changes no meaning, as test_layout says."""
    monkeypatch.setattr(layout, "format_code", lambda code: code)


def _settings(text):
    names = parse(text, parameters=None).parameters
    every = [dict(zip(names, values, strict=True)) for values in product(EXTREMES, repeat=len(names))]
    return every[:: 13 if len(names) > 1 else 1]


def _curve(function, dtype):
    x = torch.tensor([-2.0, -0.5, 0.0, 0.5, 3.0, math.inf, math.nan], dtype=dtype, requires_grad=True)
    y = function(x)
    (gradient,) = torch.autograd.grad(y, x, torch.full_like(x, -1.5))
    assert (y.dtype, y.shape, gradient.dtype) == (dtype, x.shape, dtype)
    return y.detach(), gradient


@pytest.mark.parametrize("text", TEXTS)
def test_no_constant_is_too_much(text):
    pairs = (f"formula: {text}", "default"), ("formula: x", f"formula: {text} + g")
    for values in _settings(text):
        for function in [bind(op, rule, values) for op, rule in pairs]:
            for dtype in DTYPES:
                _curve(function, dtype)


@pytest.mark.parametrize("text", TEXTS)
def test_code_gives_the_same_curve_or_says_what_it_refuses(text):
    op, rule = f"formula: {text}", f"formula: ({text}) * g"
    code, name = snippet(op, rule), make_pair(op, rule, {}).name
    assert jax_snippet(op, rule)
    function = defined(code)[name]
    same = 0
    for values in _settings(text):
        bound = bind(op, rule, values)
        for dtype in (torch.float32, torch.float64):
            expected = _curve(bound, dtype)
            try:
                result = _curve(lambda x, v=values: function(x, **v), dtype)
            except REFUSALS:
                continue
            same += 1
            for ours, theirs in zip(result, expected, strict=True):
                # Torch takes some alphas forward that it refuses backward; there we say NaN.
                sure = ~theirs.isnan() if "celu" in text else slice(None)
                torch.testing.assert_close(ours[sure], theirs[sure], rtol=0, atol=0, equal_nan=True)
    assert same


@pytest.mark.parametrize("text", TEXTS)
def test_written_out_constants_come_back_and_run(text):
    for values in _settings(text)[::6]:
        written = re.sub(r"\b[cd]\b", lambda name, v=values: f"({v[name.group()]!r})", text)
        formula = parse(written)
        assert parse(formula.text) == formula
        function = defined(snippet(f"formula: {written}", "default"))["custom_default"]
        with suppress(*REFUSALS) if re.search("celu|hardtanh|softshrink", text) else nullcontext():
            for dtype in DTYPES:
                _curve(function, dtype)
