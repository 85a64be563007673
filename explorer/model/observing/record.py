"""One call of a site: x, and the gradients that met it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import Node

from explorer.model.watching import Followed, Site, probing

_CHANNELS_FIRST = ("Convolution", "BatchNorm", "Pool", "GroupNorm", "InstanceNorm", "Conv")
_FEATURES_LAST = ("Addmm", "MmBackward", "Bmm", "LayerNorm", "Embedding", "Softmax")
MOST_OF_X = 2**16  # elements of x that a call keeps: more would keep memory that the model itself lets go
_FAR = 30  # nodes that are looked at for the layer before a site


class Record(Followed):
    """One call of a site.

    Attributes:
        site: that was called.
        turn: the forward pass of the model that it belongs to, counted from 1; 0 outside one.
        x: (n,), outside the graph: every so many elements of it, all where there are not many.
        shape: of x.
        g, gradient: for y and for x; None where none came. Of several backwards, the sum.
        live: whether autograd could follow.
        again: whether it ran in a backward, as a checkpoint does.
        merged: whether it is a part of a detach trick, which has a record of its own.
    """

    def __init__(self, site: Site, turn: int, x: Tensor, live: bool) -> None:
        self.site, self.turn, self.live = site, turn, live
        self.shape = x.shape
        self.x = sampled(x.detach(), MOST_OF_X)
        self.g: Tensor | None = None
        self.gradient: Tensor | None = None
        self.merged = False
        self.again = torch._C._current_graph_task_id() != -1  # torch has no public name for it
        self._probing = probing()

    def __deepcopy__(self, _memo: Any) -> Record:
        return self

    def take_out(self, g: Tensor) -> None:
        """Keep the upstream gradient."""
        if not self._probing.on:
            self.g = g.detach() if self.g is None else self.g + g.detach()

    def take_in(self, gradient: Tensor) -> None:
        """Keep the gradient for x."""
        if not self._probing.on:
            self.gradient = gradient.detach() if self.gradient is None else self.gradient + gradient.detach()

    @property
    def elements(self) -> int:
        """The numbers that it holds."""
        return sum(each.numel() for each in (self.x, self.g, self.gradient) if each is not None)


def hook_on(tensor: Tensor, hook: Callable[[Tensor], None]) -> None:
    """Call a hook with the gradient of a tensor."""
    tensor.register_hook(hook)  # type: ignore[no-untyped-call]  # torch's own


def sampled(values: Tensor, most: int) -> Tensor:
    """A copy of every so many elements of a tensor, at most so many, (n,)."""
    return values.reshape(-1)[:: max(1, -(-values.numel() // most))].clone()


def unit_axis(x: Tensor) -> int:
    """The dimension of x that counts units: channels after a convolution, features after a linear layer.

    That of a parameter is 0, its outputs.
    """
    if isinstance(x, nn.Parameter) or x.dim() < 2:
        return 0
    if x.dim() == 2:
        return 1
    node: Node | None = x.grad_fn
    for _ in range(_FAR):
        if node is None:
            break
        name = node.name()
        if any(word in name for word in _CHANNELS_FIRST):
            return 1
        if any(word in name for word in _FEATURES_LAST):
            return x.dim() - 1
        node = node.next_functions[0][0] if node.next_functions else None
    return 1 if x.dim() > 3 else x.dim() - 1
