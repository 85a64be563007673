"""The notebook of a pair that draws, executed: its means and spreads are those that explorer integrates.

Jupyter's own kernel executes those of ``test_notebooks``.
"""

import json
import math
from typing import Any

import nbformat
import numpy as np
import plotly.graph_objects as go
import pytest

import explorer
from explorer.catalogue import OPS, RULES, SQUARE
from explorer.snippets import notebook
from tests.selection import take_part
from tests.snippets.runner import defined

POINTS, DRAWS = 51, 1000
ERROR = 5 / math.sqrt(DRAWS)  # of a standard deviation: five standard errors
# Some x lie a little below kinks, others a little above.
VIEW = {"start": -1.799, "stop": 3.196, "points": POINTS, "g": -1.5}
STEP_LOSS = "where(y > 0.5, 1, 0.2)"  # no slope: what arrives is 0
# op, rule, what learns, loss, parameters
EVERY: list[tuple[str, str, tuple[str, ...], str, dict[str, float]]] = [
    *((op, "default", (), SQUARE, {}) for op, entry in OPS.items() if entry.is_random),
    *(("bernoulli", rule, (), SQUARE, {"target": 0.3}) for rule, entry in RULES.items() if entry.is_random),
    ("bernoulli", "sigmoid_st", (), "abs(y - middle)**3 + fp(y, 3, -6, 448)", {"middle": 0.6}),
    ("bernoulli", "reinforce", (), STEP_LOSS, {}),
    ("round", "formula: g * u()", (), SQUARE, {}),
    ("bernoulli", "reinforce_baseline", ("b",), SQUARE, {}),
]
LEARNING = ("gaussian_noise", "default", ("s",), SQUARE, {})
CASES = [LEARNING, *take_part(EVERY)]


@pytest.fixture(scope="module")
def figures() -> list[Any]:
    """The figure of every case, as plain data."""
    shown: list[Any] = []
    texts = [
        notebook(op, rule, parameters, learns, f=f, kinks=_kinks(op), **VIEW)
        for op, rule, learns, f, parameters in CASES
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(go.Figure, "show", lambda figure: shown.append(json.loads(figure.to_json())))
        for text in texts:
            book = nbformat.reads(text, as_version=4)
            defined("\n".join(cell.source for cell in book.cells if cell.cell_type == "code"))
    return shown


def _kinks(op: str) -> tuple[float, ...]:
    found: tuple[float, ...] = explorer.sample(op, "zero", **VIEW).attrs["curves"].kinks["forward"]
    return found


def _traces(figures: list[Any], index: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    traces = figures[index]["data"]
    return {each["name"]: (np.array(each["x"], float), np.array(each["y"], float)) for each in traces}


@pytest.mark.parametrize("index", range(len(CASES)))
def test_the_notebook_shows_means_spreads_and_the_exact_gradient(figures: list[Any], index: int) -> None:
    op, rule, learns, f, parameters = CASES[index]
    traces = _traces(figures, index)
    frame = explorer.sample(op, rule, f=f, dtype="float64", **VIEW, **parameters)
    x, _ = traces["forward y"]
    assert len(x) == POINTS
    for name, mean, spread in (("forward y", "y", "y_sd"), ("gradient", "gradient", "gradient_sd")):
        around, band = traces[f"{name} ± sd"]
        high, low = band[:POINTS], band[POINTS:][::-1]
        assert around.tolist() == [*x, *x[::-1]]
        wanted = np.interp(x, frame.x, frame[mean]), np.interp(x, frame.x, frame[spread])
        room = ERROR * wanted[1] + 1e-9
        np.testing.assert_array_less(np.abs(traces[name][1] - wanted[0]), room)
        np.testing.assert_allclose((high + low) / 2, traces[name][1], atol=1e-9)
        found, right = ((high - low) / 2) ** 2, wanted[1] ** 2
        assert np.all(np.abs(found - right) <= 0.25 * right + 0.05 * right.max() + 1e-9)
    at, exact = traces["exact"]
    wanted_exact = explorer.expected(op, rule, at, f, VIEW["g"], **parameters).exact
    between = ~np.isin(at, _kinks(op))  # at a kink it has the slope of one side
    np.testing.assert_allclose(exact[between], wanted_exact[between], atol=4e-3, rtol=4e-3)
    assert [name for name in traces if name.startswith("part")] == [
        each for name in learns for each in (f"part for {name} ± sd", f"part for {name}")
    ]


def test_the_contribution_of_a_learning_parameter_is_its_mean(figures: list[Any]) -> None:
    """Of x + s · normal(), for (y − 0.45)²: d/ds of the mean is 2 s, times g."""
    index = CASES.index(LEARNING)
    _, part = _traces(figures, index)["part for s"]
    assert part.mean() == pytest.approx(-1.5 * 2 * 0.5, abs=0.15)


def test_it_names_the_loss_and_is_always_the_same() -> None:
    text = notebook("bernoulli", "reinforce", {"target": 0.2})
    assert text == notebook("bernoulli", "reinforce", {"target": 0.2})
    nbformat.validate(nbformat.reads(text, as_version=4))
    assert "- loss: `(y - target) ** 2`" in text
    assert "def loss(y, target=0.2):" in text
    assert "- loss" not in notebook("round", "straight_through")


def test_an_op_with_a_mean_over_all_x_is_refused() -> None:
    with pytest.raises(ValueError, match="A notebook draws each x separately, but this op takes a mean"):
        notebook("formula: x - mean(x) + normal()", "straight_through")
