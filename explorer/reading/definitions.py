"""The definitions of a pasted text that could be an op with a rule, and their trees."""

import ast
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from inspect import Parameter, isroutine, signature
from operator import attrgetter
from typing import Any, NamedTuple

from explorer.catalogue import twin_of
from explorer.formula import Formula, derivative
from explorer.formula.tree import (
    LOSS,
    RULE_NAMES,
    TWIN_LOSS,
    LossAt,
    Name,
    Node,
    Number,
    names,
    substituted,
    walk,
)
from explorer.reading.building import ONE, ZERO, built, cancelled, detach, is_detached, number, untracked
from explorer.reading.drawing import CALLED, DREW
from explorer.reading.errors import (
    HangsError,
    Note,
    RaisesError,
    ReadingError,
    UndecidedError,
    UnreadableError,
    require,
)
from explorer.reading.learning import Part, part_of, shape_notes
from explorer.reading.reader import PASSED_OVER, Reader, last_name, method
from explorer.reading.sums import NUMPY, REMARKS
from explorer.reading.tracking import AUTOGRAD, COMPUTED_IN_FORWARD, SAID
from explorer.reading.values import Pasted, Quantity, Tensor, Value, quantity, sum_of

G = Name("g")
NO_GRADIENT = built("*", ZERO, G)
ASKED = "needs_input_grad"
LEFT_OUT = "backward also returns a gradient for {}, which is left out: {}"
HAS_A_VALUE = "belongs to an input whose value in the signature stays: write {} without one"
NO_NAME = "belongs to no input with a name"
GUARDED = "hangs on what another input needs: that of {} is ctx.needs_input_grad[{}]"
NEVER = "backward returns None for {}, a tensor that y depends on: it never learns"
NO_GRADIENT_FOR_X = "the gradient for x is None: nothing before it learns"
COMPOSED = "the gradient that this code gives {0} is not read: here {0} learns by torch's derivative of y"
A_LIST = "backward returns a list: torch takes a tuple of gradients, and raises an error"
FOR_A_NUMBER = (
    "backward returns a gradient for {0}, which is a number: torch takes None alone, and raises an error"
)
WRONG_NUMBER = "backward returns {} for {}: torch raises an error"
NOT_DIFFERENTIABLE = (
    "returns no floats, or marks them as non-differentiable: torch sends no gradient back through them"
)


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
    those the ones that no other calls, all of them where each is called. A Function that only adds forward
    mode to another one of the text is that one again.
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
    return functions or [candidate for candidate in plain if candidate.name not in used] or plain


def _plain_name(node: ast.stmt) -> str:
    match node:
        case ast.ClassDef(name) if "forward" in _methods(node):
            return name
        case ast.FunctionDef(name, takes) | ast.Assign([ast.Name(name)], ast.Lambda(takes)):
            first = next(iter(takes.posonlyargs + takes.args), None)
            return name if first and first.arg != "ctx" else ""  # that would be half of a Function
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
    if not isinstance(definition, ast.ClassDef):
        routine = _first(scope.get(candidate.name))
        if isinstance(routine, ReadingError):
            raise routine
        require(isroutine(routine), "is no function that can be read")
        return _tracked(reader.invoked(routine, Tensor(Name("x"))))
    group = reader.groups.get(definition) or reader.group(definition, scope)
    if candidate.tracked:
        call = "forward" if group.__call__ is Pasted.__call__ else "__call__"
        layer = partial(method(group, call), reader.invoked(group))
        return _tracked(reader.invoked(layer, Tensor(Name("x"))))
    op, gradients, saved = _both_passes(reader, group)
    written = tuple(reader.warnings.values())
    gradient = _first(gradients)
    others = gradients[1:] if gradient is None and isinstance(gradients, tuple) else ()
    known = reader.inputs is not None or all(value is None or sum_of(value) for value in others)
    require(known, "returns no gradient for its first input, which is taken for x: put the tensor first")
    rule = NO_GRADIENT if gradient is None else _with_twin(untracked(_whole(gradient)), op)
    asks = any(isinstance(node, ast.Attribute) and node.attr == ASKED for node in ast.walk(module))
    again = partial(_both_passes, reader, group) if asks else None
    trees = _learned(gradients, _inputs(group), reader, again)
    silent = _without_gradient(gradients, _inputs(group), reader, saved.intersection(names(op)))
    blocked = [Note(NO_GRADIENT_FOR_X, "silent")] * any(value is not None for value in others)
    if again is not None and gradient is not None and not _is_same(gradient, _under(again, 0, {0})):
        blocked.append(Note(f"the gradient for x {GUARDED.format('x', 0)}", "hangs"))
    faults = (*_refused(gradients, reader), *_numbered(gradients, group))
    second, lost = _second(reader, group, rule, definition)
    notes = (*trees.notes, *blocked, *silent, *faults, *written, *lost)
    return Trees(op, rule, trees.learned, notes, trees.unread, trees.guarded, second)


def _with_twin(rule: Node, op: Node) -> Node:
    """A rule with the name of the loss of the twin, where it asks for that of 1 − u."""
    twin = twin_of(Formula(number(op))).tree
    return rule if twin == number(op) else substituted(rule, {LossAt(twin): TWIN_LOSS})


def _second(
    reader: Reader, group: type[Pasted], rule: Node, definition: ast.ClassDef
) -> tuple[Node | None, tuple[Note, ...]]:
    """How a rule changes with x where torch follows backward, and notes on what it then takes for a constant.

    None where that cannot be read. Through the saved output the change goes by the rule itself.
    """
    reader.warnings.clear()
    try:
        _, gradients, _ = _both_passes(reader, group, follows=True)
        gradient = _first(gradients)
        followed = ZERO if gradient is None else _whole(gradient)
        second, whole = _change(followed, rule), _change(untracked(followed), rule)
    except (ReadingError, UnreadableError, UndecidedError):
        return None, ()
    finally:
        AUTOGRAD.set("")
    if second == whole:
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


def _holds_constant(value: Value) -> bool:
    parts = value if isinstance(value, tuple | list) else (value,)
    return any(isinstance(part, Tensor) and is_detached(part.node) for part in parts)


def _change(tree: Node, rule: Node) -> Node:
    """The derivative of a rule with respect to x; raises UnreadableError where it is too long."""
    through = substituted(rule, {G: ONE})
    if {LOSS.name, TWIN_LOSS.name} & {*names(tree)}:
        raise UnreadableError("hangs on the loss, whose derivative is not known here")
    total: Node = ZERO
    for name, upstream in (("x", ONE), ("y", through)):
        part = derivative(number(tree), name, upstream=upstream, finite=True)
        if part is None:
            raise UnreadableError("has a second derivative that is too long")
        total = built("+", total, part)
    return untracked(total)


def _both_passes(
    reader: Reader, group: type[Pasted], needs: Sequence[bool] = (), follows: bool = False
) -> tuple[Node, Value, set[str]]:
    """The op of a Function, the return value of its backward, and the parameters saved as tensors.

    ``needs`` says which inputs need a gradient; ``follows`` whether torch follows backward, for a second one.
    """
    AUTOGRAD.set("followed" if follows else "")
    DREW.set([])
    CALLED.set(None)
    x = Tensor(Name("x"))
    _require_called(reader, group)
    context, output = reader.forwarded(group, x, *reader.given(_inputs(group)[1:]), needs=needs)
    y = quantity(_first(output))
    marked = any(y is other for other in context.without_gradient)
    require(y.kind == "float32" and not marked, NOT_DIFFERENTIABLE)
    op = untracked(_whole(y))
    held = partial(_recorded, leaves={id(x): x, id(y): Tensor(Name("y"))}) if follows else _recognised
    vars(context).update({name: held(value, op) for name, value in vars(context).items()})
    reader.constants = [name for name, value in vars(context).items() if _holds_constant(value)]
    backward = method(group, "backward")
    takes = [parameter for parameter in signature(backward).parameters.values() if parameter.kind < 2]
    further = (Tensor(ZERO) for _ in takes[2:])  # 0 arrives at what is not the first output
    nodes = (value.node for value in context.saved_tensors if type(value) is Quantity)
    saved = {node.name for node in nodes if isinstance(node, Name)}
    SAID.get().clear()
    CALLED.set(set())
    try:
        return op, backward(context, Tensor(G, upstream=True), *further), saved
    finally:
        CALLED.set(None)


def _require_called(reader: Reader, group: type[Pasted]) -> None:
    """Raise RaisesError where a call of the Function has too many inputs or too few."""
    if reader.inputs is None:
        return
    takes = list(signature(method(group, "forward")).parameters.values())
    needed = [each for each in takes if each.kind < 2 and each.default is Parameter.empty]
    most = len(_inputs(group)) if all(each.kind < 2 for each in takes) else len(reader.inputs) + 1
    least = len(needed) - (not hasattr(group, "setup_context"))
    given = len(reader.inputs) + 1
    require(
        least <= given <= most, f"takes {len(_inputs(group))} inputs and is called with {given}", RaisesError
    )


def _recorded(value: Value, _op: Node, *, leaves: Mapping[int, Tensor]) -> Value:
    """A value of forward, as torch follows it: nothing is recorded there, so all but x and y is constant."""
    if isinstance(value, tuple | list):
        return type(value)(_recorded(part, _op, leaves=leaves) for part in value)
    if not isinstance(value, Tensor):
        return value
    return leaves[id(value)] if id(value) in leaves else replace(value, node=detach(value.node), frozen=False)


class _Learned(NamedTuple):
    """The gradients of the inputs after the first, notes, and the names that were not read or are guarded."""

    learned: tuple[Part, ...]
    notes: list[Note]
    unread: frozenset[str]
    guarded: frozenset[str]


def _learned(
    gradients: Value, inputs: list[str], reader: Reader, again: Callable[[Sequence[bool]], Any] | None
) -> _Learned:
    """The gradients of the inputs after the first; ``again`` reads with other inputs needing gradients."""
    parts, notes, unread, guarded = list[Part](), list[Note](), set[str](), set[str]()
    for position, value in enumerate(gradients[1:] if isinstance(gradients, tuple) else (), 1):
        if value is None:
            continue
        own = inputs[position] if position < len(inputs) else f"input {position + 1}"
        name = reader.parameters.get(own, own)
        try:
            require(position < len(inputs), NO_NAME)
            require(own in reader.parameters, HAS_A_VALUE.format(own))
            part = part_of(value, name, reader.notes)
            if again is not None:
                ways = [_under(again, position, needed) for needed in ({0, position}, {position})]
                same = all(_is_same(value, way) for way in ways)
                require(same, GUARDED.format(own, position), HangsError)
                guarded |= {name} if _under(again, position, {0}) is None else set()
            parts.append(part)
            notes += map(Note, shape_notes(value, own))
        except (ReadingError, UnreadableError) as reason:
            unread.add(name)
            named = own if name == own else f"{own} (here {name})"
            words = reason if isinstance(reason, ReadingError) else f"it {reason}"
            kind = "hangs" if isinstance(reason, HangsError) else "unread"
            notes.append(Note(LEFT_OUT.format(named, words), kind))
    return _Learned(tuple(parts), notes, frozenset(unread), frozenset(guarded))


def _without_gradient(
    gradients: Value, inputs: list[str], reader: Reader, tensors: Collection[str]
) -> list[Note]:
    """A sentence for each of these tensors that backward returns None for."""
    returned = gradients if isinstance(gradients, tuple) else (gradients,)
    pairs = zip(inputs[1:], returned[1:], strict=False)
    silent = [own for own, value in pairs if value is None and reader.parameters.get(own) in tensors]
    return [Note(NEVER.format(own), "silent") for own in silent]


def _refused(gradients: Value, reader: Reader) -> list[Note]:
    """A note for each gradient of an input that is a number in the call."""
    returned = gradients[1:] if isinstance(gradients, tuple) else ()
    pairs = zip(reader.inputs or (), returned, strict=False)
    return [
        Note(FOR_A_NUMBER.format(each.name), "raises")
        for each, value in pairs
        if not each.tensor and value is not None
    ]


def _under(again: Callable[[Sequence[bool]], Any], position: int, needed: Collection[int]) -> Value:
    """The gradient of an input where the inputs at these positions alone need one."""
    gradients = again([index in needed for index in range(len(Pasted.needs_input_grad))])[1]
    returned = gradients if isinstance(gradients, tuple) else (gradients,)
    return returned[position] if position < len(returned) else None


def _is_same(value: Value, other: Value) -> bool:
    if not isinstance(value, Quantity) or not isinstance(other, Quantity):
        return value is other
    return (value.node, value.within, sum_of(value)) == (other.node, other.within, sum_of(other))


def _numbered(gradients: Value, group: type[Pasted]) -> list[Note]:
    """A note where backward returns a list, or fewer or more gradients than forward can take inputs."""
    if isinstance(gradients, list):
        return [Note(A_LIST, "raises")]
    returned = list(gradients) if isinstance(gradients, tuple) else [gradients]
    takes = signature(method(group, "forward")).parameters.values()
    inputs = len(_inputs(group))
    needed = inputs - sum(parameter.default is not Parameter.empty for parameter in takes)
    while len(returned) > inputs and returned[-1] is None:  # torch passes these over
        returned.pop()
    if Parameter.VAR_POSITIONAL in {each.kind for each in takes} or needed <= len(returned) <= inputs:
        return []
    number = f"{len(returned)} gradient{'s' * (len(returned) != 1)}"
    return [Note(WRONG_NUMBER.format(number, f"{inputs} input{'s' * (inputs != 1)}"), "raises")]


def _inputs(group: type[Pasted]) -> list[str]:
    """The names of forward's inputs, without the context."""
    takes = signature(method(group, "forward")).parameters.values()
    named = [parameter.name for parameter in takes if parameter.kind < 2]
    return named if hasattr(group, "setup_context") else named[1:]


def _recognised(value: Value, op: Node) -> Value:
    """A value with y in place of forward's own output."""
    if isinstance(value, tuple | list):
        return type(value)(_recognised(part, op) for part in value)
    whole = isinstance(value, Tensor) and not (value.folded or value.summed)
    number = whole and value.kind == "float32" and not isinstance(op, Name | Number)
    return Tensor(Name("y")) if number and untracked(value.node) == op else value


def _tracked(output: Value) -> Trees:
    """Op and rule of code that autograd follows: its own rule only where it stops gradients."""
    node = _whole(_first(output))
    if not any(map(is_detached, walk(node))):
        return Trees(node, None)
    rule = derivative(number(node), finite=True)
    if rule is None:
        raise UnreadableError("has a gradient that is too long to be written out")
    op = cancelled(untracked(node))
    notes = [
        Note(COMPOSED.format(name))
        for name in names(op)
        if name not in RULE_NAMES and _learns_otherwise(node, op, name)
    ]
    return Trees(op, NO_GRADIENT if rule == ZERO else untracked(rule), notes=tuple(notes))


def _learns_otherwise(node: Node, op: Node, name: str) -> bool:
    """Whether autograd's gradient for a parameter differs from that of the op's formula."""
    composed, own = (derivative(number(tree), name, finite=True) for tree in (node, op))
    return composed is None or untracked(composed) != own


def _first(value: Value) -> Value:
    return next(iter(value), None) if isinstance(value, tuple | list) else value


def _whole(value: Value) -> Node:
    require(value is not None, "returns no tensor")
    held = quantity(value)
    require(not held.within, "returns only the elements picked out by a mask")
    require(not getattr(held, "folded", False), "returns a tensor in another shape")
    require(not sum_of(held), "returns a sum where a value for each element is wanted")
    return held.node
