"""Layers: further curves over the op, one entry each."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from explorer import instrument
from explorer.catalogue import find_op, find_rule
from explorer.instrument.entries import entry
from explorer.instrument.view import LAYERS, VIEW
from tests.frontend.modules import Node

SCRIPT = """
const { sampleCurves } = await import("./formula/curves.js");
const { LAYERS } = await import("./chart/scene/layers.js");
const { sceneOf, stepTo } = await import("./chart/scene/scene.js");
const { tracesOf } = await import("./chart/scene/traces.js");
const theme = { text: "black", ground: "white", font: "serif", type: 0 };
const { op, rules, hidden, layer, words } = given;
const pictureOf = (parameters) => {
  const curves = sampleCurves({ op, rules }, { start: -3, stop: 3, g: 1, parameters });
  const listed = rules.map((rule, slot) => ({
    ...{ key: rule.key, label: rule.label, colour: `#00000${slot}`, slot, entry: rule },
    hidden: hidden === slot,
  }));
  const picture = { curves, op, rules: listed, neutral: "grey", parameters, g: 1, range: [-3, 3] };
  return { ...picture, learns: "", layer, words: "", confirmed: true };
};
const picture = pictureOf({});
const space = { theme, width: 900, height: 520 };
const scene = sceneOf(picture, space, null);
const next = sceneOf(pictureOf({ c: 0.8 }), space, scene);
const traces = tracesOf(scene.lines, scene.absent, false);
return { keys: Object.keys(LAYERS), words: LAYERS[given.of].words(picture, words),
  traces: traces.map(({ x, y, line, meta, yaxis, showlegend, mode }) => ({
    y: Float64Array.from(y), x: Float64Array.from(x), dash: line?.dash ?? null, colour: line?.color ?? null,
    meta: meta ?? null, yaxis, showlegend: showlegend ?? null, mode })),
  moves: stepTo(next, { scene, drawn: scene }, "moving").by,
  pixels: [scene, next].map(({ pixels, lines }) => pixels[lines.findIndex(({ over }) => over)]?.y ?? null) };
"""


def drawn(node: Node, op: str, *rules: str, layer: str = "implied", hidden: int = -1) -> dict[str, Any]:
    """Traces, words and moves of a scene with a layer."""
    entries = {"op": entry(find_op(op)), "rules": [entry(find_rule(rule)) for rule in rules]}
    words = asdict(LAYERS["implied"])["words"]
    found: dict[str, Any] = node.run(
        SCRIPT, {**entries, "layer": layer, "hidden": hidden, "words": words, "of": "implied"}
    )
    return found


def test_each_layer_is_a_word_of_the_link_and_a_module(node: Node) -> None:
    assert drawn(node, "sign", "clipped")["keys"] == list(LAYERS)
    assert VIEW["layer"].words == {key: layer.label for key, layer in LAYERS.items()}


def test_it_is_dashed_over_the_op_in_the_colour_of_its_rule_and_no_curve_of_its_own(node: Node) -> None:
    found = drawn(node, "sign", "clipped", "clip_value", "approx_sign")
    dashed = [trace for trace in found["traces"] if trace["dash"]]
    assert [trace["colour"] for trace in dashed] == ["#000000", "#000002"]
    assert {(trace["meta"], trace["yaxis"], trace["showlegend"]) for trace in dashed} == {(None, "y", False)}
    assert np.abs(dashed[0]["y"] - np.clip(dashed[0]["x"], -1, 1)).max() < 1e-12
    assert found["words"] == (
        "Dashed: the function that each rule descends, its antiderivative, through y at x = 0. "
        "Clip the gradient is not linear in g and descends no one function."
    )
    assert not [trace for trace in drawn(node, "sign", "clipped", layer="")["traces"] if trace["dash"]]


def test_a_hidden_rule_has_none_and_one_that_is_the_ops_own_is_said(node: Node) -> None:
    found = drawn(node, "relu", "default", "straight_through", hidden=1)
    assert len([trace for trace in found["traces"] if trace["dash"]]) == 1
    assert found["words"].endswith("That of Default autograd is the op itself.")


def test_it_follows_the_hand_by_its_path_alone(node: Node) -> None:
    found = drawn(node, "sign", "clipped", "ede")
    before, after = found["pixels"]
    assert found["moves"] == "paths"
    assert len(before) != len(after) or np.abs(before - after).max() > 1


def test_a_notebook_has_it_too() -> None:
    html = instrument("sign", "clipped", layer="implied").html()
    assert re.search(r'"layer": ?"implied"', html)
    with pytest.raises(ValueError, match="layer must be one of implied, not 'nobody'"):
        instrument("sign", "clipped", layer="nobody")
