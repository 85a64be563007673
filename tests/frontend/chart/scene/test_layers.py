"""Layers: further curves over the op, one entry each."""

import re
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

import explorer
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
const { op, rules, hidden, layer, words, range, g, lenses } = given;
const pictureOf = (parameters, at = 0) => {
  const curves = sampleCurves({ op, rules }, { start: range[0], stop: range[1], g, parameters });
  const listed = rules.map((rule, slot) => ({
    ...{ key: rule.key, label: rule.label, colour: `#00000${slot}`, slot, entry: rule },
    hidden: hidden === slot,
  }));
  const picture = { curves, op, rules: listed, neutral: "grey", parameters, g, range, lens: lenses[at] };
  return { ...picture, learns: "", layer, words: "", confirmed: true };
};
const picture = pictureOf({});
const space = { theme, width: 900, height: 520 };
const scene = sceneOf(picture, space, null);
const next = sceneOf(layer === "lens" ? pictureOf({}, 1) : pictureOf({ c: 0.8 }), space, scene);
const traces = tracesOf(scene.lines, scene.absent, false);
return { keys: Object.keys(LAYERS), words: LAYERS[given.of].words(picture, words),
  traces: traces.map(({ x, y, line, meta, yaxis, showlegend, mode }) => ({
    y: Float64Array.from(y), x: Float64Array.from(x), dash: line?.dash ?? null, colour: line?.color ?? null,
    meta: meta ?? null, yaxis, showlegend: showlegend ?? null, mode })),
  moves: stepTo(next, { scene, drawn: scene }, "moving").by,
  pixels: [scene, next].map(({ pixels, lines }) => pixels[lines.findIndex(({ over }) => over)]?.y ?? null) };
"""


def drawn(
    node: Node, op: str, *rules: str, layer: str = "implied", of: str = "implied", **more: Any
) -> dict[str, Any]:
    """Traces, words and moves of a scene with a layer, or with none and the words of one."""
    given = {"op": entry(find_op(op)), "rules": [entry(find_rule(rule)) for rule in rules], "layer": layer}
    given |= {"words": asdict(LAYERS[of])["words"], "of": of}
    usual = {"hidden": -1, "range": [-3, 3], "g": 1, "lenses": []}
    found: dict[str, Any] = node.run(SCRIPT, usual | given | more)
    return found


def compute_lenses(op: str, *rules: str, width: float = 1, **more: Any) -> list[dict[str, Any]]:
    """Return an op under noise, and under noise of nine tenths of the width, as a picture has them."""
    lenses = [explorer.lens(op, rules, width=each, **more) for each in (width, 0.9 * width)]
    return [
        {"curve": {"x": lens.x.tolist(), "y": lens.gradient.tolist()}, "words": lens.describe()}
        for lens in lenses
    ]


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


def test_the_lens_is_dashed_among_the_gradients_and_no_curve_of_its_own(node: Node) -> None:
    lenses = compute_lenses("sign", "clipped", width=2, g=3)
    found = drawn(node, "sign", "clipped", "straight_through", layer="lens", of="lens", g=3, lenses=lenses)
    (dashed,) = [trace for trace in found["traces"] if trace["dash"]]
    assert (dashed["meta"], dashed["yaxis"], dashed["showlegend"]) == (None, "y2", False)
    assert np.allclose(dashed["y"], lenses[0]["curve"]["y"])
    assert [trace["meta"] for trace in found["traces"] if trace["meta"]] == [
        "forward", "clipped", "straight_through",
    ]  # fmt: skip
    assert found["words"] == lenses[0]["words"]


def test_until_the_lens_is_answered_and_where_it_is_refused_nothing_is_drawn(node: Node) -> None:
    for lenses, words in (([], ""), ([{"words": "No mean."}] * 2, "No mean.")):
        found = drawn(node, "sign", "clipped", layer="lens", of="lens", lenses=lenses)
        assert not [trace for trace in found["traces"] if trace["dash"]]
        assert found["words"] == words


def test_the_lens_follows_its_width_by_its_path_alone(node: Node) -> None:
    lenses = compute_lenses("step", "laplace", noise="normal", width=0.5)
    wide = drawn(node, "step", "formula: g * 9", layer="lens", of="lens", lenses=lenses)
    before, after = wide["pixels"]
    assert wide["moves"] == "paths"
    assert len(before) != len(after) or np.abs(before - after).max() > 1


def test_a_notebook_has_layers_too() -> None:
    html = instrument("sign", "clipped", layer="lens", noise="laplace", noise_width=0.5).html()
    assert re.search(r'"layer": ?"lens", ?"noise": ?"laplace", ?"noise_width": ?0.5', html)
    with pytest.raises(ValueError, match="noise must be one of"):
        instrument("sign", "clipped", layer="lens", noise="pink")
    with pytest.raises(ValueError, match="layer must be one of implied, lens, not 'nobody'"):
        instrument("sign", "clipped", layer="nobody")
