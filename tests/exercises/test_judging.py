"""The judge of exercises says of a solution what torch says that runs it."""

from __future__ import annotations

import pytest

from explorer.exercises import EXERCISES, judged
from tests.exercises.oracle import torch_says
from tests.exercises.solutions import HELD_OUT, RIGHT, WRONG

WRITTEN = [(key, text) for texts in (RIGHT, WRONG) for key, some in texts.items() for text in some]


def name(key: str, text: str) -> str:
    return f"{key}: {text.split('def backward')[1][9:].strip()}"[:90]


def check(key: str, text: str, *, is_read: bool = True) -> None:
    exercise = EXERCISES[key]
    verdict, truth = judged(exercise, text), torch_says(exercise, text)
    if is_read or verdict.kind != "unread":
        assert (verdict.kind == "right") == (truth == "right"), (verdict[:4], truth)
        assert verdict.kind != "unread", verdict.sentence
    assert bool(verdict.sentence) == (verdict.kind != "right")


@pytest.mark.parametrize(
    ("key", "text"), [*WRITTEN, *HELD_OUT], ids=[name(*each) for each in [*WRITTEN, *HELD_OUT]]
)
def test_a_solution_is_judged_as_torch_does(key: str, text: str) -> None:
    check(key, text)


def test_right_and_wrong_ones_are_what_they_are_called() -> None:
    for key, texts in RIGHT.items():
        assert {torch_says(EXERCISES[key], text) for text in texts} == {"right"}
    for key, texts in WRONG.items():
        assert "right" not in {torch_says(EXERCISES[key], text) for text in texts}
    assert len(EXERCISES) == len(RIGHT) == len(WRONG) == 8


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=list(EXERCISES))
def test_an_exercise_begins_with_what_is_wrong(exercise) -> None:
    assert torch_says(exercise, exercise.code) != "right"
    assert judged(exercise, exercise.code).kind == "wrong"
