"""Compile formulas to torch operations, so that autograd, double backward and torch.func work.

Nodes that depend on x, y or g are tensors. All others are numbers, computed once (see ``constants``). In this
package only this module, ``torch_operations``, ``measured`` and ``reference`` need torch.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import Tensor

from explorer.formula import tree as nodes
from explorer.formula.constants import evaluate_constant
from explorer.formula.functions import SMALLEST_MAX
from explorer.formula.operands import COUNT, find_casts, find_fills, find_limits, replace_counts
from explorer.formula.torch_operations import get_torch_operation

NO_TENSORS: Mapping[str, Tensor] = MappingProxyType({})


class Scope(NamedTuple):
    """The input tensors of a formula: x, y, g and ``tensors``. An op's formula uses only x and ``tensors``.

    ``tensors`` maps the names of parameters and of random numbers such as ``"u()"`` to tensors.
    """

    x: Tensor
    y: Tensor | None = None
    g: Tensor | None = None
    tensors: Mapping[str, Tensor] = NO_TENSORS


Evaluator = Callable[[Scope], Any]

# These are lambdas because torch.compile cannot trace attrgetter.
_VARIABLES: Mapping[str, Evaluator] = {
    "x": lambda scope: scope.x, "y": lambda scope: scope.y, "g": lambda scope: scope.g,
}  # fmt: skip


def _bind_operand(
    node: nodes.Node, parameters: Mapping[str, float], cast: bool, fill: bool, limit: bool
) -> Evaluator:
    """Compile an operand to a function of the input tensors.

    The flags say what torch requires of the operand: see ``find_casts``, ``find_fills`` and ``find_limits``.
    """
    if not nodes.is_constant(node):
        evaluate = _compile(node, parameters)
        return (lambda scope: evaluate(scope).to(scope.x.dtype)) if cast else evaluate
    value = evaluate_constant(node, parameters)
    if nodes.is_condition(node) and not cast:
        # not cached: the tensor could be on another device or from inference mode
        return lambda scope: torch.tensor(value, device=scope.x.device)
    if not (limit and abs(value) > SMALLEST_MAX):
        number = float(value)
        return (lambda scope: torch.full_like(scope.x, number)) if fill else lambda scope: number
    wide = torch.tensor(value, dtype=torch.float64)
    if fill:
        return lambda scope: torch.full_like(scope.x, float(wide.to(scope.x.dtype)))
    return lambda scope: float(wide.to(scope.x.dtype))


def _compile(node: nodes.Node, parameters: Mapping[str, float]) -> Evaluator:
    if isinstance(node, nodes.TensorName) or (
        isinstance(node, nodes.Name) and node.name in nodes.RANDOM_NAMES
    ):
        name = node.name
        return lambda scope: scope.tensors[name]
    if isinstance(node, nodes.LossAt):
        raise ValueError("f(…) cannot be evaluated before expand_losses has replaced it by a loss")
    if isinstance(node, nodes.Name):
        return _VARIABLES[node.name]
    call = get_torch_operation(node)
    requirements = zip(
        nodes.children(node), find_casts(node), find_fills(node), find_limits(node), strict=True
    )
    operands = [
        _bind_operand(_strip_ones(child, parameters, _is_fresh(node)), parameters, *requirement)
        for child, *requirement in requirements
    ]
    match operands:  # with lists of operands, evaluation would take a tenth of a training step
        case [only]:
            return lambda scope: call(only(scope))
        case [left, right]:
            return lambda scope: call(left(scope), right(scope))
    return lambda scope: call(*[operand(scope) for operand in operands])


def _strip_ones(node: nodes.Node, parameters: Mapping[str, float], may_alias: bool) -> nodes.Node:
    """Return a node without the multiplications and divisions by 1 around it, which change no bit.

    ``may_alias`` is True if the result, neither stored nor changed, may be an input tensor itself.
    """
    match node:
        case nodes.Binary("*" | "/", left, right) if nodes.is_constant(right) and not (
            nodes.is_constant(left) or nodes.is_condition(left)
        ):
            if (may_alias or _is_fresh(left)) and evaluate_constant(right, parameters) == 1:
                return _strip_ones(left, parameters, may_alias)
    return node


def _is_fresh(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Binary | nodes.Call) and not (
        isinstance(node, nodes.Call) and node.function == "detach"
    )


@lru_cache(maxsize=1024)
def bind_tree(node: nodes.Node, parameters: tuple[tuple[str, str], ...]) -> Evaluator:
    """Compile an expression to a function of input tensors.

    ``parameters`` has pairs of a name and a value in hexadecimal, which preserves -0.0.
    """
    if (without_counts := replace_counts(node)) != node:
        counts = [COUNT.format(name) for name in nodes.VARIABLES]

        def evaluate_counted(scope: Scope) -> Tensor:
            elements = float(scope.x.numel()).hex()
            numbers = parameters + tuple((name, elements) for name in counts)
            result: Tensor = bind_tree(without_counts, numbers)(scope)
            return result

        return evaluate_counted
    values = {name: float.fromhex(value) for name, value in parameters}
    evaluate = _bind_operand(
        _strip_ones(node, values, may_alias=False), values, cast=False, fill=True, limit=True
    )

    def evaluate_expanded(scope: Scope) -> Tensor:
        value: Tensor = evaluate(scope)
        return value if value.shape == scope.x.shape else value.expand_as(scope.x)

    return evaluate_expanded
