"""Parts of autograd's graph from y back to its inputs, measured or changed by hooks on the nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from explorer.model.tape.private import BackwardCFunction
from explorer.model.tape.values import Edge

_FAR = 400  # maximum number of nodes in a span
Ways = dict[Any, list[tuple[int, int]]]


def find_nodes_between(y: Edge, xs: Sequence[Edge], limit: int = _FAR) -> tuple[Ways, set[Any]]:
    """Return the nodes that pass a gradient from y to one of ``xs``, and all visited nodes.

    The first result maps each node to pairs: the number of its input, and the position of the x in ``xs``.
    The search ends after about ``limit`` nodes.
    """
    wanted = {edge: number for number, edge in reversed([*enumerate(xs)])}
    stops, nodes, visited, todo = {node for node, _ in wanted}, Ways(), {y[0]}, [y[0]]
    while todo and len(visited) < limit:
        node = todo.pop()
        for i, edge in enumerate(node.next_functions):
            if edge in wanted:
                nodes.setdefault(node, []).append((i, wanted[edge]))
            elif edge[0] is not None and edge[0] not in visited and edge[0] not in stops:
                visited.add(edge[0])
                todo.append(edge[0])
    return nodes, visited


def attach_span(
    y: Edge, xs: Sequence[Edge], callback: Callable[..., Any], swaps: bool = False
) -> tuple[set[int], list[Any]]:
    """Register hooks on autograd's nodes from y back to ``xs``, to measure or change the gradients.

    After each backward, ``callback(g, gradients)`` is called with the gradients for y and for each x. With
    ``swaps``, its result becomes the gradient for the first x.

    Returns the positions of the xs to which y passes a gradient, and the nodes of Functions between. Do not
    keep these: a node is never freed if its hook references the node.
    """
    nodes, visited = find_nodes_between(y, xs)
    span = _Span(len(xs), len(nodes), callback, swaps)
    if len(nodes) == 1 and y[0] in nodes:
        y[0].register_hook(partial(span.take_both, y[1], nodes[y[0]]))
    elif nodes:
        y[0].register_hook(partial(span.take_g, y[1]))
        for node, ways in nodes.items():
            node.register_hook(partial(span.take_gradient, ways))
    functions = [node for node in visited if isinstance(node, BackwardCFunction) and node is not y[0]]
    return {number for ways in nodes.values() for _, number in ways}, functions


class _Span:
    """What the hooks of a span share during a backward: g, and the gradients that have come so far."""

    def __init__(self, count: int, nodes: int, callback: Callable[..., Any], swaps: bool) -> None:
        self._count, self._nodes, self._callback, self._swaps = count, nodes, callback, swaps
        self._left, self._g = 0, None
        self._gradients: list[Tensor | None] = []

    def take_g(self, number: int, _: Any, grad_outputs: Any) -> None:
        self._g, self._left, self._gradients = grad_outputs[number], self._nodes, [None] * self._count

    def take_both(self, number: int, ways: Any, grad_inputs: Any, grad_outputs: Any) -> Any:
        self.take_g(number, None, grad_outputs)
        return self.take_gradient(ways, grad_inputs, None)

    def take_gradient(self, ways: Any, grad_inputs: Any, _: Any) -> Any:
        if self._g is None:  # no gradient came to y, because another call shares the node
            return None
        new, last = [*grad_inputs], ways[-1][0]
        self._left -= 1
        for i, number in ways:
            if (gradient := new[i]) is not None:
                earlier = self._gradients[number]
                self._gradients[number] = gradient if earlier is None else earlier + gradient
                if self._swaps and (self._left or i != last):
                    new[i] = torch.zeros_like(gradient)
        if self._left == 0:
            (g, gradients), self._g, self._gradients = (self._g, self._gradients), None, []
            exchanged = self._callback(g, gradients)
            if self._swaps and new[last] is not None:
                new[last] = exchanged.to(new[last].dtype)
        return tuple(new) if self._swaps else None
