"""The question "judge": the verdict on a solution of an exercise, and the choice that plots it.

On the site without a server this runs in the browser, so this module and its imports need no torch.
"""

from collections.abc import Sequence
from math import isfinite

from explorer.catalogue import COUNT, Learned, find_op, find_rule, make_custom_key
from explorer.formula import Formula, FormulaError
from explorer.formula.operands import replace_counts
from explorer.formula.tree import Binary, Name, Number, substitute
from explorer.instrument.choice import to_choice_data
from explorer.instrument.entries import make_entry
from explorer.instrument.view import View
from explorer.questions import Answer
from explorer.reading import Reading
from explorer.reading.exercises.cases import FORWARD, Case, format_full
from explorer.reading.exercises.entries import EXERCISES
from explorer.reading.exercises.exercise import Exercise
from explorer.reading.exercises.judging import Verdict, judge_text

RIGHT = "Right at every tested x and at every kink, for g = 1, 2, −1 and 0.3."
UNREAD = "Not judged yet: {}"
ON_NO_CURVE = "No curve shows this fault."
CAPTIONS = {
    "forward": "The chart shows the wanted forward, and yours dashed.",
    "gradient": "The chart shows the wanted gradient for x, and yours.",
    "part": "The chart's last panel shows the part of one of {elements} elements in the gradient for {of}, "
    "wanted and yours.",
}
DOT = " The dot is yours at x = {x}."
NO_GRADIENT = " None is drawn as 0, because it moves {of} just as little."
_RANGE = (-3.0, 3.0)


def judge_solution(exercise: str, code: str) -> Answer:
    """Return the verdict on a reader's code as a solution of an exercise, as JSON types.

    Returns:
        A dict with these keys.

        - ``kind``, ``sentence`` and ``line``: those of the verdict.
        - ``case``: the first failing case, or None.
        - ``choice``: the choice that plots the wanted and the parsed function, None if nothing was parsed.
        - ``drawn``: an explanation of the plot.

    Raises:
        ValueError: if there is no exercise with this key.
    """
    if exercise not in EXERCISES:
        raise ValueError("there is no such exercise: choose one from the lessons")
    record = EXERCISES[exercise]
    verdict = judge_text(record, code.encode("utf-8", "replace").decode())  # JSON may contain lone surrogates
    sentences = {"right": RIGHT, "wrong": verdict.sentence, "unread": UNREAD.format(verdict.sentence)}
    answer: Answer = {"kind": verdict.kind, "sentence": sentences[verdict.kind], "line": verdict.line}
    return answer | (_make_choice(record, verdict, verdict.reading) if verdict.reading else _NO_CHOICE)


_NO_CHOICE: Answer = {"case": None, "choice": None, "drawn": ""}


def _make_choice(exercise: Exercise, verdict: Verdict, reading: Reading) -> Answer:
    """Return the settings of a chart that compares the wanted and the written function at a failing case.

    The result has the keys ``case``, ``choice`` and ``drawn`` of ``judge_solution``. The ``op`` of a case is
    that of the solution if the case is about the forward, else None.
    """
    case, rule = verdict.case, find_rule(reading.rule)
    keys = [make_custom_key(exercise.gradient, "Wanted"), make_custom_key(rule.formula or "g", "Yours")]
    learns = case.subject if case and _choose_panel(case) == "part" else ""
    if case and learns and not (keys := _add_contributions(exercise, case, reading, keys)):
        return _make_choice(exercise, verdict._replace(case=None), reading)
    far = 1.25 * abs(case.x) if case else 0.0
    view = View(range=_RANGE if far <= _RANGE[1] else (-far, far), g=case.g if case else 1.0)
    op, rules = find_op(make_custom_key(exercise.op, exercise.name)), [find_rule(key) for key in keys]
    choice = to_choice_data(op, rules, parameters=exercise.values, view=view, learns=learns)
    if case is None:
        return {"case": None, "choice": choice, "drawn": ON_NO_CURVE * (verdict.kind == "wrong")}
    values = {"x": case.x, "g": case.g, "wanted": case.expected, "found": case.actual}
    encoded: Answer = {name: value if isfinite(value) else None for name, value in values.items()}
    encoded["op"] = make_entry(find_op(reading.op)) if case.subject == FORWARD else None
    encoded |= {"words": case.words, "panel": _choose_panel(case)}
    caption = CAPTIONS[_choose_panel(case)] + DOT + NO_GRADIENT * case.missing
    words = caption.format(x=format_full(case.x), of=case.subject, elements=f"{case.elements:g}")
    return {"case": encoded, "choice": choice, "drawn": words}


def _choose_panel(case: Case) -> str:
    return {FORWARD: "forward", "x": "gradient"}.get(case.subject, "part")


def _add_contributions(exercise: Exercise, case: Case, reading: Reading, keys: Sequence[str]) -> list[str]:
    """Return the keys of both rules with contributions added, or [] if a formula is too long."""
    (argument,) = (each for each in exercise.arguments if each.name == case.subject)
    wanted = Learned(case.subject, argument.gradient, argument.scale or None)
    solution = [each for each in find_rule(reading.rule).learned if each.name == case.subject]
    entries = wanted, *(solution or [Learned(case.subject, "0")])
    parts = [f"sum({_write_contribution(each, case.elements)})" for each in entries]
    try:
        pairs = zip(keys, parts, strict=True)
        return [find_rule(f"{key}; {case.subject}: {part}").key for key, part in pairs]
    except FormulaError:
        return []


def _write_contribution(learned: Learned, elements: float) -> str:
    tree = replace_counts(learned.parsed.tree)
    if learned.parsed_scale:
        tree = Binary("*", learned.parsed_scale.tree, tree)
    return Formula(substitute(tree, {Name(COUNT): Number(elements)})).text
