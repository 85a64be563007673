"""Learned values as small pictures: read off the records of runs that were trained."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from explorer.training import Run, Settings
from tests.frontend.modules import Node

PICTURE = """
    const panel = (await import("./train/panels/" + given.key + ".js"));
    const types = { int8: Int8Array, uint8: Uint8Array, int32: Int32Array, int64: Int32Array,
        float32: Float32Array };
    const read = (value) => {
        if (Array.isArray(value)) return value.map(read);
        if (value === null || typeof value !== "object") return value;
        if ("dtype" in value) return types[value.dtype].from(value.values);
        return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, read(part)]));
    };
    const picture = panel.pictureOf({ measured: read(given.record), layer: 0, picked: 7 });
    return JSON.parse(JSON.stringify(picture, (_, part) => ArrayBuffer.isView(part) ? [...part] : part));
"""
POINTS = 'return (await import("./train/panels/regions.js")).decodePoints(given.numbers);'
PALETTE = 'return (await import("./train/panels/regions.js")).palette(given.classes, given.levels);'
SETTINGS = {
    "regions": Settings(task="circles", rules=("approx_sign", "default"), steps=40),
    "mistakes": Settings(task="digits", op="sign", rules=("clipped", "default"), steps=40),
    "weights": Settings(task="ternary weights", rules=("straight_through",), steps=20),
    "maps": Settings(task="digits convolution", rules=("clipped",), hidden=(3, 2), steps=10),
    "kernels": Settings(task="binary kernels", rules=("clipped",), hidden=(3, 2), steps=10),
    "raster": Settings(task="spikes", rules=("fast_sigmoid",), parameters={"k": 1.0}, steps=10),
}


@cache
def record(key: str) -> dict[str, Any]:
    run = Run(SETTINGS[key], recorded=())
    run.advance(run.settings.steps)
    first, *_ = run.snapshot(visible=(key,)).measured[key].values()
    return dict(first or {})


def plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return {"dtype": str(value.dtype), "values": value.tolist()}
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list | tuple) else value


def picture(node: Node, key: str) -> Any:
    return node.run(PICTURE, {"key": key, "record": plain(record(key))})


@pytest.mark.parametrize("key", SETTINGS)
def test_the_words_are_those_of_the_record(node: Node, key: str):
    assert picture(node, key)["words"] == record(key)["words"]


def test_regions_have_their_points_where_the_data_are(node: Node):
    drawn, measured = picture(node, "regions"), record("regions")
    assert drawn["cells"] == measured["cells"].tolist()
    for name, part in (("trained", "trained"), ("heldOut", "held_out")):
        points = measured[part].reshape(-1, 3)
        dots = node.run(POINTS, {"numbers": drawn[name]})
        assert [each["kind"] for each in dots] == points[:, 2].tolist()
        assert [each["x"] for each in dots] == pytest.approx((points[:, 0] / 255).tolist())
        assert [each["y"] for each in dots] == pytest.approx((points[:, 1] / 255).tolist())
    assert drawn["note"].endswith("of held-out points right")
    assert f"{100 * measured['score']:.0f}" in drawn["note"]


def lightness(colour: list[int]) -> float:
    red, green, blue = colour
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("classes", [2, 3, 6])
def test_classes_differ_in_lightness_and_most_where_the_net_is_sure(node: Node, classes: int):
    levels = 255 // classes
    colours = node.run(PALETTE, {"classes": classes, "levels": levels})
    sure = [lightness(colours[(kind + 1) * levels - 1]) for kind in range(classes)]
    assert sure == sorted(sure, reverse=True)
    assert min(np.diff(sure) * -1) > 15
    even = [lightness(colours[kind * levels]) for kind in range(classes)]
    assert max(even) - min(even) < max(sure) - min(sure)
    assert max(even) - min(even) > 20, "a border can be seen where the odds are even"
    assert colours[255] == [127, 127, 127]


def test_each_misread_image_has_its_pixels_and_its_answers(node: Node):
    drawn, measured = picture(node, "mistakes"), record("mistakes")
    assert len(drawn["misread"]) == len(measured["classes"]) > 0
    images = measured["images"].reshape(-1, 64)
    for each, image, kind, read, only, example in zip(
        drawn["misread"],
        images,
        *(measured[name] for name in ("classes", "read", "only", "examples")),
        strict=True,
    ):
        fields = {"kind": kind, "read": read, "only": bool(only), "example": example}
        assert each == fields | {"image": image.tolist()}
    assert drawn["picked"] == 7
    assert drawn["note"] == f"{measured['count']} of 360 wrong, {measured['alone']} by this rule alone"


def test_bars_of_values_are_stacked(node: Node):
    drawn, measured = picture(node, "weights"), record("weights")
    assert len(drawn["layers"]) == len(measured["layers"]) == 2
    for number, (layer, own) in enumerate(zip(drawn["layers"], measured["layers"], strict=True), 1):
        assert len(layer["parts"]) == len(own["values"]) == 3
        heights = np.zeros(len(own["counts"]))
        for bars in layer["parts"]:
            for bar in bars:
                heights[round(bar["x"] * len(heights))] += bar["height"]
                assert bar["y"] == pytest.approx(heights[round(bar["x"] * len(heights))])
        assert heights == pytest.approx(0.95 * own["counts"] / own["counts"].max())
        assert layer["note"].startswith(f"Layer {number}: ")
        assert all(f"{name}: " in layer["note"] for name in ("−1", "0", "1"))


def test_maps_are_tiles_with_a_line_between_them(node: Node):
    """Each unit is 4 × 4 pixels, the line one."""
    drawn, measured = picture(node, "maps"), record("maps")
    first, second = drawn["layers"]
    assert [each["name"] for each in drawn["layers"]] == ["layer 1: −1 to 1", "layer 2: −1 to 1"]
    assert (first["width"], len(first["pixels"])) == (65, 65 * 65)
    assert (second["width"], len(second["pixels"])) == (17, 17 * 8)
    rows = [first["pixels"][65 * at : 65 * (at + 1)] for at in range(65)]
    for index, (left, top) in enumerate([(0, 0), (33, 0), (0, 33)]):
        tile = [row[left : left + 32] for row in rows[top : top + 32]]
        units = np.repeat(np.repeat(measured["maps"][64 * index :][:64].reshape(8, 8), 4, 0), 4, 1)
        assert tile == units.tolist()
    assert {row[32] for row in rows} == {60} == set(rows[32])


PAINTED = """
    const { paintWeights } = await import("./train/widgets/weights.js");
    globalThis.document = { createElement: () => ({}) };
    const canvas = { width: 0, height: 0, getContext: () => ({
        createImageData: (width, height) => ({ data: new Uint8Array(4 * width * height) }),
        putImageData: ({ data }) => { canvas.data = data; },
    }) };
    paintWeights(canvas, { ...given, values: Int8Array.from(given.values) });
    const pixels = new Uint32Array(canvas.data.buffer);
    return { width: canvas.width, height: canvas.height,
        signs: [...pixels].map(each => ({ 23: 1, 196: -1, 128: 0 })[each & 255]) };
"""


@pytest.mark.parametrize(("below", "across", "down"), [(1, 2, 2), (3, 3, 3)])
def test_a_kernel_is_an_image_for_each_map_below(node: Node, below: int, across: int, down: int):
    """Three maps: a row each, a column for each map below; over one map the kernels stand in a square."""
    signs = np.sign(np.random.default_rng(0).normal(size=(below, 3, 3, 3)))  # map below, row, column, map
    weights = {"values": (127 * signs).reshape(-1).tolist(), "columns": 3, "kernel": 3}
    drawn = node.run(PAINTED, weights)
    assert (drawn["width"], drawn["height"]) == (7 * across - 1, 7 * down - 1)
    pixels = np.array(drawn["signs"]).reshape(drawn["height"], drawn["width"])
    for own in range(3):
        for under in range(below):
            row, column = (own, under) if below > 1 else divmod(own, 2)
            tile = pixels[7 * row :, 7 * column :][:6, :6]
            assert (tile == np.repeat(np.repeat(signs[under, :, :, own], 2, 0), 2, 1)).all()
    assert not pixels[6].any()
    assert not pixels[:, 6].any()


def test_kernels_are_named_by_layer_with_their_number_and_their_largest(node: Node):
    found = [each["name"] for each in picture(node, "kernels")["layers"]]
    assert found == ["layer 1, 3 × 1: ±1", "layer 2, 2 × 3: ±1"]


def test_a_raster_has_a_block_a_layer_and_the_output_that_is_read(node: Node):
    drawn, measured = picture(node, "raster"), record("raster")
    assert [each["name"] for each in drawn["layers"]] == ["pixels", "layer 1", "layer 2"]
    joined = [value for each in drawn["layers"] for value in each["spikes"]]
    assert joined == measured["spikes"].tolist()
    assert drawn["levels"][drawn["read"]] == max(drawn["levels"]) == 1
    assert min(drawn["levels"]) == 0
    label, read = measured["label"], measured["read"]
    assert drawn["note"] == f"{label} read as {read}: {'right' if label == read else 'wrong'}"
