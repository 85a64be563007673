"""Trees without x, y and g to one number each, by the arithmetic and functions of Python.

Exported code spells constants with the same. Where Python raises, torch says what IEEE arithmetic gives.
"""

import math
from collections.abc import Callable, Mapping

from explorer.formula.operands import casts
from explorer.formula.operators import operation
from explorer.formula.tree import Binary, Call, Name, Node, Number, Unary, children

# Functions of Python, for constants: here and in exported code.
PYTHON: dict[str, Callable[..., float]] = {
    function.__name__: function
    for function in (
        abs, min, max, math.exp, math.expm1, math.log, math.log2, math.log10, math.log1p, math.sqrt, math.sin,
        math.cos, math.tan, math.atan, math.sinh, math.cosh, math.tanh, math.erf,
    )
}  # fmt: skip

# What exported code defines for constants where Python raises an error, or drops NaN; reading knows them.
IEEE_HELPERS: dict[str, str] = {
    "_ieee": '''def _ieee(function, *numbers):
    """Return a function of numbers; NaN or infinity where Python raises an error."""
    if function in (min, max) and any(map(math.isnan, numbers)):
        return math.nan
    try:
        return function(*numbers)
    except (ArithmeticError, ValueError):
        tensors = [torch.tensor(float(number), dtype=torch.float64) for number in numbers]
        return getattr(torch, function.__name__)(*tensors).item()
''',
    "_divided": '''def _divided(number, divisor):
    """Return a quotient of numbers, NaN or infinity where the divisor is 0."""
    return number / divisor if divisor else number * math.copysign(math.inf, divisor)
''',
}
# ``through`` in exported code; reading knows it as well.
THROUGH_HELPER = '''def _through(x, *points):
    """Return straight lines through x0, y0, x1, y1, ...; constant beyond them."""
    at, y = points[::2], points[1::2]
    lines = zip(at, at[1:], y, y[1:], strict=False)
    slopes = [(after - y) / (end - start) for start, end, y, after in lines] + [0.0]
    columns = torch.tensor([at, y, slopes], dtype=x.dtype, device=x.device)
    inside = x.clamp(at[0], at[-1])
    index = torch.bucketize(inside.detach().flatten(), columns[0, 1:], right=True)
    start, y, slope = (column[index].view(x.shape) for column in columns)
    return y + (inside - start) * slope
'''

_RAISED = (ArithmeticError, ValueError, KeyError)  # by ``python_step``, where it has no value


def python_step(node: Node, values: list[float]) -> float:
    """An inner node's value as Python computes it; raises what Python raises, KeyError where it lacks it."""
    match node:
        case Unary("~"):
            return not values[0]
        case Binary("**"):
            return math.pow(*values)
        case Call("min" | "max") if any(map(math.isnan, values)):
            return math.nan  # as torch has it; Python's own depend on the order
        case Call("where"):
            return values[1] if values[0] else values[2]
        case Call(function):
            return PYTHON[function](*values)
        case _:
            result: float = operation(node)(*values)
            return result


def ieee_step(node: Node, values: list[float]) -> float:
    """An inner node's value as IEEE arithmetic has it."""
    try:
        return python_step(node, values)
    except _RAISED:
        from explorer.formula.torch_operations import torch_step  # not where there is no torch

        return torch_step(node, values)


def constant_value(
    node: Node, parameters: Mapping[str, float], step: Callable[[Node, list[float]], float] = ieee_step
) -> float:
    """The value of a tree without x, y and g; a bool for a condition. ``step`` computes each inner node."""
    match node:
        case Number(value):
            return value
        case Name("pi" | "e" as name):
            return float(getattr(math, name))
        case Name(name):
            return float(parameters[name])
    values = [constant_value(child, parameters, step) for child in children(node)]
    numbers = [float(value) if cast else value for value, cast in zip(values, casts(node), strict=True)]
    return step(node, numbers)


def settled_value(node: Node) -> float | None:
    """The value of a tree without names, by Python alone; None where Python raises."""
    try:
        return constant_value(node, {}, python_step)
    except _RAISED:
        return None
