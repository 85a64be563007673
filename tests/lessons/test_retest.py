"""Fresh questions, each answer computed once more by the code that is shown; paths through the lessons."""

import re
from typing import Any

import pytest
import torch
from torch.autograd import Function

from explorer.formula import with_minus
from explorer.lessons import LESSONS, PATHS
from explorer.lessons.retest import Variant, make_question, make_variant

NUMBERS = re.compile(r"x = \[(.*)\]` after `y\.backward\(torch\.full_like\(y, (.*)\)\)`")


@pytest.mark.parametrize("key", LESSONS)
def test_a_lesson_has_fresh_questions_for_two_rounds_whose_code_gives_the_right_answer(key: str) -> None:
    variants = LESSONS[key].retest
    assert len(variants) == len(set(map(repr, variants))) >= 4
    ops = {variant.op for variant in variants}
    assert len(ops) >= 3 or len({tuple(variant.parameters.items()) for variant in variants}) >= 3
    for variant in variants:
        asked = make_question(variant)
        assert asked == make_question(variant), "no chance"
        found = NUMBERS.search(asked["ask"])
        values = [float(each) for each in found[1].split(", ")]
        x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
        names: dict[str, Any] = {"torch": torch, "Function": Function, "x": x}
        exec("".join(text for _, text in asked["code"]), names)  # our own text
        names["y"].backward(torch.full_like(names["y"], float(found[2])))
        returned = with_minus(", ".join(f"{value + 0.0:.4g}" for value in x.grad.tolist()))
        assert len({answer["text"] for answer in asked["answers"]}) == len(asked["answers"]) == 4
        right = asked["answers"].pop(asked["right"])
        assert right["text"] == returned
        assert right["why"].endswith(f" each g is {with_minus(found[2])}.")
        whys = {answer["why"] for answer in asked["answers"]}
        assert len(whys) == 3
        assert all(why.endswith(".") and "the rule" not in why for why in whys), "it may not be met yet"


def test_invalid_questions_are_refused() -> None:
    with pytest.raises(ValueError, match="has no 4 different short answers"):
        make_question(make_variant("tanh", "default", 7, 8, 9))
    assert isinstance(make_variant("clamp", "default", 1, lo=0), Variant)


def test_paths_lead_over_lessons_and_every_lesson_is_on_one() -> None:
    assert len(PATHS) == 4
    assert PATHS["First hour"] == (
        "autograd", "vanishing", "straight-through", "clamp", "leaves", "relu", "linear", "in-place",
    )  # fmt: skip
    for keys in PATHS.values():
        assert len(set(keys)) == len(keys)
    assert {key for keys in PATHS.values() for key in keys} == set(LESSONS)
    assert sum(LESSONS[key].minutes for key in PATHS["First hour"]) <= 60
