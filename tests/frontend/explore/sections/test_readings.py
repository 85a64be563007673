"""The rows of readings in the browser are x, kinks and their neighbours, with torch's numbers: in node."""

from typing import Any

import numpy as np
import pytest

from explorer.curves import READING_POINTS, sample_curves
from explorer.curves.sampled import KINK, NEIGHBOUR
from explorer.instrument import make_document
from tests.frontend.modules import Node

READ = """
    const { sampleCurves } = await import("./formula/curves.js");
    const { findReadingIndices } = await import("./explore/sections/readings.js");
    const { start, stop, g, parameters } = given;
    const curves = sampleCurves(given.entries, { start, stop, g, parameters });
    const indices = findReadingIndices(curves, [start, stop]);
    const at = (values) => Float64Array.from(indices, (index) => values[index]);
    return { x: at(curves.x), y: at(curves.y), torch: at(curves.gradients.default) };
"""


@pytest.mark.parametrize("op", ["round", "clamp", "quantize", "relu", "tanh", "reciprocal"])
def test_the_rows_are_those_of_python(node: Node, op: str) -> None:
    known: Any = make_document()
    for start, stop, g in ((-3.0, 3.0, 1.0), (-0.7, 2.35, -2.0)):
        entries = {"op": known["ops"][op], "rules": [known["rules"]["default"]]}
        given = {"entries": entries, "start": start, "stop": stop, "g": g, "parameters": {}}
        result = node.run(READ, given)
        view: Any = {"start": start, "stop": stop, "g": g, "points": READING_POINTS, "dtype": "float64"}
        curves = sample_curves(op, ["default"], **view)
        is_kink = np.pad(curves.marks == KINK, 1)
        is_shown = (curves.marks != NEIGHBOUR) | is_kink[:-2] | is_kink[2:]
        expected = {"x": curves.x, "y": curves.y, "torch": curves.compute_autograd(g)}
        for name in result:
            np.testing.assert_allclose(result[name], expected[name][is_shown], rtol=1e-9, atol=1e-12)
