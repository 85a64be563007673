"""Tree to numbers: plain torch operations, so that autograd, double backward and torch.func see through.

What depends on x, y or g is a tensor; what does not is computed once, on 0-dim float64 tensors, and
enters the tensor operations as a Python number. Python itself never calculates with what a user wrote.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import lru_cache, reduce
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor

from explorer.formula.functions import FUNCTIONS, SMALLEST_MAX
from explorer.formula.tree import (
    VARIABLES,
    Binary,
    Call,
    Compare,
    Name,
    Node,
    Number,
    Unary,
    children,
    is_condition,
    is_constant,
)

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    "&": operator.and_,
    "|": operator.or_,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


class Scope(NamedTuple):
    """The tensors a formula is evaluated on; an op's formula sees only x."""

    x: Tensor
    y: Tensor | None = None
    g: Tensor | None = None


Evaluator = Callable[[Scope], Any]


def casts(node: Node) -> tuple[bool, ...]:
    """For each operand: is it a condition that arithmetic must first turn into 0 and 1?

    A condition times a tensor stays a condition, since torch multiplies by it as by 0 and 1.
    """
    operands = children(node)
    match node:
        case Binary("*", left, right):
            return (
                is_condition(left) and (is_condition(right) or is_constant(right)),
                is_condition(right) and (is_condition(left) or is_constant(left)),
            )
        case Binary("&" | "|") | Unary("~") | Compare():
            return (False,) * len(operands)
        case Call("where", _):
            return (False, is_condition(operands[1]), is_condition(operands[2]))
        case _:
            return tuple(is_condition(operand) for operand in operands)


def fills(node: Call) -> tuple[bool, ...]:
    """For each argument: is it a constant that must be filled out to a tensor like x?"""
    constant = tuple(is_constant(argument) and not is_condition(argument) for argument in node.arguments)
    match FUNCTIONS[node.function].mixing:
        case "tensors":
            return constant
        case "bounds" if constant[0] or constant[1:] != (True, True):
            return constant
        case "branches" if constant[1:] == (True, True):
            return (False, True, False)
        case _:
            return (False,) * len(constant)


def carries_gradient(node: Node) -> bool:
    """Whether torch sees a path from the node's value back to x, y or g."""
    match node:
        case Name(name):
            return name in VARIABLES
        case Call("where", (_, then, otherwise)):
            return carries_gradient(then) or carries_gradient(otherwise)
        case Call(function) if not FUNCTIONS[function].differentiable:
            return False
        case _:
            return not is_condition(node) and any(carries_gradient(child) for child in children(node))


def _operation(node: Node) -> Callable[..., Any]:
    """The torch operation of an inner node, on the values of its operands."""
    match node:
        case Unary(sign):
            return operator.neg if sign == "-" else operator.invert
        case Binary(sign):
            return _OPERATORS[sign]
        case Compare(signs):
            return _chain(signs)
        case Call(function):
            return FUNCTIONS[function].call
        case _:
            raise TypeError(f"{node} is a leaf")


def _chain(signs: tuple[str, ...]) -> Callable[..., Any]:
    if len(signs) == 1:
        return _OPERATORS[signs[0]]

    def compare(*values: Any) -> Any:
        links = [_OPERATORS[sign](*pair) for sign, pair in zip(signs, pairwise(values), strict=True)]
        return reduce(operator.and_, links)

    return compare


def _prepared(evaluate: Evaluator, cast: bool, fill: bool) -> Evaluator:
    if cast:
        return lambda scope: evaluate(scope).to(scope.x.dtype)
    if fill:
        return lambda scope: torch.full_like(scope.x, evaluate(scope))
    return evaluate


def _joined(node: Node, operands: list[Evaluator]) -> Evaluator:
    operation = _operation(node)
    if len(operands) == 1:
        (only,) = operands
        return lambda scope: operation(only(scope))
    if len(operands) == 2:
        left, right = operands
        return lambda scope: operation(left(scope), right(scope))
    return lambda scope: operation(*[operand(scope) for operand in operands])


def _constant(node: Node, parameters: Mapping[str, float]) -> Tensor:
    """The value of a constant subtree: a 0-dim tensor, float64 or bool."""
    match node:
        case Number(value):
            return torch.tensor(value, dtype=torch.float64)
        case Name("pi"):
            return torch.tensor(torch.pi, dtype=torch.float64)
        case Name("e"):
            return torch.tensor(torch.e, dtype=torch.float64)
        case Name(name):
            return torch.tensor(float(parameters[name]), dtype=torch.float64)
    values = [
        value.to(torch.float64) if cast else value
        for value, cast in zip(
            (_constant(child, parameters) for child in children(node)), casts(node), strict=True
        )
    ]
    result: Tensor = _operation(node)(*values)
    return result


def constant_value(node: Node, parameters: Mapping[str, float]) -> float:
    """The value of a tree without x, y and g, calculated in float64."""
    return float(_constant(node, parameters))


def _constant_evaluator(node: Node, parameters: Mapping[str, float]) -> Evaluator:
    if not is_condition(node):
        value = constant_value(node, parameters)
        return lambda scope: value
    holds = bool(_constant(node, parameters))
    # A tensor kept from one call to the next could be of another device or of inference mode.
    return lambda scope: torch.tensor(holds, device=scope.x.device)


def _argument(node: Node, parameters: Mapping[str, float]) -> Evaluator:
    """An argument of a torch function; constants too large for the dtype of x become infinite."""
    evaluate = _compiled(node, parameters)
    if is_condition(node) or not is_constant(node):
        return evaluate
    value = constant_value(node, parameters)
    return evaluate if abs(value) <= SMALLEST_MAX else lambda scope: _in_dtype(value, scope.x.dtype)


def _in_dtype(value: float, dtype: torch.dtype) -> float:
    return float(torch.tensor(value, dtype=torch.float64).to(dtype))


def _compiled(node: Node, parameters: Mapping[str, float]) -> Evaluator:
    if is_constant(node):
        return _constant_evaluator(node, parameters)
    if isinstance(node, Name):
        return operator.attrgetter(node.name)
    compiled, filled = _compiled, (False,) * len(children(node))
    if isinstance(node, Call):
        compiled, filled = _argument, fills(node)
    operands = [
        _prepared(compiled(child, parameters), cast, fill)
        for child, cast, fill in zip(children(node), casts(node), filled, strict=True)
    ]
    return _joined(node, operands)


@lru_cache(maxsize=1024)
def _bound(node: Node, parameters: tuple[tuple[str, str], ...]) -> Evaluator:
    evaluate = _argument(node, {name: float.fromhex(value) for name, value in parameters})

    def shaped(scope: Scope) -> Tensor:
        value = evaluate(scope)
        if not isinstance(value, Tensor):
            return torch.full_like(scope.x, value)
        return value if value.shape == scope.x.shape else value.expand_as(scope.x)

    return shaped


def bind(node: Node, parameters: Mapping[str, float]) -> Callable[..., Tensor]:
    """The function ``(x, y=None, g=None) -> Tensor`` a formula stands for at given parameters.

    x, y, g: tensors of one shape and floating dtype; the result has x's shape and dtype. Outside
    the domain of a function the result is NaN or infinite, as in torch. Raises KeyError for a
    parameter without a value.
    """
    # In hexadecimal, since 0.0 and -0.0 are equal but not the same parameter.
    evaluate = _bound(node, tuple(sorted((name, float(value).hex()) for name, value in parameters.items())))
    return lambda x, y=None, g=None: evaluate(Scope(x, y, g))
