"""What the page adds to pictures: the layout of histograms, the curves over them, and colours."""

from typing import Any

import numpy as np
import pytest

from explorer import expected
from explorer.catalogue import RULES, Rule
from tests.frontend.modules import Node
from tests.frontend.train.conftest import choice
from tests.selection import loop_over

LAYOUT = """
    const { layOutHistogram } = await import("./train/widgets/histogram.js");
    const { parts, ...layout } = layOutHistogram(given.histogram, given.points ?? []);
    const round = (value) => Number(value.toFixed(9));
    const edgesOf = ({ from, to, base, height }) => [from, to, base, height].map(round);
    return { parts: parts.map((bars) => bars.map(edgesOf)), ...layout };
"""


def test_bars_stand_on_one_another_up_to_the_roof(node: Node):
    histogram = {"counts": [50, 10, 20, 0], "bins": 4, "highest": 20, "ends": [-2, 2]}
    shown = node.run(LAYOUT, {"histogram": histogram})
    assert shown["parts"] == [[[0, 0.25, 0, 1], [0.25, 0.5, 0, 0.47], [0.5, 0.75, 0, 0.94], [0.75, 1, 0, 0]]]
    assert (shown["curve"], shown["most"]) == ([], None)
    stacked = {"counts": [5, 0, 5, 10], "bins": 2, "highest": 10, "ends": [0, 1], "strong": True}
    below, above = node.run(LAYOUT, {"histogram": stacked})["parts"]
    assert [bar[3] for bar in below] == [0.47, 0] == [bar[2] for bar in above]
    assert [bar[3] for bar in above] == [0.94, 0.94]
    assert [bar[1] for bar in below] == [0.45, 0.95], "there are gaps between bars in colour"


def test_a_curve_has_the_axis_of_the_bars_and_0_and_1_in_its_height(node: Node):
    histogram = {"counts": [1], "bins": 1, "highest": 1, "ends": [-2, 2]}
    points = [{"x": -2, "y": -1}, {"x": 0, "y": 0.5}, {"x": 2, "y": None}]
    shown = node.run(LAYOUT, {"histogram": histogram, "points": points})
    assert [point["x"] for point in shown["curve"]] == [0, 0.5, 1]
    assert [point["y"] for point in shown["curve"][:2]] == pytest.approx([0, 0.94 * 0.75])
    assert (shown["most"], shown["zero"]) == (1, pytest.approx(0.47))


DRAWN = """
    const { getPicture } = await import("./train/panels/panels.js");
    const blocks = [{ kind: "note" }, { kind: "histogram", curve: true, ends: [-2, 2] }];
    const pictures = [0, 1].map((layer) => ({ words: `${layer}`, blocks }));
    const measured = { inputs: { [given.rule]: pictures } };
    const snapshot = { step: 1, learned: {}, measured, measured_steps: [0, 1], ...given.snapshot };
    const of = { key: "inputs", line: { key: given.rule }, layer: given.layer ?? 0 };
    return getPicture({ choice: given.choice, ink: 7 }, given.snapshot === null ? null : snapshot, of);
"""


def picture(node: Node, document: dict[str, Any], op: str, rule: str, **given: Any) -> Any:
    parameters = given.pop("parameters", {})
    its = choice(op, rule, parameters=parameters, task="digits")
    return node.run(DRAWN, {"document": document, "choice": its, "rule": rule} | given)


def test_a_picture_is_that_of_the_layer_with_what_the_page_knows(node: Node, document: dict[str, Any]):
    shown = picture(node, document, "sign", "clipped", layer=5, parameters={"c": 0.5})
    assert (shown["words"], shown["ink"], shown["steps"], shown["picked"]) == ("1", 7, [0, 1], None)
    passed = [point["x"] for point in shown["curve"] if point["y"] > 0]
    assert (min(passed), max(passed)) == (-0.5, 0.5)
    assert picture(node, document, "sign", "clipped", snapshot=None) is None


def test_the_curve_is_that_of_what_the_layer_has_learned(node: Node, document: dict[str, Any]):
    """Two seeds, two layers; the mean over the seeds that are finite, of the layer that is shown."""
    learned = {"learned": {"clipped": {"c": [0.2, 1.0, 0.4, None]}}, "seeds": 2}
    for layer, c in ((0, 0.3), (1, 1.0)):
        shown = picture(node, document, "sign", "clipped", layer=layer, snapshot=learned)
        passed = [point["x"] for point in shown["curve"] if point["y"] > 0]
        assert [min(passed), max(passed)] == pytest.approx([-c, c], abs=0.012)


@loop_over("rule", [rule for rule in RULES.values() if rule.is_random])
def test_a_rule_that_depends_on_a_nets_loss_has_no_curve(node: Node, document: dict[str, Any], rule: Rule):
    assert bool(picture(node, document, "bernoulli", rule.key)["curve"]) is not rule.needs_loss


def test_the_curve_of_a_random_rule_is_its_mean(node: Node, document: dict[str, Any]):
    curve = picture(node, document, "bernoulli", "st_gumbel")["curve"]
    middle = min(curve, key=lambda point: abs(point["x"]))
    mean = expected("bernoulli", "st_gumbel", [middle["x"]], f="y")["mean"]
    assert [middle["y"]] == pytest.approx(mean, rel=1e-2)


def lightness(colour: list[int]) -> float:
    red, green, blue = colour
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("classes", [2, 3, 6])
def test_classes_differ_in_lightness_and_most_where_the_net_is_sure(node: Node, classes: int):
    levels = 255 // classes
    ends, unknown = [[255, 238, 160], [84, 108, 152]], [127, 127, 127]
    colours = node.call("train/widgets/image.js listClassColours", classes, levels, ends, unknown)
    sure = [lightness(colours[(kind + 1) * levels - 1]) for kind in range(classes)]
    assert sure == sorted(sure, reverse=True)
    assert min(np.diff(sure) * -1) > 15
    even = [lightness(colours[kind * levels]) for kind in range(classes)]
    assert max(even) - min(even) < max(sure) - min(sure)
    assert max(even) - min(even) > 20, "a border can be seen where the odds are even"
    assert colours[255] == unknown


PAINTED = """
    const { paintImage } = await import("./train/widgets/image.js");
    const canvas = { width: 0, height: 0, painted: 0, getContext: () => ({
        createImageData: (width, height) => ({ data: new Uint8Array(4 * width * height) }),
        putImageData: ({ data }) => { canvas.data = data; canvas.painted += 1; },
    }) };
    const tokens = { "--negative": "#010203", "--positive": "#090807", "--neutral": "#808080" };
    globalThis.getComputedStyle = () => ({ getPropertyValue: (name) => tokens[name] });
    [0, 0, 1].forEach((ink) => paintImage(canvas, given, ink));
    return { size: [canvas.width, canvas.height], painted: canvas.painted,
        pixels: [...new Uint32Array(canvas.data.buffer)].map((pixel) => [pixel & 255, pixel >>> 24]) };
"""


def test_square_images_are_a_grid_with_lines_between_them(node: Node):
    """Three images of 2 × 2 numbers, each 2 × 2 pixels large; only another colour paints them anew."""
    images = np.arange(100, 112, dtype=np.uint8).reshape(3, 2, 2)
    given = {"image": images, "width": 0, "side": 2, "zoom": 2}
    shown = node.run(PAINTED, given)
    assert (shown["size"], shown["painted"]) == ([9, 9], 2)
    opacity = np.array(shown["pixels"])[:, 1].reshape(9, 9)
    for index, (top, left) in enumerate([(0, 0), (0, 5), (5, 0)]):
        assert (opacity[top : top + 4, left : left + 4] == images[index].repeat(2, 0).repeat(2, 1)).all()
    assert {*opacity[4], *opacity[:, 4]} == {60}


def test_weights_have_the_colours_of_the_tokens_by_their_signs(node: Node):
    shown = node.run(PAINTED, {"image": np.array([1, 128, 255], np.uint8), "width": 3, "palette": "signed"})
    assert shown["pixels"] == [[1, 255], [9, 0], [9, 255]]
