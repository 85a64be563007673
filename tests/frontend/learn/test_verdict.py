"""Verdicts on a prediction: they are true, and none gives nothing away before the answer is shown."""

import re
from typing import Any

import numpy as np
import pytest

from explorer.lessons import LESSONS
from tests.frontend.learn.test_judging import cells_of, shape_of, truth_of
from tests.frontend.modules import Node

WORDS = """
    const { judge } = await import("./learn/judging.js");
    const say = await import("./learn/verdict.js");
    const drawn = { x: given.x, y: given.drawn };
    const judgement = judge(drawn, given.truth, 3);
    return {
        right: say.describeRightDrawing(judgement),
        ...(judgement.deviations.length && {
            wrong: say.describeWrongDrawing(judgement, drawn),
            apart: say.describeDistance(judgement, drawn, given.truth),
        }),
    };
"""
PLACE = re.compile(r"x = (\S+?),? (?:where )?you drew (\S+?)(?:\. Try|; the gradient there is (\S+)\.)")


def words_of(node: Node, key: str, drawn: Any) -> dict[str, str]:
    lesson = LESSONS[key]
    return node.run(WORDS, {"x": cells_of(lesson), "truth": truth_of(lesson), "drawn": drawn})


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def test_the_worst_place_is_the_one_with_the_largest_area(node: Node) -> None:
    deviations = [{"from": -3, "to": -1, "peak": 0.1}, {"from": 1.5, "to": 2.5, "peak": 3}]
    judgement, curve = {"deviations": deviations}, {"x": [-3, 3], "y": [0, 0]}
    said = node.call("learn/verdict.js describeDistance", judgement, curve, curve)
    assert "At x = 2 " in said


LEVELS = [("clamp", level) for level in (-0.5, 0.5, 1, 1.5, 2)] + [("relu", level) for level in (-1, 0, 1, 2)]


@pytest.mark.parametrize(("key", "level"), LEVELS)
def test_the_named_place_is_wrong_and_its_values_are_so(node: Node, key: str, level: float) -> None:
    """At a corner torch's value is one of two: no drawing is told off for what it returns there."""
    said = words_of(node, key, np.full(300, float(level)))
    assert said["wrong"].startswith("Not yet. Look again where it is red. At x = ")
    assert "there is" not in said["wrong"]
    place = PLACE.search(said["apart"])
    assert place, said
    at, drawn, value = (number(text) for text in place.groups())
    truth = truth_of(LESSONS[key])
    assert drawn == level != value == np.interp(at, truth["x"], truth["y"])


def test_a_right_drawing_is_so_far_right_or_close(node: Node) -> None:
    half = shape_of(LESSONS["relu"])(cells_of(LESSONS["relu"]))
    half[200:] = np.nan
    assert words_of(node, "relu", half)["right"].startswith("Right so far: you drew 67 % of the range.")
    said = words_of(node, "straight-through", np.full(300, 1.08))["right"]
    assert said == "Yes, close enough for a hand."


def test_a_drawing_on_the_zero_line_is_0_whatever_its_pixels_come_to(node: Node) -> None:
    assert "you drew 0;" in words_of(node, "straight-through", np.full(300, -6.9e-7))["apart"]


def test_the_value_at_a_corner(node: Node) -> None:
    body = """
        const { describePoint } = await import("./learn/verdict.js");
        const rules = [{ label: "torch", value: 0 }, { label: "MyReLU", value: 1 }];
        return [describePoint(0, 0.52, rules), describePoint(0, NaN, rules)];
    """
    said = "torch returns 0, MyReLU returns 1."
    assert node.run(body) == [f"At x = 0, which is not judged, you expect 0.52: {said}", f"At x = 0 {said}"]


NAMES = ("hasAnswered", "isRight", "hasArrived", "isLatest", "isSent")
LATE = "before the answers were shown: it is not counted."


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ((False, False, False, False, False), "You have not answered. "),
        ((True, True, True, True, True), ""), ((True, False, True, True, True), "Not right. "),
        ((True, True, False, False, False), f"Your answer was not sent {LATE} "),
        ((True, False, True, False, True), f"Your change did not arrive {LATE} Not right. "),
    ],
)  # fmt: skip
def test_a_student_is_told_whether_it_is_counted(node: Node, outcome: tuple[bool, ...], words: str) -> None:
    assert node.call("learn/verdict.js describeOutcome", dict(zip(NAMES, outcome, strict=True))) == words
