"""A solution of an exercise as the page shows it: the verdict, and the choice that draws it.

On the site without a server this runs in the browser: it and all it imports need no torch.
"""

from collections.abc import Sequence
from math import isfinite

from explorer.catalogue import COUNT, Learned, find_op, find_rule, own_key
from explorer.formula import Formula, FormulaError, with_minus
from explorer.formula.operands import counted
from explorer.formula.tree import Binary, Name, Number, substituted
from explorer.instrument.choice import choice_data
from explorer.instrument.entries import entry
from explorer.instrument.view import View
from explorer.questions import Answer
from explorer.reading import Reading
from explorer.reading.exercises.cases import FORWARD, Case
from explorer.reading.exercises.entries import EXERCISES
from explorer.reading.exercises.exercise import Exercise
from explorer.reading.exercises.judging import Verdict, judged

RIGHT = "Right: as it should be, wherever it was tried and at every kink, for g = 1, 2, −1 and 0.3."
UNREAD = "Not judged yet: {}"
ON_NO_CURVE = "No curve shows this fault."
DRAWN = {
    "forward": "Drawn above: forward as wanted, and yours, dashed.",
    "gradient": "Drawn below: the gradient for x, wanted and yours.",
    "part": "Drawn at the bottom: the part of one of {elements} elements in the gradient for {of}, "
    "wanted and yours.",
}
AT = " The dot is yours at x = {x}."
NO_GRADIENT = " None is drawn as 0: it moves {of} as little."
_RANGE = (-3.0, 3.0)


def judge_solution(exercise: str, code: str) -> Answer:
    """The verdict on code as a solution of the exercise of a key.

    ``kind``, ``sentence`` and ``line`` are those of the verdict; ``case`` is the first failing case, or None;
    ``choice`` draws what is wanted and what was read, None where nothing was, and ``drawn`` says what to see
    there.
    """
    if exercise not in EXERCISES:
        raise ValueError("there is no such exercise")
    record = EXERCISES[exercise]
    verdict = judged(record, code.encode("utf-8", "replace").decode())  # JSON may hold halves of characters
    sentences = {"right": RIGHT, "wrong": verdict.sentence, "unread": UNREAD.format(verdict.sentence)}
    answer: Answer = {"kind": verdict.kind, "sentence": sentences[verdict.kind], "line": verdict.line}
    return answer | (_drawn(record, verdict, verdict.reading) if verdict.reading else _NOTHING)


_NOTHING: Answer = {"case": None, "choice": None, "drawn": ""}


def _drawn(exercise: Exercise, verdict: Verdict, reading: Reading) -> Answer:
    """What is wanted and what was read, at the g of the failing case and over a range that holds it."""
    case, rule = verdict.case, find_rule(reading.rule)
    keys = [own_key(exercise.gradient, "Wanted"), own_key(rule.formula or "g", "Yours")]
    learns = case.of if case and _panel(case) == "part" else ""
    if case and learns and not (keys := _learning(exercise, case, reading, keys)):
        return _drawn(exercise, verdict._replace(case=None), reading)
    far = 1.25 * abs(case.x) if case else 0.0
    view = View(range=_RANGE if far <= _RANGE[1] else (-far, far), g=case.g if case else 1.0)
    op, rules = find_op(own_key(exercise.op, exercise.name)), [find_rule(key) for key in keys]
    choice = choice_data(op, rules, parameters=exercise.values, view=view, learns=learns)
    words = _words(case) if case else ON_NO_CURVE * (verdict.kind == "wrong")
    return {"case": case and _shown(case, reading), "choice": choice, "drawn": words}


def _panel(case: Case) -> str:
    return {FORWARD: "forward", "x": "gradient"}.get(case.of, "part")


def _words(case: Case) -> str:
    names = {"x": with_minus(f"{case.x + 0.0:.10g}"), "of": case.of, "elements": f"{case.elements:g}"}
    missing = NO_GRADIENT if case.missing else ""
    return (DRAWN[_panel(case)] + AT + missing).format(**names)


def _shown(case: Case, reading: Reading) -> Answer:
    """A case as JSON types: what is no finite number is None, and said in words; ``op`` is the text's."""
    values = {"x": case.x, "g": case.g, "wanted": case.wanted, "found": case.found}
    op = entry(find_op(reading.op)) if case.of == FORWARD else None
    finite = {name: value if isfinite(value) else None for name, value in values.items()}
    return finite | {"words": case.words, "panel": _panel(case), "op": op}


def _learning(exercise: Exercise, case: Case, reading: Reading, keys: Sequence[str]) -> list[str]:
    """The keys of both rules with the part of one element; none where that is longer than can be read."""
    (argument,) = (each for each in exercise.arguments if each.name == case.of)
    wanted = Learned(case.of, argument.gradient, argument.scale or None)
    yours = [each for each in find_rule(reading.rule).learned if each.name == case.of]
    both = wanted, *(yours or [Learned(case.of, "0")])
    parts = [f"sum({_part(each, case.elements)})" for each in both]
    try:
        pairs = zip(keys, parts, strict=True)
        return [find_rule(f"{key}; {case.of}: {part}").key for key, part in pairs]
    except FormulaError:
        return []


def _part(learned: Learned, elements: float) -> str:
    """What one of so many elements adds to a gradient, its scale included."""
    tree = counted(learned.parsed.tree)
    if learned.parsed_scale:
        tree = Binary("*", learned.parsed_scale.tree, tree)
    return Formula(substituted(tree, {Name(COUNT): Number(elements)})).text
