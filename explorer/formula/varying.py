"""A formula whose parameters are tensors: one that learns, or one for each channel."""

from functools import lru_cache

from explorer.formula.functions import FUNCTIONS
from explorer.formula.parsing import filled
from explorer.formula.tree import Call, Name, Node, Varying, children, is_constant, rebuilt


@lru_cache(maxsize=1024)
def varied(node: Node, names: tuple[str, ...]) -> Node:
    """The tree with ``names`` as tensors; a function that torch gives numbers only is written out."""
    if isinstance(node, Name):
        return Varying(node.name) if node.name in names else node
    operands = tuple(varied(child, names) for child in children(node))
    composed = isinstance(node, Call) and FUNCTIONS[node.function].composed
    if composed and not all(map(is_constant, operands[1:])):
        return filled(composed, operands)
    return rebuilt(node, operands)
