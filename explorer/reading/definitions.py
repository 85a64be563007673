"""Find definitions in pasted code that may be an op with a backward rule, and read their formulas."""

import ast
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from inspect import isroutine
from operator import attrgetter
from typing import NamedTuple

from explorer.catalogue import make_antithetic
from explorer.formula import ANTITHETIC_LOSS, LOSS, RULE_NAMES, Formula, LossAt, differentiate
from explorer.formula.tree import Name, Node, find_names, substitute, walk
from explorer.reading.building import ONE, ZERO, build, cancel_terms, is_detached, strip_detach, to_number
from explorer.reading.errors import Note, ReadingError, UndecidedError, UnreadableError, require
from explorer.reading.gradients import list_faults, read_others
from explorer.reading.learning import Part
from explorer.reading.passes import G, Passes, read_passes, require_tree, take_first
from explorer.reading.randomness import DRAWN_NAMES
from explorer.reading.reader import NOT_FOLLOWED, Reader, find_method, take_last_name
from explorer.reading.spoiling import Scope
from explorer.reading.sums import NUMPY, REMARKS
from explorer.reading.tracking import AUTOGRAD, COMPUTED_IN_FORWARD, PENDING_NOTES
from explorer.reading.values import PastedClass, Tensor, Value, get_sum

STAYS = "{} stays at {}, its default: without the default it becomes a parameter with a slider"
MAKES_FLOAT32 = "makes y float32 for x of any dtype, where the formula keeps x's dtype"
NO_GRADIENT = build("*", ZERO, G)
NEEDS_GRADIENT = "needs_input_grad"
COMPOSED = "the gradient that this code gives {0} is not read: here {0} learns by torch's derivative of y"


class Trees(NamedTuple):
    """The expression trees read from one Function, module or plain function.

    Attributes:
        op: the op.
        rule: the backward rule, or None if autograd computes the gradient.
        learned: the gradients of parameters.
        notes: the notes for the user.
        unread: the parameters whose gradients could not be read.
        guarded: the parameters whose gradients are computed only if they are needed.
        second: the derivative of the rule with respect to x, through the operations that autograd follows, or
            None if it is unknown.
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
    """A class or function in pasted code that may define an op and its backward rule.

    ``tracked`` is true if autograd follows the code, as it does everywhere except in a Function.
    """

    name: str
    definition: ast.stmt
    tracked: bool


def find_candidates(module: ast.Module) -> list[Candidate]:
    """Return the classes and functions of a module that may define an op, in order of appearance.

    In a text with an ``autograd.Function``, modules and functions around it are ignored, except for functions
    that stop gradients themselves and are not called by other code. Otherwise the list
    has the modules and functions that no other definition calls (or all, if every one is called), followed by
    called functions that stop gradients themselves. A class that only adds forward mode to another Function
    of the text is ignored.
    """
    functions, methods_by_class = [], dict[str, set[str]]()
    classes = [node for node in ast.walk(module) if isinstance(node, ast.ClassDef)]
    for node in sorted(classes, key=attrgetter("lineno")):
        bases = [take_last_name(base) for base in node.bases]
        is_wrapper = _list_methods(node) - {"setup_context"} == {"jvp"} and any(
            base in methods_by_class for base in bases
        )
        methods_by_class[node.name] = methods = _list_methods(node).union(
            *(methods_by_class.get(base, ()) for base in bases)
        )
        derived = "backward" in methods or any(base.endswith("Function") for base in bases)
        if "forward" in methods and derived and not is_wrapper:
            functions.append(Candidate(node.name, node, False))
    plain = [Candidate(name, node, True) for node in module.body if (name := _find_plain_name(node))]
    parts = [part for candidate in plain for part in ast.walk(candidate.definition)]
    used = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}
    main = [candidate for candidate in plain if candidate.name not in used]

    def stops(candidate: Candidate) -> bool:
        """Return whether a function stops a gradient."""
        parts = ast.walk(candidate.definition) if isinstance(candidate.definition, ast.FunctionDef) else ()
        return any(getattr(part, "attr", "") in ("detach", "data", "no_grad", "detach_") for part in parts)

    called = [candidate for candidate in plain if candidate.name in used and stops(candidate)]
    return [*functions, *filter(stops, main)] if functions else (main and [*main, *called]) or plain


def _find_plain_name(node: ast.stmt) -> str:
    match node:
        case ast.ClassDef(name) if "forward" in _list_methods(node):
            return name
        case ast.FunctionDef(name, takes) | ast.Assign([ast.Name(name)], ast.Lambda(takes)):
            x = next(iter(takes.posonlyargs + takes.args), None)
            return name if x and x.arg != "ctx" else ""  # a method with ctx belongs to a Function
        case _:
            return ""


def _list_methods(node: ast.ClassDef) -> set[str]:
    return {item.name for item in node.body if isinstance(item, ast.FunctionDef)}


def read_definition(candidate: Candidate, module: ast.Module, reader: Reader) -> Trees:
    """Read the op and the backward rule of a class or function as expression trees.

    The first input is x. A further input keeps its default from the signature. Without a default it becomes a
    parameter of the formula, under its own name if the formula language allows that. Raises ReadingError for
    a part that cannot be read.
    """
    AUTOGRAD.set("followed" if candidate.tracked else "")
    DRAWN_NAMES.set([])
    NUMPY.set(False)
    REMARKS.set([])
    PENDING_NOTES.set({})
    trees = _read_trees(candidate, module, reader)
    parts = {*walk(trees.op), *(walk(trees.rule) if trees.rule else ())}
    notes = [Note(words) for node, words in reader.notes.items() if strip_detach(node) in parts]
    definition = candidate.definition
    for method in ast.walk(definition):
        if isinstance(method, ast.FunctionDef) and (method is definition or method.name == "forward"):
            defaults = method.args.defaults
            inputs = method.args.args[len(method.args.args) - len(defaults) :]
            for each, default in zip(inputs, defaults, strict=True) if reader.inputs is None else ():
                number = default.operand if isinstance(default, ast.UnaryOp) else default
                is_number = isinstance(number, ast.Constant) and type(number.value) in (int, float)
                if is_number and not any(f"write {each.arg} without" in note for note in trees.notes):
                    notes.append(Note(STAYS.format(each.arg, ast.unparse(default))))
            for item in ast.walk(method):
                value = item.value if isinstance(item, ast.Return) else None
                if isinstance(value, ast.Call) and getattr(value.func, "attr", "") == "float":
                    notes.append(Note(str(reader.make_error(value, UnreadableError(MAKES_FLOAT32)))))
    return trees._replace(notes=(*notes, *trees.notes))


def _read_trees(candidate: Candidate, module: ast.Module, reader: Reader) -> Trees:
    scope, definition, x = _build_scope(candidate, module, reader), candidate.definition, Tensor(Name("x"))
    if not isinstance(definition, ast.ClassDef):
        routine = take_first(scope.get(candidate.name))
        if isinstance(routine, ReadingError):
            raise routine
        require(isroutine(routine), "is not a function that can be read")
        return _read_tracked(reader.invoke(routine, x))
    cls = reader.classes.get(definition) or reader.make_class(definition, scope)
    if candidate.tracked:
        call = "forward" if cls.__call__ is PastedClass.__call__ else "__call__"
        return _read_tracked(reader.invoke(partial(find_method(cls, call), reader.invoke(cls)), x))
    uses_needs = any(
        isinstance(node, ast.Attribute) and node.attr == NEEDS_GRADIENT for node in ast.walk(module)
    )
    return _read_function(read_passes(reader, cls), definition, uses_needs)


def _build_scope(candidate: Candidate, module: ast.Module, reader: Reader) -> Scope:
    scope, definition = reader.scope, candidate.definition
    reader.declare(module.body, scope)
    for node in ast.walk(module):
        if isinstance(node, ast.Global):
            scope |= dict.fromkeys(node.names, reader.make_error(node, UnreadableError(NOT_FOLLOWED)))
    for outer in ast.walk(module):  # from the outermost to the innermost
        if isinstance(outer, ast.FunctionDef) and outer is not definition and definition in ast.walk(outer):
            bound = reader.bind_arguments(reader.make_function(outer, scope))
            scope = scope.new_child(dict(bound.arguments))
            reader.declare(outer.body, scope)
    return scope


def _read_function(passes: Passes, definition: ast.ClassDef, uses_needs: bool) -> Trees:
    op, warnings = passes.op, tuple(passes.reader.warnings.values())
    gradient = take_first(passes.gradients)
    is_missing = passes.reader.inputs is None and gradient is None
    is_valid = not is_missing or all(value is None or get_sum(value) for value in passes.returned[1:])
    require(is_valid, "returns no gradient for its first input, which is taken for x: put the tensor first")
    rule = NO_GRADIENT if gradient is None else strip_detach(require_tree(gradient))
    antithetic = make_antithetic(Formula(to_number(op))).tree  # the output for 1 − u instead of u
    if antithetic != to_number(op):
        rule = substitute(rule, {LossAt(antithetic): ANTITHETIC_LOSS})
    learned, notes, unread, guarded = read_others(passes, uses_needs)
    notes = [*notes, *list_faults(passes, uses_needs)]
    second, constants = _derive_second(passes, rule, definition)
    return Trees(op, rule, learned, (*notes, *warnings, *constants), unread, guarded, second)


def _derive_second(
    passes: Passes, rule: Node, definition: ast.ClassDef
) -> tuple[Node | None, tuple[Note, ...]]:
    """Return the derivative of a backward rule by x, as autograd computes it when it follows backward.

    Returns None if it cannot be read. The second result has notes on values that are treated as constants.
    The derivative of the saved output is the rule itself.
    """
    reader = passes.reader
    reader.warnings.clear()
    try:
        gradient = take_first(read_passes(reader, passes.cls, follows=True).gradients)
        followed = ZERO if gradient is None else require_tree(gradient)
        second, unstopped = _derive_by_x(followed, rule), _derive_by_x(strip_detach(followed), rule)
    except (ReadingError, UnreadableError, UndecidedError):
        return None, ()
    finally:
        AUTOGRAD.set("")
    if second == unstopped:
        return second, ()
    for statement in ast.walk(definition):
        if isinstance(statement, ast.Assign | ast.Expr) and _is_saving(statement, reader.constants):
            PENDING_NOTES.get()["constant"] = COMPUTED_IN_FORWARD
            reader.warn(statement)
    return second, tuple(note for note in reader.warnings.values() if note.kind == "constant")


def _is_saving(statement: ast.Assign | ast.Expr, names: Collection[str]) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    owned = {
        take_last_name(part)
        for target in targets
        for part in ast.walk(target)
        if isinstance(part, ast.Attribute)
    }
    saves = isinstance(statement.value, ast.Call) and take_last_name(statement.value) == "save_for_backward"
    return not owned.isdisjoint(names) or (saves and "saved_tensors" in names)


def _derive_by_x(tree: Node, rule: Node) -> Node:
    """Return the derivative by x of an expression in backward, in which y depends on x by ``rule``.

    Raises UnreadableError if the result is too long.
    """
    by_output = substitute(rule, {G: ONE})
    if {LOSS.name, ANTITHETIC_LOSS.name} & {*find_names(tree)}:
        raise UnreadableError("depends on the loss, whose derivative cannot be read from this code")
    total: Node = ZERO
    for name, upstream in (("x", ONE), ("y", by_output)):
        part = differentiate(to_number(tree), name, upstream=upstream, finite=True)
        if part is None:
            raise UnreadableError("has a second derivative that is too long for a formula: shorten the code")
        total = build("+", total, part)
    return strip_detach(total)


def _read_tracked(output: Value) -> Trees:
    """Return the op and the backward rule of code that autograd follows, given its traced output.

    The rule is None unless the code stops gradients. Raises UnreadableError for a gradient that is too long.
    """
    node = require_tree(take_first(output))
    if not any(map(is_detached, walk(node))):
        return Trees(node, None)
    rule = differentiate(to_number(node), finite=True)
    if rule is None:
        raise UnreadableError("has a gradient that is too long for a formula: shorten the code")
    op = cancel_terms(strip_detach(node))
    notes = []
    for name in (name for name in find_names(op) if name not in RULE_NAMES):
        # autograd's gradient of the parameter, and the derivative of the op's formula
        composed, direct = (differentiate(to_number(tree), name, finite=True) for tree in (node, op))
        if composed is None or strip_detach(composed) != direct:
            notes.append(Note(COMPOSED.format(name)))
    return Trees(op, NO_GRADIENT if rule == ZERO else strip_detach(rule), notes=tuple(notes))
