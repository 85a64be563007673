"""One forward pass of a swapped model, in which the target's calls and submodules get another backward."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from explorer.model.swapping.joins import SwappedJoins
from explorer.model.tape import Call, Value
from explorer.model.tape.names import find_tensors, replace_tensor
from explorer.model.tape.private import DisableTorchFunction
from explorer.model.tape.values import find_elementwise_ancestors


class Entry(NamedTuple):
    """The call of a submodule of the target, which has not returned yet.

    Attributes:
        x, tensor: the first tensor that the submodule is called with.
        kept: a copy of the tensor.
        hits: the number of hits before the call.
    """

    x: Value
    tensor: Tensor
    kept: Tensor
    hits: int


class Pass(SwappedJoins):
    """A forward pass in which the backward of a swap's calls is exchanged as they run.

    A submodule of the target is exchanged as a whole if y has x's shape, otherwise the ops inside it.

    Attributes:
        is_entered: whether a submodule of the target has been called.
    """

    is_entered = False

    def run(self, call: Callable[[], Any], path: str | None) -> Any:
        """Call a function as a forward pass, with another backward at the target, and return its result.

        ``path`` is the submodule if the function is a method of one, None for the model itself.
        """
        self._entered: list[Entry] = []
        with self, nullcontext() if path is None else self.run_at(path):
            result = call()
        with DisableTorchFunction():
            result = self.with_substitutes(result) if self.bridges else result
            self.roots = [self.value_of(item) for item in find_tensors(result)]
        return result

    def on_module_call(self, module: nn.Module, path: str, args: Any) -> None:
        """Keep the first tensor that a submodule of the target is called with, as its x."""
        self.is_entered = self.is_entered or path in self.target.modules
        x = next(iter(find_tensors(args)), None) if path in self.target.modules else None
        if x is not None:
            self._revoked = self._revoked if self._entered else []
            self._entered.append(Entry(self.value_of(x), x, x.detach().clone(), len(self.hits)))

    def on_module_return(self, module: nn.Module, path: str, result: Any) -> Any:
        """Exchange the backward of a submodule of the target, or of the calls inside it, when it returns."""
        super().on_module_return(module, path, result)
        if path not in self.target.modules or not self._entered or not torch.is_grad_enabled():
            return None
        entry, tensor = self._entered.pop(), next(iter(find_tensors(result)), None)
        revoked, self._revoked = self._revoked, self._revoked if self._entered else None
        # A gradient must come from y alone, not from a state that the submodule returns or keeps.
        passing = {id(item) for item in [*find_tensors(result), *_find_state(module)] if item.requires_grad}
        is_whole = entry.x.live and self.exchange.op is None and len(passing) < 2
        if tensor is not None and is_whole and tensor.shape == entry.x.shape:
            y, call = self.value_of(tensor), Call(type(module).__name__, None, self.place(), [entry.x])
            if y in self._settled and _is_compared(entry.x, self._settled[y]):
                return None  # all that the submodule does is compare: its rule is in place
            if y.live and y is not entry.x and entry.x in find_elementwise_ancestors(y):
                made = (
                    item.op
                    for item, x, value, _ in self._deferred
                    if value is y and (x is entry.x or not item.merged)
                )
                call.op = next(made, call.name)
                self._deferred.clear()
                del self.hits[entry.hits :]
                if revoked is not None and not self._entered:
                    revoked.append(True)
                return self.exchange_call(call, entry.x, y, entry.kept, tensor, at_once=True)
            is_cut = not y.live and y.cuts and y.floating
            new = self.add_bridge(call, entry.tensor, tensor, [entry.x]) if is_cut else None
            if new is not None:
                return replace_tensor(result, tensor, new)
        if not self._entered:
            for *_, exchange in self._deferred:
                exchange()
            self._deferred.clear()
        return None


def _is_compared(x: Value, call: Call) -> bool:
    """Return whether a call takes x itself, or its sum or difference with something else."""
    sums = [v.call for v in call.inputs if v.call.name in ("add", "sub", "rsub")]
    return any(x in item.inputs for item in [call, *sums])


def _find_state(module: nn.Module) -> list[Tensor]:
    """Return the computed tensors that a module and its submodules keep, such as a membrane potential."""
    kept = [{k: v for k, v in vars(item).items() if k != "_parameters"} for item in module.modules()]
    return [tensor for tensor in find_tensors(kept) if tensor.grad_fn is not None]
