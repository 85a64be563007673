"""Tree to numbers: plain torch operations, so that autograd, double backward and torch.func see through.

What depends on x, y or g is a tensor; what does not is one number, computed once, by the same
arithmetic and functions of Python that exported code is spelled with. Where Python raises, torch says
what IEEE arithmetic gives.
"""

import math
import operator
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache, reduce
from types import MappingProxyType
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
    Varying,
    children,
    is_condition,
    is_constant,
    names,
    substituted,
    walk,
)

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "**": operator.pow,
    "&": operator.and_, "|": operator.or_, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip

# Functions of Python, for constants: here and in exported code.
PYTHON: dict[str, Callable[..., float]] = {
    function.__name__: function
    for function in (
        abs, min, max, math.exp, math.expm1, math.log, math.log1p, math.sqrt, math.sin, math.cos, math.tan,
        math.atan, math.sinh, math.cosh, math.tanh, math.erf,
    )
}  # fmt: skip


NOTHING: Mapping[str, Tensor] = MappingProxyType({})


class Scope(NamedTuple):
    """The tensors a formula is evaluated on; an op's formula sees only x, and ``given`` parameters."""

    x: Tensor
    y: Tensor | None = None
    g: Tensor | None = None
    given: Mapping[str, Tensor] = NOTHING


Evaluator = Callable[[Scope], Any]
_COUNT = "numel({})"  # brackets: no parameter's name


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


def fills(node: Node) -> tuple[bool, ...]:
    """For each operand: is it a constant that must be filled out to a tensor like x?"""
    constant = tuple(map(is_constant, children(node)))
    match FUNCTIONS[node.function].mixing if isinstance(node, Call) else "scalars":
        case "tensors":
            return constant
        case "bounds" if constant[0] or not all(constant[1:]):
            return constant
        case "branches" if constant[1:] == (True, True):
            return (False, True, False)
        case _:
            return (False,) * len(constant)


def limits(node: Node) -> tuple[bool, ...]:
    """For each operand: does torch refuse a constant there that is beyond the dtype of x?"""
    exponent = isinstance(node, Binary) and node.operator == "**"
    return tuple(
        isinstance(node, Call) or (exponent and position == 1) for position in range(len(children(node)))
    )


def reductions(node: Node) -> list[Call]:
    """The parts of a tree that have one number for all elements, the outermost first."""
    return [part for part in walk(node) if isinstance(part, Call) and FUNCTIONS[part.function].reduces]


def has_elements(node: Node) -> bool:
    """Whether the value has x's shape; a mean, or a constant, is one for all elements."""
    match node:
        case Name(name):
            return name in VARIABLES
        case Call(function) if FUNCTIONS[function].reduces:
            return False
        case _:
            return any(has_elements(child) for child in children(node))


def counted(node: Node, count: str = _COUNT) -> Node:
    """The tree with a name for each number of elements: a constant, whatever the elements are.

    ``count`` spells the name from that of a variable: ``"{}.numel()"``.
    """
    counts: dict[Node, Node] = {}
    for part in reductions(node):
        if part.function == "numel":
            variable = next((name for name in names(part) if name in VARIABLES), None)
            counts[part] = Name(count.format(variable)) if variable else Number(1.0)
    return substituted(node, counts) if counts else node


def carries_gradient(node: Node, variables: Collection[str] = VARIABLES) -> bool:
    """Whether torch sees a path from the node's value back to one of the variables."""
    match node:
        case Name(name):
            return name in variables
        case Call("where", (_, *branches)):
            return any(carries_gradient(branch, variables) for branch in branches)
        case Call(function) if not FUNCTIONS[function].differentiable:
            return False
        case _:
            paths = (carries_gradient(child, variables) for child in children(node))
            return not is_condition(node) and any(paths)


def operation(node: Node) -> Callable[..., Any]:
    """The torch operation of an inner node, on the values of its operands."""
    match node:
        case Unary(sign):
            return operator.neg if sign == "-" else operator.invert
        case Binary(sign):
            return _OPERATORS[sign]
        case Compare((sign,)):
            return _OPERATORS[sign]
        case Compare(signs):
            links = [_OPERATORS[sign] for sign in signs]
            return lambda *values: reduce(operator.and_, map(operator.call, links, values, values[1:]))
        case Call(function):
            return FUNCTIONS[function].call
        case _:
            raise TypeError(f"{node} is a leaf")


def python_step(node: Node, values: list[float]) -> float:
    """An inner node's value as Python computes it; raises what Python raises, KeyError where it lacks it."""
    match node:
        case Unary("~"):
            return not values[0]
        case Binary("**"):
            return math.pow(*values)
        case Call("where"):
            return values[1] if values[0] else values[2]
        case Call(function):
            return PYTHON[function](*values)
        case _:
            result: float = operation(node)(*values)
            return result


def _ieee_step(node: Node, values: list[float]) -> float:
    try:
        return python_step(node, values)
    except (ArithmeticError, ValueError, KeyError):
        kinds = [torch.bool if isinstance(value, bool) else torch.float64 for value in values]
        tensors = [torch.tensor(value, dtype=kind) for value, kind in zip(values, kinds, strict=True)]
        return float(operation(node)(*tensors))


def constant_value(
    node: Node, parameters: Mapping[str, float], step: Callable[[Node, list[float]], float] = _ieee_step
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


def _operand(node: Node, parameters: Mapping[str, float], cast: bool, fill: bool, limit: bool) -> Evaluator:
    """An operand as its operation wants it; see ``casts``, ``fills`` and ``limits``."""
    if not is_constant(node):
        evaluate = _compiled(node, parameters)
        return (lambda scope: evaluate(scope).to(scope.x.dtype)) if cast else evaluate
    value = constant_value(node, parameters)
    if is_condition(node) and not cast:
        # A tensor kept from one call to the next could be of another device or of inference mode.
        return lambda scope: torch.tensor(value, device=scope.x.device)
    if not (limit and abs(value) > SMALLEST_MAX):
        number = float(value)
        return (lambda scope: torch.full_like(scope.x, number)) if fill else lambda scope: number
    wide = torch.tensor(value, dtype=torch.float64)
    if fill:
        return lambda scope: torch.full_like(scope.x, float(wide.to(scope.x.dtype)))
    return lambda scope: float(wide.to(scope.x.dtype))


def _compiled(node: Node, parameters: Mapping[str, float]) -> Evaluator:
    if isinstance(node, Varying):
        name = node.name
        return lambda scope: scope.given[name]
    if isinstance(node, Name):
        return operator.attrgetter(node.name)
    call = operation(node)
    wants = zip(children(node), casts(node), fills(node), limits(node), strict=True)
    operands = [_operand(child, parameters, *want) for child, *want in wants]
    match operands:  # a training step evaluates some fifty nodes: what a list costs would be a tenth of it
        case [only]:
            return lambda scope: call(only(scope))
        case [left, right]:
            return lambda scope: call(left(scope), right(scope))
    return lambda scope: call(*[operand(scope) for operand in operands])


def _counts(elements: int) -> tuple[tuple[str, str], ...]:
    return tuple((_COUNT.format(name), float(elements).hex()) for name in VARIABLES)


@lru_cache(maxsize=1024)
def bound(node: Node, parameters: tuple[tuple[str, str], ...]) -> Evaluator:
    """What evaluates a formula to a tensor like x; the parameters in hexadecimal, for -0.0 is not 0.0."""
    if (alone := counted(node)) != node:
        return lambda scope: bound(alone, parameters + _counts(scope.x.numel()))(scope)
    values = {name: float.fromhex(value) for name, value in parameters}
    evaluate = _operand(node, values, cast=False, fill=True, limit=True)

    def shaped(scope: Scope) -> Tensor:
        value: Tensor = evaluate(scope)
        return value if value.shape == scope.x.shape else value.expand_as(scope.x)

    return shaped
