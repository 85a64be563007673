"""The judge of an exercise: a text is read, never run, and compared with what it should return.

It computes with Python's own float64, so that it runs in the browser too. What the reader does not follow is
said to be unread, never wrong.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from explorer.catalogue import COUNT, find_op, find_rule
from explorer.exercises.exercise import Argument, Exercise
from explorer.exercises.values import compiled
from explorer.formula import Formula, with_minus
from explorer.formula.operands import counted, reductions
from explorer.formula.tree import Number, names, walk
from explorer.reading import Input, Reading, ReadingError, read_sources
from explorer.reading.text import require_python

UPSTREAM = (1.0, 2.0, -1.0, 0.3)  # each finds what the ones before it leave: a g left out, a sign, a bound
STEP, REACH = 0.0625, 48  # even points; exact in binary, as the kinks of exercises are
FAR = (5.0, 20.0, 100.0)
NEAR = (2.0**-5, 2.0**-10, 2.0**-16)  # beside a kink; no nearer, where rounding would tell
JUMP = 1e-3
ELEMENTS = (16.0, 100.0)  # that share a parameter
RELATIVE, ABSOLUTE = 1e-9, 1e-12
FORWARD = "forward"  # of what a case is, where it is of no gradient

NO_FUNCTION = "There is no Function in it: a class of torch.autograd.Function with forward and backward."
SEVERAL = "There are {} Functions in it: leave one, {}."
MEANS = "Its {} takes a mean over all elements, which is not judged here."
DRAWN = "Its {} draws at random, which is not judged here."
UNKNOWN = "Its {} depends on {}, which is no input of it."


class Case(NamedTuple):
    """A case at which something is another: what it should be, and what it is.

    Attributes:
        x, g: where.
        wanted, found: the values.
        of: what they are of: ``forward``, the gradient for ``x``, or by its name what an element adds to the
            gradient for an argument.
        elements: the number of those that share the argument.
        missing: whether there is no gradient at all, of which ``found`` is 0.
    """

    x: float
    g: float
    wanted: float
    found: float
    of: str = "x"
    elements: float = ELEMENTS[0]
    missing: bool = False

    @property
    def words(self) -> str:
        """What it is, and what it is not."""
        return f"{'None' if self.missing else _text(self.found)}, not {_text(self.wanted)}"

    @property
    def fails(self) -> bool:
        """Whether it is what it should not be."""
        return self.missing or not _alike(self.wanted, self.found)


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


class _UnreadError(Exception):
    """Something that decides is not known; the message says what."""


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
    unread = ""
    for check in _CHECKS:
        try:
            wrong = check(exercise, reading)
        except _UnreadError as reason:
            unread = unread or str(reason)
        else:
            if wrong:
                return Verdict("wrong", *wrong, reading)
    return Verdict("unread" if unread else "right", unread, reading=reading)


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _noted(reading: Reading, *kinds: str) -> _Found | None:
    note = next((note for note in reading.notes if note.kind in kinds), None)
    return _Found(_sentence(note), note.line) if note else None


def _raised(_exercise: Exercise, reading: Reading) -> _Found | None:
    return _noted(reading, "raises")


def _forward(exercise: Exercise, reading: Reading) -> _Found | None:
    wanted, found = (
        _values(exercise, exercise.op),
        _values_of(exercise, find_op(reading.op).parsed, "forward"),
    )
    cases = [Case(x, 1.0, wanted(x=x), found(x=x), FORWARD) for x in _points(exercise, reading)]
    case = _telling(exercise, cases)
    where = case and f"at x = {_place(case.x)} it gives {case.words}"
    return case and _Found(f"Its forward is another: {where}.", case=case)


def _telling(exercise: Exercise, cases: list[Case]) -> Case | None:
    """The failing case that is told most shortly, at a kink only where none fails elsewhere."""
    kinks = _kinks(exercise)
    failing = [case for case in cases if case.fails]
    return min(failing, key=lambda one: (one.x in kinks, len(_place(one.x)), abs(one.x)), default=None)


def _curve(exercise: Exercise, reading: Reading) -> _Found | None:
    """How the gradient for x differs, the most telling way first."""
    rule = find_rule(reading.rule).parsed
    assert rule is not None, "of a Function"
    wanted, found = _values(exercise, exercise.gradient), _values_of(exercise, rule, "gradient")
    points = _pairs(exercise, reading)
    table = {
        g: [Case(x, g, wanted(x=x, y=y, g=g), found(x=x, y=y, g=g)) for x, y in points] for g in UPSTREAM
    }
    kinks = _kinks(exercise)
    for g, cases in table.items():
        case = _telling(exercise, cases)
        if case and case.x not in kinks:
            return _Found(_lead(table, g) + _told(exercise, case), case=case)
    cases = next(filter(None, ([case for case in cases if case.fails] for cases in table.values())), [])
    if not cases:
        return None
    places = " and ".join(f"x = {_text(case.x)}" for case in cases[:3])
    return _Found(f"Right everywhere but exactly at {places}. {_told(exercise, cases[0])}", case=cases[0])


def _lead(table: Mapping[float, list[Case]], g: float) -> str:
    """A sentence on how all of a gradient differs, or ""."""
    first = [case.found for case in table[1.0]]
    still = all(_all_alike([case.found for case in cases], first) for cases in table.values())
    if g != 1.0:
        return f"Right at g = 1 alone{': it does not hang on g' * still}. "
    ratio = _ratio([(case.wanted, case.found) for case in table[1.0]])
    return (
        "It does not hang on g. "
        if still
        else f"It is {_text(ratio)} times what it should be. "
        if ratio
        else ""
    )


def _told(exercise: Exercise, case: Case) -> str:
    given = [f"x = {_place(case.x)}", f"g = {_text(case.g)}"]
    given += [f"{argument.name} = {_text(argument.value)}" for argument in exercise.arguments]
    where = f"{', '.join(given[:-1])} and {given[-1]}"
    return f"At {where} it returns {case.words}."


def _silent(exercise: Exercise, reading: Reading) -> _Found | None:
    found = _noted(reading, "silent")
    return found._replace(case=_without(exercise, reading)) if found else _noted(reading, "hangs")


def _without(exercise: Exercise, reading: Reading) -> Case | None:
    """What an element should add to the gradient of the argument that has none."""
    learned = {each.name for each in find_rule(reading.rule).learned}
    missing = [each for each in exercise.arguments if each.gradient and each.name not in learned]
    if not missing or _noted(reading, "hangs", "unread"):
        return None
    added, name, count = _adding(exercise, missing[0]), missing[0].name, ELEMENTS[0]
    points = [(x, added(x, y, 1.0, count)) for x, y in _pairs(exercise, reading)]
    cases = [Case(x, 1.0, wanted, 0.0, name, count, missing=True) for x, wanted in points if wanted]
    return _telling(exercise, cases)


def _pairs(exercise: Exercise, reading: Reading) -> list[tuple[float, float]]:
    """The points with their y."""
    op = _values(exercise, exercise.op)
    return [(x, op(x=x)) for x in _points(exercise, reading)]


def _parameters(exercise: Exercise, reading: Reading) -> _Found | None:
    """What is wrong with the gradient of an argument that is a tensor."""
    learned = {each.name: each for each in find_rule(reading.rule).learned}
    for argument in filter(lambda each: each.gradient, exercise.arguments):
        if argument.name not in learned:
            if missing := _noted(reading, "unread"):
                raise _UnreadError(missing.sentence)
            words = f"It returns None for {argument.name}: it never learns."
            return _Found(words, case=_without(exercise, reading))
        own = learned[argument.name]
        if found := _argument(exercise, reading, argument, own.parsed, own.parsed_scale):
            return found
        if exercise.guarded and argument.name not in reading.guarded:
            place = 1 + exercise.arguments.index(argument)
            who = f"ctx.needs_input_grad[{place}] tells"
            return _Found(
                f"It computes the gradient for {argument.name} even where nobody asks for it: {who}."
            )
    return None


def _argument(
    exercise: Exercise, reading: Reading, argument: Argument, own: Formula, own_scale: Formula | None
) -> _Found | None:
    what = f"gradient for {argument.name}"
    wanted, found = _adding(exercise, argument), _added(exercise, own, own_scale, what)
    points = _pairs(exercise, reading)
    for g, count in product(UPSTREAM, ELEMENTS):
        both = [(x, wanted(x, y, g, count), found(x, y, g, count)) for x, y in points]
        case = _telling(exercise, [Case(x, g, a, b, argument.name, count) for x, a, b in both])
        if not case:
            continue
        if ratio := _ratio([(a, b) for _, a, b in both]):
            shared = f"where {count:g} elements share it, at g = {_text(g)}"
            return _Found(f"The {what} is {_text(ratio)} times what it should be {shared}.", case=case)
        element = f"the element x = {_place(case.x)} adds {_text(case.found)} at g = {_text(g)}"
        return _Found(f"The {what} is off: {element}, not {_text(case.wanted)}.", case=case)
    return None


def _adding(exercise: Exercise, argument: Argument) -> Callable[[float, float, float, float], float]:
    """What an element should add to the gradient of an argument, as of ``_added``."""
    scale = _parsed(exercise, argument.scale) if argument.scale else None
    return _added(exercise, _parsed(exercise, argument.gradient), scale, "")


def _added(
    exercise: Exercise, part: Formula, scale: Formula | None, what: str
) -> Callable[[float, float, float, float], float]:
    """What an element adds to the gradient of an argument, by x, y, g and the number of elements."""
    value = _values_of(exercise, part, what)
    factor = _values_of(exercise, scale, what) if scale else None
    factors = {count: factor(N=count) if factor else 1.0 for count in ELEMENTS}
    return lambda x, y, g, count: value(x=x, y=y, g=g, N=count) * factors[count]


def _written(_exercise: Exercise, reading: Reading) -> _Found | None:
    return _noted(reading, "writes")


def _twice(exercise: Exercise, reading: Reading) -> _Found | None:
    """What is lost of a second derivative, where one is asked for."""
    if not exercise.twice:
        return None
    if reading.second is None:
        raise _UnreadError("Whether a second derivative goes through it cannot be read.")
    op, wanted = _values(exercise, exercise.op), _values_of(exercise, exercise.second, "")
    found = _values_of(exercise, reading.second, "second derivative")
    kinks = _kinks(exercise)
    for x in (x for x in _points(exercise, reading) if x not in kinks):
        a, b = wanted(x=x, y=op(x=x), g=1.0), found(x=x, y=op(x=x), g=1.0)
        if not _alike(a, b):
            said = _noted(reading, "constant")
            return said or _Found(f"Its second derivative at x = {_text(x)} is {_text(b)}, not {_text(a)}.")
    return None


_CHECKS: tuple[Callable[[Exercise, Reading], _Found | None], ...] = (
    _raised, _forward, _curve, _silent, _parameters, _written, _twice,
)  # fmt: skip


# Values of formulas.


@lru_cache(maxsize=64)
def _parsed(exercise: Exercise, text: str) -> Formula:
    return exercise.formula(text)


def _values(exercise: Exercise, text: str) -> Callable[..., float]:
    """A formula of the exercise as a function of x, y, g and N."""
    return _values_of(exercise, _parsed(exercise, text), "")


def _values_of(exercise: Exercise, formula: Formula, what: str) -> Callable[..., float]:
    """A formula as a function of x, y, g and N; raises _UnreadError for what depends on anything else."""
    tree = counted(formula.tree, COUNT)
    if reductions(tree):
        raise _UnreadError(MEANS.format(what))
    if formula.draws:
        raise _UnreadError(DRAWN.format(what))
    unknown = set(names(tree)).difference(exercise.values, ("x", "y", "g", COUNT, "pi", "e"))
    if unknown:
        raise _UnreadError(UNKNOWN.format(what, sorted(unknown)[0]))
    evaluate, arguments = compiled(tree), {COUNT: ELEMENTS[0], **exercise.values}
    return lambda **given: float(evaluate({**arguments, **given}))


def _alike(a: float, b: float) -> bool:
    return a == b or (a != a and b != b) or abs(a - b) <= ABSOLUTE + RELATIVE * abs(a)


def _all_alike(some: list[float], others: list[float]) -> bool:
    return all(_alike(a, b) for a, b in zip(some, others, strict=True))


def _ratio(pairs: list[tuple[float, float]]) -> float | None:
    """How many times what is wanted was found, where that is the same everywhere."""
    ratios = [b / a for a, b in pairs if a]
    even = bool(ratios) and all(_alike(ratios[0], ratio) for ratio in ratios)
    return ratios[0] if even and ratios[0] and all(b == 0 for a, b in pairs if not a) else None


def _text(value: float) -> str:
    return with_minus(f"{value + 0.0:.4g}")


def _place(x: float) -> str:
    """An x in full: some lie close beside a kink."""
    return with_minus(f"{x + 0.0:.10g}")


# Points.


def _points(exercise: Exercise, reading: Reading) -> list[float]:
    """Even points, what lies beside the kinks of the exercise, and beside the numbers of the text."""
    rule = find_rule(reading.rule).parsed
    own = {
        abs(number)
        for formula in (find_op(reading.op).parsed, rule)
        if formula
        for number in _numbers(formula)
    }
    centres = {*_kinks(exercise), *own, *(-each for each in own)}
    beside = {centre + side * near for centre in centres for near in NEAR for side in (-1, 1)}
    return sorted({*_EVEN, *beside, *FAR, *(-far for far in FAR)})


_EVEN = tuple(STEP * place for place in range(-REACH, REACH + 1))


@lru_cache(maxsize=64)
def _kinks(exercise: Exercise) -> frozenset[float]:
    """The even points at which the op or the gradient of an exercise jumps or bends."""
    op, gradient = _values(exercise, exercise.op), _values(exercise, exercise.gradient)
    near = NEAR[-1]

    def bends(x: float) -> bool:
        left, here, right = (op(x=each) for each in (x - near, x, x + near))
        jumps = abs(gradient(x=x - near, y=left, g=1.0) - gradient(x=x + near, y=right, g=1.0)) > JUMP
        return jumps or abs(left - here) > JUMP or abs(right - here) > JUMP

    return frozenset(filter(bends, _EVEN))


def _numbers(formula: Formula) -> Iterator[float]:
    return (node.value for node in walk(formula.tree) if isinstance(node, Number))
