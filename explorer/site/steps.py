"""The site's replacement for ``formula/torch_operations.py``: IEEE arithmetic by JavaScript."""

from importlib import import_module

from explorer.formula.tree import Binary, Call, Node


def compute_in_torch(node: Node, values: list[float]) -> float:
    """Return the result of a call or an operator for numbers in float64, with IEEE arithmetic."""
    if not isinstance(node, Call | Binary):
        raise TypeError(f"{node} was expected to raise an error in Python")
    name = node.function if isinstance(node, Call) else node.operator
    return float(import_module("browser").computed(name, *map(float, values)))
