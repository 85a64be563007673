"""Straight lines through points: the one function with a variable number of arguments."""

import json
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import explorer
from explorer.catalogue import find_op, find_rule
from explorer.curves.kinks import find_kinks
from explorer.formula import Formula, FormulaError, parse
from explorer.formula.derivative import differentiate
from explorer.formula.tree import to_data
from explorer.gradient import apply
from explorer.reading import read_sources
from tests.selection import count_examples
from tests.snippets.runner import defined

NUMBERS = st.integers(-400, 400).map(lambda whole: whole / 100)
POINTS = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=16, unique_by=lambda point: point[0])
CASES = POINTS.map(sorted)


def written(points, argument="x"):
    return f"through({argument}, {', '.join(f'{number!r}' for point in points for number in point)})"


def around(points):
    """The points, their neighbours, the middles, and far on both sides."""
    at = np.array([x for x, _ in points])
    return np.unique([*at, *np.nextafter(at, 9), *np.nextafter(at, -9), *(at[1:] + at[:-1]) / 2, -50.0, 50.0])


@given(CASES)
def test_values_of_through_equal_numpys_and_are_exact_at_the_points(points):
    x = torch.tensor(around(points))
    y = apply(f"formula: {written(points)}", "default", x)
    assert np.allclose(y.numpy(), np.interp(x.numpy(), *zip(*points, strict=True)), rtol=1e-12, atol=1e-12)
    for dtype in (torch.float32, torch.float64):
        at, own = (torch.tensor(each, dtype=dtype) for each in zip(*points, strict=True))
        assert torch.equal(apply(f"formula: {written(points)}", "default", at), own)


@given(CASES)
def test_the_derivative_of_through_is_the_slope_and_the_second_is_0(points):
    formula = parse(written(points))
    x = torch.tensor(around(points), requires_grad=True)
    y = apply(f"formula: {formula.text}", "default", x)
    (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    at, y = np.array(points).T
    right = np.searchsorted(at, x.detach().numpy(), side="right")
    expected = np.concatenate([[0.0], np.diff(y) / np.diff(at), [0.0]])[right]
    assert np.allclose(slope.detach().numpy(), expected, rtol=1e-12)
    written_out = Formula(differentiate(formula.tree)).bind()(x.detach(), None, torch.ones_like(x))
    assert torch.equal(written_out, slope.detach())
    assert not slope.requires_grad or not torch.autograd.grad(slope.sum(), x, allow_unused=True)[0]


@settings(max_examples=count_examples(40))  # each executes generated code
@given(CASES)
def test_text_data_and_code_say_the_same(points):
    formula = parse(f"g * {written(points)}")
    assert parse(formula.text) == formula
    assert to_data(parse(written(points)).tree) == [
        "through", *map(list, zip(*points, strict=True)), ["name", "x"],
    ]  # fmt: skip
    assert json.loads(json.dumps(to_data(formula.tree))) == to_data(formula.tree)
    rule = f"formula: {formula.text}"
    function = defined(explorer.snippet("identity", rule))["identity_custom"]
    x = torch.tensor([*around(points), math.nan, math.inf, -math.inf])
    for dtype in (torch.float32, torch.float64):
        ours, theirs = (x.to(dtype).requires_grad_() for _ in range(2))
        apply("identity", rule, ours).sum().backward()
        function(theirs).sum().backward()
        assert torch.equal(ours.grad.nan_to_num(7), theirs.grad.nan_to_num(7))
    (reading,) = read_sources(explorer.snippet("identity", rule))
    assert find_rule(reading.rule).formula == formula.text
    assert r"\operatorname{through}" in formula.latex


@given(CASES)
def test_the_kinks_of_through_are_the_points_at_which_it_bends(points):
    found = find_kinks(find_op(f"formula: {written(points)}"), find_rule("default"), {}, -5, 5)
    at, y = np.array(points).T
    slopes = np.concatenate([[0.0], np.diff(y) / np.diff(at), [0.0]])
    bends = at[np.abs(np.diff(slopes)) > 1e-6]
    assert {*bends} <= {*found} <= {*at}


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("g * through(x, 0, 1)", "through at column 5 takes x and 2 to 16 points of two numbers", 5),
        ("through(x, 0, 1, 2)", "takes x and 2 to 16 points", 1),
        (f"through(x{', 1' * 34})", "takes x and 2 to 16 points", 1),
        ("through(x, 0, 1, 1, x)", "a point of through at column 21 must be two numbers", 21),
        ("through(x, 0, 1, 0, 2)", "the x of this point at column 18 must be above that of the point before",
         18),
        ("through(x, 1, 1, -1, 2)", "the x of this point at column 18", 18),
        ("through(2, 0, 1, 1, 2)", "the first argument of through at column 9 has no x, y or g in it", 9),
        ("through(x > 0, 0, 1, 1, 2)", "the first argument of through needs a number", 9),
        ("through(x, 0, 1, 1, y=2)", "leave it out", 21),
    ],
)  # fmt: skip
def test_a_refusal_names_the_column(text, message, column):
    with pytest.raises(FormulaError) as refused:
        parse(text)
    assert message in refused.value.message
    assert refused.value.column == column


def test_nan_and_infinities():
    y = apply("formula: through(x, -1, 3, 1, 5)", "default", torch.tensor([math.nan, math.inf, -math.inf]))
    assert y[1:].tolist() == [5, 3]
    assert y[0].isnan()
