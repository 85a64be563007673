"""Pictures of instruments as data: of records that are written here, and of runs that were trained."""

import math
from functools import cache
from typing import Any

import numpy as np
import pytest

from explorer.training.instruments import INSTRUMENTS, Record
from explorer.training.instruments.base.pictures import draw_histogram, draw_log_bars
from explorer.training.instruments.base.weight_images import draw_weights
from explorer.training.instruments.spread import _format_bias
from tests.training.driving import measure

SETTINGS: dict[str, dict[str, Any]] = {
    "regions": {"task": "circles", "rules": ("approx_sign", "default")},
    "mistakes": {"task": "digits", "op": "sign", "rules": ("clipped", "default")},
    "weights": {"task": "ternary weights", "rules": ("straight_through",)},
    "maps": {"task": "digits convolution", "rules": ("clipped",), "hidden": (3, 2)},
    "kernels": {"task": "binary kernels", "rules": ("clipped",), "hidden": (3, 2)},
    "raster": {"task": "spikes", "rules": ("fast_sigmoid",), "parameters": {"k": 1.0}},
}


@cache
def record(key: str) -> Record:
    first, *_ = measure(key, 20, **SETTINGS[key])[1].values()
    return first or {}


def draw(key: str, measured: Record | None = None) -> Any:
    """Return the pictures of a record, by default of a trained run; if there is one only, that one."""
    drawn = INSTRUMENTS[key].draw(record(key) if measured is None else measured)
    return drawn if len(drawn) > 1 else drawn[0]


def floats(*values: float) -> Any:
    return np.array(values, np.float32)


@pytest.mark.parametrize("key", SETTINGS)
def test_a_picture_keeps_the_words_of_its_record(key: str):
    assert draw(key)["words"] == record(key)["words"]


INPUTS = {
    "edges": floats(-2, -1, 0, 1, 2),
    "counts": [np.array(each) for each in ([50, 10, 20, 0], [0, 1, 1, 0])],
    "means": [floats(-3, -0.5, 0.25, math.nan), floats(math.nan, -0.75, 0.5, math.nan)],
    "beyond": floats(0.6, 0),
    "words": ["Twice as wide as this rule.", ""],
}


def test_the_outer_bins_of_a_histogram_leave_the_height_to_the_others():
    first, second = draw("inputs", INPUTS)
    bars, note = first["blocks"]
    assert note["text"] == "Twice as wide as this rule. 60 % lie beyond ±2."
    assert first["words"] == "Twice as wide as this rule. 40 % of the data lie between −2 and 2."
    assert (bars["counts"].tolist(), bars["highest"], bars["bins"]) == ([50, 10, 20, 0], 20, 4)
    assert (bars["ends"], bars["ticks"], bars["curve"]) == ([-2, 2], ["≤ −2", "0", "≥ 2"], True)
    assert bars["means"][:3].tolist() == [-3, -0.5, 0.25]
    assert bars["outside"] == "60 % lie beyond ±2."
    bars, note = second["blocks"]
    assert (note["text"], bars["outside"], bars["highest"]) == ("", "", 1)
    assert second["words"] == "100 % of the data lie between −2 and 2.", "for those who cannot see it"
    first, _ = draw("inputs", INPUTS | {"beyond": floats(0.999, 0), "edges": floats(-3, -1, 0, 1, 2)})
    assert first["blocks"][1]["text"].endswith(". More than 99 % lie beyond −3 … 2."), "a large letter first"
    assert draw_histogram(np.zeros(2, np.int64), 1, floats(0, 1, 2))["ticks"] == ["0", "2"], "an empty one"


def test_causes_are_drawn_as_parts_of_one_bar():
    measured = {
        "shares": [floats(0.1, 0.2, 0.3, 0.4)], "whole": [floats(0.1, 0, 0.3, 0.1)],
        "channels": [floats()], "words": ["30 % are 0 by the rule"],
    }  # fmt: skip
    (stack,) = draw("causes", measured)["blocks"]
    assert stack["parts"] == [[0.1, 0, ""], [0.2, 0, "20 %"], [0.3, 0.3, "30 %"], [0.4, 0.1, "40 %"]]
    _, strip = draw("causes", measured | {"channels": [floats(0.5, 1)]})["blocks"]
    assert strip["levels"].tolist() == [0.5, 1]


def test_norms_are_drawn_on_a_logarithmic_scale():
    shown = draw("norms", {"norms": floats(0, 1, 1000), "most": 1000.0})
    assert shown["blocks"][0]["bars"] == [["w1", "0", 0], ["w2", "1", 0.6667], ["w3", "1,000", 1]]
    assert shown["words"] == "w1 0, w2 1, w3 1,000"
    assert draw("norms", {"norms": floats(45380), "most": 45380.0})["blocks"][0]["bars"][0][2] == 0.9688
    assert all("log scale" in INSTRUMENTS[key].sentence for key in ("norms", "spread"))
    assert draw_log_bars([math.nan, 1e9], -6, 3, str)["bars"] == [["w1", "nan", 0], ["w2", "1000000000.0", 1]]


def test_an_infinite_spread_fills_its_bar_and_a_missing_one_is_empty():
    shown = draw("spread", {"spread": floats(1, math.inf, math.nan), "bias": floats(), "within": floats()})
    assert [length for _, _, length in shown["blocks"][0]["bars"]] == [0.5, 1, 0]
    assert shown["words"] == "w1 1, w2 ∞, w3 none. Bias: not measured here"
    measured = {"spread": floats(1), "bias": floats(0.5, 0), "within": floats(0.1, 0.2913)}
    assert draw("spread", measured)["blocks"][1]["text"] == "Bias: w1 50 ± 10 %, w2 < 30 %"


@pytest.mark.parametrize(("bias", "within", "said"), [
    (0.378, 0.021, "38 ± 2 %"), (0.1874, 0.0081, "18.7 ± 0.8 %"), (0.0276, 0.0004, "2.76 ± 0.04 %"),
    (5.557, 0.048, "556 ± 5 %"), (1, 0, "100 %"), (0, 0, "none"), (0, 0.2913, "< 30 %"), (0, 0.0031, "< 1 %"),
    (0, 1.2, "lost in the noise"), (math.nan, math.nan, "cannot be told"), (0, math.nan, "lost in the noise"),
])  # fmt: skip
def test_a_bias_is_stated_with_its_error_or_as_below_a_bound(bias: float, within: float, said: str):
    assert _format_bias(bias, within) == said


def test_learned_parameters_are_drawn_as_lines_with_their_gradients():
    series = {
        "values": ([1, 2, 3], [1, 1, 1]), "gradients": ([-1, -0.5, 0], [0, 0, 0]),
        "leasts": ([1, 1.5, 2], [1, 1, 1]), "mosts": ([1, 2.5, 6], [1, 1, 1]),
    }  # fmt: skip
    measured = {name: [floats(9, 9, 9)] + [floats(*each) for each in lines] for name, lines in series.items()}
    (shown,) = INSTRUMENTS["parameters"].draw(measured, {"c": slice(1, 3)})
    (group,) = shown["blocks"]
    assert (group["name"], group["text"], shown["words"]) == ("c", "3 (2 to 6), 1", "c is 3 (2 to 6), 1")
    values, gradients = group["blocks"]
    assert [line.tolist() for line in values["lines"]] == [*series["values"]]
    bands = [[end.tolist() for end in band] for band in values["bands"]]
    assert bands == [[[1, 1.5, 2], [1, 2.5, 6]], [[1, 1, 1]] * 2]
    assert (values["ends"], values["least"], values["most"]) == ([pytest.approx(0.7), 6.3], "1", "6")
    assert gradients["ends"] == [pytest.approx(-1.06), pytest.approx(0.06)], "0 is among them"
    assert (gradients["least"], gradients["most"]) == ("−1", "gradient 0")
    still = measured | {"gradients": [floats(*[math.nan] * 3)] * 3, "mosts": measured["leasts"]}
    (shown,) = INSTRUMENTS["parameters"].draw(still, {"c": slice(1, 3)})
    assert shown["words"] == "c stays at 3, 1"
    assert shown["blocks"][0]["blocks"][1] == {"kind": "note", "text": "It does not learn by this rule."}
    assert not shown["blocks"][0]["blocks"][0]["bands"]


@pytest.mark.parametrize(("alone", "said"), [(2, ", 2 by"), (0, ", none of them by"), (None, "")])
def test_mistakes_made_by_one_rule_only_are_counted(alone: int | None, said: str):
    lists: dict[str, Any] = {key: [] for key in ("images", "classes", "read", "only", "examples")}
    note, _ = draw("mistakes", {"count": 3, "of": 9, "alone": alone, "words": "", **lists})["blocks"]
    assert note["text"] == f"3 of 9 wrong{said}{' this rule alone' if said else ''}"
    assert draw("mistakes")["blocks"][1]["width"] == 8


@pytest.mark.parametrize(("names", "told"), [
    ([], None), (["setosa", "virginica"], "light to dark: setosa, virginica; across: long, up: wide"),
    (list("abcdef"), "light to dark: a, …, f; across: long, up: wide"),
])  # fmt: skip
def test_regions_are_drawn_from_the_top_row_with_named_classes(names: list[str], told: str | None):
    measured = {**record("regions"), "names": names, "inputs": ["long", "wide"], "score": 0.5}
    shown = draw("regions", measured)
    plane, note = shown["blocks"]
    assert plane["image"].reshape(48, 48)[::-1].flatten().tolist() == measured["cells"].tolist()
    assert plane["palette"] == "classes 2 127"
    assert [*map(list, plane["dots"])] == [list(measured[part]) for part in ("trained", "held_out")]
    assert note["text"] == "50 % of held-out points right"
    several = draw("regions", measured | {"of_seed": 7})["blocks"][1]
    assert several["text"] == "Seed 7: 50 % right"
    assert shown.get("legend") == told


def test_weights_are_counted_by_value_and_layer():
    shown, measured = draw("weights"), record("weights")
    for number, layer in enumerate(measured["layers"]):
        bars, note = shown["blocks"][2 * number :][:2]
        assert (bars["counts"].tolist(), len(layer["values"])) == (layer["by_value"].tolist(), 3)
        assert (bars["highest"], bars["bins"]) == (layer["counts"].max(), len(layer["counts"]))
        assert note["text"].startswith(f"Layer {number + 1}: ")
        assert all(f"{name}: " in note["text"] for name in ("−1", "0", "1"))
    layer = measured["layers"][0] | {"values": floats(), "by_value": np.array([], np.int64)}
    bars, note = draw("weights", {"layers": [layer], "words": ""})["blocks"]
    assert bars["counts"].tolist() == layer["counts"].tolist(), "one part, of more values than are counted"
    assert note["text"].count("·") == 0


def test_images_of_layers_have_captions_and_all_their_numbers():
    example, row = draw("maps")["blocks"]
    names = [each["caption"] for each in row["images"]]
    assert names == ["after w1: −1 to 1", "after w2: −1 to 1"]
    assert [(each["side"], len(each["image"])) for each in row["images"]] == [(8, 3 * 64), (2, 2 * 4)]
    joined = np.concatenate([each["image"] for each in row["images"]])
    assert joined.tolist() == record("maps")["maps"].tolist()
    (row,) = draw("kernels")["blocks"]
    assert [each["caption"] for each in row["images"]] == ["w1, 3 × 1: ±1", "w2, 2 × 3: ±1"]
    example, row, outputs = draw("raster")["blocks"]
    measured = record("raster")
    assert [each["caption"] for each in row["images"]] == ["pixels", "after w1", "after w2"]
    joined = np.concatenate([each["image"] for each in row["images"]])
    assert joined.tolist() == measured["spikes"].tolist()
    assert outputs["levels"][outputs["chosen"]] == outputs["levels"].max() == 1
    assert outputs["levels"].min() == 0
    label, read = measured["label"], measured["read"]
    assert example["text"] == f"{label} read as {read}: {'right' if label == read else 'wrong'}"
    assert (example["image"] is measured["image"], example["width"]) == (True, 8)


@pytest.mark.parametrize(("below", "across"), [(1, None), (3, 3)])
def test_a_kernel_is_drawn_as_an_image_for_each_input_map(below: int, across: int | None):
    """Three maps: a row each, a column for each map below; above one map the kernels form a square."""
    values = np.random.default_rng(0).integers(-127, 128, (below, 3, 3, 3))  # map below, row, column, map
    image = draw_weights({"values": values.astype(np.int8).flatten(), "columns": 3, "kernel": 3})
    assert (image["side"], image.get("across"), image["palette"]) == (3, across, "signed")
    tiles = image["image"].reshape(3, below, 3, 3).astype(int) - 128
    assert (tiles == values.transpose(3, 0, 1, 2)).all()
    plain = draw_weights({"values": np.array([-127, 0, 127, 1], np.int8), "columns": 2, "kernel": 0})
    assert (plain["image"].tolist(), plain["width"]) == ([1, 128, 255, 129], 2)
