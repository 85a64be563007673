"""Convert pasted Python source code to the formulas of an op and a backward rule, without executing it.

Supported are a ``torch.autograd.Function`` in any published style (static methods, ``setup_context``, the old
instance style), a small ``nn.Module``, and a plain function that stops gradients with ``detach``. If the code
cannot be converted, the error names the unsupported part and its line.
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
from explorer.reading.building import ONE, build, choose_name, is_shared_count, to_number
from explorer.reading.definitions import NO_GRADIENT, Candidate, Trees, find_candidates, read_definition
from explorer.reading.errors import DeadEndError, Note, ReadingError, UndecidedError, UnreadableError, require
from explorer.reading.gradients import LEFT_OUT
from explorer.reading.initial_values import list_initial_values
from explorer.reading.learning import Part
from explorer.reading.reader import Input, Reader
from explorer.reading.text import MAX_CHARACTERS, parse_source

MAX_DEFINITIONS = 30
REPLACED = "{} is short for {}, which is too long to write out {} times: give the parameter that value"
OTHERS_DEFINED = "{} is read here: the text also defines {}"
LIBRARIES = ("torch", "builtins", "typing", "abc")  # classes of these packages are known without their source
MAX_BRANCHES = 4  # maximum number of undecided tests on one path through pasted code


@dataclass(frozen=True)
class Reading:
    """One Function, module or plain function found in pasted source code, converted to formulas.

    Attributes:
        name: its name in the text.
        line: the number of its first line, counted from 1.
        op: the key of the op for ``apply`` and ``sample``, or "" if the op could not be read.
        rule: the key of the backward rule, including the gradients of its parameters. It is ``default`` if
            autograd computes the gradient.
        problem: the error with the part that could not be read and its line, or None.
        notes: differences between code and formulas, and faults that no curve shows, one sentence each.
        guarded: the parameters whose gradients are computed only if they are needed.
        second: the derivative of the gradient with respect to x, through the operations in backward that
            autograd follows, or None if it is unknown.
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
    """A pair of catalogue keys, one for an op and one for its backward rule.

    The attribute ``notes`` lists the differences between the original code and the formulas.
    """

    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return "\n".join([super().__repr__(), *(f"# {note}" for note in self.notes)])


def read_source(text: str | type | Callable[..., Any]) -> Keys:
    """Convert pasted source code to the keys of an op and a backward rule.

    A result looks like ``("formula: Fn = round(x)", "formula: Fn = g")``.

    Args:
        text: at most 20,000 characters of Python that define a Function, a module or a function. Notebook
            prompts, fences, missing imports and prose around the code are allowed. Alternatively a class or
            function, whose source, with that of its bases, is read from its file.

    Returns:
        Two keys for ``explorer.apply`` and ``explorer.sample``, from the first readable definition in the
        text. The first input becomes x, the saved output y, and the upstream gradient g. A further input
        keeps its default from the signature; without a default it becomes a parameter of the formula, 1
        unless set. A gradient that backward returns for it is read as a sum and becomes part of the rule:
        ``"formula: Fn = g; s: sum(g * x)"``. A random number per element is ``u()`` or ``normal()``, the same
        in both passes. An input that backward calls is the loss, ``f()`` or ``f(1)``. A statistic of x that
        is too long to be repeated becomes the parameter ``statistic``. The attribute ``notes`` lists
        differences between code and formulas, and faults that no curve shows, one sentence each.

    Raises:
        ReadingError: if the text cannot be read, with a sentence about the unreadable part, and its line. No
            other error is raised.
    """
    readings = read_sources(text if isinstance(text, str) else _find_source(text))
    readable = [reading for reading in readings if reading.problem is None]
    matching = [reading for reading in readable if reading.name == getattr(text, "__name__", "")]
    for reading in matching or readable:
        keys = Keys((reading.op, reading.rule))
        other_names = [] if matching else [other.name for other in readable if other is not reading]
        keys.notes = (
            *reading.notes,
            *([Note(OTHERS_DEFINED.format(reading.name, join_texts(other_names)))] if other_names else []),
        )
        return keys
    raise readings[0].problem or ReadingError("the text is empty", 1)


def _find_source(definition: type | Callable[..., Any]) -> str:
    """Return the source code of a function, or of a class together with its base classes.

    Raises ReadingError if the source is not in a file.
    """
    family = getattr(definition, "__mro__", ())
    classes = [each for each in family if each.__module__.split(".")[0] not in LIBRARIES]
    try:
        return "\n".join(textwrap.dedent(inspect.getsource(each)) for each in classes[::-1] or [definition])
    except (OSError, TypeError):
        name = getattr(definition, "__name__", type(definition).__name__)
        raise ReadingError(f"the source of {name} is in no file: paste its code as text", 1) from None


def read_sources(text: str, inputs: Sequence[Input] | None = None) -> list[Reading]:
    """Convert every ``autograd.Function`` in a text to formulas, in order of appearance.

    Each result has its keys, or the reason why it could not be converted. In a text without Functions, the
    modules and plain functions that no other definition calls are converted instead.

    Args:
        text: the source code.
        inputs: the inputs after x in a call of the Function, which become its parameters. None if no call is
            known.

    Raises:
        ReadingError: if the text is not Python, or contains no definition to plot or too many of them.
    """
    for module, lines in parse_source(text):
        definitions = find_candidates(module)
        if len(definitions) > MAX_DEFINITIONS:
            message = f"the text has {len(definitions)} definitions: paste at most {MAX_DEFINITIONS} of them"
            raise ReadingError(message, definitions[-1].definition.lineno)
        if definitions:
            steps = count()
            return [_read_candidate(candidate, module, lines, steps, inputs) for candidate in definitions]
    message = "there is no Function here: paste a class with forward and backward, or a function of x"
    raise ReadingError(message, 1)


def _read_candidate(
    candidate: Candidate,
    module: ast.Module,
    lines: list[str],
    steps: Iterator[int],
    inputs: Sequence[Input] | None,
) -> Reading:
    name, line = candidate.name, candidate.definition.lineno

    def attempt(decisions: Mapping[object, bool]) -> Trees:
        reader = Reader(lines, decisions, steps, inputs=inputs)
        trees = read_definition(candidate, module, reader)
        has_clash = trees.learned and COUNT in reader.parameters.values()
        make_reader = partial(Reader, lines, decisions, steps, taken={COUNT}, inputs=inputs)
        return read_definition(candidate, module, make_reader()) if has_clash else trees

    try:
        trees = _read_branches(attempt, {})
        trees = _drop_long_parts(_replace_statistic(trees))
        learned = [_make_learned(part) for part in trees.learned]
        rule = "default" if trees.rule is None else _make_key(name, trees.rule, find_rule, learned)
        second = None if trees.second is None else Formula(to_number(trees.second))
        op = _make_key(name, trees.op, find_op)
        return Reading(name, line, op, rule, None, trees.notes, trees.guarded, second)
    except ReadingError as error:
        problem = error
    except (UnreadableError, RecursionError) as reason:
        words = reason if isinstance(reason, UnreadableError) else "is nested too deeply to be read"
        problem = ReadingError(f"line {line}: {name} {words}", line)
        problem.raises = isinstance(reason, UnreadableError) and reason.raises
    return Reading(name, line, problem=problem)


def _make_key(
    name: str, node: Node, find: Callable[[str], Op | Rule], learned: Sequence[Learned] = ()
) -> str:
    node = to_number(node)
    _require_short(node)
    try:
        return find(make_custom_key(Formula(node).text, name, learned)).key
    except FormulaError as error:
        raise UnreadableError(f"makes no formula: {error.message}") from None


def _require_short(node: Node) -> None:
    require(
        not any(map(is_shared_count, walk(node))), "counts the values of a parameter, which a formula cannot"
    )
    parts, levels = measure(node)
    characters = len(Formula(node).text)
    require(
        parts <= MAX_NODES and levels <= MAX_DEPTH and characters <= MAX_LENGTH,
        f"becomes a formula of {parts} parts, {levels} levels and {characters} characters: "
        f"at most {MAX_NODES}, {MAX_DEPTH} and {MAX_LENGTH} are allowed; "
        "values in the signature, such as bits=4, make it shorter",
    )


def _replace_statistic(trees: Trees) -> Trees:
    """Replace the longest statistic of x by a parameter, if the formulas are too long."""
    try:
        for node in (trees.op, trees.rule or ONE):
            _require_short(to_number(node))
    except UnreadableError:
        parts = [part for node in (trees.op, trees.rule or ONE) for part in walk(to_number(node))]
        # A statistic is one number computed from all elements, such as a mean.
        statistics = [part for part in parts if not has_elements(part) and {*VARIABLES} & {*find_names(part)}]
        times = Counter(statistics)
        repeated = [part for part, count in times.items() if count > 1]
        if not repeated:
            return trees
        longest = max(repeated, key=lambda part: times[part] * measure(part)[0])
        name = choose_name(
            "statistic", [*find_names(trees.op), *(find_names(trees.rule) if trees.rule else ())]
        )
        replacements = {longest: Name(name), build("-", longest): build("-", Name(name))}
        op, rule = (
            substitute(to_number(trees.op), replacements),
            trees.rule and substitute(trees.rule, replacements),
        )
        learned = tuple(part._replace(tree=substitute(part.tree, replacements)) for part in trees.learned)
        note = Note(REPLACED.format(name, Formula(longest).text, times[longest]))
        return trees._replace(op=op, rule=rule, learned=learned, notes=(*trees.notes, note), second=None)
    return trees


def _make_learned(part: Part) -> Learned:
    return Learned(part.name, Formula(part.tree).text, Formula(part.scale).text if part.scale else None)


def _drop_long_parts(trees: Trees) -> Trees:
    learned, notes = [], list(trees.notes)
    for part in trees.learned:
        try:
            for node in (part.tree, part.scale or ONE):
                _require_short(node)
            learned.append(part)
        except UnreadableError as reason:
            notes.append(Note(LEFT_OUT.format(part.name, f"it {reason}"), "unread"))
    return trees._replace(learned=tuple(learned), notes=tuple(notes))


def _read_branches(attempt: Callable[[Mapping[object, bool]], Trees], decisions: dict[object, bool]) -> Trees:
    """Read a definition; if a test depends on a parameter or a shape, join the results of both branches."""
    try:
        return attempt(decisions)
    except UndecidedError as undecided:
        test, line = undecided.args
    if len(decisions) == MAX_BRANCHES:
        nodes = [each for each in [*decisions, test] if isinstance(each, Node)]
        deciding = list(dict.fromkeys(name for node in nodes for name in find_names(node)))
        message = f"line {line}: the code branches on parameters too often to be drawn"
        if deciding:
            message += f": give {join_texts(deciding)} a value in the signature, such as {deciding[0]}=4"
        raise ReadingError(message, line)
    sides = []
    for answer in (True, False):
        try:
            sides.append(_read_branches(attempt, {**decisions, test: answer}))
        except DeadEndError as error:
            dead = error
    if not sides:
        raise dead
    notes = tuple(dict.fromkeys(note for side in sides for note in side.notes))
    is_same = sides[0][:3] == sides[-1][:3]
    guarded = frozenset.intersection(*(side.guarded for side in sides))
    second = sides[0].second if is_same and sides[0].second == sides[-1].second else None
    joined = sides[0] if is_same else _join_trees(test, line, *sides)
    return joined._replace(notes=notes, guarded=guarded, second=second)


def _join_trees(test: object, line: int, then: Trees, otherwise: Trees) -> Trees:
    if not isinstance(test, Node):
        raise ReadingError(
            f"line {line}: the code has different curves for different shapes or devices: leave one", line
        )
    require(
        (then.rule is None) == (otherwise.rule is None),
        "stops gradients on only one branch of an if: stop them on both",
    )
    rule = then.rule and otherwise.rule and build("where", test, then.rule, otherwise.rule)
    op = build("where", test, then.op, otherwise.op)
    unread = then.unread | otherwise.unread
    names = dict.fromkeys(part.name for part in (*then.learned, *otherwise.learned))
    parts = [_join_part(test, name, then.learned, otherwise.learned) for name in names]
    return Trees(op, rule, tuple(part for part in parts if part.name not in unread), unread=unread)


def _join_part(test: Node, name: str, then: Sequence[Part], otherwise: Sequence[Part]) -> Part:
    """Join a parameter's gradients from both branches of an ``if``; a missing gradient counts as 0."""
    sides = [next((part for part in side if part.name == name), None) for side in (then, otherwise)]
    existing = next(side for side in sides if side)
    first, other = (side or existing._replace(tree=NO_GRADIENT) for side in sides)
    scale = build("where", test, first.scale or ONE, other.scale or ONE)
    return Part(name, build("where", test, first.tree, other.tree), None if scale == ONE else scale)
