"""Layers: further curves over the op, one entry each."""

from typing import Any

import numpy as np
import pytest

from explorer.catalogue import find_op, find_rule
from explorer.instrument.entries import make_entry
from explorer.instrument.view import LAYERS, STOCHASTIC_TEXTS, VIEW
from explorer.questions import QUESTIONS
from tests.frontend.chart.scene.pictures import PICTURE
from tests.frontend.modules import Node

SCRIPT = f"""{PICTURE}
    const {{ getLayerText }} = await import("./chart/scene/layers.js");
    const colours = ["#000000", "#000001", "#000002"];
    const pictures = given.answers.map((layerAnswer) => makePicture({{ ...given, colours, layerAnswer }}));
    const scene = computeScene(pictures[0], space, null);
    const next = computeScene(pictures.at(-1), space, scene);
    const traces = toTraces(scene.lines, scene.absent, false);
    const overY = ({{ pixels, lines }}) => pixels[lines.findIndex(({{ over }}) => over)]?.y ?? null;
    return {{ words: getLayerText(pictures[0], ""), pixels: [scene, next].map(overY),
      traces: traces.map(({{ x, y, line, meta, yaxis, showlegend }}) => ({{
        y: Float64Array.from(y), dash: line?.dash ?? null, colour: line?.color ?? null,
        meta: meta ?? null, yaxis, showlegend: showlegend ?? null }})),
      moves: planStep(next, {{ scene, drawn: scene }}, "moving").by }};
"""
X = [-1.0, 0.0, 2.0]


def drawn(node, op, *rules, answers, layer="implied", hidden=()):
    """Return traces, words and moves of a scene with Python's answers about a layer, one after the other."""
    given = {"op": make_entry(find_op(op)), "rules": [make_entry(find_rule(rule)) for rule in rules]}
    return node.run(SCRIPT, given | {"layer": layer, "hidden": hidden, "answers": [*answers]})


def answer(*rules: str, panel: str = "forward", size: float = 1, words: str = "Dashed.") -> dict[str, Any]:
    """Return an answer with a curve of each rule."""
    y = [size * x for x in X]
    return {"curves": [{"rule": rule, "panel": panel, "x": X, "y": y} for rule in rules], "words": words}


def dashed(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [trace for trace in found["traces"] if trace["dash"]]


def test_each_layer_is_a_word_of_the_link_and_a_question() -> None:
    assert VIEW["layer"].words == {key: layer.label for key, layer in LAYERS.items()}
    assert set(LAYERS) < set(QUESTIONS)


def test_a_layer_is_dashed_in_its_rules_colour_and_not_in_the_legend(node: Node) -> None:
    found = drawn(node, "sign", "clipped", "zero", "approx_sign", answers=[answer("clipped", "approx_sign")])
    assert [trace["colour"] for trace in dashed(found)] == ["#000000", "#000002"]
    looks = {(each["meta"], each["yaxis"], each["showlegend"]) for each in dashed(found)}
    assert looks == {(None, "y", False)}
    assert (dashed(found)[0]["y"].tolist(), found["words"]) == (X, "Dashed.")
    assert not dashed(drawn(node, "sign", "clipped", layer="", answers=[answer("clipped")]))


def test_a_curve_of_the_op_is_dashed_among_the_gradients(node: Node) -> None:
    found = drawn(node, "sign", "clipped", layer="lens", answers=[answer("", panel="gradient")])
    assert [(each["meta"], each["yaxis"]) for each in dashed(found)] == [(None, "y2")]


@pytest.mark.parametrize(("given", "words"), [
    (None, ""), ({"curves": [], "words": "No mean."}, "No mean."), (answer("zero"), "Dashed."),
])  # fmt: skip
def test_without_answer_curve_or_visible_rule_nothing_is_drawn(node: Node, given: Any, words: str) -> None:
    found = drawn(node, "sign", "clipped", "zero", hidden=["zero"], answers=[given])
    assert (dashed(found), found["words"]) == ([], words)


@pytest.mark.parametrize(("op", "rule", "of"), [
    ("bernoulli", "disarm", "Bernoulli unit"), ("sign", "disarm", "DisARM"), ("sign", "clipped", ""),
])  # fmt: skip
def test_a_sentence_is_in_the_place_of_a_layer_over_means(node: Node, op: str, rule: str, of: str) -> None:
    script = """const { getLayerCurves, getLayerText } = await import("./chart/scene/layers.js");
        return [getLayerCurves(given).length, getLayerText(given, "Implied")];"""
    picture = {"layer": "implied", "layerAnswer": answer(rule), "drawnWords": STOCHASTIC_TEXTS}
    rules = [{"key": rule, "hidden": False, "entry": make_entry(find_rule(rule))}]
    found = node.run(script, picture | {"op": make_entry(find_op(op)), "rules": rules})
    replaced = [0, STOCHASTIC_TEXTS["fixed"].format(entry=of, here="Implied")]
    assert found == (replaced if of else [1, "Dashed."])


def test_a_moving_layer_only_updates_its_path(node: Node) -> None:
    found = drawn(node, "sign", "clipped", answers=[answer("clipped"), answer("clipped", size=0.9)])
    before, after = found["pixels"]
    assert found["moves"] == "paths"
    assert np.abs(before - after).max() > 1
