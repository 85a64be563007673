"""The operations of a tree's inner nodes in torch, one by one."""

import math
from collections.abc import Callable
from functools import cache, partial
from operator import attrgetter
from typing import Any

import torch

from explorer.formula import operators
from explorer.formula.functions import FUNCTIONS, Function
from explorer.formula.tree import Call, Node


def operation(node: Node) -> Callable[..., Any]:
    """The torch operation of an inner node, on the values of its operands."""
    return called(FUNCTIONS[node.function]) if isinstance(node, Call) else operators.operation(node)


@cache
def called(row: Function) -> Callable[..., Any]:
    """The torch operation of a function, on the values of its arguments."""
    call, takes = partial(attrgetter(row.torch)(torch), **dict(row.keywords)), row.domain
    if row.least:
        return lambda a: call(a) if a.numel() >= row.least else a.sum() * math.nan
    if row.needs_detach:
        return lambda *arguments: call(*arguments).detach()
    if takes:
        return lambda a, *numbers: (
            call(a, *numbers) if takes(a.dtype == torch.float64, *numbers) else a * math.nan
        )
    return call


def torch_step(node: Node, values: list[float]) -> float:
    """An inner node's value as IEEE arithmetic has it, in float64."""
    kinds = [torch.bool if isinstance(value, bool) else torch.float64 for value in values]
    tensors = [torch.tensor(value, dtype=kind) for value, kind in zip(values, kinds, strict=True)]
    return float(operation(node)(*tensors))
