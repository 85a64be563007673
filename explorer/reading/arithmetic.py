"""Operators, comparisons and formula functions for the values of pasted code."""

import ast
from functools import partial, reduce
from itertools import pairwise

from explorer.formula import VARIABLES, Call, Node, find_names
from explorer.formula.operands import has_elements
from explorer.formula.tree import COMPARISONS, Number, Polyline, Unary, is_condition, is_constant
from explorer.reading.building import ZERO, build, count_shared, evaluate_constant
from explorer.reading.errors import RaisesError, ReadingError, require
from explorer.reading.values import (
    MAX_VALUES,
    Opaque,
    Quantity,
    Sum,
    Tensor,
    Value,
    get_sum,
    is_number,
    to_quantity,
    unpack,
)
from explorer.reading.vocabulary import ELEMENTWISE, OPERATORS, REASONS

SIGNS = {getattr(ast, name): sign for sign, name, *_ in OPERATORS}
_TRACED = Quantity | Opaque | ReadingError
_ON_MASKS = {"+": "|", "*": "&"}  # operators by which torch combines two masks
_LOGIC = frozenset(["~", "&", "|", "^"])
NOT_TAKEN_APART = "needs a tensor or a number, not several values: unpack them, as in x, = ctx.saved_tensors"
ON_MASK = "subtracts a mask, which torch refuses: use ~, or call .float() first"
_INTEGER_SIGNS = frozenset(["+", "-", "*", "**", "//", "remainder", "<<", ">>", "where", *_LOGIC])


def make_result(node: Node, *operands: Quantity, kind: str = "float32") -> Value:
    """Return an expression tree as a tensor or number of the pasted code.

    ``operands`` are the values that it was computed from, and ``kind`` is its kind of number, as in
    ``Quantity``. The result is a tensor if an operand is a tensor. Otherwise it is a number, a Python number
    if possible. Raises UnreadableError for a sum, and for operands of different masks or shapes.
    """
    require(not any(map(get_sum, operands)), REASONS["sum"])
    tensors = [operand for operand in operands if isinstance(operand, Tensor)]
    masks = {tensor.within for tensor in tensors if not is_constant(tensor.node) or tensor.within}
    require(len(masks) < 2, "mixes elements that were selected by different masks: use one mask")
    folded = {tensor.folded for tensor in tensors if has_elements(tensor.node)}
    require(len(folded) < 2, f"mixes tensors of different shapes: {ELEMENTWISE}")
    if tensors:
        sized = any(tensor.sized for tensor in tensors)
        return Tensor(node, kind, next(iter(masks), None), folded=True in folded, sized=sized)
    value = evaluate_constant(node)
    if value is None or not (kind == "bool" or isinstance(node, Number | Unary)):
        return Quantity(node, kind, number=all(map(is_number, operands)))
    return bool(value) if kind == "bool" else int(value) if value.is_integer() else value


def compute(sign: str, *values: Value) -> Value:
    """Return the result of an operator, or of a function of formulas, for values in pasted code."""
    operands = [to_quantity(value) for value in values]
    if any(map(get_sum, operands)):
        return _combine_sums(sign, *operands)
    kinds = {operand.kind for operand in operands}
    sign = _ON_MASKS.get(sign, sign) if kinds == {"bool"} else sign
    for operand in operands if sign in _LOGIC else operands[:1] if sign == "where" else ():
        is_mask = operand.kind in ("bool", "uint8") or is_condition(operand.node)
        require(is_mask, "is used as a mask, but it holds numbers: compare it first")
    masks = sign == "-" and any(isinstance(each, Tensor) and each.kind == "bool" for each in operands)
    require(not masks, ON_MASK, RaisesError)
    byte = sign == "-" and operands[0].kind == "uint8"
    require(not byte, "may fall below 0, where bytes begin again at 255: call .float() first")
    mask = sign in COMPARISONS or (sign in _LOGIC | {"where"} and kinds == {"bool"})
    is_whole = sign in _INTEGER_SIGNS and "float32" not in kinds
    kind = "bool" if mask else "int64" if is_whole else "float32"
    return make_result(build(sign, *(operand.node for operand in operands)), *operands, kind=kind)


def interpolate_points(x: Value, *numbers: Value) -> Value:
    """Return the piecewise linear function of x through given points.

    ``numbers`` are x0, y0, x1, y1 and so on, as in exported code.
    """
    x_values, y = numbers[::2], numbers[1::2]
    require(
        all(isinstance(each, int | float) for each in numbers),
        "takes the points of a curve as numbers, but got other values",
    )
    ascending = len(x_values) == len(y) >= 2 and all(before < after for before, after in pairwise(x_values))
    require(ascending, "takes at least two points, each as x and y, with ascending x")
    inner = to_quantity(x)
    return make_result(
        Polyline(tuple(zip(map(float, x_values), map(float, y), strict=True)), inner.node), inner
    )


def _combine_sums(sign: str, *operands: Quantity) -> Value:
    """Return the total of several sums over elements, or one such sum multiplied or divided by a number."""
    sums = [each for each in map(get_sum, operands) if each]
    numbers = [operand for operand in operands if not get_sum(operand)]
    if sign == "+":
        numbers = [number for number in numbers if type(number) is not Quantity or number.node != ZERO]
    is_addition = sign in ("+", "-") and not numbers and len({each.over for each in sums}) == 1
    is_scaling = len(sums) == 1 and (sign == "*" or (sign == "/" and get_sum(operands[0])))
    # A factor is one number, or one for each value of a parameter, but has not the shape of x.
    has_shape = any(
        has_elements(number.node) or (isinstance(number, Tensor) and (number.sized or number.within))
        for number in numbers
    )
    require(is_addition or (is_scaling and not has_shape), REASONS["sum"])
    bare = all(each.bare for each in sums) and not any(
        set(find_names(number.node)).difference(VARIABLES) for number in numbers
    )
    summed = Sum(sums[0].over, bare, next((each.spread for each in sums if each.spread), ""))
    return Tensor(build(sign, *(operand.node for operand in operands)), summed=summed)


def apply_binary(sign: str, left: Value, right: Value) -> Value:
    """Return the result of one of Python's binary operators or comparisons for two values in pasted code.

    Raises UnreadableError for an operation without a formula; RaisesError if Python refuses the operands.
    """
    sides = (left, right)
    match sign, left, right:
        case "==" | "!=", _, _ if not any(isinstance(side, _TRACED) for side in sides):
            return (left == right) == (sign == "==")
        case ("==" | "!=", _, None) | ("==" | "!=", None, _):
            return sign == "!="
        case "/", Quantity(Call("numel")), Opaque(counts=name) if name:
            return Quantity(count_shared(name), "int64")
        case (_, Opaque() as opaque, _) | (_, _, Opaque() as opaque) if Tensor not in map(type, sides):
            return Opaque(opaque.description)
        case ("+", tuple(), tuple()) | ("+", list(), list()):
            return type(left)(unpack((*left, *right)))
        case ("*", (tuple() | list()) as values, int(times)) | (
            "*",
            int(times),
            (tuple() | list()) as values,
        ):
            return type(values)(unpack(tuple(values) * min(times, MAX_VALUES + 1)))
        case (_, Quantity(), tuple() | list()) | (_, tuple() | list(), Quantity()):
            raise RaisesError(NOT_TAKEN_APART)
        case ("<" | "<=" | ">" | ">=", tuple() | list(), int() | float()):
            raise RaisesError(NOT_TAKEN_APART)
        case "/" | "//" | "%", int() | float(), 0:
            raise RaisesError("divides by 0, which Python refuses for two numbers")
        case "&" | "|" | "^", int(), int():
            return {"&": left & right, "|": left | right, "^": left ^ right}[sign]
        case "==" | "!=", _, _:
            numbers = all(isinstance(side, Quantity | int | float) for side in sides)
            require(
                numbers,
                "compares a tensor or parameter with something else than a number: compare it with a number",
            )
        case "//", _, _ if Tensor in map(type, sides):
            # floor(a / b) always equals torch's a // b if b has few binary digits
            exact = isinstance(right, int | float) and not right * 1024 % 1 and 0 < abs(right) < 1024
            require(exact, "rounds down more exactly than floor(a / b) does: write torch.floor(a / b)")
    return compute("remainder" if sign == "%" else sign, left, right)


def compare(sign: ast.cmpop, left: Value, right: Value) -> Value:
    """Return the result of one comparison of a chain such as ``a < b < c``."""
    if isinstance(sign, ast.Is | ast.IsNot):
        return (left is right or left == right) == isinstance(sign, ast.Is)
    if not isinstance(sign, ast.In | ast.NotIn):
        return apply_binary(SIGNS[type(sign)], left, right)
    members = tuple(right) if isinstance(right, dict | str) else unpack(right)
    links = [apply_binary("==", left, member) for member in members]
    is_member = True in links or reduce(partial(apply_binary, "|"), links, False)
    return is_member if isinstance(sign, ast.In) else apply_binary("==", is_member, False)
