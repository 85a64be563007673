"""The gradient that torch's autograd computes for a formula, written out as another formula.

This is reverse mode on the expression tree. The backward formula of each operation has the same form as in
torch, so that 0 · ∞, ties, bounds and values at kinks agree with torch. The formulas of functions are in
``functions.py``, those of operators in this module.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from typing import cast

from explorer.formula.constants import evaluate_in_python
from explorer.formula.functions import FUNCTIONS
from explorer.formula.measured import at_bounds, e4m3_saturates
from explorer.formula.operands import has_gradient_path, replace_counts
from explorer.formula.parsing import parse_template
from explorer.formula.tree import (
    Binary,
    Call,
    Compare,
    Name,
    Node,
    Number,
    Polyline,
    Unary,
    UserCall,
    children,
    find_names,
    is_constant,
    make_number,
    rebuild,
    substitute,
    walk,
)

MAX_DERIVATIVE_NODES = 2000  # maximum number of nodes of a gradient's formula
ZERO, ONE = Number(0.0), Number(1.0)
UPSTREAM = Name("g")

_OPERATORS = {
    "+": ("g", "g"),
    "-": ("g", "-g"),
    "*": ("g * b", "g * a"),
    "/": ("g / b", "-g * (y / b)"),
    "**": ("where(b == 0, 0, g * (b * a**(b - 1)))", "g * where((a == 0) & (b >= 0), 0, y * log(a))"),
}
# Torch divides a number by a tensor as a product with the reciprocal.
_NUMBER_DIVIDED = ("g / b", "-(g * a) * (reciprocal(b) * reciprocal(b))")
# torch rounds the constants of these functions to float32, whatever the dtype of x. This expression, d below,
# rounds b to float32: tiny numbers to multiples of 2**-149, others by a difference that leaves 24 bits.
_SINGLE = "where(abs(b) < 2**-126, round(b * 2**149) * 2**-149, b * 536870913 - (b * 536870913 - b))"
_FLOAT32 = {
    "celu": "g * where(a > 0, 1, 1 / d * b * exp(a * (1 / d)))",
    "hardsigmoid": "where(-3 < a < 3, g * 0.1666666716337204, 0)",
}
_OUTSIDE_DOMAIN = "where((y == y) | (a != a), d, g * (0 / 0))"  # NaN where y is NaN but a is not


def differentiate(
    tree: Node,
    wrt: str = "x",
    *,
    tensors: Collection[str] = (),
    upstream: Node = UPSTREAM,
    finite: bool = False,
) -> Node | None:
    """Return autograd's gradient of an expression with respect to the name ``wrt``, as an expression.

    The result uses the same names and ``g``. ``tensors`` are the parameters that are tensors; ``wrt`` is one
    in any case. At a bound of a clamp, torch may split the gradient between tensors differently than with
    numbers. ``upstream`` is the upstream gradient of each element, ``g`` by default. Nodes that torch does
    not differentiate (conditions, ``heaviside``, ``detach``) have gradient 0. At a kink the value is torch's.
    Returns None for more than 2,000 nodes.

    With ``finite``, the result is shortened for readers. It has the same values as long as all its parts are
    finite and every constant is in the domain of its function.
    """
    total = _ReverseMode(wrt, frozenset((wrt, *tensors)), finite).sum_gradients(tree, upstream)
    return None if next(islice(walk(total), MAX_DERIVATIVE_NODES, None), None) else total


@dataclass(frozen=True)
class _ReverseMode:
    wrt: str
    tensors: frozenset[str]
    finite: bool

    def sum_gradients(self, node: Node, gradient: Node) -> Node:
        return reduce(self.add, self.iterate_gradients(node, gradient), cast(Node, ZERO))

    def iterate_gradients(self, node: Node, gradient: Node) -> Iterator[Node]:
        """Yield the gradient of each occurrence of ``wrt``, in the order in which torch adds them.

        The latest operation comes first. The order determines the rounding error if large gradients cancel.
        """
        if node == Name(self.wrt):
            yield gradient
            return
        if self.finite and isinstance(node, Call) and node.function == "where":
            condition, *branches = node.arguments
            totals = (self.sum_gradients(branch, gradient) for branch in branches)
            yield self.simplify(Call("where", (condition, *totals)))
            return
        scope = dict(zip("abc", children(node), strict=False)) | {"y": node, "g": gradient}
        operand_gradients = [*zip(children(node), self.list_operand_gradients(node), strict=False)]
        direct = [pair for pair in operand_gradients if pair[0] == Name(self.wrt)]
        for operand, operand_gradient in direct + [
            pair for pair in reversed(operand_gradients) if pair not in direct
        ]:
            if has_gradient_path(operand, (self.wrt,)):
                yield from self.iterate_gradients(operand, self.fill(operand_gradient, scope))

    def list_operand_gradients(self, node: Node) -> list[Node]:
        """Return a formula for the gradient of each operand of a node, in a, b, c (the operands), y and g."""
        match node:
            case Unary():
                return [parse_template("-g")]
            case Binary(operator, left, _):
                number_divided = operator == "/" and is_constant(left)
                return [*map(parse_template, _NUMBER_DIVIDED if number_divided else _OPERATORS[operator])]
            case Call("where"):
                condition, g = Name("a"), Name("g")
                return [ZERO, Call("where", (condition, g, ZERO)), Call("where", (condition, ZERO, g))]
            case Call(function) if function in _FLOAT32 and not self.finite:
                single = substitute(parse_template(_FLOAT32[function]), {Name("d"): parse_template(_SINGLE)})
                return [
                    _guard_domain(tree, node)
                    for tree in (single, *map(parse_template, self.list_templates(node)[1:]))
                ]
            case Call():
                trees = [*map(parse_template, self.list_templates(node))]
                return trees if self.finite else [_guard_domain(tree, node) for tree in trees]
            case Polyline():
                inner_gradient = Binary("*", UPSTREAM, _make_slope_tree(node))
                (first, _), *_, (last, _) = node.points
                inside = Compare(("<=", "<="), (make_number(first), Name("a"), make_number(last)))
                return [inner_gradient if self.finite else Call("where", (inside, inner_gradient, ZERO))]
            case UserCall(function):
                return [function.gradient_tree]
            case _:
                return []

    def list_templates(self, node: Call) -> tuple[str, ...]:
        row = FUNCTIONS[node.function]
        if row.overflowing and not e4m3_saturates():
            return (row.overflowing,)
        if row.mixing != "bounds":
            return row.gradient
        bounds = [*map(replace_counts, node.arguments[1:])]
        numbers = all(is_constant(bound) and self.tensors.isdisjoint(find_names(bound)) for bound in bounds)
        return row.shared.get(at_bounds().numbers if numbers else at_bounds().tensors, row.gradient)

    def fill(self, tree: Node, scope: Mapping[str, Node]) -> Node:
        if isinstance(tree, Name):
            return scope.get(tree.name, tree)
        return self.simplify(rebuild(tree, tuple(self.fill(part, scope) for part in children(tree))))

    def simplify(self, node: Node) -> Node:
        """Return a node such as ``1 * a`` or ``a**1`` simplified in ways that always preserve its value."""
        match node:
            case Binary("*", left, right) if ONE in (left, right):
                return right if left == ONE else left
            case Binary("/" | "**", left, right) if right == ONE:
                return left
            case Binary("/", left, right) if left == ZERO and not self.finite:
                return Binary("/", parse_template("0 * sign(g)"), right)  # 0 as a tensor: see _NUMBER_DIVIDED
            case Binary("-", Number(value), Number(less)):
                return make_number(value - less)
            case Binary("-", Unary("-", Number(value)), Number(less)):
                return make_number(-value - less)
            case Unary("-", Unary("-", operand)):
                return operand
            case Call("where", (condition, then, otherwise)) if (
                is_true := _evaluate_condition(condition)
            ) is not None:
                return then if is_true else otherwise
            case Call("where", (Binary("&", never, _), _, otherwise)) if not find_names(never):
                return otherwise if _evaluate_condition(never) is False else node
            case _:
                return self.simplify_finite(node) if self.finite else node

    def simplify_finite(self, node: Node) -> Node:
        """Return a node simplified in ways that preserve its value if all numbers are finite."""
        match node:
            case Binary("*", left, right) if ZERO in (left, right):
                return ZERO
            case Binary("/", left, _) | Unary("-", left) if left == ZERO:
                return ZERO
            case Binary("*", left, Unary("-", right)):
                return negate(Binary("*", left, right))
            case Unary("-", operand):
                return negate(operand)
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

    def add(self, left: Node, right: Node) -> Node:
        if ZERO in (left, right):
            return right if left == ZERO else left
        if self.finite and isinstance(find_first_factor(right), Unary):
            return Binary("-", left, negate(right))
        return Binary("+", left, right)


def _make_slope_tree(node: Polyline) -> Node:
    """Return the slope of a polyline as an expression in ``a``, by nested calls of ``where``.

    At a point of the polyline, it is the slope of the line to the right.
    """
    slope: Node = ZERO
    before_each = [0.0, *node.slopes[:-1]]
    for (x, _), before in reversed([*zip(node.points, before_each, strict=True)]):
        slope = Call("where", (Compare(("<",), (Name("a"), make_number(x))), make_number(before), slope))
    return slope


def _evaluate_condition(condition: Node) -> bool | None:
    """Return the truth of a condition. Returns None if it has names or if Python cannot evaluate it."""
    value = None if find_names(condition) else evaluate_in_python(condition)
    return None if value is None else bool(value)


def _guard_domain(tree: Node, node: Call) -> Node:
    """Return the gradient ``tree`` of a call, set to NaN wherever torch rejects the call's constants."""
    is_valid, constants = FUNCTIONS[node.function].domain, node.arguments[1:]
    if not is_valid:
        return tree
    if not any(map(find_names, constants)):
        values = [evaluate_in_python(part) for part in constants]
        if None not in values and all(is_valid(double, *values) for double in (False, True)):
            return tree
    return substitute(parse_template(_OUTSIDE_DOMAIN), {Name("d"): tree})


def find_first_factor(node: Node) -> Node:
    """Return the first factor of a product or quotient, before which a minus needs no parentheses."""
    while isinstance(node, Binary) and node.operator in ("*", "/"):
        node = node.left
    return node


def negate(node: Node) -> Node:
    """Return an expression negated by a minus sign at its first factor, which avoids parentheses."""
    match node:
        case Unary("-", operand):
            return operand
        case Binary("*" | "/" as operator, left, right):
            return Binary(operator, negate(left), right)
        case _:
            return Unary("-", node)
