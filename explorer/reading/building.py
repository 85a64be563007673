"""Formula trees put together the way the pasted code puts its tensors together.

Each function takes and returns trees, folds what is plain arithmetic and leaves out what changes
nothing (``1 * x``, ``x + 0``), so that what was read stays readable. A tree that is true or false
stands for a mask. Two calls stand in these trees that the formula language does not have:
``detach``, through which no gradient flows, and ``at_least`` and ``at_most``, torch's one-sided
clamps; the last step of the reader replaces them.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

from explorer.formula import CONSTANTS, FUNCTIONS, Formula, number_text
from explorer.formula.tree import (
    Binary,
    Call,
    Compare,
    Name,
    Node,
    Number,
    Unary,
    children,
    is_condition,
    is_constant,
    measure,
    names,
    walk,
)
from explorer.reading.errors import UnreadableError

MAX_PARTS = 250  # of what is between input and result; the result itself must fit a formula
MAX_LEVELS = 60
SHORT = 8  # a folded number longer than this says less than the arithmetic it came from

ZERO, ONE = Number(0.0), Number(1.0)
_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": math.pow,
}


def literal(value: float) -> Node:
    """A number as a tree; UnreadableError for one that is not finite."""
    try:
        value = float(value)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise UnreadableError("is not a finite number: a formula has no place for it")
    return Number(value) if value >= 0 else Unary("-", Number(-value))


def plain(node: Node) -> float | None:
    """The value of a literal, None for everything else."""
    match node:
        case Number(value):
            return value
        case Unary("-", Number(value)):
            return -value
        case _:
            return None


def known(node: Node) -> float | None:
    """The value of a tree without variables and parameters (a condition as 0 or 1), else None."""
    if plain(node) is not None:
        return plain(node)
    if any(name not in CONSTANTS for name in names(node)) or _has_marks(node):
        return None
    return Formula(node).value()


def _has_marks(node: Node) -> bool:
    return any(isinstance(part, Call) and part.function not in FUNCTIONS for part in walk(node))


def _sized(node: Node) -> Node:
    parts, levels = measure(node)
    if parts > MAX_PARTS or levels > MAX_LEVELS:
        raise UnreadableError("comes to more parts than a formula can hold")
    return node


def number(node: Node) -> Node:
    """The tree as a number: a condition becomes 1 where it is true, 0 elsewhere."""
    return Call("where", (node, ONE, ZERO)) if is_condition(node) else node


def _operand(node: Node) -> Node:
    """The tree as it stands in arithmetic, where the language takes a condition for 0 or 1."""
    match node:
        case Call("where", (condition, Number(1.0), Number(0.0))):
            return condition
        case _:
            return node


def mask(node: Node) -> Node:
    """The condition a mask of zeros and ones stands for; UnreadableError for any other number."""
    match node:
        case _ if is_condition(node):
            return node
        case Binary("*", left, right):
            return both(mask(left), mask(right))
        case Binary("-", Number(1.0), right):
            return inverse(mask(right))
        case Call("where", (condition, Number(1.0), otherwise)):
            return condition if otherwise == ZERO else either(condition, mask(otherwise))
        case Call("where", (condition, Number(0.0), otherwise)):
            return inverse(condition) if otherwise == ONE else both(inverse(condition), mask(otherwise))
        case _:
            raise UnreadableError("is used as a mask, but it holds numbers: compare it first")


def true(node: Node) -> Node:
    """The condition that a number is not 0, as ``bool`` makes it."""
    try:
        return mask(node)
    except UnreadableError:
        return compare("!=", node, ZERO)


def both(left: Node, right: Node) -> Node:
    """True where two conditions are true."""
    return _sized(Binary("&", left, right))


def either(left: Node, right: Node) -> Node:
    """True where one of two conditions is true."""
    return _sized(Binary("|", left, right))


def inverse(condition: Node) -> Node:
    """True where a condition is false."""
    match condition:
        case Unary("~", inner):
            return inner
        case _:
            return _sized(Unary("~", condition))


def exclusive(left: Node, right: Node) -> Node:
    """True where exactly one of two conditions is true."""
    return either(both(left, inverse(right)), both(inverse(left), right))


def compare(sign: str, left: Node, right: Node) -> Node:
    """A comparison; a mask compared with 0 or 1 is the mask itself or its inverse."""
    if is_condition(left) and sign in ("==", "!=") and right in (ZERO, ONE):
        return left if (sign == "==") == (right == ONE) else inverse(left)
    return _sized(Compare((sign,), (number(left), number(right))))


def arithmetic(sign: str, left: Node, right: Node) -> Node:
    """``left sign right`` with one of ``+ - * / ** // %``; the sum and product of two masks are masks."""
    if is_condition(left) and is_condition(right) and sign in "+*":
        return either(left, right) if sign == "+" else both(left, right)
    if sign == "//":
        return call("floor", arithmetic("/", left, right))
    if sign == "%":
        return arithmetic("-", left, arithmetic("*", right, arithmetic("//", left, right)))
    folded = _folded(sign, left, right)
    return folded if folded is not None else _sized(_combined(sign, left, right))


def _folded(sign: str, left: Node, right: Node) -> Node | None:
    values = plain(left), plain(right)
    if values[0] is None or values[1] is None:
        return None
    try:
        return _short(_ARITHMETIC[sign](values[0], values[1]))
    except (ArithmeticError, ValueError):
        return None


def _short(value: float) -> Node | None:
    if math.isfinite(value) and len(number_text(value)) <= SHORT:
        return literal(value)
    return None


def _combined(sign: str, left: Node, right: Node) -> Node:
    match sign, left, right:
        case ("+", Number(0.0), other) | ("*", Number(1.0), other):
            return number(other)
        case ("+" | "-", other, Number(0.0)) | ("*" | "/" | "**", other, Number(1.0)):
            return number(other)
        case ("-", Number(0.0), other):
            return negative(other)
        case ("*", other, Unary("-", Number(1.0))) | ("*", Unary("-", Number(1.0)), other):
            return negative(other)
        case ("/", other, Unary("-", Number(1.0))):
            return negative(other)
        case ("+", other, Unary("-", inner)):
            return arithmetic("-", other, number(inner))
        case ("-", other, Unary("-", inner)):
            return arithmetic("+", other, number(inner))
        case _:
            return Binary(sign, _operand(left), _operand(right))


def negative(node: Node) -> Node:
    """The tree with its sign turned."""
    match _operand(node):
        case Unary("-", inner):
            return number(inner)
        case Number(0.0):
            return ZERO
        case Binary("-", left, right):
            return Binary("-", right, left)
        case operand:
            return _sized(Unary("-", operand))


def where(condition: Node, then: Node, otherwise: Node) -> Node:
    """``then`` where a condition is true, ``otherwise`` elsewhere."""
    value = known(condition)
    if value is not None:
        return then if value else otherwise
    if then == otherwise:
        return then
    return _sized(Call("where", (condition, number(then), number(otherwise))))


def call(function: str, *arguments: Node) -> Node:
    """A function of the language, or ``detach``, ``at_least``, ``at_most``, on numbers."""
    node = Call(function, tuple(number(argument) for argument in arguments))
    value = known(node) if is_constant(node) else None
    folded = None if value is None else _short(value)
    return folded if folded is not None else _sized(node)


def detach(node: Node) -> Node:
    """The same values, through which no gradient flows; a mask or a constant has none to stop."""
    match node:
        case Call("detach", _):
            return node
        case _:
            return node if is_condition(node) or is_constant(node) else Call("detach", (node,))


def rebuilt(node: Node, change: Callable[[Node], Node | None]) -> Node:
    """The tree put together anew; ``change`` returns what stands for a node, or None to go on inside it."""
    changed = change(node)
    if changed is not None:
        return changed
    parts = [rebuilt(child, change) for child in children(node)]
    match node:
        case Unary(sign, _):
            return negative(parts[0]) if sign == "-" else inverse(parts[0])
        case Binary("&", _, _):
            return both(*parts)
        case Binary("|", _, _):
            return either(*parts)
        case Binary(sign, _, _):
            return arithmetic(sign, *(number(part) for part in parts))
        case Compare(signs, _):
            return _sized(Compare(signs, tuple(number(part) for part in parts)))
        case Call("where", _):
            return where(*parts)
        case Call(function, _):
            return call(function, *parts)
        case _:
            return node


def replaced(node: Node, values: dict[str, Node]) -> Node:
    """The tree with trees in place of some of its names."""
    return rebuilt(node, lambda part: values.get(part.name) if isinstance(part, Name) else None)
