"""Labels of curves: each next to its own, nearer to it than to others, over no curve and no other label."""

from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from tests.frontend.modules import Node

SIZE, TOP, LEFT = 12, 100, 40
FRAME = {
    "left": LEFT, "inner": 500, "size": SIZE, "x": [0, 1],
    "forward": {"top": 0, "height": 90, "range": [0, 1]},
    "gradient": {"top": TOP, "height": 250, "range": [0, 1]},
}  # fmt: skip
NAMES = "chart/probe/labels.js makeNameLabels"
GRID = np.linspace(0, 1, 401)
LABELS = """
    const { layOutLabels } = await import("./chart/probe/labels.js");
    const rules = given.lines.map((line, rule) => ({ ...line, rule }));
    const forward = { panel: "forward", x: [0, 1], y: [0.5, 0.5], gaps: [0, 0], closed: [], open: [] };
    const gradients = given.values;
    const values = { x: given.at, y: 0.5, gradients, parts: {} };
    return layOutLabels(values, [forward, ...rules], given.frame, 1, { grips: [] });
"""


def line(label: str, y: Any) -> dict[str, Any]:
    """A gradient's curve, from its values on the grid or one for all."""
    heights = np.broadcast_to(y, GRID.shape).astype(float)
    rest = {"gaps": np.zeros(len(GRID)), "closed": [], "open": []}
    return {"label": label, "colour": label, "panel": "gradient", "x": GRID, "y": heights, **rest}


def texts_of(labels: list[Any]) -> list[str]:
    return ["".join(part["text"] for row in label["rows"] for part in row) for label in labels]


def gap(label: Any, y: Any) -> float:
    """The distance in px of a label's box to a curve of these values."""
    box = label["box"]
    across, down = LEFT + 500 * GRID, TOP + 250 * (1 - np.broadcast_to(y, GRID.shape))
    dx = np.maximum(np.maximum(box["left"] - across, across - box["right"]), 0)
    return float(np.min(np.hypot(dx, np.maximum(np.maximum(box["top"] - down, down - box["bottom"]), 0))))


def overlap(one: dict[str, float], other: dict[str, float]) -> bool:
    across = one["left"] < other["right"] and other["left"] < one["right"]
    return across and one["top"] < other["bottom"] and other["top"] < one["bottom"]


CURVES = {
    "close": {"Default": 0.5, "Straight-through": 0.52, "Clipped": 0.54, "Tanh": 0.56},
    "crossing": {"Default": GRID, "Straight-through": 1 - GRID, "Clipped": 0.5},
    "ends as one": {
        "Default": 0.0,
        "Clipped": np.clip(10 * (0.6 - GRID), 0, 0.9),
        "Hat": np.clip(1 - 4 * GRID, 0, 1),
    },
    "at the edges": {"Default": 0.0, "Straight-through": 1.0},
    "steep": {"Default": 0.5 + 0.45 * np.tanh(60 * (GRID - 0.5)), "Zero": 0.0},
}


@pytest.mark.parametrize("curves", CURVES.values(), ids=CURVES)
def test_a_name_is_at_its_own_curve_and_covers_none(node: Node, curves: dict[str, Any]) -> None:
    labels = node.call(NAMES, [line(*curve) for curve in curves.items()], FRAME)
    assert sorted(texts_of(labels)) == sorted(curves), "each has a name, and none shares one"
    for label, name in zip(labels, texts_of(labels), strict=True):
        gaps = {other: gap(label, y) for other, y in curves.items()}
        assert min(gaps.values()) >= 1.5, gaps
        assert label["lead"] or gaps[name] <= 7, gaps
        assert label["lead"] or gaps[name] <= min(gaps.values()) + 0.5, gaps
    assert not any(overlap(one["box"], other["box"]) for one, other in combinations(labels, 2))


def test_a_name_without_room_has_a_line_to_its_curve(node: Node) -> None:
    """Between two curves 10 px away there is no room for the name of the one in the middle."""
    curves = {"above": 0.54, "Straight-through": 0.5, "below": 0.46}
    labels = node.call(NAMES, [line(*curve) for curve in curves.items()], FRAME)
    leads = dict(zip(texts_of(labels), (label["lead"] for label in labels), strict=True))
    assert (leads["above"], leads["below"]) == ([], [])
    assert any(abs(y - TOP - 250 * 0.5) < 0.1 for _, y in leads["Straight-through"])


def test_equal_curves_share_a_label_that_says_so(node: Node) -> None:
    """In one row if it is short, otherwise a name below the other; one that is equal in part has its own."""
    curves = [line("Default", 0), line("Zero", 0), line("Clipped", 0.5 * (GRID < 0.3))]
    assert sorted(texts_of(node.call(NAMES, curves, FRAME))) == ["Clipped", "Default, Zero"]
    long = [line("Gradient of the first kind", 0), line("Gradient of the second", 0)]
    (label,) = node.call(NAMES, long, FRAME)
    assert [row[0]["text"] for row in label["rows"]] == [
        "Gradient of the first kind, ",
        "Gradient of the second",
    ]


def test_a_curve_that_is_nowhere_alone_is_named_where_it_differs_from_the_first(node: Node) -> None:
    """The published clamp equals autograd's 0 on the left and the straight-through 1 on the right."""
    step = 1.0 * (GRID > 0.6)
    clamp = line("Bug", step) | {"gaps": np.diff(step, append=1.0)}
    labels = node.call(NAMES, [line("Default", 0), line("Straight-through", 1), clamp], FRAME)
    assert sorted(texts_of(labels)) == ["Bug", "Default", "Straight-through"]
    bug = labels[texts_of(labels).index("Bug")]
    assert gap(bug, np.where(GRID > 0.6, 1, 1e9)) < gap(bug, np.where(GRID < 0.6, 0, 1e9))


def test_a_name_without_room_in_its_panel_is_above_it_with_a_line_to_its_curve(node: Node) -> None:
    waves = {"Default": 0.5 + 0.45 * np.sin(90 * GRID), "Straight-through": 0.5, "Masked": 0.5 * (GRID < 0.4)}
    frame = FRAME | {"size": 24, "forward": {"top": -110, "height": 200, "range": [0, 1]}}
    labels = lay_out(node, waves, 0.5, frame)
    assert {*texts_of(labels)} >= {*waves}
    above = [label for label in labels if label["lead"] and label["box"]["bottom"] < TOP]
    assert texts_of(above), "at least one is over the upper panel"
    assert not any(overlap(one["box"], other["box"]) for one, other in combinations(labels, 2))


def test_a_name_without_any_place_is_left_out(node: Node) -> None:
    waves = line("Default", 0.5 + 0.5 * np.sin(300 * GRID))
    assert texts_of(node.call(NAMES, [waves], FRAME)) == []


def test_a_rule_without_a_finite_value_has_its_label_at_no_height_of_the_axis(node: Node) -> None:
    labels = node.call(NAMES, [line("Zero", 0), line("1 / 0", np.nan)], FRAME)
    assert texts_of(labels) == ["Zero", "1 / 0: not finite"]


def lay_out(node: Node, curves: dict[str, Any], at: float, frame: dict[str, Any] = FRAME) -> list[Any]:
    lines = [line(*curve) for curve in curves.items()]
    values = np.array([np.interp(at, GRID, each["y"]) for each in lines])
    labels: list[Any] = node.run(LABELS, {"lines": lines, "values": values, "at": at, "frame": frame})
    return labels


@pytest.mark.parametrize("at", [0.2, 0.5, 0.78])
@pytest.mark.parametrize("curves", CURVES.values(), ids=CURVES)
def test_each_value_and_slope_is_shown_and_no_labels_meet(
    node: Node, curves: dict[str, Any], at: float
) -> None:
    labels = lay_out(node, curves, at)
    values = {f"{np.interp(at, GRID, np.broadcast_to(y, GRID.shape)):.4g}" for y in curves.values()}
    assert {*texts_of(labels)} >= {*curves, f"x = {at}"}
    assert not any(overlap(one["box"], other["box"]) for one, other in combinations(labels, 2))
    slopes = [text for text in texts_of(labels) if text.startswith("slope")]
    assert len(labels) == len(curves) + 1 + len(slopes) + len(values)


def test_values_whose_dots_coincide_share_a_label(node: Node) -> None:
    labels = texts_of(lay_out(node, {"Default": 0.5, "Straight-through": 0.501, "Zero": 0.0}, 0.5))
    assert {"0.5, 0.501", "0"} <= {*labels}


def test_a_value_that_is_not_a_number_is_shown(node: Node) -> None:
    assert "not a number" in texts_of(lay_out(node, {"Root": np.where(GRID < 0.5, np.nan, GRID)}, 0.2))


def test_the_label_of_x_leaves_room_for_handles(node: Node):
    frame = {"left": 40, "inner": 400}
    place = partial(node.call, "chart/probe/labels.js placeXLabel")
    assert place(200, 30, [100, 300], frame) == 200
    assert place(205, 30, [200], frame) == 248, "beside the handle, on the side that is nearer"
    assert place(195, 30, [200], frame) == 152
    assert place(60, 30, [62], frame) == 110, "inside the chart"
    assert place(200, 30, [190, 240], frame) == 142, "not between two handles that leave no room"
