"""The values of a formula's constant parts, which do not depend on x, y and g, by Python's arithmetic.

Exported code computes constants in the same way. If Python raises an error, torch computes the value by IEEE
arithmetic.
"""

import math
from collections.abc import Callable, Mapping

from explorer.formula.operands import find_casts
from explorer.formula.operators import get_operation
from explorer.formula.tree import Binary, Call, Name, Node, Number, Unary, children

# The functions of Python that compute constants, both here and in exported code.
PYTHON: dict[str, Callable[..., float]] = {
    function.__name__: function
    for function in (
        abs, min, max, math.exp, math.expm1, math.log, math.log2, math.log10, math.log1p, math.sqrt, math.sin,
        math.cos, math.tan, math.atan, math.sinh, math.cosh, math.tanh, math.erf,
    )
}  # fmt: skip

# Helpers for exported code, where Python raises an error or loses NaN. explorer/reading recognises them.
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
# The helper for ``through`` in exported code, which explorer/reading knows as well.
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

_NO_VALUE_ERRORS = (ArithmeticError, ValueError, KeyError)  # ``compute_in_python``'s, if there is no value


def compute_in_python(node: Node, values: list[float]) -> float:
    """Compute one node of an expression tree from the values of its operands, with Python's arithmetic.

    Python's errors are passed on. Raises KeyError if Python lacks the function.
    """
    match node:
        case Unary("~"):
            return not values[0]
        case Binary("**"):
            return math.pow(*values)
        case Call("min" | "max") if any(map(math.isnan, values)):
            return math.nan  # as torch does; in Python the result would depend on the order of arguments
        case Call("where"):
            return values[1] if values[0] else values[2]
        case Call(function):
            return PYTHON[function](*values)
        case _:
            result: float = get_operation(node)(*values)
            return result


def compute_ieee(node: Node, values: list[float]) -> float:
    """Compute one node from the values of its operands in IEEE arithmetic: NaN and ∞ instead of errors."""
    try:
        return compute_in_python(node, values)
    except _NO_VALUE_ERRORS:
        from explorer.formula.torch_operations import compute_in_torch  # the browser has no torch

        return compute_in_torch(node, values)


def evaluate_constant(
    node: Node, parameters: Mapping[str, float], step: Callable[[Node, list[float]], float] = compute_ieee
) -> float:
    """Evaluate an expression without x, y and g. The value is a number, or a bool for a condition.

    ``step`` is the function that computes one node from the values of its operands. Raises KeyError for a
    parameter without a value.
    """
    match node:
        case Number(value):
            return value
        case Name("pi" | "e" as name):
            return float(getattr(math, name))
        case Name(name):
            return float(parameters[name])
    values = [evaluate_constant(child, parameters, step) for child in children(node)]
    numbers = [float(value) if cast else value for value, cast in zip(values, find_casts(node), strict=True)]
    return step(node, numbers)


def evaluate_in_python(node: Node) -> float | None:
    """Return the value, by Python's arithmetic, of an expression without names, or None after an error."""
    try:
        return evaluate_constant(node, {}, compute_in_python)
    except _NO_VALUE_ERRORS:
        return None
