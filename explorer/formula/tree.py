"""The tree every formula becomes: frozen, hashable, without positions or values of parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

VARIABLES = ("x", "y", "g")
# What is drawn at random for each element, or hangs on it: brackets, so that no parameter has such a name.
DRAWS = ("u()", "normal()", "f()", "ya()", "fa()")
UNIFORM, NORMAL, *_ = DRAWS
OP_NAMES = ("x", UNIFORM, NORMAL)
RULE_NAMES = VARIABLES + DRAWS
CONSTANTS = ("pi", "e")
COMPARISONS = ("<=", ">=", "==", "!=", "<", ">")
# How tightly each operator binds, as in Python; a sign before its operand binds between "/" and "**".
POWERS = dict.fromkeys(COMPARISONS, 1) | {"|": 2, "&": 3, "+": 4, "-": 4, "*": 5, "/": 5, "**": 7}
SIGN = 6


@dataclass(frozen=True, slots=True)
class Number:
    """A literal, finite and not negative."""

    value: float


@dataclass(frozen=True, slots=True)
class Name:
    """A variable (``x``, ``y``, ``g``), a draw (``u()``), a constant (``pi``, ``e``) or a parameter."""

    name: str


@dataclass(frozen=True, slots=True)
class Varying(Name):
    """A parameter that is a tensor: its values differ from element to element, or may."""


@dataclass(frozen=True, slots=True)
class Unary:
    """``-operand`` on a number, ``~operand`` on a condition."""

    operator: str
    operand: Node


@dataclass(frozen=True, slots=True)
class Binary:
    """``left operator right`` with one of ``+ - * / **`` on numbers or ``& |`` on conditions."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Compare:
    """A chain such as ``lo <= x <= hi``: one operand more than operators."""

    operators: tuple[str, ...]
    operands: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the table applied to as many arguments as its arity."""

    function: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Through:
    """``through(argument, x0, y0, …)``: straight lines between points, x ascending; constant beyond them."""

    points: tuple[tuple[float, float], ...]
    argument: Node

    @property
    def slopes(self) -> list[float]:
        """The slope of the line to the right of each point; 0 at the last one."""
        return [(after - y) / (end - x) for (x, y), (end, after) in pairwise(self.points)] + [0.0]


@dataclass(frozen=True, slots=True)
class LossAt:
    """``f(output)``: the loss at an output other than the one drawn, whose loss is the name ``f()``."""

    output: Node


@dataclass(frozen=True, slots=True)
class Foreign:
    """A function that is no formula, applied to the values of its arguments; no text is read as one."""

    function: ForeignFunction
    arguments: tuple[Node, ...]


class ForeignFunction(Protocol):
    """A function of tensors of one shape and dtype, to one of theirs. It is equal to itself alone."""

    @property
    def name(self) -> str:
        """Its name in sentences."""

    @property
    def gradient_tree(self) -> Node:
        """The gradient that it passes on to its first argument, as a tree in that as ``a``, and in ``g``."""

    @property
    def points(self) -> tuple[list[float], list[float | None]] | None:
        """The x and y between which it is straight, where it is known at some points only; None for NaN."""

    def __call__(self, *values: Any) -> Any:
        """The values of the function."""


Node = Number | Name | Unary | Binary | Compare | Call | Through | LossAt | Foreign
Data = float | list[Any]  # of JSON
LOSS, TWIN_LOSS = Name("f()"), Name("fa()")
DRAWN_OUTPUTS: Mapping[Node, Node] = {LOSS: Name("y"), TWIN_LOSS: Name("ya()")}
"""The outputs of the losses that have names of their own."""


def children(node: Node) -> tuple[Node, ...]:
    """The direct operands of a node, left to right."""
    operands = _OPERANDS.get(type(node))
    return operands(node) if operands else ()


# By a table: every walk through every formula asks.
_OPERANDS: Mapping[type, Callable[[Any], tuple[Node, ...]]] = {
    Unary: lambda node: (node.operand,),
    Binary: lambda node: (node.left, node.right),
    Compare: lambda node: node.operands,
    Call: lambda node: node.arguments,
    Through: lambda node: (node.argument,),
    LossAt: lambda node: (node.output,),
    Foreign: lambda node: node.arguments,
}


def walk(node: Node) -> Iterator[Node]:
    """Every node of the tree, the root first, each subtree before its right neighbour."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(children(node)[::-1])


def names(node: Node) -> tuple[str, ...]:
    """The distinct names in the tree, in order of first appearance; that of the loss at any output is f()."""
    parts = (LOSS if isinstance(part, LossAt) else part for part in walk(node))
    return tuple(dict.fromkeys(part.name for part in parts if isinstance(part, Name)))


def is_condition(node: Node) -> bool:
    """Whether the node is true or false at each x, rather than a number."""
    return (
        isinstance(node, Compare)
        or (isinstance(node, Unary) and node.operator == "~")
        or (isinstance(node, Binary) and node.operator in "&|")
    )


def is_constant(node: Node) -> bool:
    """Whether the node has one value for all elements: no ``x``, ``y``, ``g``, draw or tensor in it."""
    return not any(map(has_values, walk(node)))


def has_values(node: Node) -> bool:
    """Whether a part has a value for each element: ``x``, ``y``, ``g``, a draw, a loss or a tensor."""
    return isinstance(node, Varying | LossAt) or (isinstance(node, Name) and node.name in RULE_NAMES)


def measure(node: Node) -> tuple[int, int]:
    """Number of nodes and depth of the tree (a leaf has depth 1)."""
    count, deepest, level = 0, 0, [node]
    while level:
        count, deepest = count + len(level), deepest + 1
        level = [child for part in level for child in children(part)]
    return count, deepest


def with_losses(node: Node, loss: Callable[[Node], Node]) -> Node:
    """The tree with a function of the output in place of the loss: y, ya() or that in the brackets of f."""
    operands = tuple(with_losses(child, loss) for child in children(node))
    if isinstance(node, LossAt):
        return loss(*operands)
    return loss(DRAWN_OUTPUTS[node]) if node in DRAWN_OUTPUTS else rebuilt(node, operands)


def substituted(node: Node, replacements: Mapping[Node, Node]) -> Node:
    """The tree with every node that is a key of ``replacements`` exchanged for its value."""
    if node in replacements:
        return replacements[node]
    return rebuilt(node, tuple(substituted(child, replacements) for child in children(node)))


def rebuilt(node: Node, operands: tuple[Node, ...]) -> Node:
    """The node with other operands."""
    match node:
        case Unary(operator, _):
            return Unary(operator, *operands)
        case Binary(operator, _, _):
            return Binary(operator, *operands)
        case Compare(operators, _):
            return Compare(operators, operands)
        case Call(function, _):
            return Call(function, operands)
        case Through(points, _):
            return Through(points, *operands)
        case LossAt():
            return LossAt(*operands)
        case Foreign(function, _):
            return Foreign(function, operands)
        case _:
            return node


def data(node: Node) -> Data:
    """The tree as nested lists.

    A number is a number, a name ``["name", "x"]``, a comparison ``["compare", ["<=", "<"], a, b, c]``,
    a call ``["call", "relu", a]``, straight lines ``["through", [x, …], [y, …], a]``, the loss at an output
    ``["f", a]``, a function known at some points ``["points", [x, …], [y, …], a]``, all else its operator
    before its operands: ``["-", a]``, ``["+", a, b]``. Raises ValueError for any other function that is no
    formula.
    """
    match node:
        case Number(value):
            return int(value) if value.is_integer() and value < 2**53 else value
        case Name(name):
            return ["name", name]
        case Compare(operators, _):
            head: list[Any] = ["compare", list(operators)]
        case Call(function, _):
            head = ["call", function]
        case Through(points, _):
            head = ["through", *map(list, zip(*points, strict=True))]
        case LossAt():
            head = ["f"]
        case Foreign(function, _):
            if function.points is None:
                raise ValueError(f"{function.name} is no formula: it can be sampled, but not written out")
            head = ["points", *function.points]
        case _:
            head = [node.operator]
    return [*head, *map(data, children(node))]
