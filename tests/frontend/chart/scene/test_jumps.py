"""The jumps of curves, and the values there that are drawn as circles."""

import math

import numpy as np

from tests.frontend.modules import Node

JUMPS = """
    const { findJumps } = await import("./chart/scene/jumps.js");
    const { gaps, closed, open } = findJumps(given, given.y, [0]);
    return { gaps: [...gaps], closed, open };
"""
TINY = 5e-324
X, MARKS = [-2, -1, -4 * TINY, -TINY, 0, TINY, 4 * TINY, 1, 2], [0, 0, 2, 2, 1, 2, 2, 0, 0]


def _jumps(node: Node, y: list[float]) -> dict:
    return node.run(JUMPS, {"x": np.array(X), "marks": np.array(MARKS, np.int8), "y": np.array(y, float)})


def test_a_jump_has_its_value_and_its_limits(node: Node):
    result = _jumps(node, [-1, -1, -1, -1, 0, 1, 1, 1, 1])
    assert (result["closed"], result["open"]) == ([4], [3, 5])


def test_a_pole_has_no_circle(node: Node):
    """Plotly writes a position of 1e163 pixels in a way that no browser reads."""
    result = _jumps(node, [0.4, 0.5, 1e161, 2e161, math.inf, 2e161, 1e161, 0.5, 0.4])
    assert (result["closed"], result["open"]) == ([], [])
    assert any(result["gaps"])
