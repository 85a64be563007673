"""Drawn rules in the browser: strokes to points, points to formulas and back, as Python reads them."""

import json
import math

import numpy as np
import pytest

from explorer.formula import parse

UNITS, HEIGHT = [0.01, 0.005], 1.5
SMOOTHED = """
    const lines = await import("./formula/lines.js");
    const points = lines.fitLine(given.stroke, given.units, given.height, () => true);
    const drawings = [false, true].map((zero) => ({ name: "Drawn", points, zero }));
    return {
      points,
      texts: drawings.map(lines.writeFormula),
      trees: drawings.map(lines.makeDrawnTree),
      back: drawings.map(lines.makeDrawnTree).map((tree) => lines.parseDrawing({ label: "Drawn", tree })),
      mirrored: lines.mirrorLine(points),
    };
"""
X = np.linspace(-2.5, 2.5, 501)
STROKES = {
    "arctan": 1 / (1 + (math.pi * X) ** 2), "triangle": np.maximum(0, 1 - np.abs(X)),
    "level": np.full_like(X, 0.7), "box": (np.abs(X) <= 1.005).astype(float),
    "wobble": 0.006 * HEIGHT * np.sin(3 * X) + 0.003 * HEIGHT, "scribble": 0.5 + 0.5 * np.sin(9 * X),
}  # fmt: skip


def drawn(node, y, x=X):
    stroke = np.column_stack([x, y]).tolist()
    return node.run(SMOOTHED, {"stroke": stroke, "units": UNITS, "height": HEIGHT})


@pytest.mark.parametrize("name", STROKES)
def test_a_stroke_becomes_few_points_of_three_digits_near_it(node, name):
    y = STROKES[name]
    points = np.array(drawn(node, y)["points"])
    assert 2 <= len(points) <= 16
    assert np.all(np.diff(points[:, 0]) > 0)
    assert all(float(f"{value:.3g}") == value for value in points.flat)
    away = np.abs(np.interp(X, *points.T) - y)
    away[np.abs(np.abs(X) - 1.005) < 0.02] = 0  # at the sides of the box
    assert away.max() <= {"arctan": 0.02, "scribble": 1}.get(name, 0.01) * HEIGHT


def test_a_line_that_allows_it_has_few_points(node):
    counts = {name: len(drawn(node, y)["points"]) for name, y in STROKES.items()}
    assert counts == {
        "arctan": counts["arctan"], "level": 2, "triangle": 5, "box": 6, "wobble": 2, "scribble": 16,
    }  # fmt: skip
    assert {y for _, y in drawn(node, STROKES["wobble"])["points"]} == {0}


def test_the_last_stroke_counts_where_strokes_overlap(node):
    x = np.concatenate([X, X[::-1][:250]])
    y = np.concatenate([np.zeros(501), np.ones(250)])
    points = np.array(drawn(node, y, x)["points"])
    assert np.interp([-1, 1], *points.T).tolist() == [0, 1]


@pytest.mark.parametrize("name", STROKES)
def test_formula_and_tree_are_as_python_reads_them_and_give_the_drawing_back(node, name):
    answer = drawn(node, STROKES[name])
    for text, tree, back, zero in zip(
        answer["texts"], answer["trees"], answer["back"], (False, True), strict=True
    ):
        assert parse(text).text == text
        assert json.loads(json.dumps(parse(text).data)) == tree
        assert back == {"name": "Drawn", "points": answer["points"], "zero": zero}


@pytest.mark.parametrize("name", STROKES)
def test_mirrored_points_are_symmetric(node, name):
    points = np.array(drawn(node, STROKES[name])["mirrored"])
    assert len(points) <= 16
    np.testing.assert_array_equal(points, points[::-1] * [-1, 1] + 0.0)
