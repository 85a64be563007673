"""Tree to numbers: plain torch operations, so that autograd, double backward and torch.func see through.

What depends on x, y or g is a tensor; what does not is computed once, on 0-dim float64 tensors, and
enters the tensor operations as a Python number. Python itself never calculates with what a user wrote.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch import Tensor

from explorer.formula.functions import FUNCTIONS
from explorer.formula.tree import (
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
        links = [_OPERATORS[sign](*pair) for sign, pair in zip(signs, zip(values, values[1:], strict=False), strict=True)]
        result = links[0]
        for link in links[1:]:
            result = result & link
        return result

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
        for value, cast in zip((_constant(child, parameters) for child in children(node)), casts(node), strict=True)
    ]
    return _operation(node)(*values)


def constant_value(node: Node, parameters: Mapping[str, float]) -> float:
    """The value of a tree without x, y and g, calculated in float64."""
    return float(_constant(node, parameters))


def _compiled(node: Node, parameters: Mapping[str, float]) -> Evaluator:
    if is_constant(node):
        tensor = _constant(node, parameters)
        value = tensor if is_condition(node) else float(tensor)
        return lambda scope: value
    if isinstance(node, Name):
        return operator.attrgetter(node.name)
    filled = fills(node) if isinstance(node, Call) else (False,) * len(children(node))
    operands = [
        _prepared(_compiled(child, parameters), cast, fill)
        for child, cast, fill in zip(children(node), casts(node), filled, strict=True)
    ]
    return _joined(node, operands)


@lru_cache(maxsize=1024)
def _bound(node: Node, parameters: tuple[tuple[str, float], ...]) -> Evaluator:
    evaluate = _compiled(node, dict(parameters))

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
    evaluate = _bound(node, tuple(sorted(parameters.items())))
    return lambda x, y=None, g=None: evaluate(Scope(x, y, g))
