"""The rule map in the browser: torch's values, its bands and colours."""

import numpy as np
import pytest

from explorer.measures import rule_map
from explorer.measures.maps import describe_linearity
from explorer.questions import QUESTIONS
from tests.frontend.modules import Node

MAP = """
const { findCell, makeGradientMap } = await import("./measures/map.js");
const { decodeArray } = await import("./choice/arrays.js");
const { columns, rows, unit, values } = given.answer;
const decode = (array) => array && decodeArray(array);
const map = makeGradientMap({ columns, rows, unit: decode(unit), values: decode(values) }, given.top);
return { ...map, values: Float64Array.from(map.values), at: given.places.map((at) => findCell(map, ...at)) };
"""
BANDS = """
const { getColourBand, computeColourBands } = await import("./measures/map.js");
const map = { columns: given.values.length, rows: 1, values: given.values };
const bands = computeColourBands([map], given.top);
return { bands, found: given.values.map((value) => getColourBand(value, bands)) };
"""
COLOURS = """
const { makeColours, toCss } = await import("./explore/sections/map-drawing.js");
const { isDark, parseColour } = await import("./elements/colours.js");
const ends = [[0, 0, 255], [255, 128, 0]];
return { colours: given.counts.map((count) => makeColours(count, [255, 255, 255], ends)),
  read: given.texts.map(parseColour), written: toCss([1, 2, 3]),
  dark: given.texts.map((text) => isDark(parseColour(text))) };
"""


@pytest.mark.parametrize("rule", ["sigmoid_surrogate", "formula: where(0.5 < x < 2, g**2, g)"])
def test_a_map_is_torchs_whether_its_rule_is_linear_in_g_or_not(node: Node, rule: str) -> None:
    wanted = rule_map("sign", rule, start=-2, stop=3, top=1.5)
    asked = {"op": "sign", "rules": [rule], "parameters": {}, "start": -2, "stop": 3, "top": 1.5}
    answer = QUESTIONS["map"].answer(asked)
    (own,) = answer.pop("rules").values()
    places = [[0, 0], [0.999, 0.001], [0.5, 1]]
    found = node.run(MAP, {"answer": answer | own, "top": 1.5, "places": places})
    ((key, gradients),) = wanted.gradients.items()
    gradients = gradients[::-1]  # the highest g comes first
    np.testing.assert_allclose(found["values"].reshape(gradients.shape), gradients, rtol=1e-6, atol=1e-6)
    assert own["words"] == describe_linearity(wanted.bent[key], (-2, 3))
    ends = gradients[0, 0], gradients[0, -1], gradients[-1, len(wanted.x) // 2]
    assert [at["value"] for at in found["at"]] == pytest.approx(ends, rel=1e-6, abs=1e-6)
    assert [[at["across"], at["down"]] for at in found["at"]] == [[0, 0], [1, 0], [0.5, 1]]


@pytest.mark.parametrize(
    ("values", "top", "step", "count", "bands"),
    [
        ([0.0, 1e-9, 0.25, 0.2501, -2.0, 2.0], 2, 0.25, 8, [0, 1, 1, 2, -8, 8]),
        ([0.0, 3.0, -1.0], 2, 0.5, 6, [0, 6, -2]),
        ([100.0, 1.0, -1e9], 2, 0.2, 5, [5, 5, -5]),  # beyond all g: the last colour
        ([0.0, 0.0], 2, 0.25, 8, [0, 0]),
    ],
)
def test_bands_have_round_steps_and_0_has_its_own_band(node: Node, values, top, step, count, bands) -> None:
    found = node.run(BANDS, {"values": values, "top": top})
    assert found["bands"]["step"] == pytest.approx(step)
    assert found["bands"]["count"] == count
    assert found["found"] == bands


def test_colours_go_from_one_end_to_the_other_and_0_is_the_ground(node: Node) -> None:
    texts = ["#2f7fd6", "rgb(16, 22, 29)", "color(srgb 0.2 1 0)"]
    found = node.run(COLOURS, {"counts": [1, 8], "texts": texts})
    one, eight = found["colours"]
    assert one == [[0, 0, 255], [255, 255, 255], [255, 128, 0]]
    assert (eight[0], eight[8], eight[16]) == tuple(one)
    assert eight[9] != eight[8] != eight[7]
    steps = [sum(colour) for colour in eight]
    assert steps[:9] == sorted(steps[:9])
    assert steps[8:] == sorted(steps[8:], reverse=True)
    assert (found["read"], found["written"]) == ([[47, 127, 214], [16, 22, 29], [51, 255, 0]], "rgb(1, 2, 3)")
    assert found["dark"] == [True, True, False]
