"""The judge of exercises says of a solution what torch says that runs it."""

import functools

import pytest

from explorer.reading.exercises import EXERCISES, Exercise, judge_text
from tests.reading.exercises.detours import DETOURS
from tests.reading.exercises.fresh import FRESH
from tests.reading.exercises.oracle import failing, torch_has, torch_says, wanted_at
from tests.reading.exercises.solutions import HELD_OUT, RIGHT, WRONG
from tests.selection import take_part

WRITTEN = [(key, text) for texts in (RIGHT, WRONG) for key, some in texts.items() for text in some]
WRITTEN = take_part([*WRITTEN, *HELD_OUT])
WRITTEN_LATER = take_part([*FRESH, *DETOURS])
judge = functools.cache(lambda key, text: judge_text(EXERCISES[key], text))


def name(key: str, text: str) -> str:
    return f"{key}: {text.split('def backward')[1][9:].strip()}"[:90]


def check(key: str, text: str, *, is_read: bool = True) -> None:
    verdict, truth = judge(key, text), torch_says(EXERCISES[key], text)
    if is_read or verdict.kind != "unread":
        assert (verdict.kind == "right") == (truth == "right"), (verdict[:4], truth)
        assert verdict.kind != "unread", verdict.sentence
    assert bool(verdict.sentence) == (verdict.kind != "right")


def test_a_solution_is_judged_as_torch_does(subtests: pytest.Subtests) -> None:
    for key, text in WRITTEN:
        with subtests.test(name(key, text)):
            check(key, text)


def test_no_solution_written_after_the_judge_is_misjudged(subtests: pytest.Subtests) -> None:
    for key, text in WRITTEN_LATER:
        with subtests.test(name(key, text)):
            check(key, text, is_read=False)


def test_most_solutions_can_be_read() -> None:
    """Unread are a sum by torch.dot and .all() of a mask."""
    assert len(FRESH) >= 35
    assert sum(judge(key, text).kind == "unread" for key, text in FRESH) == 2


def test_right_and_wrong_ones_are_what_they_are_called() -> None:
    for key, texts in RIGHT.items():
        assert {torch_says(EXERCISES[key], text) for text in texts} == {"right"}
    for key, texts in WRONG.items():
        assert "right" not in {torch_says(EXERCISES[key], text) for text in texts}
    assert len(EXERCISES) == len(RIGHT) == len(WRONG) == 8


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=list(EXERCISES))
def test_an_exercise_begins_with_what_is_wrong(exercise: Exercise) -> None:
    assert torch_says(exercise, exercise.code) != "right"
    assert judge_text(exercise, exercise.code).kind == "wrong"


CLAMP = EXERCISES["clamp"]
UNREAD = {
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


@pytest.mark.parametrize(("text", "words"), UNREAD.items(), ids=range(len(UNREAD)))
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


def test_the_failing_case_is_as_in_torch(subtests: pytest.Subtests) -> None:
    texts = [*WRITTEN, *WRITTEN_LATER]
    texts += [(exercise.key, exercise.code.replace(old, new)) for exercise, old, new, _ in BUT]
    cases = [(key, text, case) for key, text in texts if (case := judge(key, text).case)]
    assert {case.subject for _, _, case in cases} == {"forward", "x", "s"}
    assert {case.missing for _, _, case in cases} == {True, False}
    for key, text, case in cases:
        exercise = EXERCISES[key]
        if "Error" in torch_says(exercise, text):  # as of a float32 beside these float64
            continue
        with subtests.test(name(key, text)):
            at = failing(exercise, text)
            wanted, found = wanted_at(at, case), torch_has(at, text, case)
            assert case.expected == pytest.approx(wanted, rel=1e-9, abs=1e-12)
            assert case.missing == (found is None)
            assert case.actual == pytest.approx(found or 0.0, rel=1e-9, abs=1e-12, nan_ok=True)


HANGS = SCALE.code.replace(
    "return g * s, (g * x).sum()",
    "s_grad = (g * x).sum() if ctx.needs_input_grad[0] else None\n        return g * s, s_grad",
)


def test_a_gradient_that_is_there_at_times_is_not_drawn_as_none() -> None:
    verdict = judge_text(SCALE, HANGS)
    assert (verdict.kind, verdict.case) == ("wrong", None)
    assert "ctx.needs_input_grad" in verdict.sentence or "whether" in verdict.sentence


SUITED = ["torch.ones_like(x)", "torch.ones(1, dtype=x.dtype)", "x.new_tensor(1.)"]
UNSUITED = ["torch.tensor(1)", "1.0", "torch.ones_like(x).long()", "x == x"]


@pytest.mark.parametrize("value", SUITED + UNSUITED)
def test_heaviside_of_two_kinds_of_numbers_raises_as_in_torch(value: str) -> None:
    edge = EXERCISES["edge"]
    text = edge.code.replace("(x.abs() < 1)", f"torch.heaviside(1 - x.abs(), {value})")
    check("edge", text)
    assert judge_text(edge, text).kind == ("right" if value in SUITED else "wrong")


RENAMED = """class Mine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, inp, slope):
        ctx.save_for_backward(inp)
        ctx.k = slope
        return torch.where(inp > 0, inp, slope * inp)

    @staticmethod
    def backward(ctx, grad_output):
        inp, = ctx.saved_tensors
        return torch.where(inp > 0, grad_output, ctx.k * grad_output), None
"""


def test_other_names_change_nothing() -> None:
    check("slope", RENAMED)
    assert judge_text(EXERCISES["slope"], RENAMED).kind == "right"


def test_the_wrong_number_of_inputs_is_wrong_as_in_torch() -> None:
    check("slope", RIGHT["slope"][0].replace("x, a", "x, a, b"))
    check("slope", RIGHT["slope"][0].replace("x, a):", "x):"))
    check(
        "slope", RIGHT["slope"][0].replace("x, a):", "x, a, b=None):").replace(", None\n", ", None, None\n")
    )


@pytest.mark.parametrize(
    ("key", "old", "new", "words"),
    [
        ("slope", "0.1 * g", "0.25 * g", "a = 0.125"),
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


def test_a_solution_that_is_wrong_for_negative_g_alone_is_wrong() -> None:
    right = RIGHT["clamp"][0]
    wrong = right.replace("return g *", "return torch.relu(g) *")
    assert wrong != right
    assert judge_text(EXERCISES["clamp"], right).kind == "right"
    assert judge_text(EXERCISES["clamp"], wrong).kind == "wrong"
