"""What a name in the pasted code may stand for while it is read.

A number that Python would hold is a formula tree by itself; None, True, False, text and tuples are
Python's own; everything else is one of these.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from explorer.formula.tree import Node, is_constant
from explorer.reading.building import ONE, ZERO
from explorer.reading.errors import ReadingError, UnreadableError

Value = object


@dataclass(eq=False)
class Cell:
    """A tensor: several names may hold it, and an in-place operation changes it for all of them.

    ``within`` is the mask it was picked out with, as in ``x[x > 0]``; None for a whole tensor. A
    ``frozen`` one shares its memory with its own detached twin: a change to either would reach the
    other in a way no formula can tell.
    """

    node: Node
    within: Node | None = None
    frozen: bool = False


@dataclass(frozen=True)
class Broken:
    """The outcome of an expression that could not be read; it matters only if it is needed."""

    error: ReadingError


@dataclass(frozen=True)
class Opaque:
    """Something a formula has no word for and the result seldom depends on: a shape, a device."""

    what: str


@dataclass(frozen=True)
class Library:
    """A module, or what a module holds, by its dotted name: ``torch.nn.functional.relu``."""

    path: str

    @property
    def root(self) -> str:
        """The outermost module."""
        return self.path.split(".")[0]

    @property
    def name(self) -> str:
        """What stands last."""
        return self.path.rsplit(".", 1)[-1]


@dataclass(frozen=True)
class Layer:
    """A function with its further arguments given beforehand, as ``nn.Hardtanh(-1, 1)`` is."""

    function: str
    positional: tuple[Value, ...]
    keywords: dict[str, Value]


@dataclass
class Scope:
    """Names and their values, within the scope around it."""

    parent: Scope | None = None
    names: dict[str, Value] = field(default_factory=dict)

    def find(self, name: str) -> Value:
        """The value of a name; KeyError where nobody gave it one."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        raise KeyError(name)


@dataclass(frozen=True, eq=False)
class Routine:
    """A function of the pasted text, with the scope it was defined in and what it is bound to."""

    definition: ast.FunctionDef | ast.Lambda
    scope: Scope
    bound: tuple[Value, ...] = ()


@dataclass(frozen=True, eq=False)
class Group:
    """A class of the pasted text: its constants and methods, inherited ones included."""

    members: dict[str, Value]


@dataclass(eq=False)
class Context:
    """What forward leaves behind for backward: ``ctx``, or ``self`` in older code and in modules."""

    group: Group
    attributes: dict[str, Value] = field(default_factory=dict)
    saved: tuple[Value, ...] = ()


def tree(value: Value) -> Node:
    """The formula tree of a tensor or number; UnreadableError for anything else."""
    if isinstance(value, Cell):
        return value.node
    if isinstance(value, bool):
        return ONE if value else ZERO
    if isinstance(value, Node):
        return value
    if isinstance(value, Opaque):
        raise UnreadableError(f"depends on {value.what}, which a formula cannot know")
    if isinstance(value, Broken):
        raise value.error
    raise UnreadableError(f"needs a tensor or a number, not {described(value)}")


def described(value: Value) -> str:
    """A value in words, for a sentence."""
    match value:
        case None | bool():
            return str(value)
        case str():
            return "text"
        case tuple():
            return f"{len(value)} values"
        case Library(path):
            return path
        case Group() | Routine() | Layer():
            return "a function or class"
        case Context():
            return "the context"
        case float():
            return "infinity"
        case Cell():
            return "a tensor"
        case _:
            return "this"


def like(node: Node, *operands: Value) -> Value:
    """A result as a tensor where one of the operands is one, else as a number."""
    cells = [operand for operand in operands if isinstance(operand, Cell)]
    return Cell(node, common_mask(*cells)) if cells else node


def common_mask(*cells: Cell) -> Node | None:
    """The mask that tensors were picked out with; UnreadableError where they differ."""
    masks = {cell.within for cell in cells if cell.within is not None}
    if not masks:
        return None
    whole = any(cell.within is None and not is_constant(cell.node) for cell in cells)
    if len(masks) > 1 or whole:
        raise UnreadableError("mixes elements that were picked out by different masks")
    return masks.pop()
