"""Split the gradient of a parameter into one element's contribution and a factor on their sum."""

from collections.abc import Mapping
from typing import NamedTuple

from explorer.catalogue import COUNT
from explorer.formula.operands import has_elements
from explorer.formula.tree import RULE_NAMES, Binary, Call, Name, Node, Unary, find_names, substitute, walk
from explorer.reading.building import ONE, ZERO, build, count_shared, is_shared_count, strip_detach, to_number
from explorer.reading.errors import require
from explorer.reading.values import Opaque, Value, get_sum, to_quantity

NOT_A_SUM = "is neither a sum over elements nor a value for each of them"
COUNTS_WITHIN = "counts elements elsewhere than in a factor on the whole sum"
COUNTS_ALL = "counts all elements, but multiplies a sum over only some of them"
COUNTS_OTHERS = "counts the elements that share another parameter"
ON_DATA = "multiplies the sum by a value that depends on the data"
PICKED = "is picked out by a mask: sum it"
ALONG_DIMENSION = (
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
    """The gradient of a parameter, written as a factor times the sum of all elements' contributions.

    Attributes:
        name: the parameter's name in formulas.
        tree: the contribution of one element to the sum.
        scale: the factor on the sum, or None for 1.
    """

    name: str
    tree: Node
    scale: Node | None


def split_gradient(value: Value, name: str, remarks: Mapping[Node, str]) -> Part:
    """Split the gradient of a parameter into one element's contribution and a factor on their sum.

    A gradient with one value per element is accepted too, since torch sums it to the parameter's shape.
    Raises UnreadableError if the gradient is not a sum.

    Args:
        value: the gradient that backward returns.
        name: the parameter's name in formulas.
        remarks: the statistics over a dimension, each with a remark.
    """
    operand = to_quantity(value)
    require(not operand.within, PICKED)
    tree, summed = strip_detach(operand.node), get_sum(operand)
    require(not summed or summed.spread in ("", name), OTHER_SHAPE)
    if summed or has_elements(tree):
        body, factor = _split_factor(tree)
        is_total = summed is not None and not summed.over
    elif tree == ZERO:
        body, factor, is_total = ZERO, ONE, True
    else:
        require(not getattr(operand, "sized", False), NOT_A_SUM)
        body, factor = _split_factor(_remove_mean(tree))
        factor = build("/", factor, Name(COUNT))
        is_total = not any(node in remarks for node in walk(operand.node))
    require(not any(map(_is_count, walk(body))), COUNTS_WITHIN)
    factor = _replace_counts(factor, name, is_total)
    require(not set(find_names(factor)).intersection(RULE_NAMES), ON_DATA)
    body = build("*", ZERO, Name("g")) if body == ZERO else to_number(body)
    return Part(name, body, None if factor == ONE else factor)


def list_shape_notes(value: Value, name: str) -> list[str]:
    """Return warnings, as sentences, about the shape of a parameter's gradient.

    ``name`` is the parameter's name in the code.
    """
    summed = get_sum(value)
    if summed is None:
        return []
    conditions = {
        ALONG_DIMENSION: any(map(_is_along, summed.over)),
        SPREAD: bool(summed.spread),
        SCALAR: summed.bare,
    }
    return [words.format(name) for words, applies in conditions.items() if applies]


def _is_along(dimensions: Value) -> bool:
    """Return whether a sum is along given dimensions, not over all elements that share a parameter."""
    sizes = dimensions if isinstance(dimensions, tuple) else (dimensions,)
    return not any(isinstance(size, Opaque) and isinstance(size.of, Name) for size in sizes)


def _is_count(node: Node) -> bool:
    return is_shared_count(node) or (isinstance(node, Call) and node.function == "numel")


def _replace_counts(factor: Node, name: str, is_total: bool) -> Node:
    counts = {node: Name(COUNT) for node in walk(factor) if _is_count(node)}
    require(is_total or all(isinstance(node, Name) for node in counts), COUNTS_ALL)
    foreign = [node for node in counts if isinstance(node, Name) and node != count_shared(name)]
    require(not foreign, COUNTS_OTHERS)
    factor = substitute(factor, counts)
    return ONE if factor == Binary("/", Name(COUNT), Name(COUNT)) else factor


def _split_factor(node: Node) -> tuple[Node, Node]:
    if not any(map(_is_count, walk(node))):
        return node, ONE
    if not has_elements(node):
        return ONE, node
    match node:
        case Binary("*", left, right):
            (body, factor), (other_body, other_factor) = _split_factor(left), _split_factor(right)
            return build("*", body, other_body), build("*", factor, other_factor)
        case Binary("/", left, right) if not has_elements(right):
            body, factor = _split_factor(left)
            counts = any(map(_is_count, walk(right)))
            return (body, build("/", factor, right)) if counts else (build("/", body, right), factor)
        case Unary("-", operand):
            body, factor = _split_factor(operand)
            return build("-", body), factor
        case Binary("+" | "-" as sign, left, right):
            (body, factor), (other_body, other_factor) = _split_factor(left), _split_factor(right)
            return (build(sign, body, other_body), factor) if factor == other_factor else (node, ONE)
        case Call("where", (condition, then, otherwise)):
            (body, factor), (other_body, other_factor) = _split_factor(then), _split_factor(otherwise)
            if ZERO not in (then, otherwise) and factor != other_factor:
                return node, ONE
            return build("where", condition, body, other_body), other_factor if then == ZERO else factor
        case _:
            return node, ONE


def _remove_mean(node: Node) -> Node:
    """Replace ``mean(…)`` by its operand. Raises UnreadableError if there is no mean."""
    match node:
        case Call("mean", (operand,)) if has_elements(operand):
            return operand
        case Unary("-", operand):
            return build("-", _remove_mean(operand))
        case Binary("+" | "-" as sign, left, right):
            return build(sign, _remove_mean(left), _remove_mean(right))
        case Binary("*", left, right) if _is_free(left) != _is_free(right):
            sides = (left, _remove_mean(right)) if _is_free(left) else (_remove_mean(left), right)
            return build("*", *sides)
        case Binary("/", left, right) if _is_free(right):
            return build("/", _remove_mean(left), right)
    require(False, NOT_A_SUM)
    return node


def _is_free(node: Node) -> bool:
    return not any(isinstance(part, Call) and part.function == "mean" for part in walk(node))
