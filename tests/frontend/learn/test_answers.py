"""Drawings of a class as backward rules: straight lines close to what was drawn, at g = 1."""

from typing import Any

import numpy as np
import pytest

from explorer.catalogue import find_rule
from explorer.instrument import make_document
from tests.frontend.modules import Node

CELLS = 400
X = -3 + 6 * (np.arange(CELLS) + 0.5) / CELLS
DRAWING = """
    const { toDrawing } = await import("./learn/answers.js");
    const { makeDrawnRule } = await import("./choice/drawing.js");
    const drawing = toDrawing(given.values, { range: [-3, 3], g: given.g }, [-1, 2], "Drawing 1");
    return drawing && makeDrawnRule(drawing).key;
"""


def convert(node: Node, values: Any, g: float = 1.0) -> Any:
    return node.run(DRAWING, {"document": make_document(), "values": values, "g": g})


@pytest.mark.parametrize("g", [1.0, -2.0])
def test_a_drawing_becomes_a_rule_of_few_points_close_to_it(node: Node, g: float) -> None:
    drawn = g * np.exp(-(X**2))
    key = convert(node, drawn, g)
    assert find_rule(key).label == "Drawing 1"
    numbers = key.removeprefix("formula: Drawing_1 = g * through(x, ").rstrip(")").split(", ")
    points = np.array(numbers, float).reshape(-1, 2)
    assert 2 < len(points) <= 16
    assert np.abs(np.interp(X, *points.T) - drawn / g).max() < 0.03


def test_empty_cells_are_bridged_and_an_empty_drawing_is_no_rule(node: Node) -> None:
    assert convert(node, np.full(CELLS, np.nan)) is None
    assert convert(node, np.ones(CELLS), g=0.0) is None
    half = np.where(X < 0, np.nan, 1.0)
    assert convert(node, half) == "formula: Drawing_1 = g * through(x, 0, 1, 3, 1)"


def test_the_wobble_of_a_hand_on_the_zero_line_is_0_and_no_rule_that_learns(node: Node) -> None:
    hand = 0.02 * np.sin(5 * X) + 0.005 * np.cos(40 * X)
    assert convert(node, hand, g=-2.0) == "formula: Drawing_1 = g * through(x, -3, 0, 3, 0)"
    assert "0.1" in convert(node, hand + 0.1)
