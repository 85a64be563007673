"""Labels at the ends of curves: each beside its own, on no curve and on no other label."""

import math
from functools import partial
from itertools import combinations
from typing import Any

import pytest

from tests.frontend.modules import Node

SIZE = 12
PANEL = {"top": 100, "height": 250}
ABOVE, BELOW = 0.6 * SIZE, 1.3 * SIZE
PLACE = """
    const { placeEndLabels } = await import("./chart/probe/labels.js");
    const parts = [{ text: "Default" }];
    const labels = given.ends.map((y) => ({ parts, x: 300, y, end: y, anchor: "end" }));
    const others = given.others.map(([x, y]) => ({ parts, x, y, anchor: "start" }));
    const { panel, size, points } = given;
    return placeEndLabels(labels, given.ends, panel, size, { others, points }).map(({ y, end }) => [y, end]);
"""


def placed(
    node: Node, ends: list[float], *others: tuple[float, float], points: tuple[Any, ...] = ()
) -> list[list[float]]:
    """Return the baseline of each placed label and the end of its curve."""
    given = {"ends": ends, "panel": PANEL, "size": SIZE, "others": others, "points": points}
    found: list[list[float]] = node.run(PLACE, given)
    return found


@pytest.mark.parametrize(
    ("ends", "left_out"),
    [
        *(([200], 0), ([200, 200], 0), ([225] * 6, 0), ([101] * 3, 0), ([349] * 6, 0), ([100, 350], 0)),
        *(([120, 230, 230, 230, 230, 340], 0), ([200, 215, 230, 245], 2)),
        *(([101, 160, 160], 0), ([101, 140, 140, 140, 349], 0), ([130 + 10 * i for i in range(20)], 18)),
    ],
)
def test_labels_lie_nearest_to_their_curve_and_on_none(node: Node, ends: list[float], left_out: int) -> None:
    labels = placed(node, ends)
    assert len(labels) == len(ends) - left_out
    for (one, _), (other, _) in combinations(labels, 2):
        assert abs(one - other) >= 1.2 * SIZE
    for y, own in labels:
        assert min(ends, key=lambda end: abs(y - 0.35 * SIZE - end)) == own
        assert PANEL["top"] + SIZE <= y <= PANEL["top"] + PANEL["height"] - SIZE / 4
        assert all(y <= end - ABOVE + 0.5 or y >= end + BELOW - 0.5 for end in ends), (y, ends)


def test_a_label_is_above_its_curve_or_below_it_without_room(node: Node) -> None:
    assert placed(node, [200]) == [[200 - ABOVE, 200]]
    assert placed(node, [101]) == [[101 + BELOW, 101]]
    assert placed(node, [200], (100, 200 - ABOVE)) == [[200 - ABOVE, 200]], "the other is far to the left"
    assert placed(node, [200], (280, 200 - ABOVE)) == [[200 + BELOW, 200]]


def test_a_label_covers_no_drawing_if_there_is_another_place(node: Node) -> None:
    drawn = tuple((x, 200 - ABOVE - 4) for x in range(200, 300))
    assert placed(node, [200], points=drawn) == [[200 + BELOW, 200]]
    assert placed(node, [200], points=tuple((x - 100, y) for x, y in drawn)) == [[200 - ABOVE, 200]]
    around = tuple((270, y) for y in range(150, 250))
    assert placed(node, [200], *[(0, 0)] * 3, points=around) == [[200 - ABOVE, 200]]


TOGETHER = """
    const { groupEnds } = await import("./chart/probe/labels.js");
    const textOf = ({ parts }) => parts.map(({ text }) => text).join("");
    return groupEnds(given.ends, given.most).map((each) => [each.y, textOf(each)]);
"""


def test_rules_that_end_as_one_share_a_label_as_long_as_it_fits(node: Node) -> None:
    heights = {"Default": 300, "Tanh": 298.9, "Clipped": 300.5, "Zero": 300}
    ends = [{"label": label, "y": y, "colour": ""} for label, y in heights.items()]
    whole = [[300, "Default, Clipped, Zero"], [298.9, "Tanh"]]
    assert node.run(TOGETHER, {"ends": ends, "most": 60}) == whole
    assert node.run(TOGETHER, {"ends": ends, "most": 19}) == [
        [300, "Default, Clipped"], [298.9, "Tanh"], [300, "Zero"],
    ]  # fmt: skip


def test_a_rule_without_a_finite_value_has_its_label_at_no_height_of_the_axis(node: Node) -> None:
    values = [{"label": "Zero", "y": [0]}, {"label": "1 / 0", "y": [None]}]
    lines = [{**line, "panel": "gradient", "x": [0]} for line in values]
    frame = {"left": 0, "inner": 500, "size": SIZE, "x": [0, 1], "gradient": {**PANEL, "range": [0, 1]}}
    labels = node.call("chart/probe/labels.js makeEndLabels", lines, frame)
    assert [each["parts"][0]["text"] for each in labels] == ["Zero", "1 / 0: not finite"]


SLOPES = """
    const { placeSlopeLabel } = await import("./chart/probe/labels.js");
    const frame = { left: 0, inner: 500, size: 10, forward: { top: 0, height: 200 } };
    const level = (y) => Array.from({ length: 501 }, (_, x) => [x, y]);
    const place = (ends, more) =>
        placeSlopeLabel(ends, "slope 0", frame, { points: [], rings: [], others: [], labels: [], ...more });
    const flat = (y) => [[200, y], [300, y]];
    const near = [[190, 115], [310, 85]];
    return [
        place(flat(100), { points: level(100) }), place(flat(2), { points: level(2) }),
        place(flat(100), { points: level(100).map(([x, y]) => [x, x > 320 ? 85 : y]) }),
        place(flat(100), { points: level(100), rings: [[320, 100], [180, 100]] }),
        place([[200, 110], [300, 90]], { others: [near] }),
        place([[200, 104], [300, 96]], { others: [[[150, 100], [350, 100]], near] }),
        place([[90, -90], [190, -90]]),
    ];
"""


def test_the_label_of_a_slope_is_nearest_to_its_tangent_and_covers_neither_curve_nor_ring(node: Node) -> None:
    """Over a level curve it is above or below its end; below a step on the right, at the left end."""
    *places, nowhere = node.run(SLOPES, {})
    assert [(each["anchor"], each["y"]) for each in places[:3]] == [("start", 94), ("start", 15), ("end", 94)]
    right = places[3]["x"] + 0.56 * 10 * len("slope 0")
    assert math.hypot(320 - right, 100 - places[3]["y"] - 2) > 5.5, "its letters do not touch the ring"
    assert places[4]["y"] > 90, "below its end: the other tangent is above it"
    assert places[5], "between two tangents, where each place is nearer to another, it has one too"
    assert nowhere is None


def test_a_value_stays_near_its_dot(node: Node) -> None:
    """On the other side of it, where a name is; it is left out where there is no place at all."""
    body = """
        const { placeEndLabels } = await import("./chart/probe/labels.js");
        const sides = [{ x: 291, anchor: "end" }, { x: 309, anchor: "start" }];
        const label = { parts: [{ text: "0.5" }], y: 200 };
        const panel = { top: 100, height: 250 };
        const place = (others) => placeEndLabels([{ ...label }], [200], panel, 12, { others, sides });
        const column = (x) => Array.from({ length: 20 }, (_, row) => (
            { parts: [{ text: "Straight" }], x, y: 110 + 12 * row, anchor: "start" }));
        return [[], column(230), [...column(230), ...column(309)]].map(place);
    """
    found = [[(each["x"], each["y"]) for each in labels] for labels in node.run(body, {})]
    assert found == [[(291, 200 - ABOVE)], [(309, 200 - ABOVE)], []]


def test_the_label_of_x_leaves_room_for_handles(node: Node):
    frame = {"left": 40, "inner": 400}
    place = partial(node.call, "chart/probe/labels.js placeXLabel")
    assert place(200, 30, [100, 300], frame) == 200
    assert place(205, 30, [200], frame) == 248, "beside the handle, on the side that is nearer"
    assert place(195, 30, [200], frame) == 152
    assert place(60, 30, [62], frame) == 110, "inside the chart"
    assert place(200, 30, [190, 240], frame) == 142, "not between two handles that leave no room"
