"""Tree to numbers: plain torch operations, so that autograd, double backward and torch.func see through.

A node that depends on x, y or g is a tensor; any other is one number, computed once (see ``constants``). Of
the modules for formulas only this one and ``measured`` need torch.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import Tensor

from explorer.formula.constants import constant_value
from explorer.formula.functions import SMALLEST_MAX
from explorer.formula.operands import COUNT, casts, counted, fills, limits
from explorer.formula.torch_operations import operation
from explorer.formula.tree import (
    DRAWS,
    VARIABLES,
    Binary,
    Call,
    LossAt,
    Name,
    Node,
    Varying,
    children,
    is_condition,
    is_constant,
)

NOTHING: Mapping[str, Tensor] = MappingProxyType({})


class Scope(NamedTuple):
    """The tensors that a formula is evaluated on; an op's formula uses x and ``tensors`` alone.

    ``tensors`` holds parameters by name, and draws: ``"u()"``.
    """

    x: Tensor
    y: Tensor | None = None
    g: Tensor | None = None
    tensors: Mapping[str, Tensor] = NOTHING


Evaluator = Callable[[Scope], Any]

# torch.compile reads no attrgetter.
_VARIABLES: Mapping[str, Evaluator] = {
    "x": lambda scope: scope.x, "y": lambda scope: scope.y, "g": lambda scope: scope.g,
}  # fmt: skip


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
    if isinstance(node, Varying) or (isinstance(node, Name) and node.name in DRAWS):
        name = node.name
        return lambda scope: scope.tensors[name]
    if isinstance(node, LossAt):
        raise ValueError("f(…) has a value once the loss is known: see catalogue.settled")
    if isinstance(node, Name):
        return _VARIABLES[node.name]
    call = operation(node)
    wants = zip(children(node), casts(node), fills(node), limits(node), strict=True)
    operands = [
        _operand(_lean(child, parameters, _is_fresh(node)), parameters, *want) for child, *want in wants
    ]
    match operands:  # a training step evaluates some fifty nodes: what a list costs would be a tenth of it
        case [only]:
            return lambda scope: call(only(scope))
        case [left, right]:
            return lambda scope: call(left(scope), right(scope))
    return lambda scope: call(*[operand(scope) for operand in operands])


def _lean(node: Node, parameters: Mapping[str, float], lent: bool) -> Node:
    """A node without the factors and divisors of 1 around it, which change no bit.

    ``lent``: whether what is left may be the very tensor that was given, since no one keeps or changes it.
    """
    match node:
        case Binary("*" | "/", left, right) if is_constant(right) and not (
            is_constant(left) or is_condition(left)
        ):
            if (lent or _is_fresh(left)) and constant_value(right, parameters) == 1:
                return _lean(left, parameters, lent)
    return node


def _is_fresh(node: Node) -> bool:
    """Whether a node's value is in memory of its own."""
    return isinstance(node, Binary | Call) and not (isinstance(node, Call) and node.function == "detach")


def _counts(elements: int) -> tuple[tuple[str, str], ...]:
    return tuple((COUNT.format(name), float(elements).hex()) for name in VARIABLES)


@lru_cache(maxsize=1024)
def bound(node: Node, parameters: tuple[tuple[str, str], ...]) -> Evaluator:
    """The function that evaluates a formula to a tensor like x; parameters in hexadecimal keep -0.0."""
    if (alone := counted(node)) != node:
        return lambda scope: bound(alone, parameters + _counts(scope.x.numel()))(scope)
    values = {name: float.fromhex(value) for name, value in parameters}
    evaluate = _operand(_lean(node, values, lent=False), values, cast=False, fill=True, limit=True)

    def shaped(scope: Scope) -> Tensor:
        value: Tensor = evaluate(scope)
        return value if value.shape == scope.x.shape else value.expand_as(scope.x)

    return shaped
