"""The gradient that backward returns for a parameter, as the contribution of one element and a factor."""

from collections.abc import Mapping
from typing import NamedTuple

from explorer.catalogue import COUNT
from explorer.formula.operands import has_elements
from explorer.formula.tree import RULE_NAMES, Binary, Call, Name, Node, Unary, find_names, substitute, walk
from explorer.reading.building import ONE, ZERO, built, is_shared, number, shared, untracked
from explorer.reading.errors import require
from explorer.reading.values import Opaque, Value, quantity, sum_of

NOT_A_SUM = "is neither a sum over elements nor a value for each of them"
COUNTS_WITHIN = "counts elements elsewhere than in a factor on the whole sum"
COUNTS_ALL = "counts all elements, though what it is a factor of is a sum over some of them"
COUNTS_OTHERS = "counts the elements that share another parameter"
ON_DATA = "multiplies the sum by what depends on the data"
PICKED = "is picked out by a mask: sum it"
ALONG = (
    "backward sums the gradient for {0} along a dimension, one sum for each channel: a curve shows one value "
    "of {0} and the elements that share it"
)
OTHER_SHAPE = "is written to the shape of something else"
SPREAD = (
    "each value of {0} gets the sum over all elements: right where {0} is one value, wrong for one a channel"
)
SCALAR = (
    "the gradient for {0} has shape (): torch raises an error where {0} has another, such as (1,); "
    ".reshape({0}.shape) suits both"
)


class Part(NamedTuple):
    """The contribution of one element to a parameter's gradient, and the factor on the sum, None for 1."""

    name: str
    tree: Node
    scale: Node | None


def part_of(value: Value, name: str, remarks: Mapping[Node, str]) -> Part:
    """The gradient returned for a parameter; raises UnreadableError where it is no sum.

    ``name`` is the parameter's in formulas; ``remarks`` holds the statistics taken along a dimension. A value
    per element is summed by torch itself to the parameter's shape.
    """
    held = quantity(value)
    require(not held.within, PICKED)
    tree, summed = untracked(held.node), sum_of(held)
    require(not summed or summed.spread in ("", name), OTHER_SHAPE)
    if summed or has_elements(tree):
        body, factor = _apart(tree)
        whole = summed is not None and not summed.over
    elif tree == ZERO:
        body, factor, whole = ZERO, ONE, True
    else:
        require(not getattr(held, "sized", False), NOT_A_SUM)
        body, factor = _apart(_averaged(tree))
        factor = built("/", factor, Name(COUNT))
        whole = not any(node in remarks for node in walk(held.node))
    require(not any(map(_is_count, walk(body))), COUNTS_WITHIN)
    factor = _counted(factor, name, whole)
    require(not set(find_names(factor)).intersection(RULE_NAMES), ON_DATA)
    body = built("*", ZERO, Name("g")) if body == ZERO else number(body)
    return Part(name, body, None if factor == ONE else factor)


def shape_notes(value: Value, name: str) -> list[str]:
    """Notes on the shape of the gradient returned for a parameter; ``name`` is its name in the code."""
    summed = sum_of(value)
    if summed is None:
        return []
    said = {ALONG: any(map(_is_along, summed.over)), SPREAD: bool(summed.spread), SCALAR: summed.bare}
    return [words.format(name) for words, so in said.items() if so]


def _is_along(dimensions: Value) -> bool:
    """Whether a sum was taken along dimensions, not over all that share one of a parameter's values."""
    sizes = dimensions if isinstance(dimensions, tuple) else (dimensions,)
    return not any(isinstance(size, Opaque) and isinstance(size.of, Name) for size in sizes)


def _is_count(node: Node) -> bool:
    return is_shared(node) or (isinstance(node, Call) and node.function == "numel")


def _counted(factor: Node, name: str, whole: bool) -> Node:
    """The factor with N for the number of elements that share the parameter."""
    counts = {node: Name(COUNT) for node in walk(factor) if _is_count(node)}
    require(whole or all(isinstance(node, Name) for node in counts), COUNTS_ALL)
    others = [node for node in counts if isinstance(node, Name) and node != shared(name)]
    require(not others, COUNTS_OTHERS)
    factor = substitute(factor, counts)
    return ONE if factor == Binary("/", Name(COUNT), Name(COUNT)) else factor


def _apart(node: Node) -> tuple[Node, Node]:
    """A tree as a part that depends on the elements times a factor with the numbers of elements."""
    if not any(map(_is_count, walk(node))):
        return node, ONE
    if not has_elements(node):
        return ONE, node
    match node:
        case Binary("*", left, right):
            (body, factor), (other, more) = _apart(left), _apart(right)
            return built("*", body, other), built("*", factor, more)
        case Binary("/", left, right) if not has_elements(right):
            body, factor = _apart(left)
            counts = any(map(_is_count, walk(right)))
            return (body, built("/", factor, right)) if counts else (built("/", body, right), factor)
        case Unary("-", operand):
            body, factor = _apart(operand)
            return built("-", body), factor
        case Binary("+" | "-" as sign, left, right):
            (body, factor), (other, more) = _apart(left), _apart(right)
            return (built(sign, body, other), factor) if factor == more else (node, ONE)
        case Call("where", (condition, then, otherwise)):
            (body, factor), (other, more) = _apart(then), _apart(otherwise)
            if ZERO not in (then, otherwise) and factor != more:
                return node, ONE
            return built("where", condition, body, other), more if then == ZERO else factor
        case _:
            return node, ONE


def _averaged(node: Node) -> Node:
    """The operand of a mean, with all its factors; raises UnreadableError where there is no mean."""
    match node:
        case Call("mean", (operand,)) if has_elements(operand):
            return operand
        case Unary("-", operand):
            return built("-", _averaged(operand))
        case Binary("+" | "-" as sign, left, right):
            return built(sign, _averaged(left), _averaged(right))
        case Binary("*", left, right) if _is_free(left) != _is_free(right):
            sides = (left, _averaged(right)) if _is_free(left) else (_averaged(left), right)
            return built("*", *sides)
        case Binary("/", left, right) if _is_free(right):
            return built("/", _averaged(left), right)
    require(False, NOT_A_SUM)
    return node


def _is_free(node: Node) -> bool:
    return not any(isinstance(part, Call) and part.function == "mean" for part in walk(node))
