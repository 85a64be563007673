"""The derivative of a tree in x, for code that stops gradients with ``detach``.

What torch does at a kink follows its own backward formulas: 0 for relu and abs at 0, half to each
side of a tie in max and min, the bounds included in clamp and left out in hardtanh.
"""

from __future__ import annotations

from functools import lru_cache

from explorer.formula import parse
from explorer.formula.tree import Binary, Call, Name, Node, Unary, is_condition, is_constant
from explorer.reading.building import ONE, ZERO, arithmetic, call, literal, negative, replaced, where
from explorer.reading.errors import UnreadableError

# One line each: the function's name, and its derivative in each argument at the arguments a, b, c.
PARTIAL = {
    "abs": ("sign(a)",),
    "sign": ("0",),
    "heaviside": ("0", "0"),
    "round": ("0",),
    "floor": ("0",),
    "ceil": ("0",),
    "trunc": ("0",),
    "detach": ("0",),
    "exp": ("exp(a)",),
    "expm1": ("exp(a)",),
    "log": ("1 / a",),
    "log1p": ("1 / (1 + a)",),
    "sqrt": ("1 / (2 * sqrt(a))",),
    "sin": ("cos(a)",),
    "cos": ("-sin(a)",),
    "tan": ("1 + tan(a)**2",),
    "atan": ("1 / (1 + a**2)",),
    "sinh": ("cosh(a)",),
    "cosh": ("sinh(a)",),
    "tanh": ("1 - tanh(a)**2",),
    "sigmoid": ("sigmoid(a) * (1 - sigmoid(a))",),
    "softplus": ("sigmoid(a)",),
    "erf": ("2 / sqrt(pi) * exp(-a**2)",),
    "relu": ("where(a > 0, 1, 0)",),
    "relu6": ("where(0 < a < 6, 1, 0)",),
    "leaky_relu": ("where(a > 0, 1, b)", "where(a > 0, 0, a)"),
    "softsign": ("1 / (1 + abs(a))**2",),
    "silu": ("sigmoid(a) * (1 + a * (1 - sigmoid(a)))",),
    "reciprocal": ("-1 / a**2",),
    "hardtanh": ("where(b < a < c, 1, 0)", "where(a <= b, 1, 0)", "where(a >= c, 1, 0)"),
    "clamp": (
        "where(b <= a <= c, 1, 0)",
        "where((a < b) & (b < c), 1, 0)",
        "where((a > c) | (c < b), 1, 0)",
    ),
    "at_least": ("where(a >= b, 1, 0)", "where(a < b, 1, 0)"),
    "at_most": ("where(a <= b, 1, 0)", "where(a > b, 1, 0)"),
    "max": ("where(a > b, 1, 0) + where(a == b, 0.5, 0)", "where(a < b, 1, 0) + where(a == b, 0.5, 0)"),
    "min": ("where(a < b, 1, 0) + where(a == b, 0.5, 0)", "where(a > b, 1, 0) + where(a == b, 0.5, 0)"),
}
_PLACES = ("a", "b", "c")


def derivative(node: Node) -> Node:
    """The derivative in x, with ``detach(…)`` taken for a constant, as autograd takes it.

    Raises UnreadableError for a function whose derivative is not in the table.
    """
    if is_constant(node) or is_condition(node):
        return ZERO
    match node:
        case Name():
            return ONE
        case Unary("-", operand):
            return negative(derivative(operand))
        case Binary(sign, left, right):
            return _of_binary(sign, left, right)
        case Call("where", (condition, then, otherwise)):
            return where(condition, derivative(then), derivative(otherwise))
        case Call(function, arguments):
            return _of_call(function, arguments)
        case _:
            raise UnreadableError("has no derivative that can be written out")


def _of_binary(sign: str, left: Node, right: Node) -> Node:
    inner, outer = derivative(left), derivative(right)
    match sign:
        case "+" | "-":
            return arithmetic(sign, inner, outer)
        case "*":
            return _sum(_product(inner, right), _product(left, outer))
        case "/":
            whole = arithmetic("/", left, right)
            return _difference(_quotient(inner, right), _product(_quotient(whole, right), outer))
        case _:
            return _sum(_of_base(left, right, inner), _of_exponent(left, right, outer))


def _of_base(base: Node, exponent: Node, inner: Node) -> Node:
    lowered = arithmetic("**", base, arithmetic("-", exponent, literal(1)))
    return _product(arithmetic("*", exponent, lowered), inner)


def _of_exponent(base: Node, exponent: Node, outer: Node) -> Node:
    if outer == ZERO:
        return ZERO
    return _product(arithmetic("*", arithmetic("**", base, exponent), call("log", base)), outer)


def _of_call(function: str, arguments: tuple[Node, ...]) -> Node:
    if function not in PARTIAL:
        raise UnreadableError(f"needs the derivative of {function}, which cannot be written out")
    values = dict(zip(_PLACES, arguments, strict=False))
    total: Node = ZERO
    for argument, partial in zip(arguments, PARTIAL[function], strict=True):
        inner = derivative(argument)
        if inner != ZERO:
            total = _sum(total, _product(replaced(_template(partial), values), inner))
    return total


@lru_cache
def _template(text: str) -> Node:
    return parse(text, variables=(), parameters=_PLACES).tree


def _product(left: Node, right: Node) -> Node:
    """A product in which a factor that is 0 everywhere counts, as autograd leaves that path out."""
    return ZERO if ZERO in (left, right) else arithmetic("*", left, right)


def _quotient(left: Node, right: Node) -> Node:
    return ZERO if left == ZERO else arithmetic("/", left, right)


def _sum(left: Node, right: Node) -> Node:
    return arithmetic("+", left, right)


def _difference(left: Node, right: Node) -> Node:
    return arithmetic("-", left, right)
