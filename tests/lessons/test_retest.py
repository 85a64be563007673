"""Fresh questions, each answer computed once more by the code that is shown; paths through the lessons."""

import functools
import re
from typing import Any

import pytest
import torch
from torch.autograd import Function

from explorer.formula import with_minus
from explorer.lessons import LESSONS, PATHS
from explorer.lessons.retest import Variant, make_question, make_variant

NUMBERS = re.compile(r"x = \[(.*)\]` after `y\.backward\(torch\.full_like\(y, (.*)\)\)`")


@functools.cache
def make_questions(key: str) -> list[dict[str, Any]]:
    return [make_question(variant) for variant in LESSONS[key].retest]


@pytest.mark.parametrize("key", LESSONS)
def test_the_right_answer_is_what_the_shown_code_returns(key: str) -> None:
    for asked in make_questions(key):
        found = NUMBERS.search(asked["ask"])
        assert found
        values = [float(each) for each in found[1].split(", ")]
        x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
        names: dict[str, Any] = {"torch": torch, "Function": Function, "x": x}
        exec("".join(text for _, text in asked["code"]), names)  # our own text
        names["y"].backward(torch.full_like(names["y"], float(found[2])))
        assert x.grad is not None
        returned = with_minus(", ".join(f"{value + 0.0:.4g}" for value in x.grad.tolist()))
        assert asked["answers"][asked["right"]] == {"text": returned, "why": ""}


@pytest.mark.parametrize("key", LESSONS)
def test_the_wrong_answers_differ_and_each_has_a_sentence(key: str) -> None:
    for asked in make_questions(key):
        assert len({answer["text"] for answer in asked["answers"]}) == len(asked["answers"]) == 4
        wrong = [answer["why"] for index, answer in enumerate(asked["answers"]) if index != asked["right"]]
        assert all(why.endswith(".") for why in wrong)
        assert len(set(wrong)) == 3


@pytest.mark.parametrize("key", LESSONS)
def test_a_lesson_has_fresh_questions_for_two_rounds(key: str) -> None:
    variants = LESSONS[key].retest
    assert len(variants) >= 4
    assert len(set(map(repr, variants))) == len(variants)
    assert list(map(make_question, variants)) == make_questions(key), "no chance"
    ops = {variant.op for variant in variants}
    assert len(ops) >= 3 or len({tuple(variant.parameters.items()) for variant in variants}) >= 3


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
