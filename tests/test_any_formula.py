"""Any accepted formula with extreme constants: sampled, described, written as code, carried by a link."""

import ast
import math

import numpy as np
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from explorer.catalogue import FORMULA_PREFIX
from explorer.catalogue.records import MAX_ABS_X
from explorer.curves import sample_curves
from explorer.curves.sampled import FORWARD
from explorer.description import describe
from explorer.formula import parse
from explorer.snippets import jax_snippet, snippet
from explorer.ui.links.link import from_query
from tests.formula.strategies import PARAMETERS, formulas, many
from tests.selection import count_examples

SIZES = (0.0, 5e-324, 1e-45, 1e-8, 1.0, 7e4, 3e38, 1e39, 1.7e308)
numbers = st.sampled_from([sign * size for size in SIZES for sign in (1, -1)])
positions = st.floats(-MAX_ABS_X, MAX_ABS_X) | st.sampled_from((0.0, 1e-30, -3.0, MAX_ABS_X))
constants = st.fixed_dictionaries(dict.fromkeys(PARAMETERS, numbers))


def pair_of(formula) -> tuple[str, str]:
    """The formula as an op where it is one in x alone, otherwise as the rule of one."""
    text = FORMULA_PREFIX + formula.text
    return (text, "default") if set(formula.variables) <= {"x"} else ("abs", text)


@settings(many, max_examples=count_examples(80), suppress_health_check=[HealthCheck.too_slow])
@given(formulas, constants, numbers, positions, positions)
@example(parse("-x"), {}, 1.7e308, 0.0, 0.0)  # gradients that differ by more than a number can be
def test_curves_words_code_and_links(formula, values, g, start, stop):
    op, rule = pair_of(formula)
    chosen = {name: value for name, value in values.items() if name in formula.parameters}
    curves = sample_curves(op, [rule, "straight_through"], start=start, stop=stop, g=g, points=51, **chosen)
    assert (np.diff(curves.x) > 0).all()
    assert set(curves.columns) == {FORWARD, *(entry.key for entry in curves.rules)}
    assert all(column.shape == curves.x.shape for column in curves.columns.values())
    words = describe(curves)
    assert words.endswith(".")
    assert "nan" not in words.split()
    for write in (snippet, jax_snippet):
        code = write(op, rule, values)
        assert code is None or ast.parse(code)
    query = {name: [repr(value)] for name, value in values.items()}
    query |= {"op": [op], "rule": [rule, "default"], "g": [repr(g)], "range": [repr(start), repr(stop)]}
    choice, notices = from_query(query)
    assert all(notice.endswith(".") for notice in notices)
    if not any("longer than" in notice for notice in notices):
        assert (choice.op, choice.rules[0]) == (op, rule)
    assert all(map(math.isfinite, (choice.g, *choice.range, *choice.parameters.values())))
