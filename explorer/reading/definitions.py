"""What in a pasted text could be an op with a rule, and what its trees are."""

import ast
from dataclasses import dataclass
from functools import partial
from inspect import isroutine, signature
from operator import attrgetter
from typing import Any, NamedTuple

from explorer.formula import derivative
from explorer.formula.tree import Name, Node, Number, walk
from explorer.reading.building import ZERO, built, cancelled, is_detached, number, untracked
from explorer.reading.errors import ReadingError, UnreadableError, require
from explorer.reading.functions import AUTOGRAD, NUMPY, REMARKS
from explorer.reading.reader import PASSED_OVER, Reader, last_name, method
from explorer.reading.values import Pasted, Tensor, Value, quantity

G = Name("g")
NO_GRADIENT = built("*", ZERO, G)
LEFT_OUT = "backward also returns a gradient for {}, which is left out: here it does not learn"
ALL_LEFT_OUT = "backward also returns gradients for {}, which are left out: here they do not learn"
NOT_DIFFERENTIABLE = (
    "returns no floats, or marks them as non-differentiable: torch sends no gradient back through them"
)


class Trees(NamedTuple):
    """What was read: the op, the rule, None for torch's own autograd, and what has to be said of them."""

    op: Node
    rule: Node | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Candidate:
    """A definition to be read; ``tracked``: it is no Function, so that autograd follows its code."""

    name: str
    definition: ast.stmt
    tracked: bool


def candidates(module: ast.Module) -> list[Candidate]:
    """The definitions of a text that are worth reading, in their order.

    Where a text holds an ``autograd.Function``, modules and functions around it only serve it; of
    those the ones that no other calls, all of them where each is called.
    """
    functions, known = [], dict[str, set[str]]()
    classes = [node for node in ast.walk(module) if isinstance(node, ast.ClassDef)]
    for node in sorted(classes, key=attrgetter("lineno")):
        bases = [last_name(base) for base in node.bases]
        known[node.name] = methods = _methods(node).union(*(known.get(base, ()) for base in bases))
        derived = "backward" in methods or any(base.endswith("Function") for base in bases)
        if "forward" in methods and derived:
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
    """Op and rule of a definition; ReadingError for what cannot be read.

    The first input is x. A further one keeps the value its signature gives it; without one it
    becomes a parameter of the formula, under its own name where the language allows that.
    """
    AUTOGRAD.set("followed" if candidate.tracked else "")
    NUMPY.set(False)
    REMARKS.set([])
    op, rule, *left_out = _trees(candidate, module, reader)
    parts = {*walk(op), *(walk(rule) if rule else ())}
    said = [words for node, words in reader.notes.items() if untracked(node) in parts]
    return Trees(op, rule, (*said, *left_out))


def _trees(candidate: Candidate, module: ast.Module, reader: Reader) -> tuple[Any, ...]:
    """The op, the rule, and whose gradients are left out, in a sentence."""
    scope, definition, x = reader.scope, candidate.definition, Tensor(Name("x"))
    reader.declare(module.body, scope)
    for node in ast.walk(module):
        if isinstance(node, ast.Global):
            scope |= dict.fromkeys(node.names, reader.error(node, UnreadableError(PASSED_OVER)))
    for outer in ast.walk(module):  # the outermost first
        if isinstance(outer, ast.FunctionDef) and outer is not definition and definition in ast.walk(outer):
            given = reader.arguments(reader.function(outer, scope))
            scope = scope.new_child(dict(given.arguments))
            reader.declare(outer.body, scope)
    if not isinstance(definition, ast.ClassDef):
        routine = _first(scope.get(candidate.name))
        if isinstance(routine, ReadingError):
            raise routine
        require(isroutine(routine), "is no function that can be read")
        return _tracked(reader.invoked(routine, x))
    group = reader.groups.get(definition) or reader.group(definition, scope)
    if candidate.tracked:
        call = "forward" if group.__call__ is Pasted.__call__ else "__call__"
        return _tracked(reader.invoked(partial(method(group, call), reader.invoked(group)), x))
    inputs = _inputs(group)
    context, output = reader.forwarded(group, x)
    y = quantity(_first(output))
    marked = any(y is other for other in context.without_gradient)
    require(y.kind == "float32" and not marked, NOT_DIFFERENTIABLE)
    op = untracked(_whole(y))
    vars(context).update({name: _recognised(value, op) for name, value in vars(context).items()})
    backward = method(group, "backward")
    takes = [parameter for parameter in signature(backward).parameters.values() if parameter.kind < 2]
    further = (Tensor(ZERO) for _ in takes[2:])  # 0 arrives at what is not the first output
    gradients = backward(context, Tensor(G), *further)
    gradient = _first(gradients)
    elsewhere = gradient is None and isinstance(gradients, tuple) and not {None}.issuperset(gradients)
    require(
        not elsewhere, "returns no gradient for its first input, which is taken for x: put the tensor first"
    )
    rule = NO_GRADIENT if gradient is None else untracked(_whole(gradient))
    shown = {name: reader.parameters.get(name, name) for name in inputs}
    told = [name if name == known else f"{name} (here {known})" for name, known in shown.items()]
    return op, rule, *_left_out(gradients, told)


def _left_out(gradients: Value, inputs: list[str]) -> list[str]:
    """A sentence for the inputs after the first whose gradients are not shown."""
    further = gradients[1:] if isinstance(gradients, tuple) else ()
    numbered = enumerate(further, 1)
    found = [(inputs[n : n + 1] or [f"input {n + 1}"])[0] for n, value in numbered if value is not None]
    if not found:
        return []
    if len(found) == 1:
        return [LEFT_OUT.format(found[0])]
    return [ALL_LEFT_OUT.format(f"{', '.join(found[:-1])} and {found[-1]}")]


def _inputs(group: type[Pasted]) -> list[str]:
    """The names of what forward takes besides the context."""
    takes = signature(method(group, "forward")).parameters.values()
    named = [parameter.name for parameter in takes if parameter.kind < 2]
    return named if hasattr(group, "setup_context") else named[1:]


def _recognised(value: Value, op: Node) -> Value:
    """What forward kept of its own output is y from here on."""
    if isinstance(value, tuple):
        return tuple(_recognised(part, op) for part in value)
    whole = isinstance(value, Tensor) and not value.folded
    number = whole and value.kind == "float32" and not isinstance(op, Name | Number)
    return Tensor(Name("y")) if number and untracked(value.node) == op else value


def _tracked(output: Value) -> tuple[Node, Node | None]:
    """Op and rule of code that autograd follows: its own rule only where it stops gradients."""
    node = _whole(_first(output))
    if not any(map(is_detached, walk(node))):
        return node, None
    rule = derivative(number(node), finite=True)
    if rule is None:
        raise UnreadableError("has a gradient that is too long to be written out")
    return cancelled(untracked(node)), NO_GRADIENT if rule == ZERO else untracked(rule)


def _first(value: Value) -> Value:
    return next(iter(value), None) if isinstance(value, tuple) else value


def _whole(value: Value) -> Node:
    require(value is not None, "returns no tensor")
    held = quantity(value)
    require(not held.within, "returns only the elements picked out by a mask")
    require(not getattr(held, "folded", False), "returns a tensor in another shape")
    return held.node
