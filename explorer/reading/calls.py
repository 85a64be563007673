"""Calls of known functions and methods, and of operators: values in, value out."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache

from explorer.formula import parse
from explorer.formula.tree import Call, Node, is_condition, is_constant
from explorer.reading import building
from explorer.reading.building import arithmetic, call, compare, literal, mask, number, where
from explorer.reading.errors import UnreadableError
from explorer.reading.values import Cell, Library, Opaque, Value, like, tree
from explorer.reading.vocabulary import (
    ALIASES,
    COPIES,
    FILLED,
    IGNORED_KEYWORDS,
    INTEGERS,
    NUMBERS,
    OPERATORS,
    REASONS,
    SAME,
    SHAPES,
    TEMPLATES,
    UNKNOWN,
)

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
Keywords = dict[str, Value]


def apply(name: str, positional: tuple[Value, ...], keywords: Keywords) -> Value:
    """What a function or method of this name gives; UnreadableError where it is none of those known.

    ``positional`` begins with the tensor of a method. A name that ends with an underscore, or
    ``inplace=True``, changes that tensor.
    """
    name = name.removeprefix("__").removesuffix("__") if name.startswith("__") else name
    if keywords.get("out") is not None:
        raise UnreadableError("writes into out=: assign the result instead")
    if name.endswith("_") or keywords.get("inplace") is True:
        return _in_place(name.rstrip("_"), positional, keywords)
    name = ALIASES.get(name, name)
    if name in OPERATORS and len(positional) == 2 and not keywords:
        return operation(OPERATORS[name], *positional)
    if name in _SPECIAL:
        return _bound(_SPECIAL[name], positional, keywords)
    if name in TEMPLATES:
        return _template(name, positional, keywords)
    return _conversion(name, positional)


def _in_place(name: str, positional: tuple[Value, ...], keywords: Keywords) -> Value:
    kept = {key: value for key, value in keywords.items() if key != "inplace"}
    result = apply(name, positional, kept)
    if not positional or not isinstance(positional[0], Cell):
        raise UnreadableError("changes in place something that is no tensor")
    assign(positional[0], result)
    return positional[0]


def assign(cell: Cell, value: Value) -> None:
    """Write a value into all the elements a tensor holds."""
    require_own(cell)
    if isinstance(value, Cell) and value.within != cell.within and not is_constant(value.node):
        raise UnreadableError("assigns elements that were picked out by another mask")
    node = tree(value)
    cell.node = node if is_condition(cell.node) else number(node)


def require_own(cell: Cell) -> None:
    """UnreadableError for a tensor that shares its memory with a detached one."""
    if cell.frozen:
        raise UnreadableError("changes a tensor behind autograd's back, which cannot be followed")


def mask_of(cell: Cell, key: Value) -> Node:
    """The mask in the brackets of ``cell[mask]``."""
    if not isinstance(key, Cell):
        raise UnreadableError("takes single elements of a tensor: only elementwise functions can be drawn")
    if cell.within is not None:
        raise UnreadableError("picks elements out of what was picked out before")
    return mask(key.node)


def operation(sign: str, left: Value, right: Value) -> Value:
    """A binary operator or comparison of Python on two values."""
    a, b = tree(left), tree(right)
    return like(_node(sign, a, b), left, right)


def _node(sign: str, a: Node, b: Node) -> Node:
    if sign in COMPARISONS:
        return compare(sign, a, b)
    if sign in ("<<", ">>"):
        return arithmetic("*" if sign == "<<" else "//", a, arithmetic("**", literal(2), b))
    if sign in _LOGIC:
        return _LOGIC[sign](mask(a), mask(b))
    return arithmetic(sign, a, b)


_LOGIC: dict[str, Callable[[Node, Node], Node]] = {
    "&": building.both,
    "|": building.either,
    "^": building.exclusive,
}


def invert(a: Value) -> Value:
    """``~`` of a mask."""
    return like(building.inverse(mask(tree(a))), a)


def _bound(handler: Callable[..., Value], positional: tuple[Value, ...], keywords: Keywords) -> Value:
    keywords = {"a" if key == "input" else key: value for key, value in keywords.items()}
    signature = inspect.signature(handler)
    kept = {k: v for k, v in keywords.items() if k in signature.parameters or k not in IGNORED_KEYWORDS}
    try:
        arguments = signature.bind(*positional, **kept)
    except TypeError:
        raise UnreadableError("has arguments that cannot be read") from None
    return handler(*arguments.args, **arguments.kwargs)


@lru_cache
def _signature(name: str) -> tuple[inspect.Signature, Node]:
    """The parameters of a template, numbers as defaults, and its tree."""
    parameters = []
    for text in TEMPLATES[name][0].split(", "):
        parameter, _, default = text.partition("=")
        value = literal(float(default)) if default else inspect.Parameter.empty
        parameters.append(
            inspect.Parameter(parameter, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=value)
        )
    names = [parameter.name for parameter in parameters]
    return inspect.Signature(parameters), parse(TEMPLATES[name][1], variables=(), parameters=names).tree


def _template(name: str, positional: tuple[Value, ...], keywords: Keywords) -> Value:
    signature, formula = _signature(name)

    def filled(**values: Value) -> Value:
        nodes = {key: tree(value) for key, value in values.items()}
        return like(building.replaced(formula, nodes), *values.values())

    def given(*arguments: Value, **named: Value) -> Value:
        bound = signature.bind(*arguments, **named)
        bound.apply_defaults()
        return filled(**bound.arguments)

    given.__signature__ = signature  # type: ignore[attr-defined]
    return _bound(given, positional, keywords)


def _conversion(name: str, positional: tuple[Value, ...]) -> Value:
    """What gives the tensor back, perhaps as another kind of number, or a tensor of one number."""
    if name in SHAPES:
        return Opaque("the shape of a tensor")
    if name in FILLED:
        return Cell(literal(FILLED[name]))
    if name not in SAME | NUMBERS | INTEGERS | COPIES:
        raise UnreadableError(REASONS.get(name, UNKNOWN))
    if not positional:
        raise UnreadableError("has no argument")
    return _converted(name, positional[0])


def _converted(name: str, a: Value) -> Value:
    node = tree(a)
    if name in COPIES:
        return Cell(node, a.within) if isinstance(a, Cell) else a
    if name in INTEGERS:
        return like(_whole(node), a)
    if name in NUMBERS and is_condition(node):
        return like(number(node), a)
    return a


def _whole(node: Node) -> Node:
    return number(node) if is_condition(node) else call("trunc", node)


def _clamp(a: Value, min: Value = None, max: Value = None) -> Value:  # torch's own names
    low, high = (None if bound is None or bound in _UNBOUNDED else tree(bound) for bound in (min, max))
    return like(_clamped(tree(a), low, high), a, *(bound for bound in (min, max) if isinstance(bound, Cell)))


def _clamped(node: Node, low: Node | None, high: Node | None) -> Node:
    if low is not None and high is not None:
        return call("clamp", node, low, high)
    if low is not None:
        return call("at_least", node, low)
    return node if high is None else call("at_most", node, high)


_UNBOUNDED = (float("inf"), float("-inf"))


def _where(condition: Value, a: Value, other: Value) -> Value:
    return like(where(mask(tree(condition)), tree(a), tree(other)), condition, a, other)


def _masked_fill(a: Value, mask: Value, value: Value) -> Value:
    return _where(mask, value, a)


def _invert(a: Value) -> Value:
    return like(building.inverse(building.true(tree(a))), a)


def _logical(join: Callable[[Node, Node], Node]) -> Callable[..., Value]:
    def logical(a: Value, other: Value) -> Value:
        return like(join(building.true(tree(a)), building.true(tree(other))), a, other)

    return logical


def _extreme(function: str) -> Callable[..., Value]:
    """``torch.maximum`` and Python's own max: the larger of two or more values."""

    def extreme(a: Value, other: Value = None, *more: Value) -> Value:
        if other is None:
            raise UnreadableError(REASONS["sum"])
        joined = like(call(function, tree(a), tree(other)), a, other)
        return extreme(joined, *more) if more else joined

    return extreme


def _larger(function: str) -> Callable[..., Value]:
    """``torch.max``: the larger of two tensors; a number beside one tensor is a dimension."""

    def larger(a: Value, other: Value = None) -> Value:
        if other is None or (not isinstance(other, Cell) and building.plain(tree(other)) is not None):
            raise UnreadableError(REASONS["sum"])
        return like(call(function, tree(a), tree(other)), a, other)

    return larger


def _mean(a: Value) -> Value:
    if isinstance(a, Cell) and a.within is not None:
        raise UnreadableError("averages over elements picked out by a mask: a formula averages over all")
    return like(call("mean", tree(a)), a)


def _item(a: Value) -> Value:
    node = tree(a)
    if not (is_constant(node) or (isinstance(node, Call) and node.function == "mean")):
        raise UnreadableError(REASONS["item"])
    return like(building.detach(node), a)


def _round(a: Value, decimals: Value = None) -> Value:
    if decimals is None:
        return like(call("round", tree(a)), a)
    tens = arithmetic("**", literal(10), tree(decimals))
    return like(arithmetic("/", call("round", arithmetic("*", tree(a), tens)), tens), a)


def _div(a: Value, other: Value, rounding_mode: Value = None) -> Value:
    quotient = arithmetic("/", tree(a), tree(other))
    if rounding_mode in ("floor", "trunc"):
        quotient = call(str(rounding_mode), quotient)
    elif rounding_mode is not None:
        raise UnreadableError("rounds in a way that cannot be read")
    return like(quotient, a, other)


def _full(_size: Value, fill_value: Value) -> Value:
    return Cell(tree(fill_value))


def _fill(_a: Value, value: Value) -> Value:
    return Cell(tree(value))


def _copy(a: Value, source: Value = None) -> Value:
    return _converted("clone", a if source is None else source)


def _tensor(data: Value) -> Value:
    while isinstance(data, tuple) and len(data) == 1:
        (data,) = data
    return Cell(building.detach(tree(data)))


def _new_tensor(_a: Value, data: Value) -> Value:
    return _tensor(data)


def _to(a: Value, dtype: Value = None, *_more: Value, device: Value = None) -> Value:
    kind = dtype.name if isinstance(dtype, Library) else dtype
    if kind in ("bool", "BoolTensor"):
        return like(building.true(tree(a)), a)
    if isinstance(kind, str) and kind in REASONS:
        raise UnreadableError(REASONS[kind])
    if isinstance(kind, str) and kind.removesuffix("Tensor").lower() in INTEGERS:
        return _converted("int", a)
    keeps = dtype is None or isinstance(dtype, str) or dtype == Opaque("the device")
    return a if keeps else _converted("float", a)


def _bool(a: Value) -> Value:
    return like(building.true(tree(a)), a)


def _byte(a: Value) -> Value:
    if not is_condition(tree(a)):
        raise UnreadableError(REASONS["byte"])
    return a


_SPECIAL: dict[str, Callable[..., Value]] = {
    "clamp": _clamp,
    "clamp_min": lambda a, min: _clamp(a, min=min),
    "clamp_max": lambda a, max: _clamp(a, max=max),
    "where": _where,
    "masked_fill": _masked_fill,
    "invert": _invert,
    "logical_and": _logical(building.both),
    "logical_or": _logical(building.either),
    "logical_xor": _logical(building.exclusive),
    "max": _larger("max"),
    "min": _larger("min"),
    "maximum": _extreme("max"),
    "minimum": _extreme("min"),
    "mean": _mean,
    "item": _item,
    "round": _round,
    "div": _div,
    "full": _full,
    "full_like": _full,
    "new_full": lambda _a, size, fill_value: _full(size, fill_value),
    "fill": _fill,
    "copy": _copy,
    "tensor": _tensor,
    "as_tensor": _tensor,
    "scalar_tensor": _tensor,
    "new_tensor": _new_tensor,
    "to": _to,
    "type": _to,
    "astype": _to,
    "bool": _bool,
    "byte": _byte,
}
