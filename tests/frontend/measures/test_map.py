"""The rule map in the browser: torch's values, where it is not linear, its bands and colours."""

from dataclasses import replace

import numpy as np
import pytest

from explorer.catalogue import beside, find_op, find_rule
from explorer.instrument.entries import entry
from explorer.measures import rule_map
from explorer.measures.maps import bent_words
from tests.catalogue.fixed import RULES
from tests.frontend.modules import Node

MAP = """
const { gradientAt, mapOf } = await import("./measures/map.js");
const { bentIn, bentWords } = await import("./measures/linearity.js");
const { op, rule, parameters, top, size, start, stop } = given;
const choice = { start, stop, g: 1, parameters };
const stretches = bentIn(op, rule, choice);
return { map: mapOf(op, rule, choice, top, size), stretches, words: bentWords(stretches, [start, stop]),
  at: Float64Array.of(gradientAt(op, rule, { ...choice, g: -0.5 }, 0.3)) };
"""
BANDS = """
const { bandOf, bandsOf } = await import("./measures/map.js");
const bands = bandsOf([{ columns: given.values.length, rows: 1, values: given.values }], given.top);
return { bands, found: given.values.map((value) => bandOf(value, bands)) };
"""
COLOURS = """
const { colourOf, coloursOf, cssOf } = await import("./explore/sections/map-drawing.js");
const ends = [[0, 0, 255], [255, 128, 0]];
return { colours: given.counts.map((count) => coloursOf(count, [255, 255, 255], ends)),
  read: given.texts.map(colourOf), written: cssOf([1, 2, 3]) };
"""
CASES = [
    ("clamp", "published_clamp", {}),
    ("clamp", "toward_range", {"lo": -0.5}),
    ("relu", "guided", {}),
    ("relu", "clip_value", {"c": 0.7}),
    ("round", "ewgs", {"delta": 0.4}),
    ("tanh", "default", {}),
    ("prelu", "sigmoid_surrogate", {}),
    ("absmean_ternary", "formula: g * y", {}),
    ("sign", "formula: where(0.5 < x < 2, g**2, g)", {}),
    ("sign", "formula: g - mean(g * x)", {}),
    ("sign", "formula: where(sin(9 * x) > 0, g, 1)", {}),
    ("sign", "formula: g / 0", {}),
]


@pytest.mark.parametrize(("op", "rule", "parameters"), CASES)
def test_the_browser_has_torchs_values_and_stretches(node: Node, op: str, rule: str, parameters) -> None:
    wanted = rule_map(op, rule, start=-2, stop=3, top=1.5, **parameters)
    (key,) = wanted.gradients
    record = beside(find_op(op), find_rule(rule))
    size = {"columns": len(wanted.x), "rows": len(wanted.g)}
    given = {"op": entry(find_op(op)), "rule": entry(record), "parameters": parameters, "size": size}
    found = node.run(MAP, given | {"start": -2, "stop": 3, "top": 1.5})
    values = found["map"]["values"].reshape(len(wanted.g), len(wanted.x))[::-1]  # the highest g comes first
    np.testing.assert_allclose(values, wanted.gradients[key], rtol=1e-12, atol=1e-12)
    if wanted.bent[key] is None:
        assert found["stretches"] is None
    else:
        np.testing.assert_allclose(found["stretches"], wanted.bent[key], atol=1e-9)
    assert found["words"] == bent_words(wanted.bent[key], (-2, 3))
    torchs = replace(wanted.curves, g=-0.5).at(key, np.array([0.3]))
    np.testing.assert_allclose(found["at"], torchs, rtol=1e-12, atol=1e-12)


def test_every_rule_is_linear_where_the_catalogue_says_so(node: Node) -> None:
    op = find_op("sign")
    for key, rule in RULES.items():
        given = {"op": entry(op), "rule": entry(beside(op, rule)), "parameters": {}, "top": 1}
        found = node.run(MAP, given | {"size": {"columns": 2, "rows": 2}, "start": -3, "stop": 3})
        if found["stretches"] is not None:
            assert (not found["stretches"]) == rule.linear, key


@pytest.mark.parametrize(
    ("values", "top", "step", "count", "bands"),
    [
        ([0.0, 1e-9, 0.25, 0.2501, -2.0, 2.0], 2, 0.25, 8, [0, 1, 1, 2, -8, 8]),
        ([0.0, 3.0, -1.0], 2, 0.5, 6, [0, 6, -2]),
        ([100.0, 1.0, -1e9], 2, 0.2, 5, [5, 5, -5]),  # beyond all g: the last colour
        ([0.0, 0.0], 2, 0.25, 8, [0, 0]),
    ],
)
def test_bands_are_round_steps_and_0_has_one_of_its_own(node: Node, values, top, step, count, bands) -> None:
    found = node.run(BANDS, {"values": values, "top": top})
    assert found["bands"]["step"] == pytest.approx(step)
    assert found["bands"]["count"] == count
    assert found["found"] == bands


def test_colours_go_from_one_end_to_the_other_and_0_is_the_ground(node: Node) -> None:
    texts = ["#2f7fd6", "rgb(16, 22, 29)"]
    found = node.run(COLOURS, {"counts": [1, 8], "texts": texts})
    one, eight = found["colours"]
    assert one == [[0, 0, 255], [255, 255, 255], [255, 128, 0]]
    assert (eight[0], eight[8], eight[16]) == tuple(one)
    assert eight[9] != eight[8] != eight[7]
    steps = [sum(colour) for colour in eight]
    assert steps[:9] == sorted(steps[:9])
    assert steps[8:] == sorted(steps[8:], reverse=True)
    assert (found["read"], found["written"]) == ([[47, 127, 214], [16, 22, 29]], "rgb(1, 2, 3)")
