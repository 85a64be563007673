"""The definitions of a pasted text that could be an op with a rule, and their trees."""

import ast
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from inspect import isroutine
from operator import attrgetter
from typing import NamedTuple

from explorer.catalogue import antithetic_of
from explorer.formula import Formula, differentiate
from explorer.formula.tree import (
    ANTITHETIC_LOSS,
    LOSS,
    RULE_NAMES,
    LossAt,
    Name,
    Node,
    find_names,
    substitute,
    walk,
)
from explorer.reading.building import ONE, ZERO, built, cancelled, is_detached, number, untracked
from explorer.reading.drawing import DREW
from explorer.reading.errors import Note, ReadingError, UndecidedError, UnreadableError, require
from explorer.reading.gradients import faults, others
from explorer.reading.learning import Part
from explorer.reading.passes import G, Passes, both_passes, first, whole
from explorer.reading.reader import PASSED_OVER, Reader, last_name, method
from explorer.reading.spoiling import Scope
from explorer.reading.sums import NUMPY, REMARKS
from explorer.reading.tracking import AUTOGRAD, COMPUTED_IN_FORWARD, SAID
from explorer.reading.values import Pasted, Tensor, Value, sum_of

NO_GRADIENT = built("*", ZERO, G)
ASKED = "needs_input_grad"
COMPOSED = "the gradient that this code gives {0} is not read: here {0} learns by torch's derivative of y"


class Trees(NamedTuple):
    """The trees of a definition: op, rule (None for torch's own autograd), parameter gradients, and notes.

    ``unread`` names the parameters whose gradients could not be read, ``guarded`` those whose gradients are
    computed only where they are needed. ``second`` is how the rule changes with x, through all that torch
    follows, None where that is not known.
    """

    op: Node
    rule: Node | None
    learned: tuple[Part, ...] = ()
    notes: tuple[Note, ...] = ()
    unread: frozenset[str] = frozenset()
    guarded: frozenset[str] = frozenset()
    second: Node | None = None


@dataclass(frozen=True)
class Candidate:
    """A definition to be read; ``tracked`` if it is no Function, so that autograd follows its code."""

    name: str
    definition: ast.stmt
    tracked: bool


def candidates(module: ast.Module) -> list[Candidate]:
    """The definitions of a text that are worth reading, in their order.

    Where a text holds an ``autograd.Function``, modules and functions around it only serve it; of
    those the ones that no other calls, all of them where each is called, and then the functions that a module
    calls and that stop gradients themselves. A Function that only adds forward mode to another one of the
    text is that one again.
    """
    functions, known = [], dict[str, set[str]]()
    classes = [node for node in ast.walk(module) if isinstance(node, ast.ClassDef)]
    for node in sorted(classes, key=attrgetter("lineno")):
        bases = [last_name(base) for base in node.bases]
        again = _methods(node) - {"setup_context"} == {"jvp"} and any(base in known for base in bases)
        known[node.name] = methods = _methods(node).union(*(known.get(base, ()) for base in bases))
        derived = "backward" in methods or any(base.endswith("Function") for base in bases)
        if "forward" in methods and derived and not again:
            functions.append(Candidate(node.name, node, False))
    plain = [Candidate(name, node, True) for node in module.body if (name := _plain_name(node))]
    parts = [part for candidate in plain for part in ast.walk(candidate.definition)]
    used = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}
    main = [candidate for candidate in plain if candidate.name not in used]
    called = [candidate for candidate in plain if candidate.name in used and _stops(candidate.definition)]
    return functions or (main and [*main, *called]) or plain


def _stops(definition: ast.stmt) -> bool:
    """Return whether a function stops a gradient itself."""
    marks = {"detach", "data", "no_grad", "detach_"}
    named = isinstance(definition, ast.FunctionDef)
    return named and any(getattr(part, "attr", "") in marks for part in ast.walk(definition))


def _plain_name(node: ast.stmt) -> str:
    match node:
        case ast.ClassDef(name) if "forward" in _methods(node):
            return name
        case ast.FunctionDef(name, takes) | ast.Assign([ast.Name(name)], ast.Lambda(takes)):
            x = next(iter(takes.posonlyargs + takes.args), None)
            return name if x and x.arg != "ctx" else ""  # that would be half of a Function
        case _:
            return ""


def _methods(node: ast.ClassDef) -> set[str]:
    return {item.name for item in node.body if isinstance(item, ast.FunctionDef)}


def read(candidate: Candidate, module: ast.Module, reader: Reader) -> Trees:
    """Op and rule of a definition; raises ReadingError for a part that cannot be read.

    The first input is x. A further one keeps the value its signature gives it; without one it
    becomes a parameter of the formula, under its own name where the language allows that.
    """
    AUTOGRAD.set("followed" if candidate.tracked else "")
    DREW.set([])
    NUMPY.set(False)
    REMARKS.set([])
    SAID.set({})
    trees = _trees(candidate, module, reader)
    parts = {*walk(trees.op), *(walk(trees.rule) if trees.rule else ())}
    said = [Note(words) for node, words in reader.notes.items() if untracked(node) in parts]
    return trees._replace(notes=(*said, *trees.notes))


def _trees(candidate: Candidate, module: ast.Module, reader: Reader) -> Trees:
    """Op, rule and parameter gradients of a definition, with notes on the parts left out."""
    scope, definition, x = _scope(candidate, module, reader), candidate.definition, Tensor(Name("x"))
    if not isinstance(definition, ast.ClassDef):
        routine = first(scope.get(candidate.name))
        if isinstance(routine, ReadingError):
            raise routine
        require(isroutine(routine), "is no function that can be read")
        return _tracked(reader.invoked(routine, x))
    group = reader.groups.get(definition) or reader.group(definition, scope)
    if candidate.tracked:
        call = "forward" if group.__call__ is Pasted.__call__ else "__call__"
        layer = partial(method(group, call), reader.invoked(group))
        return _tracked(reader.invoked(layer, x))
    asks = any(isinstance(node, ast.Attribute) and node.attr == ASKED for node in ast.walk(module))
    return _of_function(both_passes(reader, group), definition, asks)


def _scope(candidate: Candidate, module: ast.Module, reader: Reader) -> Scope:
    """The names around a definition: those of the text, and of the functions that it stands in."""
    scope, definition = reader.scope, candidate.definition
    reader.declare(module.body, scope)
    for node in ast.walk(module):
        if isinstance(node, ast.Global):
            scope |= dict.fromkeys(node.names, reader.error(node, UnreadableError(PASSED_OVER)))
    for outer in ast.walk(module):  # the outermost first
        if isinstance(outer, ast.FunctionDef) and outer is not definition and definition in ast.walk(outer):
            bound = reader.arguments(reader.function(outer, scope))
            scope = scope.new_child(dict(bound.arguments))
            reader.declare(outer.body, scope)
    return scope


def _of_function(passes: Passes, definition: ast.ClassDef, asks: bool) -> Trees:
    """The trees of a Function; ``asks``: whether it asks which inputs need a gradient."""
    op, written = passes.op, tuple(passes.reader.warnings.values())
    gradient = first(passes.gradients)
    alone = passes.reader.inputs is None and gradient is None
    known = not alone or all(value is None or sum_of(value) for value in passes.returned[1:])
    require(known, "returns no gradient for its first input, which is taken for x: put the tensor first")
    rule = NO_GRADIENT if gradient is None else _with_twin(untracked(whole(gradient)), op)
    learned, notes, unread, guarded = others(passes, asks)
    notes = [*notes, *faults(passes, asks)]
    second, lost = _second(passes, rule, definition)
    return Trees(op, rule, learned, (*notes, *written, *lost), unread, guarded, second)


def _with_twin(rule: Node, op: Node) -> Node:
    """A rule with the name of the loss of the twin, where it asks for that of 1 − u."""
    twin = antithetic_of(Formula(number(op))).tree
    return rule if twin == number(op) else substitute(rule, {LossAt(twin): ANTITHETIC_LOSS})


def _second(passes: Passes, rule: Node, definition: ast.ClassDef) -> tuple[Node | None, tuple[Note, ...]]:
    """How a rule changes with x where torch follows backward, and notes on what it then takes for a constant.

    None where that cannot be read. Through the saved output the change goes by the rule itself.
    """
    reader = passes.reader
    reader.warnings.clear()
    try:
        gradient = first(both_passes(reader, passes.group, follows=True).gradients)
        followed = ZERO if gradient is None else whole(gradient)
        second, unstopped = _change(followed, rule), _change(untracked(followed), rule)
    except (ReadingError, UnreadableError, UndecidedError):
        return None, ()
    finally:
        AUTOGRAD.set("")
    if second == unstopped:
        return second, ()
    for statement in ast.walk(definition):
        if isinstance(statement, ast.Assign | ast.Expr) and _keeps(statement, reader.constants):
            SAID.get()["constant"] = COMPUTED_IN_FORWARD
            reader.warn(statement)
    return second, tuple(note for note in reader.warnings.values() if note.kind == "constant")


def _keeps(statement: ast.Assign | ast.Expr, names: Collection[str]) -> bool:
    """Whether a statement keeps a value of one of these names on the context."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    owned = {
        last_name(part) for target in targets for part in ast.walk(target) if isinstance(part, ast.Attribute)
    }
    saves = isinstance(statement.value, ast.Call) and last_name(statement.value) == "save_for_backward"
    return not owned.isdisjoint(names) or (saves and "saved_tensors" in names)


def _change(tree: Node, rule: Node) -> Node:
    """The derivative of a rule with respect to x; raises UnreadableError where it is too long."""
    through = substitute(rule, {G: ONE})
    if {LOSS.name, ANTITHETIC_LOSS.name} & {*find_names(tree)}:
        raise UnreadableError("hangs on the loss, whose derivative is not known here")
    total: Node = ZERO
    for name, upstream in (("x", ONE), ("y", through)):
        part = differentiate(number(tree), name, upstream=upstream, finite=True)
        if part is None:
            raise UnreadableError("has a second derivative that is too long")
        total = built("+", total, part)
    return untracked(total)


def _tracked(output: Value) -> Trees:
    """Op and rule of code that autograd follows: its own rule only where it stops gradients."""
    node = whole(first(output))
    if not any(map(is_detached, walk(node))):
        return Trees(node, None)
    rule = differentiate(number(node), finite=True)
    if rule is None:
        raise UnreadableError("has a gradient that is too long to be written out")
    op = cancelled(untracked(node))
    notes = [
        Note(COMPOSED.format(name))
        for name in find_names(op)
        if name not in RULE_NAMES and _learns_otherwise(node, op, name)
    ]
    return Trees(op, NO_GRADIENT if rule == ZERO else untracked(rule), notes=tuple(notes))


def _learns_otherwise(node: Node, op: Node, name: str) -> bool:
    """Whether autograd's gradient for a parameter differs from that of the op's formula."""
    composed, own = (differentiate(number(tree), name, finite=True) for tree in (node, op))
    return composed is None or untracked(composed) != own
