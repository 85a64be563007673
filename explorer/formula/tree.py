"""The expression tree of a formula: frozen, hashable nodes, without text positions or parameter values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

VARIABLES = ("x", "y", "g")
# Random numbers of each element, and values that depend on them. Names of parameters have no brackets.
RANDOM_NAMES = ("u()", "normal()", "f()", "ya()", "fa()")
UNIFORM, NORMAL, *_ = RANDOM_NAMES
OP_NAMES = ("x", UNIFORM, NORMAL)
RULE_NAMES = VARIABLES + RANDOM_NAMES
CONSTANTS = ("pi", "e")
COMPARISONS = ("<=", ">=", "==", "!=", "<", ">")
# The precedence of operators, as in Python. A sign comes between "/" and "**".
PRECEDENCE = dict.fromkeys(COMPARISONS, 1) | {"|": 2, "&": 3, "+": 4, "-": 4, "*": 5, "/": 5, "**": 7}
SIGN_PRECEDENCE = 6


@dataclass(frozen=True, slots=True)
class Number:
    """A number literal in a formula, finite and not negative."""

    value: float


@dataclass(frozen=True, slots=True)
class Name:
    """A variable (``x``, ``y``, ``g``), random name (``u()``), constant (``pi``, ``e``) or parameter."""

    name: str


@dataclass(frozen=True, slots=True)
class TensorName(Name):
    """A parameter that is a tensor, whose values may differ between elements."""


@dataclass(frozen=True, slots=True)
class Unary:
    """A unary operation: ``-operand`` on a number or ``~operand`` on a condition."""

    operator: str
    operand: Node


@dataclass(frozen=True, slots=True)
class Binary:
    """A binary operation: one of ``+ - * / **`` on numbers or ``& |`` on conditions."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Compare:
    """A chain of comparisons such as ``lo <= x <= hi``, with one operand more than operators."""

    operators: tuple[str, ...]
    operands: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of one of the formula language's functions, with its arguments."""

    function: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Polyline:
    """``through(argument, x0, y0, …)``: lines between points with ascending x; constant to both sides."""

    points: tuple[tuple[float, float], ...]
    argument: Node

    @property
    def slopes(self) -> list[float]:
        """The slope of the line to the right of each point, with 0 for the last point."""
        return [(after - y) / (end - x) for (x, y), (end, after) in pairwise(self.points)] + [0.0]


@dataclass(frozen=True, slots=True)
class LossAt:
    """``f(output)``: the loss at an output other than y. The loss at y is the Name ``f()``."""

    output: Node


@dataclass(frozen=True, slots=True)
class UserCall:
    """A call of a Python function that has no formula. No text parses to this node."""

    function: UserFunction
    arguments: tuple[Node, ...]


class UserFunction(Protocol):
    """A Python function in an expression tree, with results of its tensors' shape; compares by identity."""

    @property
    def name(self) -> str:
        """The function's name, as used in messages."""

    @property
    def gradient_tree(self) -> Node:
        """The gradient for the function's first argument, as an expression in this argument a and in g."""

    @property
    def points(self) -> tuple[list[float], list[float | None]] | None:
        """The x and y of an interpolated function, with None in place of NaN. None for any other function."""

    def __call__(self, *values: Any) -> Any:
        """Compute the function's values for the given tensors."""


Node = Number | Name | Unary | Binary | Compare | Call | Polyline | LossAt | UserCall
Data = float | list[Any]  # a value in JSON
LOSS, ANTITHETIC_LOSS = Name("f()"), Name("fa()")
LOSS_OUTPUTS: Mapping[Node, Node] = {LOSS: Name("y"), ANTITHETIC_LOSS: Name("ya()")}
"""The outputs of the losses with a name."""


def make_number(value: float) -> Node:
    """Return a number as an expression tree, with a sign in front of a negative one."""
    return Unary("-", Number(-value)) if value < 0 else Number(value)


def children(node: Node) -> tuple[Node, ...]:
    """Return the direct operands of a node in an expression tree, left to right."""
    operands = _OPERANDS.get(type(node))
    return operands(node) if operands else ()


# A dict because it is faster than ``match``, and each walk through a formula uses it for every node.
_OPERANDS: Mapping[type, Callable[[Any], tuple[Node, ...]]] = {
    Unary: lambda node: (node.operand,),
    Binary: lambda node: (node.left, node.right),
    Compare: lambda node: node.operands,
    Call: lambda node: node.arguments,
    Polyline: lambda node: (node.argument,),
    LossAt: lambda node: (node.output,),
    UserCall: lambda node: node.arguments,
}


def walk(node: Node) -> Iterator[Node]:
    """Yield every node of an expression tree, the root first, each subtree before its right neighbour."""
    pending = [node]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(children(node)[::-1])


def find_names(node: Node) -> tuple[str, ...]:
    """Return the distinct names in an expression, in order of appearance. Any loss counts as "f()"."""
    parts = (LOSS if isinstance(part, LossAt) else part for part in walk(node))
    return tuple(dict.fromkeys(part.name for part in parts if isinstance(part, Name)))


def is_condition(node: Node) -> bool:
    """Return whether an expression is a condition, true or false at each x, rather than a number."""
    return (
        isinstance(node, Compare)
        or (isinstance(node, Unary) and node.operator == "~")
        or (isinstance(node, Binary) and node.operator in "&|")
    )


def is_constant(node: Node) -> bool:
    """Return whether an expression is the same for all elements: it has no x, y, g or random number."""
    return not any(
        isinstance(part, TensorName | LossAt) or (isinstance(part, Name) and part.name in RULE_NAMES)
        for part in walk(node)
    )


def measure(node: Node) -> tuple[int, int]:
    """Return the number of nodes and the depth of an expression tree; a leaf has depth 1."""
    count, depth, level = 0, 0, [node]
    while level:
        count, depth = count + len(level), depth + 1
        level = [child for part in level for child in children(part)]
    return count, depth


def replace_losses(node: Node, loss: Callable[[Node], Node]) -> Node:
    """Return an expression with each loss ``f(output)`` replaced by the expression ``loss(output)``."""
    operands = tuple(replace_losses(child, loss) for child in children(node))
    if isinstance(node, LossAt):
        return loss(*operands)
    return loss(LOSS_OUTPUTS[node]) if node in LOSS_OUTPUTS else rebuild(node, operands)


def substitute(node: Node, replacements: Mapping[Node, Node]) -> Node:
    """Return an expression in which every node that is a key of ``replacements`` is replaced by its value."""
    if node in replacements:
        return replacements[node]
    return rebuild(node, tuple(substitute(child, replacements) for child in children(node)))


def rebuild(node: Node, operands: tuple[Node, ...]) -> Node:
    """Return a copy of a node with other operands."""
    match node:
        case Unary(operator, _):
            return Unary(operator, *operands)
        case Binary(operator, _, _):
            return Binary(operator, *operands)
        case Compare(operators, _):
            return Compare(operators, operands)
        case Call(function, _):
            return Call(function, operands)
        case Polyline(points, _):
            return Polyline(points, *operands)
        case LossAt():
            return LossAt(*operands)
        case UserCall(function, _):
            return UserCall(function, operands)
        case _:
            return node


def to_data(node: Node) -> Data:
    """Convert an expression tree to nested lists, which can be written as JSON.

    A number stays a number. Names become ``["name", "x"]``, comparisons ``["compare", ["<=", "<"], a, b,
    c]``, calls ``["call", "relu", a]``, polylines ``["through", [x, …], [y, …], a]``, losses at other outputs
    ``["f", a]``, and interpolated functions ``["points", [x, …], [y, …], a]``. All other nodes become a list
    of the operator and the operands: ``["-", a]``, ``["+", a, b]``. Raises ValueError for any other function.
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
        case Polyline(points, _):
            head = ["through", *map(list, zip(*points, strict=True))]
        case LossAt():
            head = ["f"]
        case UserCall(function, _):
            if function.points is None:
                raise ValueError(f"{function.name} is not a formula: it can be sampled, but not written out")
            head = ["points", *function.points]
        case _:
            head = [node.operator]
    return [*head, *map(to_data, children(node))]
