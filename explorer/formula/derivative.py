"""The gradient of torch's autograd for a formula, written out as a formula: reverse mode on the tree.

Each operation passes the gradient of its result on to its operands by one line of maths in torch's own
form, so that 0 · ∞, ties, bounds and values at kinks come out as in torch. The lines of the functions
stand in their table, those of the operators here.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from typing import cast

from explorer.formula.constants import settled_value
from explorer.formula.functions import FUNCTIONS
from explorer.formula.measured import at_bounds, e4m3_saturates
from explorer.formula.operands import carries_gradient, counted
from explorer.formula.parsing import template
from explorer.formula.tree import (
    Binary,
    Call,
    Compare,
    Foreign,
    Name,
    Node,
    Number,
    Through,
    Unary,
    children,
    is_constant,
    names,
    rebuilt,
    substituted,
    walk,
)

MOST_NODES = 2000  # a longer derivative helps nobody
ZERO, ONE = Number(0.0), Number(1.0)
UPSTREAM = Name("g")

_OPERATORS = {
    "+": ("g", "g"),
    "-": ("g", "-g"),
    "*": ("g * b", "g * a"),
    "/": ("g / b", "-g * (y / b)"),
    "**": ("where(b == 0, 0, g * (b * a**(b - 1)))", "g * where((a == 0) & (b >= 0), 0, y * log(a))"),
}
# torch divides a number by a tensor as number * reciprocal.
_NUMBER_DIVIDED = ("g / b", "-(g * a) * (reciprocal(b) * reciprocal(b))")
# torch computes these with constants of float32, whatever the dtype of x: multiples of 2**-149 where they
# are tiny; elsewhere what is taken from b, over and over, leaves 24 bits. As d they stand for b.
_SINGLE = "where(abs(b) < 2**-126, round(b * 2**149) * 2**-149, b * 536870913 - (b * 536870913 - b))"
_FLOAT32 = {
    "celu": "g * where(a > 0, 1, 1 / d * b * exp(a * (1 / d)))",
    "hardsigmoid": "where(-3 < a < 3, g * 0.1666666716337204, 0)",
}
_OUTSIDE_DOMAIN = "where((y == y) | (a != a), d, g * (0 / 0))"  # y is NaN there although a is not


def derivative(
    tree: Node,
    wrt: str = "x",
    *,
    tensors: Collection[str] = (),
    upstream: Node = UPSTREAM,
    finite: bool = False,
) -> Node | None:
    """The gradient that autograd returns for the name ``wrt``, as a tree in the tree's names and ``g``.

    ``tensors`` are parameters that are tensors, as ``wrt`` is in any case: at a bound of a clamp torch may
    share the gradient otherwise than with numbers. ``upstream`` is the gradient that arrives at each element,
    ``g`` by default. Nodes that torch does not differentiate (conditions, ``heaviside``, ``detach``) pass
    nothing on; where nothing arrives the tree is 0. At a kink the value is torch's. None for more than 2,000
    nodes.

    With ``finite`` it is shortened for people to read: the same values wherever all of its parts are
    finite numbers and every constant is in the domain of its function.
    """
    total = _Reverse(wrt, frozenset((wrt, *tensors)), finite).total(tree, upstream)
    return None if next(islice(walk(total), MOST_NODES, None), None) else total


@dataclass(frozen=True)
class _Reverse:
    wrt: str
    tensors: frozenset[str]
    finite: bool

    def total(self, node: Node, gradient: Node) -> Node:
        """The sum of the gradients that reach the name."""
        return reduce(self.sum, self.arriving(node, gradient), cast(Node, ZERO))

    def arriving(self, node: Node, gradient: Node) -> Iterator[Node]:
        """The gradients that reach the name, one from each of its appearances, as torch adds them up.

        That is latest operation first, which decides what is left where large ones cancel.
        """
        if node == Name(self.wrt):
            yield gradient
            return
        if self.finite and isinstance(node, Call) and node.function == "where":
            condition, *branches = node.arguments
            totals = (self.total(branch, gradient) for branch in branches)
            yield self.short(Call("where", (condition, *totals)))
            return
        scope = dict(zip("abc", children(node), strict=False)) | {"y": node, "g": gradient}
        passed = [*zip(children(node), self.passed(node), strict=False)]
        direct = [pair for pair in passed if pair[0] == Name(self.wrt)]
        for operand, passing in direct + [pair for pair in reversed(passed) if pair not in direct]:
            if carries_gradient(operand, (self.wrt,)):
                yield from self.arriving(operand, self.filled(passing, scope))

    def passed(self, node: Node) -> list[Node]:
        """The gradient of each operand, as a tree in a, b, c, y and g."""
        match node:
            case Unary():
                return [template("-g")]
            case Binary(operator, left, _):
                number_divided = operator == "/" and is_constant(left)
                return [*map(template, _NUMBER_DIVIDED if number_divided else _OPERATORS[operator])]
            case Call("where"):
                condition, g = Name("a"), Name("g")
                return [ZERO, Call("where", (condition, g, ZERO)), Call("where", (condition, ZERO, g))]
            case Call(function) if function in _FLOAT32 and not self.finite:
                single = substituted(template(_FLOAT32[function]), {Name("d"): template(_SINGLE)})
                return [_guarded(tree, node) for tree in (single, *map(template, self.texts(node)[1:]))]
            case Call():
                trees = [*map(template, self.texts(node))]
                return trees if self.finite else [_guarded(tree, node) for tree in trees]
            case Through():
                passed = Binary("*", UPSTREAM, _slope(node))
                (first, _), *_, (last, _) = node.points
                inside = Compare(("<=", "<="), (_number(first), Name("a"), _number(last)))
                return [passed if self.finite else Call("where", (inside, passed, ZERO))]
            case Foreign(function):
                return [function.gradient_tree]
            case _:
                return []

    def texts(self, node: Call) -> tuple[str, ...]:
        """The gradients of a call's row; at bounds as the torch that is here shares them."""
        row = FUNCTIONS[node.function]
        if row.overflowing and not e4m3_saturates():
            return (row.overflowing,)
        if row.mixing != "bounds":
            return row.gradient
        bounds = [*map(counted, node.arguments[1:])]
        numbers = all(is_constant(each) and self.tensors.isdisjoint(names(each)) for each in bounds)
        return row.shared.get(at_bounds().numbers if numbers else at_bounds().tensors, row.gradient)

    def filled(self, tree: Node, scope: Mapping[str, Node]) -> Node:
        """A template with its letters exchanged for trees, shortened on the way."""
        if isinstance(tree, Name):
            return scope.get(tree.name, tree)
        return self.short(rebuilt(tree, tuple(self.filled(part, scope) for part in children(tree))))

    def short(self, node: Node) -> Node:
        """The node without parts that change no value: ``1 * a``, ``a**1``, a ``where`` that is decided."""
        match node:
            case Binary("*", left, right) if ONE in (left, right):
                return right if left == ONE else left
            case Binary("/" | "**", left, right) if right == ONE:
                return left
            case Binary("/", left, right) if left == ZERO and not self.finite:
                return Binary("/", template("0 * sign(g)"), right)  # no number, see _NUMBER_DIVIDED
            case Binary("-", Number(value), Number(less)):
                return _number(value - less)
            case Binary("-", Unary("-", Number(value)), Number(less)):
                return _number(-value - less)
            case Unary("-", Unary("-", operand)):
                return operand
            case Call("where", (condition, then, otherwise)) if (held := _settled(condition)) is not None:
                return then if held else otherwise
            case Call("where", (Binary("&", never, _), _, otherwise)) if not names(never):
                return otherwise if _settled(never) is False else node
            case _:
                return self.shorter(node) if self.finite else node

    def shorter(self, node: Node) -> Node:
        """The node without parts that change no value among finite numbers."""
        match node:
            case Binary("*", left, right) if ZERO in (left, right):
                return ZERO
            case Binary("/", left, _) | Unary("-", left) if left == ZERO:
                return ZERO
            case Binary("*", left, Unary("-", right)):
                return negated(Binary("*", left, right))
            case Unary("-", operand):
                return negated(operand)
            case Binary("+" | "-", left, right) if right == ZERO:
                return left
            case Binary("+", left, right) if left == ZERO:
                return right
            case Call("where", (_, then, otherwise)) if then == otherwise:
                return then
            case Call("mean", (operand,)) if operand == ZERO:
                return ZERO
            case _:
                return node

    def sum(self, left: Node, right: Node) -> Node:
        """Two gradients added; one that is 0 counts for nothing."""
        if ZERO in (left, right):
            return right if left == ZERO else left
        if self.finite and isinstance(first_factor(right), Unary):
            return Binary("-", left, negated(right))
        return Binary("+", left, right)


def _slope(node: Through) -> Node:
    """Return the slope at ``a``: at a point that of the line to its right, 0 beyond the points."""
    slope: Node = ZERO
    before_each = [0.0, *node.slopes[:-1]]
    for (x, _), before in reversed([*zip(node.points, before_each, strict=True)]):
        slope = Call("where", (Compare(("<",), (Name("a"), _number(x))), _number(before), slope))
    return slope


def _number(value: float) -> Node:
    return Number(value) if value >= 0 else Unary("-", Number(-value))


def _settled(condition: Node) -> bool | None:
    """Whether a condition holds for all values; None where that hangs on some, or Python cannot say."""
    value = None if names(condition) else settled_value(condition)
    return None if value is None else bool(value)


def _guarded(tree: Node, node: Call) -> Node:
    """A template that is NaN where torch refuses the constants of a call."""
    takes, constants = FUNCTIONS[node.function].domain, node.arguments[1:]
    if not takes:
        return tree
    if not any(map(names, constants)):
        values = [settled_value(part) for part in constants]
        if None not in values and all(takes(double, *values) for double in (False, True)):
            return tree
    return substituted(template(_OUTSIDE_DOMAIN), {Name("d"): tree})


def first_factor(node: Node) -> Node:
    """The first factor of a product or quotient, which carries its sign."""
    while isinstance(node, Binary) and node.operator in ("*", "/"):
        node = node.left
    return node


def negated(node: Node) -> Node:
    """The negative, with the sign before the first factor, where it needs no parentheses."""
    match node:
        case Unary("-", operand):
            return operand
        case Binary("*" | "/" as operator, left, right):
            return Binary(operator, negated(left), right)
        case _:
            return Unary("-", node)
