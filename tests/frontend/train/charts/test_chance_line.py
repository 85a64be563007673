"""Where the word "chance" stands beside its line."""

import pytest

from tests.frontend.modules import Node

PLACE = "train/charts/chance-line.js placeChanceLabel"
BELOW, ABOVE = False, True


def straight(y: float, start: float = 0, stop: float = 100) -> dict[str, list[float]]:
    return {"x": [start, stop], "y": [y, y]}


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        ([], (1, BELOW)),
        ([straight(0.8), straight(0.21)], (1, BELOW)),
        ([straight(0.15)], (1, ABOVE)),  # a dead net, a little below chance
        ([straight(0.18, 50)], (0.4, BELOW)),  # one on the line, from the middle on
        ([straight(0.15), straight(0.22)], (1, BELOW)),  # nowhere free
        ([straight(0.1, 0, 40), {"x": [90, 100], "y": [0.02, 0.9]}], (0.8, BELOW)),  # it crosses there
    ],
)
def test_the_label_of_the_chance_line_is_where_no_curve_passes(node: Node, series, expected):
    result = node.call(PLACE, 0.18, series, [0, 1], 100)
    assert (result["x"], result["isAbove"]) == expected


@pytest.mark.parametrize(
    ("chance", "start"), [(0.1, 0), (0.5, 0.5)], ids=["over the axis' numbers", "no room below"]
)
def test_the_label_of_a_low_chance_line_is_above_it(node: Node, chance: float, start: float):
    result = node.call(PLACE, chance, [], [start, 1], 100)
    assert (result["x"], result["isAbove"]) == (1, ABOVE)
