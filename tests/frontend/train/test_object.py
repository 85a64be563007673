"""The net as an object, as plain data: its plates, and what is left of the gradient between them."""

import numpy as np
import pytest

from tests.frontend.modules import Node

PLATES = """
    const { listPlates, computeRemaining } = await import("./train/object/plates.js");
    const plates = listPlates(given.layers, given.open);
    const left = computeRemaining(plates, given.passed, given.along);
    return [plates.map(({ kind, layer, folded }) => `${kind}${folded || layer}`), left];
"""


def drawn(node: Node, layers, passed, *, is_open=False, along=True):
    given = {"layers": layers, "passed": np.array(passed, float), "open": is_open, "along": along}
    return node.run(PLATES, given)


def test_one_hidden_layer_has_no_fold(node):
    plates, left = drawn(node, 2, [0.25])
    assert plates == ["inputs0", "weights0", "op0", "weights1", "outputs1"]
    assert left == [None, 0.25, 1, 1]


@pytest.mark.parametrize("layers", [3, 4, 5])
def test_middle_layers_are_one_plate_until_it_opens(node, layers):
    closed, _ = drawn(node, layers, [1] * (layers - 1))
    assert closed == [
        "inputs0", "weights0", "op0", f"fold{layers - 2}", f"weights{layers - 1}", f"outputs{layers - 1}",
    ]  # fmt: skip
    opened, _ = drawn(node, layers, [1] * (layers - 1), is_open=True)
    assert len(opened) == 2 * layers + 1


def test_remaining_shares_multiply_along_folded_and_unfolded_layers(node):
    _, closed = drawn(node, 4, [0.5, 0.5, 0.8])
    assert closed == [None, 0.2, 0.4, 1, 1]
    _, opened = drawn(node, 4, [0.5, 0.5, 0.8], is_open=True)
    assert opened == [None, 0.2, 0.4, 0.4, 0.8, 0.8, 1, 1]


def test_behind_a_dead_layer_nothing_is_left(node):
    _, left = drawn(node, 3, [None, 0], is_open=True)
    assert left == [None, None, None, None, 1, 1]


def test_shares_do_not_multiply_across_layers_with_the_op_on_weights(node):
    _, left = drawn(node, 3, [0.5, 0.1, 0.2], along=False, is_open=True)
    assert left == [None, 0.5, 1, 0.1, 1, 1]


@pytest.mark.parametrize(
    ("now", "part", "then"),
    [
        ("", "all", "all"), ("all", "all", ""), ("", "settings", "settings"), ("settings", "settings", ""),
        ("settings", "evidence", "all"), ("all", "settings", "evidence"), ("evidence", "all", "all"),
    ],
)  # fmt: skip
def test_two_open_parts_are_all_tools(node, now, part, then):
    body = 'return (await import("./train/page/calm.js")).togglePart(given.now, given.part);'
    assert node.run(body, {"now": now, "part": part}) == then
