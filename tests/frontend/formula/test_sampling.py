"""The numbers by which the browser samples are those of the document, and no others."""

from typing import Any

import pytest

from explorer.catalogue import OPS
from explorer.instrument import make_entry
from explorer.instrument.document import list_sampling, make_document
from tests.frontend.modules import Node

SAMPLED = """
    const { setSampling } = await import("./formula/sampling.js");
    const { sampleCurves } = await import("./formula/curves.js");
    const { findReadingIndices } = await import("./explore/sections/readings.js");
    const { moveView, zoomView } = await import("./chart/scene/view.js");
    setSampling({ ...given.usual, ...given.other });
    const choice = { start: -3, stop: 3, g: 1, parameters: {} };
    const { x, marks, kinks } = sampleCurves({ op: given.op, rules: [] }, choice);
    const sampled = {
      points: marks.filter((mark) => mark === 0).length,
      kinks: kinks.forward?.length ?? null,
      rows: findReadingIndices({ x, marks }, [-3, 3]).length,
      narrowest: zoomView([0, 1], 0.5, 0),
      farthest: moveView([0, 1], 1e9),
    };
    setSampling(given.usual);
    return sampled;
"""


def test_the_sampling_settings_are_part_of_the_document() -> None:
    assert make_document()["sampling"] == list_sampling()


@pytest.mark.parametrize(
    ("other", "name", "expected"),
    [
        ({}, "points", 595),  # of 601, six are kinks
        ({"points": 12}, "points", 12),
        ({}, "kinks", 6),
        ({"mostKinks": 5}, "kinks", None),
        ({}, "rows", 25),  # of 7 steps, and three of each kink
        ({"readings": 3}, "rows", 21),
        ({"narrowest": 0.5}, "narrowest", [0.25, 0.75]),
        ({"largest": 7}, "farthest", [6, 7]),
    ],
)
def test_the_browser_obeys_them(node: Node, other: dict[str, float], name: str, expected: Any) -> None:
    given = {"usual": list_sampling(), "other": other, "op": make_entry(OPS["round"])}
    assert node.run(SAMPLED, given)[name] == expected
