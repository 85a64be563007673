"""The parts of a tree that are constant between its kinks, and its degree there."""

import math
from collections.abc import Iterator
from functools import lru_cache

from explorer.formula.derivative import derivative
from explorer.formula.functions import FUNCTIONS
from explorer.formula.parsing import filled
from explorer.formula.tree import (
    DRAWS,
    NORMAL,
    UNIFORM,
    Binary,
    Call,
    Compare,
    Name,
    Node,
    Number,
    Through,
    Unary,
    children,
    is_condition,
    measure,
    names,
    substituted,
    walk,
)

_U, _NORMAL = Name(UNIFORM), Name(NORMAL)
# Beside a normal number so large nothing else is seen, unless it is multiplied by 0.
_ENDS = ((Number(0.0), Unary("-", Number(1e300))), (Number(1.0), Number(1e300)))
_MOST_TURNS, _LONGEST_TURN = 8, 200  # orders of a derivative, and nodes


def pieces(tree: Node) -> Iterator[Node]:
    """Trees that are constant between kinks and change at them: functions of an argument, and of numbers."""
    for node in _counted(tree):
        if isinstance(node, Compare):
            for left, right in zip(node.operands, node.operands[1:], strict=False):
                yield from _signs(Binary("-", left, right))
        elif isinstance(node, Binary) and node.operator == "/":
            yield from _signs(node.right)
        elif isinstance(node, Binary) and node.operator == "**" and not _is_whole(node.right):
            yield from _signs(node.left)
        elif isinstance(node, Through):
            for x, _ in node.points:
                at = Unary("-", Number(-x)) if x < 0 else Number(x)
                yield from _signs(Binary("-", node.argument, at))
        elif isinstance(node, Call):
            for text in FUNCTIONS[node.function].pieces:
                match filled(text, node.arguments):
                    case Call("sign", (inner,)):
                        yield from _signs(inner)
                    case piece:
                        yield piece


def _is_whole(exponent: Node) -> bool:
    """Whether a power with it is a polynomial."""
    return isinstance(exponent, Number) and exponent.value >= 0 and exponent.value.is_integer()


def _counted(node: Node) -> Iterator[Node]:
    """The nodes of a tree, but none of what is taken from itself or multiplied by 0."""
    if _cancels(node):
        return
    yield node
    for child in children(node):
        yield from _counted(child)


def _cancels(node: Node) -> bool:
    """Whether a tree is 0 for every x, as ``floor(x) - floor(x)`` is."""
    match node:
        case Binary("-", left, right) if left == right:
            return _is_finite(left)
        case Binary("*", Number(0.0), other) | Binary("*", other, Number(0.0)):
            return _is_finite(other)
        case _:
            return False


def _is_finite(node: Node) -> bool:
    """Whether a tree is a number wherever x is: polynomials between kinks, nothing divided."""
    divided = any(isinstance(part, Binary) and part.operator in ("/", "**") for part in walk(node))
    return degree(node) < math.inf and not divided


def edge_pieces(tree: Node) -> Iterator[Node]:
    """The trees in x at whose changes the mean over ``u()`` may have a kink.

    That is where a switch along u passes 0 or 1, and where one switches that hangs on x alone. What is normal
    has no ends, unless its width is 0.
    """
    for piece in pieces(tree):
        yield from at_ends(piece)


def at_ends(tree: Node) -> Iterator[Node]:
    """A tree for the least and the largest draw, where it is then one in x alone."""
    for uniform, normal in _ENDS:
        at_end = substituted(tree, {_U: uniform, _NORMAL: normal})
        if not {*DRAWS, "y", "g"}.intersection(names(at_end)) and "x" in names(at_end):
            yield at_end


@lru_cache(maxsize=1024)
def turns(piece: Node) -> tuple[Node, ...] | None:
    """The signs of the derivatives of a piece's argument, the highest order first.

    Between two x at which they change the argument is monotonic, so that no two changes of the piece are
    missed together. A polynomial has one for every order, any other argument the first alone; a straight line
    or one that depends on y has none. None for a polynomial that cannot be followed.
    """
    inner, *_ = children(piece)
    signs: list[Node] = []
    while (power := degree(inner)) > 1:
        slope = None if "y" in names(inner) else derivative(inner, upstream=Number(1.0), finite=True)
        if slope is None or len(signs) == _MOST_TURNS or measure(slope)[0] > _LONGEST_TURN:
            return None if power < math.inf else tuple(reversed(signs))
        signs.append(Call("sign", (slope,)))
        if power == math.inf:
            break
        inner = slope
    return tuple(reversed(signs))


def _signs(node: Node) -> Iterator[Node]:
    """The signs that decide that of a number: one per factor, as ``x * x`` may be 0 without a change."""
    match node:
        case Binary("*" | "/", left, right):
            yield from _signs(left)
            yield from _signs(right)
        case Binary("**" | "-", inner, Number()) if node.operator == "**" or node.right == Number(0.0):
            yield from _signs(inner)
        case _:
            yield Call("sign", (node,))


def degree(node: Node, y: float = math.inf) -> float:
    """The highest degree in x of the polynomials a tree consists of between kinks; inf for anything else.

    ``y``: the degree of the op, where y stands in the tree.
    """
    below = [degree(child, y) for child in children(node)]
    match node:
        case Name(name):
            return {"x": 1.0, "y": y}.get(name, 0.0)
        case Unary("-") | Through():
            return below[0]
        case Binary("+" | "-"):
            return max(below)
        case Binary("*"):
            return sum(below)
        case Binary("/") if not below[1]:
            return below[0]
        case Binary("**", _, Number(power)) if power.is_integer():
            return below[0] * power if power else 0.0
        case Call("where"):
            return max(below[1:])
        case Call(name) if FUNCTIONS[name].degree < math.inf:
            return FUNCTIONS[name].degree * max(below) if FUNCTIONS[name].degree else 0.0
    return 0.0 if is_condition(node) or not any(below) else math.inf


def known_degree(tree: Node, y: float = math.inf, *, searched: bool) -> float:
    """The degree of a tree whose kinks are ``searched`` for; inf where it may have some that were not found.

    That is where something else than a polynomial decides about them, such as ``sin(x) > 0.5``. Where they
    are declared it is the degree.
    """
    watched = [*pieces(tree)] if searched else []
    followed = all(turns(piece) is not None for piece in watched)
    degrees = [degree(each, y) for each in (tree, *(children(piece)[0] for piece in watched))]
    return degrees[0] if followed and math.inf not in degrees else math.inf
