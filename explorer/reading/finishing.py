"""The last step: trees become the keys of own formulas."""

from __future__ import annotations

from collections.abc import Callable

from explorer.catalogue import OWN, Op, Rule, find_op, find_rule
from explorer.formula import MAX_DEPTH, MAX_LENGTH, MAX_NODES, Formula, FormulaError
from explorer.formula.tree import Binary, Call, Name, Node, Unary, measure, walk
from explorer.reading.building import ZERO, arithmetic, call, compare, number, rebuilt, where
from explorer.reading.derivative import derivative
from explorer.reading.errors import UnreadableError

DEFAULT = "default"
G = Name("g")


def op_key(node: Node) -> str:
    """The key of an op given as a tree in x and parameters; UnreadableError if no formula can hold it."""
    return _key(node, find_op)


def rule_key(node: Node) -> str:
    """The key of a rule given as a tree in x, y, g and parameters; UnreadableError as for an op."""
    return _key(node, find_rule)


def _key(node: Node, find: Callable[[str], Op | Rule]) -> str:
    node = number(node)
    text = Formula(node).text
    parts, levels = measure(node)
    if parts > MAX_NODES or levels > MAX_DEPTH or len(text) > MAX_LENGTH:
        raise UnreadableError(
            f"comes to {parts} parts, {levels} levels and {len(text)} characters: "
            f"a formula holds {MAX_NODES}, {MAX_DEPTH} and {MAX_LENGTH}; "
            "values in the signature, such as bits=4, make it shorter"
        )
    try:
        return find(OWN + text).key
    except FormulaError as error:
        raise UnreadableError(f"makes no formula: {error.message}") from None


def untracked(node: Node) -> Node:
    """A tree without the reader's own marks, for values alone."""

    def change(part: Node) -> Node | None:
        match part:
            case Call("detach", (inner,)):
                return untracked(inner)
            case Call("at_least", (inner, bound)):
                return call("max", untracked(inner), untracked(bound))
            case Call("at_most", (inner, bound)):
                return call("min", untracked(inner), untracked(bound))
            case _:
                return None

    return rebuilt(node, change)


def followed(node: Node) -> Node:
    """A tree without the reader's own marks, whose gradient is torch's at the bounds too.

    ``x.clamp(min=b)`` passes the whole gradient at b, ``max(x, b)`` half of it.
    """

    def change(part: Node) -> Node | None:
        match part:
            case Call("at_least", (inner, bound)):
                inner, bound = followed(inner), followed(bound)
                return where(compare("<", inner, bound), bound, inner)
            case Call("at_most", (inner, bound)):
                inner, bound = followed(inner), followed(bound)
                return where(compare("<", bound, inner), bound, inner)
            case _:
                return None

    return rebuilt(node, change)


def stops_gradients(node: Node) -> bool:
    """Whether a gradient is stopped somewhere in the tree."""
    return any(isinstance(part, Call) and part.function == "detach" for part in walk(node))


def straight_through(node: Node) -> tuple[Node, Node]:
    """Op and rule of a tree in which gradients are stopped: its values, and g times its derivative."""
    slope = untracked(derivative(node))
    rule = arithmetic("*", ZERO, G) if slope == ZERO else arithmetic("*", G, slope)
    return cancelled(untracked(node)), rule


def cancelled(node: Node) -> Node:
    """The tree without terms of a sum that cancel: ``round(x)`` for ``x + (round(x) - x)``.

    What was written differs from it by rounding only.
    """

    def change(part: Node) -> Node | None:
        return _settled(part) if isinstance(part, Binary) and part.operator in "+-" else None

    return rebuilt(node, change)


def _settled(node: Node) -> Node:
    """A sum with each of its terms looked into, and without those that cancel."""
    kept: list[tuple[int, Node]] = []
    for sign, term in _terms(node, 1):
        if (-sign, term) in kept:
            kept.remove((-sign, term))
        else:
            kept.append((sign, term))
    total: Node = ZERO
    for sign, term in sorted(kept, key=lambda item: -item[0]):
        total = arithmetic("+" if sign > 0 else "-", total, number(cancelled(term)))
    return total


def _terms(node: Node, sign: int) -> list[tuple[int, Node]]:
    match node:
        case Binary("+", left, right):
            return _terms(left, sign) + _terms(right, sign)
        case Binary("-", left, right):
            return _terms(left, sign) + _terms(right, -sign)
        case Unary("-", operand):
            return _terms(operand, -sign)
        case _:
            return [(sign, node)]
