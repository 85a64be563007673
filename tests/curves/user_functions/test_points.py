"""Functions known at points: the lines between them in torch and in the browser."""

import json

import numpy as np
import pytest
import torch

from explorer.curves.user_functions.points import Points
from explorer.formula import Formula
from explorer.formula.tree import Binary, Name, UserCall, to_data
from tests.frontend import modules

X = (-2.0, -1.0, -1e-300, 0.0, 0.5, np.nextafter(0.5, 1), 3.0)
Y = (1.0, np.inf, 2.0, -1.0, 0.1, 7.0, np.nan)
AT = (-2.5, -2.0, -1.5, -1.0, -0.5, -1e-300, 0.0, 0.25, 0.5, np.nextafter(0.5, 1), 1.0, 3.0, 3.5)
CALCULATED = """
    const { evaluate } = await import("./formula/evaluation.js");
    return evaluate(given.tree, { x: Float64Array.from(given.x), g: given.g, parameters: {} });
"""


def test_lines_meet_the_points_and_end_with_them():
    values = Points("f", X, Y)(torch.tensor(AT, dtype=torch.float64)).tolist()
    by_x = dict(zip(AT, values, strict=True))
    for x, y in zip(X, Y, strict=True):
        assert np.array_equal(by_x[x], y, equal_nan=True)
    assert by_x[0.25] == pytest.approx((-1 + 0.1) / 2, rel=1e-15)
    assert np.isnan([by_x[-2.5], by_x[3.5], by_x[1.0]]).all()
    assert Points("f", X, Y)(torch.ones(2, 3)).shape == (2, 3)


def test_the_browser_draws_the_same():
    tree = Binary("*", Name("g"), UserCall(Points("f", X, Y), (Name("x"),)))
    written = json.loads(json.dumps(to_data(tree), allow_nan=False))
    with modules.node() as node:
        drawn = node.run(CALCULATED, {"tree": written, "x": AT, "g": -2.0})
    x = torch.tensor(AT, dtype=torch.float64)
    expected = Formula(tree).bind()(x, None, torch.full_like(x, -2.0)).numpy()
    expected[np.isinf(expected)] = np.nan  # what is infinite is not drawn
    np.testing.assert_array_equal(drawn, expected)
