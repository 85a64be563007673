"""What pictures of lessons say to a number, a slope, an order and a line, right and wrong."""

from dataclasses import asdict
from itertools import pairwise

import pytest

from explorer.lessons.stories import by_hand, find_the_bug, recipe, relu, unbiased_or_quiet
from tests.frontend.modules import Node


def said(node: Node, module: str, function: str, *given: object) -> object:
    return node.call(f"learn/pictures/{module}.js {function}", *given)


@pytest.mark.parametrize(
    ("typed", "value", "right"),
    [
        (0.25, 0.25, True), (0.2524, 0.25, True), (0.2476, 0.25, True), (0.253, 0.25, False),
        (-0.25, 0.25, False), (-0.2524, -0.25, True), (0.0, 0.0, True), (0.001, 0.0, False),
    ],
)  # fmt: skip
def test_a_gradient_by_hand_is_right_within_a_hundredth(node: Node, typed: float, value: float, right: bool):
    assert said(node, "by-hand", "isRight", typed, value) is right


def test_the_hint_tells_x_and_g_of_the_element(node: Node):
    hint = "Not yet. At example 3, unit 2: x = 1.1, g = 1."
    assert said(node, "by-hand", "makeHint", asdict(by_hand.make_exercise()), 2, 1) == hint


@pytest.mark.parametrize(
    ("slope", "words"),
    [
        (0, "0 is a subgradient: the choice of torch."),
        (1, "1 is a subgradient: the choice of MyReLU."),
        (0.3, "0.3 is a subgradient, as right as any other."),
        (1.05, "1.05 is not a subgradient: right of the corner the line lies above the curve."),
        (-0.05, "−0.05 is not a subgradient: left of the corner the line lies above the curve."),
    ],
)
def test_each_slope_between_those_beside_the_corner_is_right(node: Node, slope: float, words: str):
    assert said(node, "corner", "describeSlope", asdict(relu.make_corner()), slope) == words


@pytest.mark.parametrize("count", range(4, 9))
def test_no_step_is_in_its_place_at_first(node: Node, count: int):
    order = said(node, "order", "makeDisorder", count)
    assert sorted(order) == list(range(count))
    assert order[0] != 0
    assert all(later != earlier + 1 for earlier, later in pairwise(order))


@pytest.mark.parametrize(("order", "wrong"), [([0, 1, 2, 3], None), ([0, 2, 1, 3], 1), ([3, 0, 1, 2], 0)])
def test_the_first_place_that_is_wrong_is_named(node: Node, order: list[int], wrong: int | None):
    words = said(node, "order", "judgeOrder", asdict(recipe.make_order()), order)
    if wrong is None:
        assert words == "That is the order."
    else:
        assert words.startswith(f"Not yet at {wrong + 1}: ")
        assert words.endswith(recipe.make_order().steps[wrong][1])


@pytest.mark.parametrize("make", find_the_bug.LESSON.pictures, ids=["first", "second", "third"])
def test_the_hidden_line_is_shown_to_whoever_names_it_and_to_nobody_else(node: Node, make):
    hidden = make()
    for index, (_, trace) in enumerate(hidden.lines):
        right = index == hidden.faulty
        words = f"Yes: that line is {hidden.hidden_line}." if right else f"It is not this one. {trace}"
        assert said(node, "suspects", "getVerdict", asdict(hidden), index) == words


@pytest.mark.parametrize("asked", [unbiased_or_quiet.ask_rest(), unbiased_or_quiet.ask_enough()])
def test_a_further_question_replies_to_each_answer(node: Node, asked):
    for index, (_, why) in enumerate(asked.answers):
        verdict = "Yes." if index == asked.right else "Try again."
        assert said(node, "question", "getReply", asdict(asked), index) == f"{verdict} {why}"
