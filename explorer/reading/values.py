"""What a name in the pasted code may stand for while it is read.

Numbers, None, text, tuples and dictionaries are Python's own; a number that is not known, or says
more as arithmetic, is a formula tree; whatever can be called is a Python callable, a class of the
text a Python class; a ReadingError is what could not be read, in case nobody needs it; everything
else is one of these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from explorer.formula.tree import Node, Number, Unary, is_constant
from explorer.reading.building import literal
from explorer.reading.errors import ReadingError, UnreadableError, require

Value = Any


@dataclass(eq=False)
class Tensor:
    """A tensor: several names may hold it, and an in-place operation changes it for all of them.

    ``within`` is the mask it was picked out with, as in ``x[x > 0]``; None for a whole tensor. A
    ``frozen`` one shares its memory with its own detached twin: a change to either would reach the
    other in a way no formula can tell. ``whole``: it holds whole numbers, so that ``~`` turns bits.
    """

    node: Node
    within: Node | None = None
    frozen: bool = False
    whole: bool = False


@dataclass(frozen=True)
class Opaque:
    """Something a formula has no word for and the result seldom depends on: a size, a device."""

    what: str


@dataclass(frozen=True)
class Library:
    """A module, or what a module holds, by its dotted name: ``torch.nn.functional.relu``."""

    path: str

    @property
    def name(self) -> str:
        """What stands last."""
        return self.path.rsplit(".", 1)[-1]


class Pasted:
    """What the classes of a text inherit: the parts of ``Function`` and ``Module`` that hold values."""

    needs_input_grad = (True,) * 16
    saved_tensors: tuple[Value, ...] = ()
    training = True

    def __init__(self, *_inputs: Value) -> None: ...

    def save_for_backward(self, *values: Value) -> None:
        """What forward saves is found again under both names torch has had."""
        self.saved_tensors = self.saved_variables = values

    def register_buffer(self, name: str, value: Value) -> None:
        """As an attribute."""
        setattr(self, str(name), value)

    register_parameter = register_buffer


SHAPE = Opaque("the shape of a tensor")
_WORDS = {
    str: "text", int: "a number", float: "a number", tuple: "several values", dict: "several values",
    Tensor: "a tensor",
}  # fmt: skip


def tree(value: Value) -> Node:
    """The formula tree of a tensor or number; UnreadableError for anything else."""
    match value:
        case Tensor(node):
            return node
        case int() | float():
            return literal(value)
        case ReadingError():
            raise value
        case Opaque(what):
            raise UnreadableError(f"depends on {what}, which a formula cannot know")
        case _ if not isinstance(value, Node):
            raise UnreadableError(f"needs a tensor or a number, not {described(value)}")
    return value


def described(value: Value) -> str:
    """A value in words, for a sentence."""
    if value is None or isinstance(value, bool | Library):
        return value.path if isinstance(value, Library) else str(value)
    return _WORDS.get(type(value), "a function, class or object")


def like(node: Node, *operands: Value, whole: bool = False) -> Value:
    """A result as a tensor where one of the operands is one, else as a number."""
    tensors = [operand for operand in operands if isinstance(operand, Tensor)]
    if not tensors:
        return _native(node)
    masks = {tensor.within for tensor in tensors if not is_constant(tensor.node) or tensor.within}
    require(len(masks) < 2, "mixes elements that were picked out by different masks")
    return Tensor(node, next(iter(masks), None), whole=whole)


def _native(node: Node) -> Value:
    """A literal as Python's own number, everything else as it is."""
    match node:
        case Number(value):
            return int(value) if value.is_integer() else value
        case Unary("-", Number() as number):
            return -_native(number)
        case _:
            return node
