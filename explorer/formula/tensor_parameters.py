"""Formulas some of whose parameters are tensors, which can be trained or have one value per channel."""

from functools import lru_cache

from explorer.formula.functions import FUNCTIONS
from explorer.formula.parsing import fill_template
from explorer.formula.tree import Call, Name, Node, TensorName, children, is_constant, rebuild


@lru_cache(maxsize=1024)
def replace_names(node: Node, names: tuple[str, ...]) -> Node:
    """Return an expression in which the parameters in ``names`` are marked as tensors.

    If torch accepts only numbers for such a parameter, the function is written out as a formula.
    """
    if isinstance(node, Name):
        return TensorName(node.name) if node.name in names else node
    operands = tuple(replace_names(child, names) for child in children(node))
    composed = isinstance(node, Call) and FUNCTIONS[node.function].composed
    if composed and not all(map(is_constant, operands[1:])):
        return fill_template(composed, operands)
    return rebuild(node, operands)
