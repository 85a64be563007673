"""Pasted source code to op and rule formulas, read and never executed.

A ``torch.autograd.Function`` in any of the styles people publish (static methods, ``setup_context``,
the old instance style), a small ``nn.Module``, or a plain function that stops gradients with
``detach``. A part that cannot be read is named, with its line.
"""

import ast
import inspect
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

from explorer.catalogue import COUNT, Learned, Op, Rule, find_op, find_rule, make_custom_key
from explorer.formula import MAX_DEPTH, MAX_LENGTH, MAX_NODES, Formula, FormulaError, join_texts
from explorer.formula.operands import has_elements
from explorer.formula.tree import VARIABLES, Name, Node, find_names, measure, substitute, walk
from explorer.reading.beginning import beginnings
from explorer.reading.building import ONE, built, is_shared, number, sound_name
from explorer.reading.definitions import NO_GRADIENT, Candidate, Trees, candidates, read
from explorer.reading.errors import (
    DeadEndError,
    Note,
    RaisesError,
    ReadingError,
    UndecidedError,
    UnreadableError,
    require,
)
from explorer.reading.gradients import LEFT_OUT
from explorer.reading.learning import Part
from explorer.reading.reader import Input, Reader
from explorer.reading.text import MAX_CHARACTERS, syntax_trees

__all__ = [
    "MAX_CHARACTERS",
    "Input",
    "Note",
    "Reading",
    "ReadingError",
    "beginnings",
    "read_source",
    "read_sources",
]

MAX_DEFINITIONS = 30
STANDS_FOR = "{} stands for {}, too long to be written out {} times: give the parameter that value"
SEVERAL = "{} is read here: the text also defines {}"
LIBRARIES = ("torch", "builtins", "typing", "abc")  # their classes are known without source
MAX_BRANCHES = 4  # tests of a parameter that one path may meet


@dataclass(frozen=True)
class Reading:
    """One Function, module or plain function found in a text.

    Attributes:
        name: its name in the text.
        line: where it begins, 1 for the first line.
        op: a key for ``apply`` and ``sample``; empty if it could not be read.
        rule: likewise, with what its parameters learn; ``default`` where the gradient is left to torch.
        problem: the part that could not be read and its line; None if all is well.
        notes: differences between code and formulas, and faults that no curve shows, a sentence each.
        guarded: the parameters whose gradients are computed only where they are needed.
        second: how the gradient changes with x where torch follows backward; None where that is not known.
    """

    name: str
    line: int
    op: str = ""
    rule: str = ""
    problem: ReadingError | None = None
    notes: tuple[Note, ...] = ()
    guarded: frozenset[str] = frozenset()
    second: Formula | None = None


class Keys(tuple[str, str]):
    """The keys of op and rule, a pair; ``notes`` are the differences between code and formulas."""

    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return "\n".join([super().__repr__(), *(f"# {note}" for note in self.notes)])


def read_source(text: str | type | Callable[..., Any]) -> Keys:
    """The op and rule of pasted source code: ``("formula: Fn = round(x)", "formula: Fn = g")``.

    Args:
        text: at most 20,000 characters of Python that define a Function, a module or a function; or a
            class or function, whose source is then read from its file, with that of its own bases.
            Notebook prompts, fences, missing imports and prose around the code do no harm.

    Returns:
        Two keys for ``explorer.apply`` and ``explorer.sample``, of the first definition in the text
        that can be read. The first input becomes x, the saved output y, the upstream gradient g. A
        further input keeps the value the signature gives it; one without a value becomes a
        parameter of the formula, 1 unless given. A gradient that backward returns for it is read as the sum
        it is, and stands in the rule: ``"formula: Fn = g; s: sum(g * x)"``. What the code draws for
        each element is ``u()`` or ``normal()``, one number in both passes; an input that backward calls is
        the loss, ``f()`` or ``f(1)``. A statistic of x that is too long to be written out everywhere becomes
        the parameter ``statistic``. ``.notes`` of the pair are the differences between code and formulas,
        and faults that no curve shows, a sentence each.

    Raises:
        ReadingError: a sentence on the part that could not be read, and its line. Nothing else.
    """
    readings = read_sources(text if isinstance(text, str) else _find_source(text))
    readable = [reading for reading in readings if reading.problem is None]
    own = [reading for reading in readable if reading.name == getattr(text, "__name__", "")]
    for reading in own or readable:
        keys = Keys((reading.op, reading.rule))
        others = [] if own else [other.name for other in readable if other is not reading]
        keys.notes = (
            *reading.notes,
            *([Note(SEVERAL.format(reading.name, join_texts(others)))] if others else []),
        )
        return keys
    raise readings[0].problem or ReadingError("the text is empty", 1)


def _find_source(definition: type | Callable[..., Any]) -> str:
    """Return the source code of a class with its own bases, or of a function.

    Raises ReadingError if there is no file with it.
    """
    family = getattr(definition, "__mro__", ())
    line = [each for each in family if each.__module__.split(".")[0] not in LIBRARIES]
    try:
        return "\n".join(textwrap.dedent(inspect.getsource(each)) for each in line[::-1] or [definition])
    except (OSError, TypeError):
        name = getattr(definition, "__name__", type(definition).__name__)
        raise ReadingError(f"the source of {name} is in no file: paste its code as text", 1) from None


def read_sources(text: str, inputs: Sequence[Input] | None = None) -> list[Reading]:
    """All Functions of a text in their order, each with its keys or the reason why there are none.

    Where there is no Function, the modules and plain functions that no other one calls. ``inputs`` are those
    after x in the call whose result is wanted: a Function is read for them, and they are its parameters; None
    where no call is known.

    Raises:
        ReadingError: the text as a whole is no Python, or nothing in it could be drawn.
    """
    for module, lines in syntax_trees(text):
        definitions = candidates(module)
        if len(definitions) > MAX_DEFINITIONS:
            what = f"there are {len(definitions)} definitions here: {MAX_DEFINITIONS} at once are the most"
            raise ReadingError(what, definitions[-1].definition.lineno)
        if definitions:
            steps = count()
            return [_reading(candidate, module, lines, steps, inputs) for candidate in definitions]
    what = "there is no Function here: paste a class with forward and backward, or a function of x"
    raise ReadingError(what, 1)


def _reading(
    candidate: Candidate,
    module: ast.Module,
    lines: list[str],
    steps: Iterator[int],
    inputs: Sequence[Input] | None,
) -> Reading:
    name, line = candidate.name, candidate.definition.lineno

    def attempt(decisions: Mapping[object, bool]) -> Trees:
        reader = Reader(lines, decisions, steps, inputs=inputs)
        trees = read(candidate, module, reader)
        taken = trees.learned and COUNT in reader.parameters.values()
        again = partial(Reader, lines, decisions, steps, taken={COUNT}, inputs=inputs)
        return read(candidate, module, again()) if taken else trees

    try:
        trees = _both_ways(attempt, {})
        trees = _fitting(_shortened(trees))
        learned = [_learned(part) for part in trees.learned]
        rule = "default" if trees.rule is None else _key(name, trees.rule, find_rule, learned)
        second = None if trees.second is None else Formula(number(trees.second))
        op = _key(name, trees.op, find_op)
        return Reading(name, line, op, rule, None, trees.notes, trees.guarded, second)
    except ReadingError as error:
        problem = error
    except (UnreadableError, RecursionError) as reason:
        words = reason if isinstance(reason, UnreadableError) else "is nested too deeply to be read"
        problem = ReadingError(f"line {line}: {name} {words}", line)
        problem.raises = isinstance(reason, RaisesError)
    return Reading(name, line, problem=problem)


def _key(name: str, node: Node, find: Callable[[str], Op | Rule], learned: Sequence[Learned] = ()) -> str:
    """The key of an own formula under the name of the definition."""
    node = number(node)
    _require_short(node)
    try:
        return find(make_custom_key(Formula(node).text, name, learned)).key
    except FormulaError as error:
        raise UnreadableError(f"makes no formula: {error.message}") from None


def _require_short(node: Node) -> None:
    require(not any(map(is_shared, walk(node))), "counts the values of a parameter, which a formula cannot")
    parts, levels = measure(node)
    characters = len(Formula(node).text)
    require(
        parts <= MAX_NODES and levels <= MAX_DEPTH and characters <= MAX_LENGTH,
        f"comes to {parts} parts, {levels} levels and {characters} characters: "
        f"a formula holds {MAX_NODES}, {MAX_DEPTH} and {MAX_LENGTH}; "
        "values in the signature, such as bits=4, make it shorter",
    )


def _shortened(trees: Trees) -> Trees:
    """Return the trees; if too long, with a parameter for the statistic of x that takes most of them."""
    try:
        for node in (trees.op, trees.rule or ONE):
            _require_short(number(node))
    except UnreadableError:
        parts = [part for node in (trees.op, trees.rule or ONE) for part in walk(number(node))]
        times = Counter(part for part in parts if _is_statistic(part))
        repeated = [part for part, count in times.items() if count > 1]
        if not repeated:
            return trees
        longest = max(repeated, key=lambda part: times[part] * measure(part)[0])
        name = sound_name(
            "statistic", [*find_names(trees.op), *(find_names(trees.rule) if trees.rule else ())]
        )
        known = {longest: Name(name), built("-", longest): built("-", Name(name))}
        op, rule = substitute(number(trees.op), known), trees.rule and substitute(trees.rule, known)
        learned = tuple(part._replace(tree=substitute(part.tree, known)) for part in trees.learned)
        note = Note(STANDS_FOR.format(name, Formula(longest).text, times[longest]))
        return trees._replace(op=op, rule=rule, learned=learned, notes=(*trees.notes, note), second=None)
    return trees


def _is_statistic(node: Node) -> bool:
    """Return whether a tree is one number for all elements, computed from them."""
    return not has_elements(node) and not set(VARIABLES).isdisjoint(find_names(node))


def _learned(part: Part) -> Learned:
    """The gradient of a parameter as a record of the catalogue."""
    return Learned(part.name, Formula(part.tree).text, Formula(part.scale).text if part.scale else None)


def _fitting(trees: Trees) -> Trees:
    """The trees without parameter gradients that are too long, each replaced by a note."""
    learned, notes = [], list(trees.notes)
    for part in trees.learned:
        try:
            for node in (part.tree, part.scale or ONE):
                _require_short(node)
            learned.append(part)
        except UnreadableError as reason:
            notes.append(Note(LEFT_OUT.format(part.name, f"it {reason}"), "unread"))
    return trees._replace(learned=tuple(learned), notes=tuple(notes))


def _both_ways(attempt: Callable[[Mapping[object, bool]], Trees], decisions: dict[object, bool]) -> Trees:
    """Read a definition; where a parameter or a shape decides a branch, read both sides and join them."""
    try:
        return attempt(decisions)
    except UndecidedError as undecided:
        test, line = undecided.args
    if len(decisions) == MAX_BRANCHES:
        raise ReadingError(f"line {line}: {_undecided([*decisions, test])}", line)
    sides = []
    for answer in (True, False):
        try:
            sides.append(_both_ways(attempt, {**decisions, test: answer}))
        except DeadEndError as error:
            dead = error
    if not sides:
        raise dead
    notes = tuple(dict.fromkeys(note for side in sides for note in side.notes))
    alike = sides[0][:3] == sides[-1][:3]
    guarded = frozenset.intersection(*(side.guarded for side in sides))
    second = sides[0].second if alike and sides[0].second == sides[-1].second else None
    joined = sides[0] if alike else _joined(test, line, *sides)
    return joined._replace(notes=notes, guarded=guarded, second=second)


def _undecided(tests: Sequence[object]) -> str:
    """The sentence on code with more branches than can be drawn, with the parameters that decide them."""
    deciding = list(
        dict.fromkeys(name for test in tests if isinstance(test, Node) for name in find_names(test))
    )
    words = "the code branches on parameters too often to be drawn"
    examples = f", such as {deciding[0]}=4" if deciding else ""
    return f"{words}: give {join_texts(deciding)} a value in the signature{examples}" if deciding else words


def _joined(test: object, line: int, then: Trees, otherwise: Trees) -> Trees:
    if not isinstance(test, Node):
        raise ReadingError(f"line {line}: the code gives another curve for another shape or device", line)
    require((then.rule is None) == (otherwise.rule is None), "stops gradients on one branch only")
    rule = then.rule and otherwise.rule and built("where", test, then.rule, otherwise.rule)
    op = built("where", test, then.op, otherwise.op)
    unread = then.unread | otherwise.unread
    parts = [_joined_part(test, name, then.learned, otherwise.learned) for name in _names(then, otherwise)]
    return Trees(op, rule, tuple(part for part in parts if part.name not in unread), unread=unread)


def _names(*sides: Trees) -> list[str]:
    return list(dict.fromkeys(part.name for side in sides for part in side.learned))


def _joined_part(test: Node, name: str, then: Sequence[Part], otherwise: Sequence[Part]) -> Part:
    """The gradient of a parameter under a test of another; 0 on a side without a gradient."""
    sides = [next((part for part in side if part.name == name), None) for side in (then, otherwise)]
    known = next(side for side in sides if side)
    first, other = (side or known._replace(tree=NO_GRADIENT) for side in sides)
    scale = built("where", test, first.scale or ONE, other.scale or ONE)
    return Part(name, built("where", test, first.tree, other.tree), None if scale == ONE else scale)
