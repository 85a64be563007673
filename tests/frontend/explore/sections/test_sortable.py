"""Tables that their columns sort."""

import random
from typing import Any

from tests.frontend.modules import Node

SCRIPT = """
const { orderRows } = await import("./explore/sections/sortable.js");
return given.map(({ values, down, column = 0 }) =>
  orderRows(values.length, { column, down }, (row) => (values[row] === "nan" ? NaN : values[row])));
"""


def sort(values: list[Any], down: bool) -> list[int]:
    """Return the order of `values` by Python's own stable sort, what is no number last."""
    known = [row for row, value in enumerate(values) if value != "nan"]
    missing = [row for row, value in enumerate(values) if value == "nan"]
    sign = -1 if down else 1
    if known and isinstance(values[known[0]], str):
        return sorted(known, key=lambda row: values[row], reverse=down) + missing
    return sorted(known, key=lambda row: sign * values[row]) + missing


def test_rows_are_sorted_up_and_down_ties_stay_and_what_is_no_number_comes_last(node: Node) -> None:
    rng = random.Random(4)
    columns: list[list[Any]] = [[rng.randint(-3, 3) for _ in range(40)] for _ in range(5)]
    columns += [[rng.choice(["nan", -0.5, 2, 9e9]) for _ in range(30)], ["b", "a", "c"], []]
    given = [{"values": values, "down": down} for values in columns for down in (False, True)]
    for case, order in zip(given, node.run(SCRIPT, given), strict=True):
        assert order == sort(case["values"], case["down"])


def test_without_a_column_rows_keep_their_order(node: Node) -> None:
    assert node.run(SCRIPT, [{"values": [3, 1, 2], "down": False, "column": -1}]) == [[0, 1, 2]]
