"""A run's past as the browser keeps it: branch points, steps that are kept, lines of earlier runs."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

import pytest

from explorer.instrument.limits import LONGEST_QUERY
from tests.instrument.modules import Node
from tests.instrument.train.conftest import Run, choice

OWN = "formula: where(x: 1, g, 0)"
POINTS = [
    {"step": 3, "name": "lr", "value": "1e-05"},
    {"step": 3, "name": "default", "value": OWN},
    {"step": 9, "name": OWN, "value": "clipped"},
    {"step": 20, "name": "op", "value": "tanh"},
]
KEYS = ["default", OWN, "clipped"]


def test_points_come_back_from_their_text(tell: Run):
    text = tell("branches", "textOf", POINTS)
    assert text.splitlines()[0] == "3,lr:1e-05"
    assert tell("branches", "pointsOf", text, KEYS) == POINTS
    assert tell("branches", "pointsOf") == []


def test_a_branch_takes_the_place_of_what_was_to_come(tell: Run):
    point = {"step": 9, "name": "default", "value": "zero"}
    assert tell("branches", "branchedAt", POINTS, point) == [*POINTS[:3], point]
    same = {"step": 3, "name": "lr", "value": "1"}
    assert tell("branches", "branchedAt", POINTS, same) == [POINTS[1], same]


@pytest.mark.parametrize(
    ("steps", "wanted", "taken"),
    [([0, 4, 8], 5, 4), ([0, 4, 8], 6, 4), ([0, 4, 8], 7, 8), ([0], 9, 0), ([], 3, None)],
)
def test_the_nearest_kept_step(tell: Run, steps: list[int], wanted: int, taken: int | None):
    assert tell("past", "nearest", steps, wanted) == taken


LANES = [{"key": key, "label": key.title(), "colour": f"#{key}"} for key in ("default", "clipped")]


def line(rule: str, **more: Any) -> dict[str, Any]:
    values = {"x": [0, 2, 4, 6, 8], "y": [1, 2, 3, 4, 5], "spread": [0, 0, 0, 0, 0]}
    return (
        {"name": rule.title(), "rule": rule, "meta": rule, "ends": True, "colour": f"#{rule}"} | values | more
    )


def test_a_line_goes_on_dashed_in_the_colour_of_its_other_rule(tell: Run):
    points = [{"step": 4, "name": "default", "value": "clipped"}]
    series = tell("branches", "branched", [line("default"), line("clipped")], points, LANES, "#free")
    whole, later, other, mark = series
    assert (whole["x"], whole["ends"], whole["meta"]) == ([0, 2, 4], False, "default")
    assert (later["x"], later["y"], later["dash"], later["colour"]) == (
        [4, 6, 8],
        [3, 4, 5],
        "dash",
        "#clipped",
    )
    assert later["name"] == "Default → Clipped straight-through"
    assert later["ends"]
    assert "meta" not in later
    assert (other["x"], other.get("dash")) == ([0, 2, 4, 6, 8], None)
    assert (mark["x"], mark["y"], mark["symbol"], mark["ends"]) == ([4], [3], "diamond-open", False)


def test_a_rate_parts_every_line_and_a_point_to_come_none(tell: Run):
    lines = [line("default"), line("clipped")]
    series = tell("branches", "branched", lines, [{"step": 5, "name": "lr", "value": "1"}], LANES, "#free")
    assert [each["x"] for each in series] == [[0, 2, 4], [4, 6, 8]] * 2 + [[4]] * 2
    assert {each["colour"] for each in series} == {"#default", "#clipped"}
    later = tell("branches", "branched", lines, [{"step": 50, "name": "lr", "value": "1"}], LANES, "#free")
    assert [each["x"] for each in later] == [[0, 2, 4, 6, 8]] * 2


def test_of_branches_that_fit_no_link_the_last_are_in_it(node: Node, document: dict[str, Any]):
    points = [f"{step},op:formula: x + {step}{' + x' * 60}" for step in range(9)]
    given = {
        "document": document,
        "choice": choice("sign", "default", task="moons", branch="\n".join(points)),
    }
    body = """
        const { setDocument } = await import("./choice/entries.js");
        setDocument(given.document);
        return (await import("./choice/address.js")).queryOf(given.choice);
    """
    query = node.run(body, given)
    assert len(query) <= LONGEST_QUERY
    told = parse_qs(query)["branch"]
    assert 0 < len(told) < 9
    assert told == points[-len(told) :]
    assert parse_qs(query)["task"] == ["moons"]
