"""Answers to solutions of exercises: a verdict, what draws it, and never an error."""

from typing import Any

import pytest
import torch

from explorer.catalogue import find_op, find_rule
from explorer.reading.exercises import EXERCISES
from tests.questions.asking import ask


def judge(exercise: str, code: str) -> dict[str, Any]:
    return ask("judge", exercise=exercise, code=code)


def test_a_solution_is_answered_with_a_verdict_and_what_draws_it(subtests: pytest.Subtests):
    for exercise in EXERCISES.values():
        with subtests.test(exercise.key):
            answer = judge(exercise.key, exercise.code)
            assert (answer["kind"], bool(answer["sentence"])) == ("wrong", True)
            if choice := answer["choice"]:
                wanted, yours = map(find_rule, choice["rules"])
                assert (wanted.label, yours.label) == ("Wanted", "Yours")
                assert wanted.parsed.tree == exercise.parse_formula(exercise.gradient).tree
                assert find_op(choice["op"]).label == exercise.name
            if case := answer["case"]:
                assert choice["g"] == case["g"]
                assert choice["range"][0] <= case["x"] <= choice["range"][1]


def test_the_range_holds_a_case_far_out_and_no_number_is_not_sent():
    code = EXERCISES["edge"].code
    far = judge("edge", code.replace("x.abs() < 1", "(x.abs() <= 1) | (x > 15)"))
    assert far["choice"]["range"][1] > far["case"]["x"] > 15
    endless = judge("edge", code.replace("(x.abs() < 1)", "(x.abs() <= 1) / (2 - x)"))
    assert endless["kind"] == "wrong"
    none = judge("edge", code.replace("(x.abs() < 1)", "(x.abs() <= 1) + (x - x) / (x - x)"))
    assert none["case"]["found"] is None
    assert none["case"]["words"].startswith("nan, not")


def test_each_failing_case_is_drawn_in_its_panel_and_described():
    clamp, scale = EXERCISES["clamp"].code, EXERCISES["needed"].code
    forward = judge("clamp", clamp.replace("x.clamp(0, 1)", "x.clamp(0, 2)"))
    assert (forward["case"]["panel"], forward["case"]["op"]["formula"]) == ("forward", "clamp(x, 0, 2)")
    assert forward["drawn"].startswith("The chart shows the wanted forward, and yours dashed. The dot")
    gradient = judge("clamp", clamp)
    assert (gradient["case"]["panel"], gradient["case"]["op"]) == ("gradient", None)
    assert gradient["drawn"].startswith("The chart shows the wanted gradient for x,")
    assert gradient["choice"]["learns"] == ""
    part = judge("needed", scale.replace("(g * x)", "(g * x.abs())"))
    assert (part["case"]["panel"], part["choice"]["learns"]) == ("part", "s")
    assert part["drawn"].startswith("The chart's last panel shows the part of one of 16 elements")
    none = judge("needed", scale.replace("(g * x).sum()", "None"))
    assert (none["case"]["words"], none["case"]["found"]) == ("None, not 1", 0.0)
    assert none["drawn"].endswith("None is drawn as 0, because it moves s just as little.")
    assert judge("in-place", EXERCISES["in-place"].code)["drawn"] == "No curve shows this fault."
    # A part that is longer than can be read is not drawn.
    sums = " + ".join(f"(x > {i}) * {i}.12345" for i in range(13))
    code = scale.replace("(g * x)", f"(g * x * ({sums}))").replace("sum()", "mean()")
    answer = judge("needed", code)
    assert "The gradient for s is off" in answer["sentence"]
    assert (answer["case"], answer["choice"]["learns"]) == (None, "")
    assert answer["drawn"] == "No curve shows this fault."


@pytest.mark.parametrize("count", [16.0, 100.0])
def test_the_part_of_one_element_is_drawn_with_its_scale(count):
    at_hundred = "(g * part).sum() / (16 * qmax) ** 0.5"
    code = EXERCISES["step-size"].code
    answer = judge("step-size", code if count == 16 else code.replace("(g * part).sum()", at_hundred))
    wanted, yours = (find_rule(key).learned[0].parsed for key in answer["choice"]["rules"])
    at = {"s": 0.5, "qmin": -4.0, "qmax": 3.0}
    x, y, g = (torch.tensor([each], dtype=torch.float64) for each in (answer["case"]["x"], 1.5, 1.0))
    for part, name in ((wanted, "wanted"), (yours, "found")):
        bound = part.bind({each: at[each] for each in part.parameters})
        assert float(bound(x, y, g)) == pytest.approx(answer["case"][name])
    assert answer["case"]["wanted"] == pytest.approx(3 / (count * 3) ** 0.5)


def test_any_text_as_a_solution_gets_a_sentence():
    for code in ("", "\ud800", "\0", "x" * 30_000):
        answer = judge("clamp", code)
        assert answer["kind"] == "unread"
        assert answer["sentence"].startswith("Not judged yet: ")
    said = judge("nothing", EXERCISES["clamp"].code)
    assert said == {"message": "There is no such exercise: choose one from the lessons."}
