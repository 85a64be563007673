"""Autograd's nodes: those that sites explain, and those of elementwise functions that none does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.graph import Node
from torch.utils._pytree import tree_leaves

from explorer.catalogue import OPS
from explorer.model.watching.calls import CALLS, node_names

_EXPLAINED = "explorer"
_MOST_OF_ONE = 20  # nodes that one call of an op may leave
# Elementwise and not linear, beside the ops of the catalogue.
_MORE = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "erf", "erfc", "erfinv", "exp2",
    "expm1", "lgamma", "log10", "log1p", "log2", "logit", "rsqrt", "sinc", "sinh", "tan", "i0", "digamma",
)  # fmt: skip
_PAIRS = ("maximum", "minimum", "fmax", "fmin", "fmod", "remainder", "atan2")
_OPAQUE = {
    "DifferentiableGraphBackward": "TorchScript, not looked into: observe the model before torch.jit",
    "CompiledFunctionBackward": "compiled code, not looked into: observe the model before torch.compile",
    "CheckpointFunctionBackward": "a reentrant checkpoint, inside which nothing else is searched for",
}
_OF_TORCH = ("torch.utils.checkpoint", "torch.nn.parallel", "torch.distributed")


class Unseen(NamedTuple):
    """Autograd nodes of one kind that no site explains.

    Attributes:
        node: their name.
        times: how many of them.
        reason: what they are, and what to do, in words.
    """

    node: str
    times: int
    reason: str

    def __str__(self) -> str:
        return f"{self.node} × {self.times}: {self.reason}"


@cache
def elementwise_nodes() -> Mapping[str, str]:
    """The names of the nodes of elementwise functions that are not linear -> the function."""
    functions = {name: call.op for call in CALLS.values() if call.op for name in node_names(call.op)}
    x = torch.full((2,), 0.4)
    for name in _MORE:
        y = getattr(torch, name)(x.clone().requires_grad_())
        functions.setdefault(y.grad_fn.name(), name)
    for name in _PAIRS:
        y = getattr(torch, name)(x.clone().requires_grad_(), x)
        functions.setdefault(y.grad_fn.name(), name)
    return functions | {"PowBackward0": "pow", "WhereBackward0": "where", "ThresholdBackward0": "threshold"}


def _notes(node: Node) -> dict[Any, Any]:
    notes: Any = node.metadata
    return notes  # type: ignore[no-any-return]  # torch declares it as a method


def explain(y: Tensor, before: Node | None) -> None:
    """Mark the nodes from y back to that of x as those of a site."""
    todo = [y.grad_fn]
    for _ in range(_MOST_OF_ONE):
        node = todo.pop() if todo else None
        if node is None or node is before:
            continue
        _notes(node)[_EXPLAINED] = True
        if before is not None:
            todo += [each for each, _ in node.next_functions]


def explained(node: Node) -> bool:
    """Whether a site explains a node."""
    return _EXPLAINED in _notes(node)


def reached(result: Any, arguments: Any = ()) -> list[Node]:
    """All nodes of the graph between a model's result and what it was given."""
    todo, outside = _ends(result), {*_ends(arguments)}
    nodes: dict[Node, None] = {}
    while todo:
        node = todo.pop()
        if node is not None and node not in nodes and node not in outside:
            nodes[node] = None
            todo += [each for each, _ in node.next_functions]
    return [*nodes]


def _ends(tensors: Any) -> list[Node | None]:
    return [each.grad_fn for each in tree_leaves(tensors) if isinstance(each, Tensor)]


def unseen_in(nodes: Iterable[Node]) -> Iterator[Unseen]:
    """Kinds of nodes that no site explains, of elementwise functions and of Functions."""
    counts: Counter[tuple[str, str]] = Counter()
    for node in nodes:
        if not explained(node) and (reason := _reason(node)):
            counts[node.name().rpartition("::")[2], reason] += 1
    for (name, reason), count in counts.items():
        yield Unseen(name, count, reason)


def _reason(node: Node) -> str:
    name = node.name().rpartition("::")[2]
    if name in _OPAQUE:
        return _OPAQUE[name]
    if (function := elementwise_nodes().get(name)) in OPS:
        return f"{function}, called where no call is seen, as in TorchScript or in C++"
    if function:
        return f"{function}, which is no op of the catalogue"
    if isinstance(node, torch.autograd.function.BackwardCFunction) and not type(node).__module__.startswith(
        _OF_TORCH
    ):
        own = name.removesuffix("Backward")
        return (
            f"the Function {own}: give its class as functions=[{own}]; where that is done, it is called in "
            "another thread"
        )
    return ""
