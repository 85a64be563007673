"""The judge of an exercise: a text is read, never run, and compared with what it should return.

It computes with Python's own float64, so that it runs in the browser too. What the reader does not follow is
said to be unread, never wrong.
"""

from collections.abc import Callable, Mapping
from itertools import product
from typing import NamedTuple

from explorer.catalogue import Learned
from explorer.formula import Formula
from explorer.reading import Input, Reading, ReadingError, read_sources
from explorer.reading.exercises.cases import ELEMENTS, FORWARD, Case, alike, in_full, in_short, ratio
from explorer.reading.exercises.exercise import Argument, Exercise
from explorer.reading.exercises.passes import cuts_gradient, sums_unasked
from explorer.reading.exercises.solution import Solution, kinks
from explorer.reading.exercises.values import UnreadError, parsed, values, values_of
from explorer.reading.text import require_python

UPSTREAM = (1.0, 2.0, -1.0, 0.3)  # each finds what the ones before it leave: a g left out, a sign, a bound

NO_FUNCTION = "There is no Function in it: a class of torch.autograd.Function with forward and backward."
SEVERAL = "There are {} Functions in it: leave one, {}."


class Verdict(NamedTuple):
    """What is said of a text.

    Attributes:
        kind: ``right``, ``wrong``, or ``unread`` where the reader does not follow it.
        sentence: the first thing that is wrong, or what was not read; "" where it is right.
        line: the line it is on, 0 where it is on none.
        case: the first failing case, where a curve shows the fault.
        reading: what was read, None where nothing was.
    """

    kind: str
    sentence: str = ""
    line: int = 0
    case: Case | None = None
    reading: Reading | None = None


class _Found(NamedTuple):
    sentence: str
    line: int = 0
    case: Case | None = None


def judged(exercise: Exercise, text: str) -> Verdict:
    """The verdict on a text as a solution of an exercise; it takes some milliseconds."""
    try:
        require_python(text)
        inputs = [Input(argument.name, bool(argument.gradient)) for argument in exercise.arguments]
        found = [reading for reading in read_sources(text, inputs) if reading.rule != "default"]
    except ReadingError as error:
        return Verdict("unread", _sentence(error.message), error.line)
    named = [reading for reading in found if reading.name == exercise.name] if len(found) > 1 else found
    if len(named) != 1:
        return Verdict("unread", SEVERAL.format(len(found), exercise.name) if found else NO_FUNCTION)
    (reading,) = named
    if reading.problem:
        kind = "wrong" if reading.problem.raises else "unread"
        return Verdict(kind, _sentence(reading.problem.message), reading.problem.line)
    verdict = _verdict(Solution(exercise, reading))
    if verdict.kind == "right" and exercise.arguments:
        verdict = _verdict(Solution(exercise.elsewhere, reading))
    return _written_out(exercise, text, reading) or verdict if verdict.kind == "right" else verdict


def _written_out(exercise: Exercise, text: str, reading: Reading) -> Verdict | None:
    """Return what is wrong with a text whose every value is right, None where nothing is."""
    if exercise.twice and (line := cuts_gradient(text)):
        words = "It takes g out of autograd's graph: the second derivative with respect to g is lost."
        return Verdict("wrong", words, line, reading=reading)
    if exercise.guarded and (line := sums_unasked(text)):
        words = "It computes the sum even where nobody asks for it: put the sum behind the condition."
        return Verdict("wrong", words, line, reading=reading)
    return None


def _verdict(solution: Solution) -> Verdict:
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


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _noted(solution: Solution, *kinds: str) -> _Found | None:
    note = next((note for note in solution.reading.notes if note.kind in kinds), None)
    return _Found(_sentence(note), note.line) if note else None


def _raised(solution: Solution) -> _Found | None:
    return _noted(solution, "raises")


def _forward(solution: Solution) -> _Found | None:
    exercise = solution.exercise
    wanted, found = values(exercise, exercise.op), values_of(exercise, solution.op, "forward")
    case = solution.telling([Case(x, 1.0, wanted(x=x), found(x=x), FORWARD) for x in solution.points])
    where = case and f"at x = {in_full(case.x)} it gives {case.words}"
    return case and _Found(f"Its forward is another: {where}.", case=case)


def _curve(solution: Solution) -> _Found | None:
    """How the gradient for x differs, the most telling way first."""
    exercise = solution.exercise
    wanted, found = values(exercise, exercise.gradient), values_of(exercise, solution.rule, "gradient")
    table = {
        g: [Case(x, g, wanted(x=x, y=y, g=g), found(x=x, y=y, g=g)) for x, y in solution.pairs]
        for g in UPSTREAM
    }
    at = kinks(exercise)
    for g, cases in table.items():
        case = solution.telling(cases)
        if case and case.x not in at:
            return _Found(_lead(table, g) + _told(exercise, case), case=case)
    cases = next(filter(None, ([case for case in cases if case.fails] for cases in table.values())), [])
    if not cases:
        return None
    places = " and ".join(f"x = {in_short(case.x)}" for case in cases[:3])
    return _Found(f"Right everywhere but exactly at {places}. {_told(exercise, cases[0])}", case=cases[0])


def _lead(table: Mapping[float, list[Case]], g: float) -> str:
    """A sentence on how all of a gradient differs, or ""."""
    beside = (zip(cases, table[1.0], strict=True) for cases in table.values())
    still = all(alike(case.found, first.found) for pairs in beside for case, first in pairs)
    if g != 1.0:
        return f"Right at g = 1 alone{': it does not hang on g' * still}. "
    if still:
        return "It does not hang on g. "
    times = ratio(table[1.0])
    return f"It is {in_short(times)} times what it should be. " if times else ""


def _told(exercise: Exercise, case: Case) -> str:
    given = [f"x = {in_full(case.x)}", f"g = {in_short(case.g)}"]
    given += [f"{argument.name} = {in_short(argument.value)}" for argument in exercise.arguments]
    where = f"{', '.join(given[:-1])} and {given[-1]}"
    return f"At {where} it returns {case.words}."


def _silent(solution: Solution) -> _Found | None:
    found = _noted(solution, "silent")
    return found._replace(case=_without(solution)) if found else _noted(solution, "hangs")


def _without(solution: Solution) -> Case | None:
    """What an element should add to the gradient of the argument that has none."""
    taught = [each for each in solution.exercise.arguments if each.gradient]
    missing = [each for each in taught if each.name not in solution.learned]
    if not missing or _noted(solution, "hangs", "unread"):
        return None
    added, name, count = _adding(solution.exercise, missing[0]), missing[0].name, ELEMENTS[0]
    points = [(x, added(x, y, 1.0, count)) for x, y in solution.pairs]
    cases = [Case(x, 1.0, wanted, 0.0, name, count, missing=True) for x, wanted in points if wanted]
    return solution.telling(cases)


def _parameters(solution: Solution) -> _Found | None:
    """What is wrong with the gradient of an argument that is a tensor."""
    exercise = solution.exercise
    for place, argument in enumerate(exercise.arguments, 1):
        if not argument.gradient:
            continue
        own = solution.learned.get(argument.name)
        if own is None:
            if missing := _noted(solution, "unread"):
                raise UnreadError(missing.sentence)
            words = f"It returns None for {argument.name}: it never learns."
            return _Found(words, case=_without(solution))
        if found := _argument(solution, argument, own):
            return found
        if exercise.guarded and argument.name not in solution.reading.guarded:
            asked = f"even where nobody asks for it: ctx.needs_input_grad[{place}] tells"
            return _Found(f"It computes the gradient for {argument.name} {asked}.")
    return None


def _argument(solution: Solution, argument: Argument, own: Learned) -> _Found | None:
    exercise, what = solution.exercise, f"gradient for {argument.name}"
    wanted, found = _adding(exercise, argument), _added(exercise, own.parsed, own.parsed_scale, what)
    for g, count in product(UPSTREAM, ELEMENTS):
        cases = [
            Case(x, g, wanted(x, y, g, count), found(x, y, g, count), argument.name, count)
            for x, y in solution.pairs
        ]
        case = solution.telling(cases)
        if not case:
            continue
        if times := ratio(cases):
            shared = f"where {count:g} elements share it, at g = {in_short(g)}"
            return _Found(f"The {what} is {in_short(times)} times what it should be {shared}.", case=case)
        element = f"the element x = {in_full(case.x)} adds {in_short(case.found)} at g = {in_short(g)}"
        return _Found(f"The {what} is off: {element}, not {in_short(case.wanted)}.", case=case)
    return None


def _adding(exercise: Exercise, argument: Argument) -> Callable[[float, float, float, float], float]:
    """What an element should add to the gradient of an argument, as of ``_added``."""
    scale = parsed(exercise, argument.scale) if argument.scale else None
    return _added(exercise, parsed(exercise, argument.gradient), scale)


def _added(
    exercise: Exercise, part: Formula, scale: Formula | None, what: str = ""
) -> Callable[[float, float, float, float], float]:
    """What an element adds to the gradient of an argument, by x, y, g and the number of elements."""
    value = values_of(exercise, part, what)
    factor = values_of(exercise, scale, what) if scale else None
    factors = {count: factor(N=count) if factor else 1.0 for count in ELEMENTS}
    return lambda x, y, g, count: value(x=x, y=y, g=g, N=count) * factors[count]


def _written(solution: Solution) -> _Found | None:
    return _noted(solution, "writes")


def _twice(solution: Solution) -> _Found | None:
    """What is lost of a second derivative, where one is asked for."""
    exercise, second = solution.exercise, solution.reading.second
    if not exercise.twice:
        return None
    if second is None:
        raise UnreadError("Whether a second derivative goes through it cannot be read.")
    wanted, found = values_of(exercise, exercise.second), values_of(exercise, second, "second derivative")
    at = kinks(exercise)
    for x, y in solution.pairs:
        a, b = wanted(x=x, y=y, g=1.0), found(x=x, y=y, g=1.0)
        if x not in at and not alike(a, b):
            words = f"Its second derivative at x = {in_short(x)} is {in_short(b)}, not {in_short(a)}."
            return _noted(solution, "constant") or _Found(words)
    return None


_CHECKS: tuple[Callable[[Solution], _Found | None], ...] = (
    _raised, _forward, _curve, _silent, _parameters, _written, _twice,
)  # fmt: skip
