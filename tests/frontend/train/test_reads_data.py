"""The examples beside the net, as plain data: images, columns as bars, points, or a question."""

from typing import Any

import numpy as np
import pytest

from tests.frontend.modules import Node
from tests.frontend.train.conftest import choice

READS = """
    const { buildReads } = await import("./train/object/reads-data.js");
    const snapshot = given.reads && { measured: { reads: given.reads, ...given.more } };
    const { choice, highlighted, plane, status = "running" } = given;
    const view = { status: { state: status } };
    const state = { choice, table: { text: given.table ?? "" }, ink: 0, highlighted, plane, view };
    const lines = given.choice.rules.map(({ key }) => ({ key, label: key, colour: "" }));
    const found = buildReads(state, given.begun ? snapshot : null, snapshot, lines, given.begun);
    const examples = found?.examples.map((each) => Array.from(each));
    return found && { ...found, examples, points: found.points.length };
"""

LABELS: dict[str, Any] = {"names": [], "inputs": [], "target": "", "unit": [0, 1]}


def reads(node: Node, document: dict[str, Any], task: str, *rules: str, **given: Any) -> Any:
    its = choice("sign", *(rules or ("default", "clipped")), task=task)
    return node.run(READS, {"document": document, "choice": its, "reads": None, "begun": False} | given)


def record(values: list[int], width: int, classes: list[int], read: list[int], **more: Any) -> dict[str, Any]:
    common = {"of": 9, "judged": True, "columns": width, "zero": 100.0, "aims": [], "labels": LABELS}
    own = {"values": np.array(values, np.uint8), "width": width, "classes": classes, "read": read}
    return common | own | more


def test_rows_of_a_table_are_asked_about_as_bars_and_then_marked_right_or_wrong(node, document):
    found = {"default": record([1, 2, 3, 4], 2, [0, 1], [0, 0]), "clipped": record([], 2, [0, 1], [0, 1])}
    before = reads(node, document, "data", reads=found, table="a")
    assert before["question"] == "Which of the two will tell these rows apart?"
    assert before["caption"] == "Each is a row that no net sees while it learns: its columns as bars."
    assert (before["examples"], before["zero"], before["rules"]) == ([[1, 2], [3, 4]], 100, [])
    many = {"default": record([0] * 80, 2, [0] * 40, [0] * 40)}
    assert len(reads(node, document, "data", "default", reads=many, table="a")["examples"]) == 24
    begun = reads(node, document, "data", reads=found, table="a", begun=True)
    assert begun["caption"] == "First 2 of 9 held out: ● right ○ wrong"
    assert [rule["right"] for rule in begun["rules"]] == [[True, False], [True, True]]


def test_a_table_keeps_the_names_of_its_columns_and_classes(node, document):
    labels = {"names": ["pear", "plum"], "inputs": ["height", "width"], "target": "fruit", "unit": [0, 1]}
    first = record([1, 2, 3, 4], 2, [0, 1], [0, 0], labels=labels, of=2)
    found = {"default": first, "clipped": record([], 2, [0, 1], [0, 1], labels=labels)}
    before = reads(node, document, "data", reads=found, table="a")
    assert before["caption"].endswith("learns: height, width as bars.")
    assert before["titles"] == ["fruit: pear", "fruit: plum"]
    begun = reads(node, document, "data", reads=found, table="a", begun=True)
    assert begun["titles"][1] == "fruit: plum\ndefault: pear\nclipped: plum"
    assert begun["caption"].startswith("All 2 held out: ")
    legend = "light to dark: pear, plum; across: height, up: width"
    more = {"regions": {"default": [{"words": "", "blocks": [], "legend": legend}]}}
    planes = reads(node, document, "data", "default", reads={}, table="a", begun=True, more=more)
    assert planes["caption"] == "Light to dark: pear, plum; across: height, up: width."


def test_numbers_of_a_table_are_drawn_as_value_against_target(node, document):
    labels = LABELS | {"inputs": ["height"], "target": "price", "unit": [100, 10]}
    common = {"aims": [-1, 0, 1], "labels": labels}
    guesses = {"default": [-1, 1, 9], "clipped": [-2, 0, 0.5]}
    found = {key: record([1, 2, 3], 1, [], [], guesses=own, **common) for key, own in guesses.items()}
    begun = reads(node, document, "data", reads=found, table="a", begun=True)
    assert begun["caption"] == "price of 3 held-out rows: predicted (up) against true (across), 90 to 110."
    up, _, across = node.call("train/object/reads.js drawScatter", begun["scatter"])["children"]
    numbers = [[end["children"][0] for end in axis["children"][0]] for axis in (up, across)]
    assert numbers == [["110", "90"], ["90", "110"]], "both axes have numbers, the largest one on top"
    first, second = (each["at"] for each in begun["scatter"]["dots"])
    assert (first, second) == ([[0, 0], [0.5, 1], [1, 1]], [[0, 0], [0.5, 0.5], [1, 0.75]])
    assert reads(node, document, "data", reads=found, table="a")["scatter"] is None


@pytest.mark.parametrize(
    ("names", "most", "listed"),
    [
        (["height", "width"], 20, "height, width"), (["height", "width", "depth"], 18, "height, width, …"),
        (["height", "width"], 10, "height, …"), (["a name as long as that", "b"], 10, ""), ([], 10, ""),
    ],
)  # fmt: skip
def test_names_are_listed_as_far_as_there_is_room(node, names, most, listed):
    assert node.call("train/object/names.js shortenNames", names, most) == listed


def test_a_regression_task_shows_columns_until_the_first_step(node, document):
    found = {"default": record([0] * 34, 17, [], [], judged=False, columns=1000)}
    before = reads(node, document, "documents", "default", reads=found)
    assert before["question"] == "Will this rule bring the loss down?"
    assert before["caption"] == "Each is an example: the first 17 of its 1,000 columns as bars."
    assert before["long"] is True
    assert reads(node, document, "documents", "default", reads=found, begun=True) is None


def test_of_more_than_two_rules_only_the_highlighted_one_has_its_plane_drawn(node, document):
    rules = ("default", "clipped", "approx_sign")
    region = [{"words": "", "blocks": []}]

    def planes(count: int, **given: Any) -> tuple[list[str], str]:
        more = {"regions": dict.fromkeys(rules[:count], region)}
        found = reads(node, document, "moons", *rules[:count], reads={}, begun=True, more=more, **given)
        return [plane["line"]["key"] for plane in found["planes"]], found["caption"]

    assert planes(2) == (["default", "clipped"], "Colours: the class that a net sees there.")
    assert planes(3)[0] == ["clipped"], "the first with a rule of its own"
    assert planes(3, plane="approx_sign")[0] == ["approx_sign"], "the last one that was pointed at"
    assert planes(3, highlighted="default")[0] == ["default"]
    assert planes(3)[1].endswith("Point at a rule to see its regions.")
    assert planes(3, status="finished") == (list(rules), planes(2)[1]), "once speed no longer matters"


@pytest.mark.parametrize(
    ("task", "table", "question", "points"),
    [
        ("data", "", "Which of the two will learn your table?", False),
        ("circles", "", "Which of the two will tell the two kinds apart?", True),
    ],
)
def test_a_question_is_shown_before_anything_is_measured(node, document, task, table, question, points):
    found = reads(node, document, task, table=table)
    assert found["question"] == question
    assert (found["points"] > 0) is points
    assert reads(node, document, "data", table="a,b") is None
