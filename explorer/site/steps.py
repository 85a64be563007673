"""In the browser in place of ``formula/torch_operations.py``: JavaScript computes what Python raises at."""

from importlib import import_module

from explorer.formula.tree import Binary, Call, Node


def torch_step(node: Node, values: list[float]) -> float:
    """The value of a call or an operation on two numbers as IEEE arithmetic has it, in float64."""
    if not isinstance(node, Call | Binary):
        raise TypeError(f"{node} has a value in Python")
    name = node.function if isinstance(node, Call) else node.operator
    return float(import_module("browser").computed(name, *map(float, values)))
