"""Two ways to give y another backward: hooks if autograd's graph leads from y to x, otherwise a new node."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from torch import Tensor
from torch.autograd import Function

from explorer.model.swapping.exchange import Gradient
from explorer.model.tape import Value, attach_span, find_nodes_between
from explorer.model.tape.private import BackwardCFunction, forward_class, versions_of
from explorer.model.tape.values import UNLIMITED


class UnreachedError(ValueError):
    """Raised if a swap cannot change the backward of the calls that it should."""


class Bridge(Function):
    """An autograd Function that returns y unchanged, and gives x the gradient of a backward rule."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, y: Tensor, rule: Gradient) -> Tensor:
        """Return y."""
        return y.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, Gradient], output: Tensor) -> None:
        """Save x, y and the rule for backward."""
        x, y, ctx.rule = inputs
        ctx.save_for_backward(x, y)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None]:
        """Return the rule's gradient for x."""
        x, y = ctx.saved_tensors
        return ctx.rule(x, y, g), None, None


build_bridge: Callable[[Tensor, Tensor, Gradient], Tensor] = Bridge.apply
"""Return y with a node in autograd's graph that gives x the gradient of a backward rule."""


def exchange_backward(
    y: Value, x: Value, rule: Gradient, x_tensor: Tensor, y_tensor: Tensor, place_name: str
) -> None:
    """Replace the gradient that flows from y to x by that of a backward rule, with hooks.

    ``rule`` is a function ``(x, y, g) -> gradient``. The gradients of y's other inputs do not change. Raises
    UnreachedError if no path in autograd's graph leads from y to x.
    """
    assert y.edge is not None
    assert x.edge is not None
    nodes = find_nodes_between(y.edge, [x.edge])[0]
    if not nodes:
        raise UnreachedError(f"{place_name}: autograd has no way from y to x")
    x_kept, y_kept, version = x_tensor.detach(), y_tensor.detach(), versions_of([x_tensor])

    def pass_gradient(g: Tensor, _: Any = None) -> Tensor:
        if versions_of([x_kept]) != version:
            raise RuntimeError(f"{place_name}: its x was modified in place after the call: a swap needs it")
        return rule(x_kept, y_kept, g)

    if x_kept.shape != y_kept.shape:  # refuse an unsuitable rule now rather than in backward
        try:
            pass_gradient(y_kept)
        except RuntimeError as error:
            shapes = f"{tuple(y_kept.shape)}, and its x {tuple(x_kept.shape)}"
            raise UnreachedError(f"{place_name}: its y has the shape {shapes}: the rule fails") from error
    node, number = y.edge
    if [*nodes] == [node] and isinstance(node, BackwardCFunction):
        _exchange_function(node, number, nodes[node][0][0], pass_gradient)
    else:
        attach_span(y.edge, [x.edge], pass_gradient, swaps=True)


def _exchange_function(node: Any, number: int, at: int, pass_gradient: Callable[[Tensor], Tensor]) -> None:
    """Replace a Function node's ``apply``, since its backward may return None, which no hook can replace."""
    own_apply, needed = node.apply, [i for i, item in enumerate(node.needs_input_grad) if item]
    live = [i for i, item in enumerate(node.next_functions) if item[0] is not None]
    size, place = len(node.needs_input_grad), needed[live.index(at)]
    is_only_input = len(needed) == 1

    def apply(*gs: Any) -> tuple[Any, ...]:
        gradients = None if is_only_input else own_apply(*gs)
        new = [*gradients] if isinstance(gradients, tuple) else [None] * size
        new[place] = pass_gradient(gs[number])
        return tuple(new)

    node.apply = apply


def has_node_of(values: Iterable[Value], owner: type[Function]) -> bool:
    """Return whether autograd's graph of some values contains a node of a given Function class."""
    edges = [value.edge for value in values if value.edge is not None]
    nodes = (node for edge in edges for node in find_nodes_between(edge, (), UNLIMITED)[1])
    return any(forward_class(node) is owner for node in nodes)
