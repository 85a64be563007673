"""The piecewise constant parts of a formula, and its degree as a polynomial in x between two kinks."""

import math
from collections.abc import Iterator
from functools import lru_cache

from explorer.formula.derivative import differentiate
from explorer.formula.functions import FUNCTIONS
from explorer.formula.parsing import fill_template
from explorer.formula.tree import (
    NORMAL,
    RANDOM_NAMES,
    UNIFORM,
    Binary,
    Call,
    Compare,
    Name,
    Node,
    Number,
    Polyline,
    Unary,
    children,
    find_names,
    is_condition,
    make_number,
    measure,
    substitute,
    walk,
)

_U, _NORMAL = Name(UNIFORM), Name(NORMAL)
# Replaces a normal random number: this value dominates all terms that are not multiplied by 0.
_ENDS = ((Number(0.0), Unary("-", Number(1e300))), (Number(1.0), Number(1e300)))
_MAX_ORDERS, _MAX_SLOPE_NODES = 8, 200  # limits on the order and on the number of nodes of a derivative


def find_pieces(tree: Node) -> Iterator[Node]:
    """Yield piecewise constant expressions, such as ``sign(x - 1)``, that jump where ``tree`` has kinks."""
    for node in _walk_relevant(tree):
        if isinstance(node, Compare):
            for left, right in zip(node.operands, node.operands[1:], strict=False):
                yield from _find_signs(Binary("-", left, right))
        elif isinstance(node, Binary) and node.operator == "/":
            yield from _find_signs(node.right)
        elif isinstance(node, Binary) and node.operator == "**" and not _is_natural(node.right):
            yield from _find_signs(node.left)
        elif isinstance(node, Polyline):
            for x, _ in node.points:
                yield from _find_signs(Binary("-", node.argument, make_number(x)))
        elif isinstance(node, Call):
            for text in FUNCTIONS[node.function].pieces:
                match fill_template(text, node.arguments):
                    case Call("sign", (inner,)):
                        yield from _find_signs(inner)
                    case piece:
                        yield piece


def _is_natural(exponent: Node) -> bool:
    return isinstance(exponent, Number) and exponent.value >= 0 and exponent.value.is_integer()


def _walk_relevant(node: Node) -> Iterator[Node]:
    """Yield the nodes of an expression that affect its value, not those of ``a - a`` or ``0 * a``."""
    if _is_zero(node):
        return
    yield node
    for child in children(node):
        yield from _walk_relevant(child)


def _is_zero(node: Node) -> bool:
    match node:
        case Binary("-", left, right) if left == right:
            return _is_finite(left)
        case Binary("*", Number(0.0), other) | Binary("*", other, Number(0.0)):
            return _is_finite(other)
        case _:
            return False


def _is_finite(node: Node) -> bool:
    is_divided = any(isinstance(part, Binary) and part.operator in ("/", "**") for part in walk(node))
    return find_degree(node) < math.inf and not is_divided


def find_edge_pieces(tree: Node) -> Iterator[Node]:
    """Yield expressions in x that jump where the mean of ``tree`` over the random number u may have a kink.

    Such a kink is an x at which the u of a jump reaches 0 or 1, or a jump that depends on x only. A normal
    random number has no extreme values, unless its width is 0.
    """
    for piece in find_pieces(tree):
        yield from substitute_extremes(piece)


def substitute_extremes(tree: Node) -> Iterator[Node]:
    """Yield ``tree`` with the random numbers replaced by their least value, then by their greatest value.

    Results that do not depend on x only are left out.
    """
    for uniform, normal in _ENDS:
        at_end = substitute(tree, {_U: uniform, _NORMAL: normal})
        if not {*RANDOM_NAMES, "y", "g"}.intersection(find_names(at_end)) and "x" in find_names(at_end):
            yield at_end


@lru_cache(maxsize=1024)
def list_derivative_signs(piece: Node) -> tuple[Node, ...] | None:
    """Return the signs of the derivatives of the argument of ``piece`` as expressions, highest order first.

    Between two changes of these signs the argument is monotonic, so a search cannot miss a pair of sign
    changes.

    Returns:
        One sign for each order if the argument is a polynomial, else only the sign of the first derivative.
        Empty for straight lines and for arguments that depend on y. None for a polynomial whose derivatives
        are too many or too long.
    """
    inner, *_ = children(piece)
    signs: list[Node] = []
    while (power := find_degree(inner)) > 1:
        slope = None if "y" in find_names(inner) else differentiate(inner, upstream=Number(1.0), finite=True)
        if slope is None or len(signs) == _MAX_ORDERS or measure(slope)[0] > _MAX_SLOPE_NODES:
            return None if power < math.inf else tuple(reversed(signs))
        signs.append(Call("sign", (slope,)))
        if power == math.inf:
            break
        inner = slope
    return tuple(reversed(signs))


def _find_signs(node: Node) -> Iterator[Node]:
    """Yield ``sign(…)`` of each factor of a product, because ``x * x`` is 0 without changing its sign."""
    match node:
        case Binary("*" | "/", left, right):
            yield from _find_signs(left)
            yield from _find_signs(right)
        case Binary("**" | "-", inner, Number()) if node.operator == "**" or node.right == Number(0.0):
            yield from _find_signs(inner)
        case _:
            yield Call("sign", (node,))


def find_degree(node: Node, y: float = math.inf) -> float:
    """Return the degree of an expression as a polynomial in x between two kinks.

    ``y`` is the degree of the op's output in x. Returns infinity for anything but a polynomial.
    """
    operand_degrees = [find_degree(child, y) for child in children(node)]
    match node:
        case Name(name):
            return {"x": 1.0, "y": y}.get(name, 0.0)
        case Unary("-") | Polyline():
            return operand_degrees[0]
        case Binary("+" | "-"):
            return max(operand_degrees)
        case Binary("*"):
            return sum(operand_degrees)
        case Binary("/") if not operand_degrees[1]:
            return operand_degrees[0]
        case Binary("**", _, Number(power)) if power.is_integer():
            return operand_degrees[0] * power if power else 0.0
        case Call("where"):
            return max(operand_degrees[1:])
        case Call(name) if FUNCTIONS[name].degree < math.inf:
            return FUNCTIONS[name].degree * max(operand_degrees) if FUNCTIONS[name].degree else 0.0
    return 0.0 if is_condition(node) or not any(operand_degrees) else math.inf


def find_known_degree(tree: Node, y: float = math.inf, *, is_searched: bool) -> float:
    """Return the degree of an expression as a polynomial in x, or infinity if a kink may be missing.

    ``y`` is the degree of the op's output. If kinks were searched for (``is_searched``), some may be missing
    that are not roots of polynomials, such as those of ``sin(x) > 0.5``.
    """
    searched_pieces = [*find_pieces(tree)] if is_searched else []
    is_complete = all(list_derivative_signs(piece) is not None for piece in searched_pieces)
    degrees = [find_degree(each, y) for each in (tree, *(children(piece)[0] for piece in searched_pieces))]
    return degrees[0] if is_complete and math.inf not in degrees else math.inf
