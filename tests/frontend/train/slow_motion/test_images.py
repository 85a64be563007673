"""Slow motion of maps and kernels: one map and the weights of one kernel are images."""

from typing import Any

import numpy as np
import pytest

from explorer.training import TASKS
from tests.frontend.modules import Node
from tests.frontend.train.conftest import choice
from tests.frontend.train.slow_motion.test_view_model import PAUSED, SHOWN, read_tensor, recorded

KEPT = """{
    drawing.kept = drawing.values ? [...drawing.values] : null;
    if (drawing.of) drawing.of.rows = [...drawing.of.rows];
    delete drawing.values;
}"""


def of_maps(node: Node, document: dict[str, Any], task: str, slow: str, layer: int) -> Any:
    rules = ("straight_through", "clipped")
    answer = recorded(3, layer, task=task, rules=rules, hidden=(4, 5))
    chosen = choice(TASKS[task].op, *rules, task=task, hidden="4,5") | {"slow": slow}
    given = {"choice": chosen, "answer": answer, "status": PAUSED, "id": "run", "document": document}
    return node.run(SHOWN.replace("delete drawing.values", KEPT), given), answer["straight_through"]


def test_one_map_and_its_kernel_are_images(node: Node, document: dict[str, Any]) -> None:
    """Map 3, example 2, the last of its four places; the kernel is 3 × 3 for each of four maps below."""
    picture, answer = of_maps(node, document, "digits convolution", "x,1,2,3,8", 1)
    assert picture["title"] == "Slow motion: step 4, map 3, example 2, row 2, column 2"
    drawn = {stage["key"]: stage["drawing"] for stage in picture["stages"]}
    x = drawn["x"]
    assert (x["rows"], x["columns"], x["mark"]) == (2, 2, {"row": 1, "column": 1})
    assert x["kept"] == pytest.approx(read_tensor(answer, "x")[4:8, 2])
    assert x["of"] == {"rows": [4, 5, 6, 7], "unit": 2}
    cases = (("input", read_tensor(answer, "input")[7]), ("weights", read_tensor(answer, "weights")[:, 2]))
    for key, values in cases:
        images = np.array(drawn[key]["kept"], dtype=object).reshape(7, 7)
        assert {*images[3], *images[:, 3]} == {None}, "the gaps between four images"
        for at in range(4):
            row, column = 4 * (at // 2), 4 * (at % 2)
            tile = images[row : row + 3, column : column + 3].astype(float)
            assert tile.flatten() == pytest.approx(values[9 * at : 9 * at + 9])
    assert drawn["input"]["low"] == -drawn["input"]["scale"], "not grey: what comes from an op has a sign"


def test_weights_of_one_kernel_are_images_that_can_be_picked(node: Node, document: dict[str, Any]) -> None:
    picture, answer = of_maps(node, document, "binary kernels", "gradient,1,2,3,24", 1)
    assert picture["title"] == "Slow motion: step 4, kernel 3, on map 3, row 2, column 3"
    drawn = {stage["key"]: stage["drawing"] for stage in picture["stages"]}
    for key in ("input", "x", "y", "g", "gradient", "weights"):
        image = drawn[key]
        assert (image["rows"], image["columns"], image["pick"]) == (7, 7, "cell")
        at = image["mark"]["row"] * 7 + image["mark"]["column"]
        assert (image["of"]["rows"][at], image["of"]["unit"]) == (23, 2)
        (name,) = [each["tensor"] for each in answer["stages"] if each["key"] == key]
        assert image["kept"][at] == pytest.approx(read_tensor(answer, name)[23, 2])
        assert (image["kept"][3], image["of"]["rows"][3]) == (None, -1)
