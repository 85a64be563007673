"""The operators of the formula language, as Python functions of numbers or tensors."""

import operator
from collections.abc import Callable
from functools import reduce
from itertools import pairwise
from typing import Any

from explorer.formula.tree import Binary, Compare, Node, Unary

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "**": operator.pow,
    "&": operator.and_, "|": operator.or_, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


def get_operation(node: Node) -> Callable[..., Any]:
    """Return the Python function for an operator node, which takes the values of the operands.

    The values may be tensors or numbers. Raises TypeError for a leaf or a call.
    """
    match node:
        case Unary(sign):
            return operator.neg if sign == "-" else operator.invert
        case Binary(sign):
            return _OPERATORS[sign]
        case Compare((sign,)):
            return _OPERATORS[sign]
        case Compare(signs):
            links = [_OPERATORS[sign] for sign in signs]
            return lambda *values: reduce(
                operator.and_, [link(*pair) for link, pair in zip(links, pairwise(values), strict=True)]
            )
        case _:
            raise TypeError(f"a node with an operator was expected, but got {node}")
