"""Tree to JSON: what a formula is for whoever reads it outside Python."""

from typing import Any

from explorer.formula.tree import Call, Compare, Name, Node, Number, children

Data = float | list[Any]


def data(node: Node) -> Data:
    """The tree as nested lists.

    A number is a number, a name ``["name", "x"]``, a comparison ``["compare", ["<=", "<"], a, b, c]``,
    a call ``["call", "relu", a]``, all else its operator before its operands: ``["-", a]``,
    ``["+", a, b]``.
    """
    match node:
        case Number(value):
            return int(value) if value.is_integer() and value < 2**53 else value
        case Name(name):
            return ["name", name]
        case Compare(operators, _):
            head: list[Any] = ["compare", list(operators)]
        case Call(function, _):
            head = ["call", function]
        case _:
            head = [node.operator]
    return [*head, *map(data, children(node))]
