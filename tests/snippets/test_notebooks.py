"""The notebook, executed by Jupyter's own kernel: it draws the curve that explorer samples."""

import json
import re

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

from explorer.catalogue import find_contribution, find_op, find_rule, resolve_values
from explorer.curves import sample
from explorer.curves.sampled import to_contribution_key
from explorer.description.net_gradient import compute_net_gradient, make_normal_numbers
from explorer.snippets import notebook, snippet
from explorer.snippets.pair import make_pair
from tests.catalogue.cases import usual_op
from tests.catalogue.fixed import RULES
from tests.selection import take_part

PAIRS = [(usual_op(find_rule(rule)).key, rule) for rule in take_part(RULES)]
PAIRS += [("identity", "default"), ("formula: a * abs(x - 0.3)", "formula: g * (x < a)")]
PLOTLY = "application/vnd.plotly.v1+json"
ALONE = ("quantize", "ewgs")  # of all notebooks the first that the kernel executes
LEARNING = [("quantize", "lsq", "s"), ("clamp", "masked", "hi"), ("prelu", "default", "a")]
RANGE = {"start": -2.0, "stop": 2.5, "points": 91, "g": -1.5}


def _kinks(op, rule):
    return sample(op, rule, **RANGE).attrs["curves"].kinks[find_rule(rule).key]


def _notebook(op, rule):
    return nbformat.reads(notebook(op, rule, kinks=_kinks(op, rule), **RANGE), as_version=4)


def _learning(op, rule, name):
    result = sample(op, rule, learns=name, **RANGE).attrs["curves"].kinks
    kinks = sorted({*result[rule], *result[to_contribution_key(rule)]})
    return nbformat.reads(notebook(op, rule, None, [name], kinks=kinks, **RANGE), as_version=4)


@pytest.fixture(scope="module")
def session():
    """Return the cells of every notebook, which one kernel runs one after the other."""
    books = [_notebook(*key) for key in [ALONE, *PAIRS]] + [_learning(*key) for key in LEARNING]
    cells = [cell for book in books for cell in book.cells]
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    together = nbformat.v4.new_notebook(cells=cells)
    # What a cell prints is one output, also where it comes in parts.
    client = NotebookClient(together, timeout=120, kernel_name="python3", coalesce_streams=True)
    return client.execute().cells


def figures_of(cells):
    """Return the only figure of each cell that shows one."""
    figures = []
    for cell in cells:
        if "figure.show()" in cell.source:
            (figure,) = [each.data[PLOTLY] for each in cell.outputs if PLOTLY in each.get("data", {})]
            figures.append(figure)
    return figures


@pytest.fixture(scope="module")
def figures(session):
    """The figure of every pair."""
    return dict(zip([ALONE, *PAIRS, *LEARNING], figures_of(session), strict=True))


@pytest.mark.parametrize(("op", "rule", "name"), LEARNING)
def test_notebook_draws_the_part_of_one_element(figures, op, rule, name):
    line, marks = figures[op, rule, name]["data"][4:]
    assert line["name"] == f"part for {name}"
    frame = sample(op, rule, learns=name, **RANGE)
    x, drawn = np.array(line["x"], np.float32), np.array(line["y"], np.float32)
    drawn[np.isin(x, np.array(marks["x"], np.float32))] = marks["y"]
    parts = frame[frame["x"].isin(x)]["part"].to_numpy()
    pair = find_op(op), find_rule(rule)
    factor = find_contribution(*pair, name).compute_factor(resolve_values(*pair, {}), 1)
    assert len(x) == len(parts) >= RANGE["points"]
    np.testing.assert_array_equal(drawn, np.float32(factor) * parts)


def test_notebook_tells_what_numbers_make_of_a_parameter(session):
    printed = [cell.outputs[0]["text"] for cell in session if cell.source.startswith("# One value for all")]
    assert len(printed) == len(LEARNING)
    for (op, rule, name), text in zip(LEARNING, printed, strict=True):
        result = compute_net_gradient(op, rule, name, make_normal_numbers())
        match = re.fullmatch(rf"gradient of {name}: (\S+), so a step against it makes {name} (\w+)\n", text)
        assert match
        assert float(match[1]) == pytest.approx(result.gradient, rel=2e-3)
        assert match[2] == result.verdict


@pytest.mark.parametrize(("op", "rule"), PAIRS)
def test_notebook_draws_the_sampled_curve(figures, op, rule):
    forward, forward_kinks, gradient, gradient_kinks = figures[op, rule]["data"]
    frame = sample(op, rule, **RANGE)
    for line, marks, column in ((forward, forward_kinks, "y"), (gradient, gradient_kinks, "gradient")):
        x, drawn = np.array(line["x"], np.float32), np.array(line["y"], np.float32)
        drawn[np.isin(x, np.array(marks["x"], np.float32))] = marks["y"]
        there = frame["x"].isin(x)
        assert len(x) == there.sum() >= RANGE["points"]
        if "mean" not in (find_rule(rule).formula or ""):  # a mean depends on all of x
            np.testing.assert_array_equal(drawn, frame[there][column])


@pytest.mark.parametrize(("op", "rule"), PAIRS)
def test_notebook_breaks_the_line_at_kinks_and_marks_them(figures, op, rule):
    kinks = [kink for kink in _kinks(op, rule) if -2 <= kink <= 2.5]
    for line, marks in zip(figures[op, rule]["data"][::2], figures[op, rule]["data"][1::2], strict=True):
        assert marks["x"] == sorted(kinks)
        assert {line["y"][line["x"].index(kink)] for kink in kinks} <= {None}


def test_notebook_runs_alone_from_the_first_cell_to_the_last(session):
    cells = session[: len(_notebook(*ALONE).cells)]
    assert [cell.cell_type for cell in cells] == ["markdown", "code", "code", "code"]
    (figure,) = figures_of(cells[-1:])
    assert len(figure["data"]) == 4


def test_notebook_is_valid_and_always_the_same():
    text = notebook("clamp", "masked", {"lo": -0.5}, kinks=[-0.5, 1.0])
    nbformat.validate(nbformat.reads(text, as_version=4))
    assert text == notebook("clamp", "masked", {"lo": -0.5}, kinks=[-0.5, 1.0])
    assert text != notebook("clamp", "masked", {"lo": -0.5}, kinks=[-0.5])
    sources = ["".join(cell["source"]) for cell in json.loads(text)["cells"]]
    assert sources[1] + "\n" == snippet("clamp", "masked", lo=-0.5)
    assert "start, stop, points, g = -3.0, 3.0, 601, 1.0" in sources[2]


def test_notebook_shows_a_formula_as_code():
    first = json.loads(notebook("formula: x**2*a_b", "formula: g"))["cells"][0]["source"]
    assert "`y = x ** 2 * a_b`" in "".join(first)
    assert make_pair("formula: x**2*a_b", "formula: g", {}).title in "".join(first)
