"""A solution of an exercise as the page shows it: the verdict, and the choice that draws it.

On the site without a server this runs in the browser: it and all it imports need no torch.
"""

from math import isfinite
from typing import Any

from explorer.catalogue import find_op, find_rule, own_key
from explorer.exercises.exercise import Exercise, of_data
from explorer.exercises.judging import Case, Verdict, judged
from explorer.instrument.choice import choice_data
from explorer.instrument.view import View
from explorer.reading import Reading

Answer = dict[str, Any]

RIGHT = "Right: as it should be, wherever it was tried and at every kink, for g = 1, 2, −1 and 0.3."
UNREAD = "Not judged yet: {}"
_RANGE = (-3.0, 3.0)


def judge(exercise: dict[str, Any], code: str) -> Answer:
    """The verdict on code as a solution of an exercise, which is as ``Exercise.data`` has it.

    ``kind``, ``sentence`` and ``line`` are those of the verdict; ``case`` is the first failing case, or None;
    ``choice`` draws what is wanted and what was read, None where nothing was.
    """
    record = of_data(exercise)
    verdict = judged(record, code.encode("utf-8", "replace").decode())  # JSON may hold halves of characters
    sentences = {"right": RIGHT, "wrong": verdict.sentence, "unread": UNREAD.format(verdict.sentence)}
    return {
        "kind": verdict.kind,
        "sentence": sentences[verdict.kind],
        "line": verdict.line,
        "case": verdict.case and _shown(verdict.case),
        "choice": verdict.reading and _drawn(record, verdict, verdict.reading),
    }


def _shown(case: Case) -> Answer:
    """A case as JSON types: what is no finite number is None, and said in words."""
    values = {name: value if isfinite(value) else None for name, value in case._asdict().items()}
    return values | {"words": case.words}


def _drawn(exercise: Exercise, verdict: Verdict, reading: Reading) -> Answer:
    """What is wanted and what was read, at the g of the failing case and over a range that holds it."""
    case, rule = verdict.case, find_rule(reading.rule)
    far = 1.25 * abs(case.x) if case else 0.0
    view = View(range=_RANGE if far <= _RANGE[1] else (-far, far), g=case.g if case else 1.0)
    keys = own_key(exercise.gradient, "Wanted"), own_key(rule.formula or "g", "Yours")
    op = find_op(own_key(exercise.op, exercise.name))
    return choice_data(op, [find_rule(key) for key in keys], parameters=exercise.values, view=view)
