"""Names, constants and attributes of the pasted code: what they stand for."""

from __future__ import annotations

import ast

from explorer.formula.tree import Name, Node
from explorer.reading import building
from explorer.reading.errors import UnreadableError
from explorer.reading.values import Broken, Cell, Context, Group, Library, Opaque, Routine, Scope, Value
from explorer.reading.vocabulary import REASONS, SHAPES, UNKNOWN

MODULES = {
    "torch": "torch", "pytorch": "torch", "th": "torch", "math": "math", "np": "numpy", "numpy": "numpy",
    "nn": "torch.nn", "F": "torch.nn.functional", "Variable": "torch.autograd.Variable", "cmath": "cmath",
}  # fmt: skip
READABLE_ROOTS = ("torch", "math", "numpy")
BUILTINS = frozenset(("abs", "min", "max", "pow", "round", "float", "int", "bool"))
CONSTANTS = {"pi": Name("pi"), "e": Name("e")}
INFINITY = float("inf")
NEEDED = (True,) * 16  # every input is taken to need its gradient


class Lookups:
    """Finds values by name; ``tracked`` says whether autograd would follow the code."""

    tracked: bool

    def _constant(self, value: object) -> Value:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return building.literal(value)
        if value is None or isinstance(value, bool | str):
            return value
        raise UnreadableError("is no number a formula can hold")

    def _name(self, name: str, scope: Scope) -> Value:
        try:
            value = scope.find(name)
        except KeyError:
            if name in MODULES:
                return Library(MODULES[name])
            raise UnreadableError("is not defined in this text") from None
        if isinstance(value, Broken):
            raise value.error
        return self._library(value) if isinstance(value, Library) else value

    def _library(self, library: Library) -> Value:
        """A name of a module: pi, e and infinity are values, everything else stays a name."""
        if library.root in READABLE_ROOTS and library.name in CONSTANTS:
            return CONSTANTS[library.name]
        return INFINITY if library.name in ("inf", "Inf", "infty") else library

    def _attribute(self, owner: Value, name: str) -> Value:
        match owner:
            case Library(path):
                return self._library(Library(f"{path}.{name}"))
            case Context():
                return self._stored(owner, name)
            case Group():
                return self._member(owner, name, ())
            case Cell():
                return self._property(owner, name)
            case Opaque():
                return owner
            case _ if isinstance(owner, Node) and name == "data":
                return owner
            case _:
                raise UnreadableError(UNKNOWN)

    def _stored(self, context: Context, name: str) -> Value:
        if name in ("saved_tensors", "saved_variables"):
            return context.saved
        if name == "needs_input_grad":
            return NEEDED
        if name in context.attributes:
            value = context.attributes[name]
            if isinstance(value, Broken):
                raise value.error
            return value
        return self._member(context.group, name, (context,))

    def _member(self, group: Group, name: str, bound: tuple[Value, ...]) -> Value:
        """A constant or method of a class; a method that is not static is bound."""
        try:
            value = group.members[name]
        except KeyError:
            raise UnreadableError("is never given a value in this text") from None
        if isinstance(value, Broken):
            raise value.error
        if isinstance(value, Routine) and not is_static(value.definition):
            return Routine(value.definition, value.scope, bound or (group,))
        return value

    def _property(self, cell: Cell, name: str) -> Value:
        if name == "data":
            return self._detached(cell)
        if name in ("shape", *SHAPES, "ndim"):
            return Opaque("the shape of a tensor")
        if name == "device":
            return Opaque("the device")
        if name in ("dtype", "layout"):
            return Opaque("the kind of number")
        if name in ("is_cuda", "requires_grad"):
            return name == "requires_grad"
        raise UnreadableError(REASONS["transpose"] if name in ("T", "mT", "H") else UNKNOWN)

    def _detached(self, value: Value) -> Value:
        """The values of a tensor without its history; within a Function there is no history to lose."""
        if not self.tracked or not isinstance(value, Cell):
            return value
        value.frozen = True
        return Cell(building.detach(value.node), value.within, frozen=True)


def is_static(definition: ast.FunctionDef | ast.Lambda) -> bool:
    """Whether a method is called without an object or class before its arguments."""
    decorators = definition.decorator_list if isinstance(definition, ast.FunctionDef) else []
    return any(isinstance(mark, ast.Name) and mark.id == "staticmethod" for mark in decorators)
