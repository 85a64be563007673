"""Tables that their columns sort."""

import pytest

from tests.frontend.modules import Node

SCRIPT = """
const { orderRows } = await import("./explore/sections/sortable.js");
const { values, column = 0, down } = given;
return orderRows(values.length, { column, down }, (row) => values[row] ?? NaN);
"""


@pytest.mark.parametrize(
    ("values", "up", "down"),
    [
        ([2, -0.5, 9e9, 2, -0.5, 2], [1, 4, 0, 3, 5, 2], [2, 0, 3, 5, 1, 4]),
        ([10, None, 9, None, -3], [4, 2, 0, 1, 3], [0, 2, 4, 1, 3]), (["b", "a", "c"], [1, 0, 2], [2, 0, 1]),
        ([None, 1], [1, 0], [1, 0]), ([], [], []),
    ],
)  # fmt: skip
def test_rows_are_sorted_up_and_down_ties_stay_and_what_is_no_number_comes_last(node: Node, values, up, down):
    assert node.run(SCRIPT, {"values": values, "down": False}) == up
    assert node.run(SCRIPT, {"values": values, "down": True}) == down


def test_without_a_column_rows_keep_their_order(node: Node) -> None:
    assert node.run(SCRIPT, {"values": [3, 1, 2], "down": False, "column": -1}) == [0, 1, 2]
