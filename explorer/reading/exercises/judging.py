"""Grade the solution of an exercise without running it: its formulas are compared with the expected ones.

Values are computed in Python's own float64, so that grading also works in the browser. Code that the reader
cannot follow is reported as unread, never as wrong.
"""

from collections.abc import Callable, Mapping
from itertools import product
from typing import NamedTuple

from explorer.catalogue import Learned
from explorer.formula import Formula, format_number
from explorer.reading import Input, Reading, ReadingError, read_sources
from explorer.reading.exercises.cases import ELEMENTS, FORWARD, Case, find_ratio, format_full, is_close
from explorer.reading.exercises.exercise import Argument, Exercise
from explorer.reading.exercises.passes import find_cut, find_unconditional_sum
from explorer.reading.exercises.solution import Solution, find_kinks
from explorer.reading.exercises.values import UnreadError, compile_formula, compile_text, parse_text
from explorer.reading.text import require_python

UPSTREAM = (1.0, 2.0, -1.0, 0.3)  # each value reveals other faults, such as a missing g or a wrong sign

NO_FUNCTION = "No Function found: write a class of torch.autograd.Function with forward and backward."
SEVERAL_FUNCTIONS = "Found {} Functions: leave one, {}."


class Verdict(NamedTuple):
    """The result of grading a solution.

    Attributes:
        kind: ``right``, ``wrong``, or ``unread`` if the reader cannot follow the text.
        sentence: the first fault, or the part that was not read. "" if the text is right.
        line: the line of the fault, or 0.
        case: the first failing test case, if a curve shows the fault, or None.
        reading: the result of the reader, or None if nothing was read.
    """

    kind: str
    sentence: str = ""
    line: int = 0
    case: Case | None = None
    reading: Reading | None = None


class _Fault(NamedTuple):
    sentence: str
    line: int = 0
    case: Case | None = None


def judge_text(exercise: Exercise, text: str) -> Verdict:
    """Return the verdict on a text as the solution of an exercise, in a few milliseconds."""
    try:
        require_python(text)
        inputs = [Input(argument.name, bool(argument.gradient)) for argument in exercise.arguments]
        readings = [reading for reading in read_sources(text, inputs) if reading.rule != "default"]
    except ReadingError as error:
        return Verdict("unread", _to_sentence(error.message), error.line)
    if not readings:
        return Verdict("unread", NO_FUNCTION)
    named = [reading for reading in readings if len(readings) == 1 or reading.name == exercise.name]
    if len(named) != 1:
        return Verdict("unread", SEVERAL_FUNCTIONS.format(len(readings), exercise.name))
    (reading,) = named
    if reading.problem:
        kind = "wrong" if reading.problem.raises else "unread"
        return Verdict(kind, _to_sentence(reading.problem.message), reading.problem.line)
    verdict = _run_checks(Solution(exercise, reading))
    if verdict.kind == "right" and exercise.arguments:
        verdict = _run_checks(Solution(exercise.variant, reading))
    return _check_text(exercise, text, reading) or verdict if verdict.kind == "right" else verdict


def _check_text(exercise: Exercise, text: str, reading: Reading) -> Verdict | None:
    """Return the verdict "wrong" for a fault that leaves all values right, such as a lost second derivative.

    Returns None if there is no such fault.
    """
    if exercise.twice and (line := find_cut(text)):
        words = "It takes g out of autograd's graph: the second derivative with respect to g is lost."
        return Verdict("wrong", words, line, reading=reading)
    if exercise.guarded and (line := find_unconditional_sum(text)):
        words = "It computes the sum even where nobody asks for it: put the sum behind the condition."
        return Verdict("wrong", words, line, reading=reading)
    return None


def _run_checks(solution: Solution) -> Verdict:
    unread = ""
    for check in _CHECKS:
        try:
            wrong = check(solution)
        except UnreadError as reason:
            unread = unread or str(reason)
        else:
            if wrong:
                return Verdict("wrong", *wrong, solution.reading)
    return Verdict("unread" if unread else "right", unread, reading=solution.reading)


def _to_sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _find_note(solution: Solution, *kinds: str) -> _Fault | None:
    note = next((note for note in solution.reading.notes if note.kind in kinds), None)
    return _Fault(_to_sentence(note), note.line) if note else None


def _check_forward(solution: Solution) -> _Fault | None:
    exercise = solution.exercise
    expected, actual = compile_text(exercise, exercise.op), compile_formula(exercise, solution.op, "forward")
    case = solution.choose_case([Case(x, 1.0, expected(x=x), actual(x=x), FORWARD) for x in solution.points])
    text = case and f"at x = {format_full(case.x)} it gives {case.words}"
    return case and _Fault(f"Its forward is another: {text}.", case=case)


def _check_gradient(solution: Solution) -> _Fault | None:
    exercise = solution.exercise
    expected = compile_text(exercise, exercise.gradient)
    actual = compile_formula(exercise, solution.rule, "gradient")
    table = {
        g: [Case(x, g, expected(x=x, y=y, g=g), actual(x=x, y=y, g=g)) for x, y in solution.pairs]
        for g in UPSTREAM
    }
    at = find_kinks(exercise)
    for g, cases in table.items():
        case = solution.choose_case(cases)
        if case and case.x not in at:
            return _Fault(_describe_pattern(table, g) + _describe_case(exercise, case), case=case)
    cases = next(filter(None, ([case for case in cases if case.fails] for cases in table.values())), [])
    if not cases:
        return None
    places = " and ".join(f"x = {format_number(case.x)}" for case in cases[:3])
    return _Fault(
        f"Right everywhere but exactly at {places}. {_describe_case(exercise, cases[0])}", case=cases[0]
    )


def _describe_pattern(table: Mapping[float, list[Case]], g: float) -> str:
    """Return a sentence on a difference that all gradients have in common, such as a constant factor.

    Returns "" if there is none. ``g`` is the upstream gradient of the first difference.
    """
    table_pairs = (zip(cases, table[1.0], strict=True) for cases in table.values())
    is_constant = all(is_close(case.actual, first.actual) for pairs in table_pairs for case, first in pairs)
    if g != 1.0:
        return f"Right only at g = 1{': it does not depend on g' * is_constant}. "
    if is_constant:
        return "It does not depend on g. "
    times = find_ratio(table[1.0])
    return f"It is {format_number(times)} times the right value. " if times else ""


def _describe_case(exercise: Exercise, case: Case) -> str:
    numbers = [f"x = {format_full(case.x)}", f"g = {format_number(case.g)}"]
    numbers += [f"{argument.name} = {format_number(argument.value)}" for argument in exercise.arguments]
    place = f"{', '.join(numbers[:-1])} and {numbers[-1]}"
    return f"At {place} it returns {case.words}."


def _check_missing(solution: Solution) -> _Fault | None:
    fault = _find_note(solution, "silent")
    return fault._replace(case=_find_missing_case(solution)) if fault else _find_note(solution, "hangs")


def _find_missing_case(solution: Solution) -> Case | None:
    learning = [each for each in solution.exercise.arguments if each.gradient]
    missing = [each for each in learning if each.name not in solution.learned]
    if not missing or _find_note(solution, "hangs", "unread"):
        return None
    contribution, name, count = _make_expected(solution.exercise, missing[0]), missing[0].name, ELEMENTS[0]
    points = [(x, contribution(x, y, 1.0, count)) for x, y in solution.pairs]
    cases = [Case(x, 1.0, wanted, 0.0, name, count, missing=True) for x, wanted in points if wanted]
    return solution.choose_case(cases)


def _check_arguments(solution: Solution) -> _Fault | None:
    exercise = solution.exercise
    for place, argument in enumerate(exercise.arguments, 1):
        if not argument.gradient:
            continue
        learned = solution.learned.get(argument.name)
        if learned is None:
            if missing := _find_note(solution, "unread"):
                raise UnreadError(missing.sentence)
            words = f"It returns None for {argument.name}: it never learns."
            return _Fault(words, case=_find_missing_case(solution))
        if fault := _check_argument(solution, argument, learned):
            return fault
        if exercise.guarded and argument.name not in solution.reading.guarded:
            asked = f"even where nobody asks for it: ctx.needs_input_grad[{place}] tells"
            return _Fault(f"It computes the gradient for {argument.name} {asked}.")
    return None


def _check_argument(solution: Solution, argument: Argument, learned: Learned) -> _Fault | None:
    exercise, subject = solution.exercise, f"gradient for {argument.name}"
    expected = _make_expected(exercise, argument)
    actual = _make_contribution(exercise, learned.parsed, learned.parsed_scale, subject)
    for g, count in product(UPSTREAM, ELEMENTS):
        cases = [
            Case(x, g, expected(x, y, g, count), actual(x, y, g, count), argument.name, count)
            for x, y in solution.pairs
        ]
        case = solution.choose_case(cases)
        if not case:
            continue
        if times := find_ratio(cases):
            shared = f"where {count:g} elements share it, at g = {format_number(g)}"
            return _Fault(
                f"The {subject} is {format_number(times)} times the right value {shared}.", case=case
            )
        result, right, at_g = map(format_number, (case.actual, case.expected, g))
        element = f"the element x = {format_full(case.x)} adds {result} at g = {at_g}"
        return _Fault(f"The {subject} is off: {element}, not {right}.", case=case)
    return None


def _make_expected(exercise: Exercise, argument: Argument) -> Callable[[float, float, float, float], float]:
    scale = parse_text(exercise, argument.scale) if argument.scale else None
    return _make_contribution(exercise, parse_text(exercise, argument.gradient), scale)


def _make_contribution(
    exercise: Exercise, part: Formula, scale: Formula | None, subject: str = ""
) -> Callable[[float, float, float, float], float]:
    """Return a function that computes one element's contribution to a gradient.

    Its arguments are x, y, g and the number of elements. Its value is the formula ``part`` times ``scale``.
    """
    value = compile_formula(exercise, part, subject)
    factor = compile_formula(exercise, scale, subject) if scale else None
    factors = {count: factor(N=count) if factor else 1.0 for count in ELEMENTS}
    return lambda x, y, g, count: value(x=x, y=y, g=g, N=count) * factors[count]


def _check_second(solution: Solution) -> _Fault | None:
    exercise, second = solution.exercise, solution.reading.second
    if not exercise.twice:
        return None
    if second is None:
        raise UnreadError("Whether a second derivative goes through it cannot be read.")
    expected = compile_formula(exercise, exercise.second)
    actual = compile_formula(exercise, second, "second derivative")
    at = find_kinks(exercise)
    for x, y in solution.pairs:
        a, b = expected(x=x, y=y, g=1.0), actual(x=x, y=y, g=1.0)
        if x not in at and not is_close(a, b):
            place, right, result = map(format_number, (x, a, b))
            words = f"Its second derivative at x = {place} is {result}, not {right}."
            return _find_note(solution, "constant") or _Fault(words)
    return None


_CHECKS: tuple[Callable[[Solution], _Fault | None], ...] = (
    lambda solution: _find_note(solution, "raises"), _check_forward, _check_gradient, _check_missing,
    _check_arguments, lambda solution: _find_note(solution, "writes"), _check_second,
)  # fmt: skip
