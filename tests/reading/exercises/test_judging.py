"""The judge of exercises says of a solution what torch says that runs it."""

import functools
import re

import pytest

from explorer.reading.exercises import EXERCISES, Exercise, judge_text
from tests.reading.exercises.detours import DETOURS
from tests.reading.exercises.oracle import torch_says
from tests.reading.exercises.solutions import RIGHT, WRONG
from tests.selection import take_part

WRITTEN = [(key, text) for texts in (RIGHT, WRONG) for key, some in texts.items() for text in some]
SOME = take_part([*WRITTEN, *DETOURS])
UNREAD = ("torch.dot", "(x > 0).all()", "functional.jvp", "0 & x", "g.clone\n")
judge = functools.cache(lambda key, text: judge_text(EXERCISES[key], text))


def name(key: str, text: str) -> str:
    return f"{key}: {text.split('def backward')[1][9:].strip()}"[:90]


def check(key: str, text: str) -> None:
    verdict, truth = judge(key, text), torch_says(EXERCISES[key], text)
    told = "right" if truth == "right" else "wrong"
    assert verdict.kind == ("unread" if any(each in text for each in UNREAD) else told), (verdict[:4], truth)
    assert bool(verdict.sentence) == (verdict.kind != "right")


def test_a_solution_is_judged_as_torch_does(subtests: pytest.Subtests) -> None:
    for key, text in SOME:
        with subtests.test(name(key, text)):
            check(key, text)


def test_right_and_wrong_ones_are_what_they_are_called() -> None:
    for texts, is_right in ((RIGHT, True), (WRONG, False)):
        for key, text in take_part([(key, text) for key, some in texts.items() for text in some]):
            assert (torch_says(EXERCISES[key], text) == "right") == is_right, text
    assert len(EXERCISES) == len(RIGHT) == len(WRONG) == 8


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=list(EXERCISES))
def test_an_exercise_begins_with_what_is_wrong(exercise: Exercise) -> None:
    assert torch_says(exercise, exercise.code) != "right"
    assert judge_text(exercise, exercise.code).kind == "wrong"


CLAMP = EXERCISES["clamp"]
UNREADABLE = {
    "": "paste the source code",
    "class Clamp(": "this is not valid Python",
    "x = 1": "there is no Function here",
    CLAMP.code.replace("class", "klass"): "this is not valid Python",
    CLAMP.code + "\nsome words\n": "this is not valid Python",
    CLAMP.code.replace("grad[x > 1] = 1", "grad = torch.cumsum(grad, 0)"): "mixes the elements",
    CLAMP.code + CLAMP.code.replace("Clamp", "Other"): "",
    CLAMP.code.replace("Clamp", "One") + CLAMP.code.replace("Clamp", "Other"): "Found 2 Functions",
    "def f(x):\n    return x.clamp(0, 1)\n": "No Function found",
    "\0": "",
    "x" * 30_000: "the text has 30,000 characters",
    "(" * 5_000: "",
}


@pytest.mark.parametrize(("text", "words"), UNREADABLE.items(), ids=range(len(UNREADABLE)))
def test_an_unreadable_solution_is_not_called_wrong(text: str, words: str) -> None:
    verdict = judge_text(CLAMP, text)
    assert verdict.kind == ("unread" if words or text.count("class") != 2 else "wrong")
    assert words.lower() in verdict.sentence.lower()
    assert verdict.sentence


def test_the_first_failing_case_is_named_with_its_position() -> None:
    verdict = judge_text(CLAMP, CLAMP.code)
    assert verdict.sentence == "At x = 2 and g = 1 it returns 1, not 0."
    assert verdict.case == (2.0, 1.0, 0.0, 1.0, "x", 16.0, False)
    bare = judge_text(CLAMP, RIGHT["clamp"][0].replace("return g *", "return"))
    assert bare.sentence.startswith("Right only at g = 1: it does not depend on g. At x = 0.5 and g = 2")
    edge = judge_text(EXERCISES["edge"], EXERCISES["edge"].code)
    assert edge.sentence.startswith("Right everywhere but exactly at x = −1 and x = 1. At x = −1 and g = 1")
    for value, words in (("g / 0", "At x = 2 and g = 1 it returns inf"), ("g * (1 / 0)", "Line 10: 1 / 0")):
        assert judge_text(CLAMP, CLAMP.code.replace("grad =", f"return {value} #")).sentence.startswith(words)
    twice = judge_text(EXERCISES["twice"], EXERCISES["twice"].code)
    assert (twice.line, twice.case) == (10, None)
    assert "makes a constant of it" in twice.sentence
    slope = judge_text(EXERCISES["slope"], EXERCISES["slope"].code)
    assert slope.sentence == "At x = −1, g = 1 and a = 0.25 it returns 0.1, not 0.25."
    step = judge_text(EXERCISES["step-size"], EXERCISES["step-size"].code)
    assert step.sentence == (
        "The gradient for s is 6.928 times the right value where 16 elements share it, at g = 1."
    )


SCALE, STEP = EXERCISES["needed"], EXERCISES["step-size"]
BUT = [
    (CLAMP, "x.clamp(0, 1)", "x.clamp(0, 2)", "Its forward is another: at x = 2 it gives 2, not 1."),
    (EXERCISES["edge"], "x.sign()", "torch.where(x >= 0, 1., -1.)",
     "Its forward is another: at x = 0 it gives 1, not 0."),
    (SCALE, "(g * x).sum()", "None",
     "Backward returns None for s, a tensor that y depends on: it never learns."),
    (SCALE, "(g * x)", "(g * x.abs())",
     "The gradient for s is off: the element x = −1 adds 1 at g = 1, not −1."),
    (SCALE, "(g * x).sum()", "(g * x).mean()",
     "The gradient for s is 0.0625 times the right value where 16 elements share it, at g = 1."),
    (STEP, "(g * part).sum()", "(g * part).sum() / (16 * qmax) ** 0.5",
     "The gradient for s is 2.5 times the right value where 100 elements share it, at g = 1."),
    (STEP, "(g * part).sum()", "None",
     "Backward returns None for s, a tensor that y depends on: it never learns."),
]  # fmt: skip


@pytest.mark.parametrize(
    ("exercise", "old", "new", "sentence"), BUT, ids=[f"{e.key} {n}" for e, _, n, _ in BUT]
)
def test_the_failing_case_is_of_what_fails(exercise: Exercise, old: str, new: str, sentence: str) -> None:
    verdict = judge_text(exercise, exercise.code.replace(old, new))
    assert verdict.sentence == sentence
    assert verdict.case
    assert verdict.case.subject == ("forward" if "forward" in sentence else "s")
    assert verdict.case.elements == (100.0 if "100" in sentence else 16.0)
    assert verdict.case.missing == ("never learns" in sentence)


SUITED = ["torch.ones_like(x)", "torch.ones(1, dtype=x.dtype)", "x.new_tensor(1.)"]
UNSUITED = ["torch.tensor(1)", "1.0", "torch.ones_like(x).long()", "x == x"]


@pytest.mark.parametrize("value", SUITED + UNSUITED)
def test_heaviside_of_two_kinds_of_numbers_raises_as_in_torch(value: str) -> None:
    edge = EXERCISES["edge"]
    text = edge.code.replace("(x.abs() < 1)", f"torch.heaviside(1 - x.abs(), {value})")
    check("edge", text)
    assert judge_text(edge, text).kind == ("right" if value in SUITED else "wrong")


def test_other_names_change_nothing() -> None:
    renamed = re.sub(r"\b(Leaky|x|a|g)\b", r"\1_own", RIGHT["slope"][0])
    check("slope", renamed)
    assert judge_text(EXERCISES["slope"], renamed).kind == "right"


def test_the_wrong_number_of_inputs_is_wrong_as_in_torch() -> None:
    check("slope", RIGHT["slope"][0].replace("x, a", "x, a, b"))
    check("slope", RIGHT["slope"][0].replace("x, a):", "x):"))
    more = RIGHT["slope"][0].replace("x, a):", "x, a, b=None):")
    check("slope", more.replace(", None\n", ", None, None\n"))


@pytest.mark.parametrize(
    ("key", "old", "new", "words"),
    [
        ("slope", "0.1 * g", "0.25 * g", "a = 0.125"),
        ("clamp", "return grad", "return g * ((x >= 0) & (x <= 1)) * (g > 0)", "g = −1"),
        ("constants", "return g * inside", "return g * ((x >= -0.5) & (x <= 1.5)), None, None", "hi = 0.75"),
        (
            "twice", "        x = x.detach()\n        return 3 * x ** 2 * g",
            "        return 3 * x ** 2 * g.detach()", "out of",
        ),
        (
            "needed",
            "return g * s, (g * x).sum()",
            "total = (g * x).sum()\n        return g * s, total if ctx.needs_input_grad[1] else None",
            "computes the sum",
        ),
    ],
)  # fmt: skip
def test_a_solution_that_is_right_by_chance_is_wrong(key, old, new, words):
    exercise = EXERCISES[key]
    assert old in exercise.code
    verdict = judge_text(exercise, exercise.code.replace(old, new))
    assert verdict.kind == "wrong"
    assert words in verdict.sentence
