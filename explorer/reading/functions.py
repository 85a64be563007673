"""One definition to the trees of its op and its rule."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from explorer.formula import CONSTANTS, VARIABLES, FormulaError, parse
from explorer.formula.parsing import MAX_NAME
from explorer.formula.tree import Name, Node
from explorer.reading.building import ZERO, arithmetic, literal
from explorer.reading.candidates import Candidate
from explorer.reading.errors import UnreadableError
from explorer.reading.finishing import followed, stops_gradients, straight_through, untracked
from explorer.reading.statements import Reader
from explorer.reading.values import Broken, Cell, Context, Group, Opaque, Routine, Scope, Value, tree


@dataclass(frozen=True)
class Trees:
    """What was read: the op, and the rule, None for torch's own autograd."""

    op: Node
    rule: Node | None


class Inputs:
    """The values that the inputs of functions have while they are read.

    The first input is x. A further one keeps the value its signature gives it; without one it
    becomes a parameter of the formula, under its own name where the language allows that.
    """

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.names: set[str] = set()

    def of(self, routine: Routine, first: Iterable[Value]) -> tuple[Value, ...]:
        """A value for each parameter of a function; ``first`` gives those of the leading ones."""
        leading = list(first)
        takes = routine.definition.args
        names = [parameter.arg for parameter in (*takes.posonlyargs, *takes.args)]
        defaults = self.reader.defaults(routine)
        values = leading[: len(names)]
        for name in names[len(values) :]:
            values.append(defaults[name] if name in defaults else self.parameter(name))
        return (*values, *(leading[len(names) :] if takes.vararg else ()))

    def parameter(self, name: str) -> Node:
        """A parameter of the formula for an input of this name."""
        sound = _sound(name)
        while sound in self.names:
            sound = f"{sound[: MAX_NAME - 1]}2" if not sound.endswith("2") else f"{sound[:-1]}22"
        self.names.add(sound)
        return Name(sound)


def _sound(name: str) -> str:
    """A name as close to this one as a parameter of a formula may have."""
    short = name.strip("_")[:MAX_NAME].rstrip("_")
    for attempt in (
        short,
        f"{short[: MAX_NAME - 6].rstrip('_')}_value",
        f"p_{short[: MAX_NAME - 2]}",
    ):
        if _is_parameter(attempt):
            return attempt
    return "value"


def _is_parameter(name: str) -> bool:
    if name in VARIABLES + CONSTANTS:
        return False
    try:
        return parse(name, parameters=None).parameters == (name,)
    except FormulaError:
        return False


def read(candidate: Candidate, module: ast.Module, reader: Reader) -> Trees:
    """Op and rule of a definition; ReadingError for what cannot be read."""
    scope = Scope()
    reader.declare(module.body, scope)
    inputs = Inputs(reader)
    for function in candidate.enclosing:
        around = Routine(function, scope)
        scope = Scope(scope, dict(zip(_names(around), inputs.of(around, ()), strict=False)))
        reader.declare(function.body, scope)
    if isinstance(candidate.definition, ast.ClassDef):
        group = reader.group(candidate.definition, scope)
        return _of_module(group, inputs) if candidate.kind == "module" else _of_function(group, inputs)
    routine = scope.find(candidate.name)
    if not isinstance(routine, Routine):
        raise UnreadableError("is no function that can be read")
    return _tracked(reader.invoke(routine, inputs.of(routine, [Cell(Name("x"))]), {}))


def _names(routine: Routine) -> list[str]:
    takes = routine.definition.args
    return [parameter.arg for parameter in (*takes.posonlyargs, *takes.args)]


def _of_function(group: Group, inputs: Inputs) -> Trees:
    """Op and rule of a subclass of ``autograd.Function``, in any of the styles torch has had."""
    forward, backward = _method(group, "forward"), _method(group, "backward")
    context = _context(group, inputs)
    output = _forward(group, forward, context, inputs)
    op = untracked(tree(_first(output)))
    _recognise_output(context, op)
    gradients = inputs.reader.invoke(backward, _upstream(backward, context), {})
    gradient = _first(gradients)
    if gradient is None:
        return Trees(op, arithmetic("*", ZERO, Name("g")))
    return Trees(op, untracked(_whole(gradient)))


def _forward(group: Group, forward: Routine, context: Context, inputs: Inputs) -> Value:
    x = Cell(Name("x"))
    if "setup_context" not in group.members:
        return inputs.reader.invoke(forward, inputs.of(forward, [context, x]), {})
    given = inputs.of(forward, [x])
    output = inputs.reader.invoke(forward, given, {})
    inputs.reader.invoke(_method(group, "setup_context"), (context, given, output), {})
    return output


def _of_module(group: Group, inputs: Inputs) -> Trees:
    forward = _method(group, "forward")
    context = _context(group, inputs)
    return _tracked(inputs.reader.invoke(forward, inputs.of(forward, [context, Cell(Name("x"))]), {}))


def _tracked(output: Value) -> Trees:
    """Op and rule of code that autograd follows: its own rule only where it stops gradients."""
    node = _whole(_first(output))
    if stops_gradients(node):
        return Trees(*straight_through(node))
    return Trees(followed(node), None)


def _context(group: Group, inputs: Inputs) -> Context:
    context = Context(group)
    if "__init__" in group.members:
        start = _method(group, "__init__")
        inputs.reader.construct(start, inputs.of(start, [context]))
    return context


def _method(group: Group, name: str) -> Routine:
    if name not in group.members:
        raise UnreadableError(f"has no {name}, so there is no rule to show")
    method = group.members[name]
    if not isinstance(method, Routine):
        raise UnreadableError(f"has a {name} that is no plain method")
    return method


def _upstream(backward: Routine, context: Context) -> tuple[Value, ...]:
    """The arguments of backward: the upstream gradient of the first output, 0 for the others."""
    further = (Cell(literal(0)) for _ in _names(backward)[2:])
    return (context, Cell(Name("g")), *further)


def _recognise_output(context: Context, op: Node) -> None:
    """What forward kept of its own output is y from here on."""

    def recognised(value: Value) -> Value:
        if isinstance(value, Cell) and not isinstance(op, Name) and untracked(value.node) == op:
            return Cell(Name("y"))
        return value

    context.saved = tuple(recognised(value) for value in context.saved)
    for name, value in context.attributes.items():
        context.attributes[name] = recognised(value)


def _first(value: Value) -> Value:
    if isinstance(value, tuple):
        value = value[0] if value else None
    if isinstance(value, Broken):
        raise value.error
    return value


def _whole(value: Value) -> Node:
    if value is None or isinstance(value, Context | Opaque | Routine):
        raise UnreadableError("returns no tensor")
    if isinstance(value, Cell) and value.within is not None:
        raise UnreadableError("returns only the elements picked out by a mask")
    return tree(value)
