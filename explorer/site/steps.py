"""The browser's ``formula/torch_operations.py``: JavaScript computes if Python would raise an error."""

from importlib import import_module

from explorer.formula.tree import Binary, Call, Node


def compute_in_torch(node: Node, values: list[float]) -> float:
    """Compute a function call or an operation on two numbers by IEEE arithmetic in float64."""
    if not isinstance(node, Call | Binary):
        raise TypeError(f"{node} was expected to raise an error in Python")
    name = node.function if isinstance(node, Call) else node.operator
    return float(import_module("browser").computed(name, *map(float, values)))
