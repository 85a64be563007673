"""Values of names in the pasted code while it is read, and the parts of several.

Numbers, None, text, tuples and dictionaries are Python's own. A number that is not known, or says
more as arithmetic, is a formula tree. A function is a Python callable, a class of the text a Python class.
A ReadingError stands for a value that could not be read, in case it is never used. Everything else is one of
these classes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from explorer.formula.operands import has_elements
from explorer.formula.tree import Node
from explorer.reading.building import literal
from explorer.reading.errors import RaisesError, ReadingError, UnreadableError, require
from explorer.reading.vocabulary import ELEMENTWISE, KINDS, REASONS, UNKNOWN, words

MAX_VALUES = 64  # of a tuple or list: (*a, *a) doubles it
Value = Any
Function = Callable[..., Value]


@dataclass(eq=False)
class Quantity:
    """A number by its formula, and of which kind it is: a mask, a byte, an integer or a float.

    ``within`` is the mask it was picked out with, as in ``x[x > 0]``; None for a whole tensor. ``number``
    says that it is one of Python's; of an input nobody knows, unless the call is given.
    """

    node: Node
    kind: str = "float32"
    within: Node | None = None
    number: bool = False


@dataclass(eq=False)
class Tensor(Quantity):
    """A tensor: several names may hold it, and an in-place operation changes it for all of them.

    A ``frozen`` one shares its memory with its own detached twin: a change to either would reach the
    other in a way no formula can tell. A ``folded`` one has its elements in another shape, as
    ``w.view(w.size(0), -1)`` has. A ``sized`` one is as large as the code says, which a formula does not
    hold. A ``summed`` one is the sum of its formula over elements. A ``spoiled`` one was changed in place
    in a way that cannot be read. An ``upstream`` one is g itself, or shares its memory.
    """

    frozen: bool = False
    folded: bool = False
    sized: bool = False
    summed: Sum | None = None
    spoiled: ReadingError | None = None
    upstream: bool = False


@dataclass(frozen=True)
class Sum:
    """The way in which elements were summed.

    Attributes:
        over: the dimensions of each sum, as the code names them; () for all elements.
        bare: whether it surely has no dimension left, so that torch takes it for a scalar alone.
        spread: the parameter in whose shape each place holds the whole sum, "" for none.
    """

    over: tuple[Value, ...] = ()
    bare: bool = False
    spread: str = ""


class List(list[Value]):
    """A list of the text: several names may hold it, and its items change for all of them."""

    def extend(self, more: Value) -> None:
        """Add the items of another list or of a tuple."""
        several((*self, *several(more)))
        super().extend(more)

    def append(self, item: Value) -> None:
        """Add an item."""
        self.extend((item,))


def fixed(value: Value) -> Value:
    """A list of the text, and those within it, as tuples; any other value as it is."""
    return tuple(map(fixed, value)) if isinstance(value, List | tuple) else value


LIST_METHODS = frozenset(["append", "extend", "reverse", "pop", "insert", "copy"])


@dataclass(frozen=True)
class Opaque:
    """A value without a counterpart in formulas, on which results seldom depend: a size, a device.

    ``of`` is the formula whose size this is; ``counts`` names the parameter with so many values.
    """

    what: str
    of: Node | None = field(default=None, compare=False)
    counts: str = field(default="", compare=False)

    def __call__(self, *_positional: Value, **_keywords: Value) -> Opaque:
        """The result of a call, as unknown as the callee."""
        return self


@dataclass(frozen=True)
class Library:
    """A module or a member of one, by its dotted name: ``torch.nn.functional.relu``."""

    path: str

    @property
    def name(self) -> str:
        """The last part of the dotted name."""
        return self.path.rsplit(".", 1)[-1]


class Pasted:
    """The base of all classes of a text: the parts of ``Function`` and ``Module`` that hold values."""

    needs_input_grad = (True,) * 16
    saved_tensors: tuple[Value, ...] = ()
    without_gradient: tuple[Value, ...] = ()
    training = True

    def __init__(self, *_inputs: Value, **_named: Value) -> None: ...

    def __call__(self, *inputs: Value, **named: Value) -> Value:
        """The result of the module's forward."""
        return member(self, "forward")(*inputs, **named)

    def save_for_backward(self, *values: Value) -> None:
        """Store tensors under both names that torch has had for them."""
        require(not any(map(is_number, values)), NO_TENSOR, RaisesError)
        self.saved_tensors = self.saved_variables = values

    def mark_non_differentiable(self, *outputs: Value) -> None:
        """Through these outputs torch sends nothing back."""
        self.without_gradient = outputs

    def register_buffer(self, name: str, value: Value) -> None:
        """As an attribute."""
        vars(self)[str(name)] = value

    register_parameter = register_buffer

    def train(self, mode: Value = True) -> Value:
        """The module itself, in training or not."""
        self.training = mode
        return self

    def eval(self) -> Value:
        """The module itself, no longer in training."""
        return self.train(False)

    def _unchanged(self, *what: Value, **how: Value) -> Value:
        """The module itself: where its numbers are, and whether they learn, changes none of them."""
        kinds = [KINDS.get(getattr(value, "name", "")) for value in (*what, *how.values())]
        require("narrow" not in kinds, "rounds to another number format, which a formula does not have")
        return self

    to = cuda = cpu = float = double = requires_grad_ = _unchanged


NO_VALUE = "is never given a value in this text"
# What a context of torch has as well.
OF_A_CONTEXT = words(
    "dirty_tensors materialize_grads metadata name next_functions non_differentiable register_hook "
    "register_prehook saved_for_forward to_save requires_grad"
)
NO_TENSOR = "saves a number, but torch takes tensors alone: keep it as ctx.a = a"
SHAPE = Opaque("the shape of a tensor")
WORDS = {
    str: "text", int: "a number", float: "a number", tuple: "several values", dict: "several values",
    List: "several values",
    Tensor: "a tensor", type(None): "None", bool: "yes or no",
}  # fmt: skip
_KINDS: dict[type, str] = {bool: "bool", int: "int64", float: "float32"}


def quantity(value: Value) -> Quantity:
    """A tensor or number with its formula; UnreadableError for anything else."""
    match value:
        case Tensor(spoiled=ReadingError() as error):
            raise error
        case Quantity():
            return value
        case int() | float():
            return Quantity(literal(value), _KINDS[type(value)], number=True)
        case ReadingError():
            raise value
        case Opaque(what):
            raise UnreadableError(f"depends on {what}, which a formula cannot know")
        case _:
            raise UnreadableError(f"needs a tensor or a number, not {WORDS.get(type(value), 'an object')}")


def is_number(value: Value) -> bool:
    """Whether a value is surely a number, no tensor."""
    return isinstance(value, int | float) or (type(value) is Quantity and value.number)


def member(owner: Value, name: str) -> Value:
    """A name of a class or object of the text."""
    if isinstance(owner, List) and name in LIST_METHODS:
        return lambda *items: getattr(owner, name)(*items)
    require(isinstance(owner, Pasted | type), UNKNOWN)
    lacks = isinstance(owner, Pasted) and name not in OF_A_CONTEXT
    require(name in dir(owner), NO_VALUE, RaisesError if lacks else UnreadableError)
    return getattr(owner, name)


def several(value: Value) -> tuple[Value, ...]:
    """The values of a tuple or list, at most 64 with those within; UnreadableError for anything else."""
    require(isinstance(value, tuple | list), "is taken apart, but it is not several values")
    require(_weight(value) <= MAX_VALUES + 1, f"holds more than {MAX_VALUES} values")
    return tuple(value)


def _weight(value: Value) -> int:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, tuple | list) else ()
    return 1 + sum(map(_weight, parts))


def sum_of(value: Value) -> Sum | None:
    """The sum that a value is; None for one that is none."""
    return value.summed if isinstance(value, Tensor) else None


def shaped(value: Value) -> Value:
    """A sum in another shape: the same memory, so that what changes it in place is seen by all its names."""
    if held := sum_of(value):
        value.summed = replace(held, bare=False)
    return value


def element(owner: Value, key: Value) -> Value:
    """``owner[key]``: of a tensor, the elements picked out by a mask."""
    if isinstance(owner, Opaque):
        return owner
    if isinstance(owner, tuple | list | dict):
        return picked(owner, key)
    tensor = quantity(owner)
    keys = key if isinstance(key, tuple) else (key,)
    if sum_of(tensor):
        require(all(part in (None, ..., slice(None)) for part in keys), REASONS["sum"])
        return shaped(owner)
    if all(part in (..., slice(None)) for part in keys):
        return owner
    if key in (0, -1) and not has_elements(tensor.node):
        return replace(tensor)
    require(not isinstance(key, slice), f"takes a piece of a tensor: {ELEMENTWISE}")
    masks = isinstance(key, Tensor) and key.kind in ("bool", "uint8")
    require(masks, f"takes single elements or channels of a tensor: {ELEMENTWISE}")
    require(not tensor.within, "picks elements out of what was picked out before")
    require(
        not getattr(tensor, "folded", False), f"takes elements of a tensor in another shape: {ELEMENTWISE}"
    )
    return Tensor(tensor.node, tensor.kind, key.node)


def picked(values: Value, key: Value) -> Value:
    """One of several values, or a slice of them."""
    try:
        part = values[key]
        return List(part) if isinstance(values, List) and isinstance(key, slice) else _in_part(part)
    except (TypeError, LookupError):
        missing = f"asks for a position that does not exist among {len(values)} values"
        unknown = not isinstance(values, dict) and isinstance(key, int)
        beyond = f"asks for a dimension beyond the first, such as channels: {ELEMENTWISE}"
        if values == (SHAPE,):
            raise UnreadableError(beyond) from None
        raise (RaisesError if unknown else UnreadableError)(missing) from None


def _in_part(value: Value) -> Value:
    """One size, or several, no longer known to be all sizes of a tensor."""
    if isinstance(value, tuple):
        return tuple(map(_in_part, value))
    return Opaque(value.what) if isinstance(value, Opaque) else value


def apart(value: Value, targets: list[ast.expr]) -> Iterator[tuple[ast.expr, Value]]:
    """Assignment targets, of which one may be starred, each with its value or its error."""
    count = len(targets)
    values = (value,) * count if isinstance(value, ReadingError) else several(value)
    more = len(values) - count + 1
    for first, target in enumerate(targets):
        if isinstance(target, ast.Starred) and more >= 0:
            values = (*values[:first], values[first : first + more], *values[first + more :])
    if values == (SHAPE,) and count > 1:
        picked(values, count)
    require(len(values) == count, f"takes {len(values)} values apart into {count} names", RaisesError)
    return zip(targets, values, strict=True)
