"""A formula as JSON holds all of its tree."""

import json

import pytest
from hypothesis import given

from explorer.formula import Formula, parse
from tests.formula.reading import read
from tests.formula.strategies import formulas, many


@many
@given(formulas)
def test_data_reads_back_as_the_same_formula(formula):
    assert Formula(read(json.loads(json.dumps(formula.data, allow_nan=False)))) == formula


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("2", 2), ("x", ["name", "x"]), ("-x ** 0.5", ["-", ["**", ["name", "x"], 0.5]]),
        ("1 * ~(0 <= x < 2)", ["*", 1, ["~", ["compare", ["<=", "<"], 0, ["name", "x"], 2]]]),
        ("max(x, pi)", ["call", "max", ["name", "x"], ["name", "pi"]]),
    ],
)  # fmt: skip
def test_data_by_hand(text, data):
    assert parse(text).data == data
