"""Ways to give a tensor another backward: hooks where autograd has a way to x, a bridge where it has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.autograd import Function

from explorer.model.swapping.exchange import Gradient
from explorer.model.tape import Span, Value, nodes_between
from explorer.model.tape.private import BackwardCFunction, version_of


class UnreachedError(ValueError):
    """A swap does not reach what it was made for."""


class Bridge(Function):
    """y unchanged, with the gradient of a rule for x."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, y: Tensor, rule: Gradient) -> Tensor:
        """Return y."""
        return y.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, Gradient], output: Tensor) -> None:
        """Keep x, y and the rule."""
        x, y, ctx.rule = inputs
        ctx.save_for_backward(x, y)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None]:
        """Return the gradient of the rule for x."""
        x, y = ctx.saved_tensors
        return ctx.rule(x, y, g), None, None


def bridge(x: Tensor, y: Tensor, rule: Gradient) -> Tensor:
    """Return y with the gradient of a rule for x."""
    joined: Tensor = Bridge.apply(x, y, rule)  # type: ignore[no-untyped-call]  # torch's own
    return joined


def exchange_backward(
    y: Value, x: Value, rule: Gradient, x_tensor: Tensor, y_tensor: Tensor, told: str
) -> None:
    """Let the nodes between y and x pass the rule's gradient; what else y depends on keeps its own.

    Raises UnreachedError where autograd has no way from y to x.
    """
    assert y.edge is not None
    assert x.edge is not None
    found = nodes_between(y.edge, [x.edge])[0]
    if not found:
        raise UnreachedError(f"{told}: autograd has no way from y to x")
    kept, y_kept, version = x_tensor.detach(), y_tensor.detach(), version_of(x_tensor)

    def passed(g: Tensor, _: Any = None) -> Tensor:
        if version_of(kept) != version:
            raise RuntimeError(f"{told}: its x was modified in place after the call, and a swap needs it")
        return rule(kept, y_kept, g)

    node, number = y.edge
    if [*found] == [node] and isinstance(node, BackwardCFunction):
        _exchange_function(node, number, found[node][0][0], passed)
    else:
        Span(y.edge, [x.edge], passed, swaps=True).functions = []


def _exchange_function(node: Any, number: int, at: int, passed: Callable[[Tensor], Tensor]) -> None:
    """Give a Function's node another ``apply``: its backward may return None, which no hook can replace."""
    own, needed = node.apply, [i for i, each in enumerate(node.needs_input_grad) if each]
    live = [i for i, each in enumerate(node.next_functions) if each[0] is not None]
    size, place = len(node.needs_input_grad), needed[live.index(at)]
    alone = len(needed) == 1

    def apply(*gs: Any) -> tuple[Any, ...]:
        given = None if alone else own(*gs)
        new = [*given] if isinstance(given, tuple) else [None] * size
        new[place] = passed(gs[number])
        return tuple(new)

    node.apply = apply
