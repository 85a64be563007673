"""A second reader of a formula's data, by its description alone."""

from explorer.formula.tree import Binary, Call, Compare, LossAt, Name, Node, Number, Polyline, Unary


def read(data) -> Node:
    """The tree that data stands for, by its own description."""
    match data:
        case int() | float():
            return Number(float(data))
        case ["name", name]:
            return Name(name)
        case ["compare", operators, *operands]:
            return Compare(tuple(operators), tuple(map(read, operands)))
        case ["call", function, *arguments]:
            return Call(function, tuple(map(read, arguments)))
        case ["through", x, y, argument]:
            return Polyline(tuple(zip(x, y, strict=True)), read(argument))
        case ["f", output]:
            return LossAt(read(output))
        case [operator, operand]:
            return Unary(operator, read(operand))
        case [operator, left, right]:
            return Binary(operator, read(left), read(right))
    raise AssertionError(data)
