"""Types for the values of names in pasted code, and operations on sequences of values.

Numbers, None, text, tuples and dictionaries are Python's own. A number that is unknown, or more readable as
arithmetic, is a formula tree. A function is a Python callable, and a class in the text is a Python class. A
value that could not be read is a ReadingError, which does no harm if the value is never used. All other
values are instances of classes in this module.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from explorer.formula.operands import has_elements
from explorer.formula.tree import Node
from explorer.reading.building import make_literal
from explorer.reading.errors import RaisesError, ReadingError, UnreadableError, require
from explorer.reading.vocabulary import ELEMENTWISE, KINDS, REASONS, UNKNOWN, split_words

MAX_VALUES = 64  # the maximum length of a tuple or list, which code such as (*a, *a) doubles
Value = Any
Function = Callable[..., Value]


@dataclass(eq=False)
class Quantity:
    """A number in the pasted code, given by its formula.

    Attributes:
        node: the formula.
        kind: the kind of number: "bool" for a mask, "uint8", "int64" or "float32".
        within: the mask of selected elements, as in ``x[x > 0]``. None for a complete tensor.
        number: whether it is one of Python's numbers. This is unknown for an input unless its call is known.
    """

    node: Node
    kind: str = "float32"
    within: Node | None = None
    number: bool = False


@dataclass(eq=False)
class Tensor(Quantity):
    """A tensor in the pasted code; an in-place operation changes it for all its names.

    Attributes:
        frozen: whether it shares memory with its own detached copy. A change to one of them would change the
            other in a way that no formula can express.
        folded: whether its shape differs from x's, as after ``w.view(w.size(0), -1)``.
        sized: whether the code sets its size, which a formula does not represent.
        summed: the sum of its formula over elements, or None.
        spoiled: the error of an in-place change that cannot be read, or None.
        belongs_to: "g" or "x" if it is that tensor itself, or shares its memory, otherwise "".
    """

    frozen: bool = False
    folded: bool = False
    sized: bool = False
    summed: Sum | None = None
    spoiled: ReadingError | None = None
    belongs_to: str = ""


@dataclass(frozen=True)
class Sum:
    """A sum over the elements of a tensor.

    Attributes:
        over: the dimensions of each sum, as named in the code; empty for a sum over all elements.
        bare: whether the result certainly has no dimension, so that torch accepts it for a scalar only.
        spread: the parameter over whose shape the complete sum is repeated, or "".
    """

    over: tuple[Value, ...] = ()
    bare: bool = False
    spread: str = ""


class List(list[Value]):
    """A list in the pasted code; a change of its items is visible under all names of the list."""

    def extend(self, items: Value) -> None:
        """Add the items of another list or of a tuple."""
        unpack((*self, *unpack(items)))
        super().extend(items)

    def append(self, item: Value) -> None:
        """Add an item."""
        self.extend((item,))


def freeze_lists(value: Value) -> Value:
    """Return a list in the pasted code, and all lists inside it, as tuples; return other values unchanged."""
    return tuple(map(freeze_lists, value)) if isinstance(value, List | tuple) else value


LIST_METHODS = frozenset(["append", "extend", "reverse", "pop", "insert", "copy"])


@dataclass(frozen=True)
class Opaque:
    """A value without a counterpart in formulas, such as a size or a device.

    Results seldom depend on such a value.

    Attributes:
        description: words for the value that follow "depends on".
        of: if the value is a size, the formula that has this size, or None.
        counts: the parameter whose number of values this is, or "".
    """

    description: str
    of: Node | None = field(default=None, compare=False)
    counts: str = field(default="", compare=False)

    def __call__(self, *_positional: Value, **_keywords: Value) -> Opaque:
        """Return this unknown value itself, since the result of calling it is unknown too."""
        return self


@dataclass(frozen=True)
class Library:
    """A library module or one of its members, given by a dotted name: ``torch.nn.functional.relu``."""

    path: str

    @property
    def name(self) -> str:
        """The last part of the dotted name."""
        return self.path.rsplit(".", 1)[-1]


class PastedClass:
    """Base of all classes in pasted code, with the storing methods of ``Function`` and ``Module``."""

    needs_input_grad = (True,) * 16
    saved_tensors: tuple[Value, ...] = ()
    without_gradient: tuple[Value, ...] = ()
    training = True

    def __init__(self, *_inputs: Value, **_named: Value) -> None: ...

    def __call__(self, *inputs: Value, **named: Value) -> Value:
        """Call the module's ``forward``."""
        return get_member(self, "forward")(*inputs, **named)

    def save_for_backward(self, *values: Value) -> None:
        """Store tensors for backward, under both attribute names that torch has used."""
        require(not any(map(is_number, values)), NO_TENSOR, RaisesError)
        self.saved_tensors = self.saved_variables = values

    def mark_non_differentiable(self, *outputs: Value) -> None:
        """Store the outputs through which torch passes no gradient."""
        self.without_gradient = outputs

    def register_buffer(self, name: str, value: Value) -> None:
        """Store a value as an attribute of the module."""
        vars(self)[str(name)] = value

    register_parameter = register_buffer

    def train(self, mode: Value = True) -> Value:
        """Switch the training mode on or off, and return the module itself."""
        self.training = mode
        return self

    def eval(self) -> Value:
        """Switch the training mode off, and return the module itself."""
        return self.train(False)

    def _return_self(self, *arguments: Value, **how: Value) -> Value:
        """Return the module itself, because a move to another device does not change its numbers."""
        kinds = [KINDS.get(getattr(value, "name", "")) for value in (*arguments, *how.values())]
        require("narrow" not in kinds, "rounds to another number format, which a formula does not have")
        return self

    to = cuda = cpu = float = double = requires_grad_ = _return_self


NO_VALUE = "is never given a value in this text"
# Further attributes of the ctx of a Function.
OF_A_CONTEXT = split_words(
    "dirty_tensors materialize_grads metadata name next_functions non_differentiable register_hook "
    "register_prehook saved_for_forward to_save requires_grad"
)
NO_TENSOR = "saves a number, but torch takes only tensors: keep it as an attribute of ctx"
SHAPE = Opaque("the shape of a tensor")
WORDS = {
    str: "text", int: "a number", float: "a number", tuple: "several values", dict: "several values",
    List: "several values",
    Tensor: "a tensor", type(None): "None", bool: "yes or no",
}  # fmt: skip
_KINDS: dict[type, str] = {bool: "bool", int: "int64", float: "float32"}


def to_quantity(value: Value) -> Quantity:
    """Return a tensor or number with its formula. Raises UnreadableError, with a reason, for any other."""
    match value:
        case Tensor(spoiled=ReadingError() as error):
            raise error
        case Quantity():
            return value
        case int() | float():
            return Quantity(make_literal(value), _KINDS[type(value)], number=True)
        case ReadingError():
            raise value
        case Opaque(what):
            raise UnreadableError(f"depends on {what}, which a formula cannot express")
        case _:
            raise UnreadableError(f"needs a tensor or a number, not {WORDS.get(type(value), 'an object')}")


def is_number(value: Value) -> bool:
    """Return whether a value is certainly a number rather than a tensor."""
    return isinstance(value, int | float) or (type(value) is Quantity and value.number)


def get_member(owner: Value, name: str) -> Value:
    """Return an attribute of a class or object of the pasted code. Raises UnreadableError if it has none."""
    if isinstance(owner, List) and name in LIST_METHODS:
        return lambda *items: getattr(owner, name)(*items)
    require(isinstance(owner, PastedClass | type), UNKNOWN)
    lacks = isinstance(owner, PastedClass) and name not in OF_A_CONTEXT
    require(name in dir(owner), NO_VALUE, RaisesError if lacks else UnreadableError)
    return getattr(owner, name)


def unpack(value: Value) -> tuple[Value, ...]:
    """Return the items of a tuple or list. Raises UnreadableError for any other value.

    Also raises UnreadableError for more than 64 items, including nested ones.
    """
    require(isinstance(value, tuple | list), "is unpacked, but it is not a tuple or list")
    require(_count_values(value) <= MAX_VALUES + 1, f"holds more than {MAX_VALUES} values")
    return tuple(value)


def _count_values(value: Value) -> int:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, tuple | list) else ()
    return 1 + sum(map(_count_values, parts))


def get_sum(value: Value) -> Sum | None:
    """Return the sum over elements that a tensor holds, or None if it holds no sum."""
    return value.summed if isinstance(value, Tensor) else None


def reshape_sum(value: Value) -> Value:
    """Mark a sum as having a new shape, in place, so that every name for the tensor sees the change."""
    if summed := get_sum(value):
        value.summed = replace(summed, bare=False)
    return value


def select_element(owner: Value, key: Value) -> Value:
    """Return ``owner[key]``. For a tensor, the key is a mask that selects elements."""
    if isinstance(owner, Opaque):
        return owner
    if isinstance(owner, tuple | list | dict):
        return pick(owner, key)
    tensor = to_quantity(owner)
    keys = key if isinstance(key, tuple) else (key,)
    if get_sum(tensor):
        require(all(part in (None, ..., slice(None)) for part in keys), REASONS["sum"])
        return reshape_sum(owner)
    if all(part in (..., slice(None)) for part in keys):
        return owner
    if key in (0, -1) and not has_elements(tensor.node):
        return replace(tensor)
    require(not isinstance(key, slice), f"takes a piece of a tensor: {ELEMENTWISE}")
    masks = isinstance(key, Tensor) and key.kind in ("bool", "uint8")
    require(masks, f"takes single elements or channels of a tensor: {ELEMENTWISE}")
    require(not tensor.within, "selects elements from an earlier selection: use one mask for both")
    is_folded = getattr(tensor, "folded", False)
    require(not is_folded, f"takes elements of a tensor in another shape: {ELEMENTWISE}")
    return Tensor(tensor.node, tensor.kind, key.node)


def pick(values: Value, key: Value) -> Value:
    """Return the item or slice of a tuple, list or dict for a key. Raises UnreadableError without one."""
    try:
        part = values[key]
        return List(part) if isinstance(values, List) and isinstance(key, slice) else _hide_sizes(part)
    except (TypeError, LookupError):
        missing = f"asks for a position that does not exist among {len(values)} values"
        is_index = not isinstance(values, dict) and isinstance(key, int)
        message = f"asks for a dimension beyond the first, such as channels: {ELEMENTWISE}"
        if values == (SHAPE,):
            raise UnreadableError(message) from None
        raise (RaisesError if is_index else UnreadableError)(missing) from None


def _hide_sizes(value: Value) -> Value:
    if isinstance(value, tuple):
        return tuple(map(_hide_sizes, value))
    return Opaque(value.description) if isinstance(value, Opaque) else value


def pair_targets(value: Value, targets: list[ast.expr]) -> Iterator[tuple[ast.expr, Value]]:
    """Return the targets of an assignment paired with their values or errors. A target may be starred."""
    count = len(targets)
    values = (value,) * count if isinstance(value, ReadingError) else unpack(value)
    starred = len(values) - count + 1
    for first, target in enumerate(targets):
        if isinstance(target, ast.Starred) and starred >= 0:
            values = (*values[:first], values[first : first + starred], *values[first + starred :])
    if values == (SHAPE,) and count > 1:
        pick(values, count)
    require(len(values) == count, f"unpacks {len(values)} values into {count} names", RaisesError)
    return zip(targets, values, strict=True)
