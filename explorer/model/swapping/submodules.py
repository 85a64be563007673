"""One forward pass of a swapped model that exchanges each submodule of the target as a whole if possible."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from explorer.model.swapping.bridge import build_bridge
from explorer.model.swapping.passing import CallPass, Hit
from explorer.model.tape import Call, Value
from explorer.model.tape.names import find_tensors, replace_tensor
from explorer.model.tape.values import find_elementwise_ancestors


class Pass(CallPass):
    """A tape that exchanges a submodule as a whole if y has x's shape, otherwise the ops inside it."""

    def __init__(self, *arguments: Any) -> None:
        self._deferred: list[tuple[Call, Value, Callable[[], None]]] = []  # calls inside target modules
        self._entered: list[tuple[Value, Tensor, Tensor]] = []
        super().__init__(*arguments)

    def exchange_call(self, call: Call, x: Value, y: Value, *arguments: Any, **keywords: Any) -> None:
        """Exchange a call's gradient, or defer it until the call's submodule has returned."""
        exchange = partial(super().exchange_call, call, x, y, *arguments, **keywords)
        if self.target.modules:
            self._deferred.append((call, y, exchange))
        else:
            exchange()

    def on_module_call(self, module: nn.Module, path: str, args: Any) -> None:
        """Record the x of a submodule."""
        if path in self.target.modules:
            x = next(iter(find_tensors(args)), None)
            if x is not None:
                self._entered.append((self.value_of(x), x, x.detach().clone()))

    def on_module_return(self, module: nn.Module, path: str, args: Any, result: Any) -> Any:
        """Record the result of a submodule."""
        if path not in self.target.modules or not self._entered or not torch.is_grad_enabled():
            return None
        x, source, x_kept = self._entered.pop()
        tensor = next(iter(find_tensors(result)), None)
        if tensor is None or not x.live or self.exchange.op is not None or tensor.shape != x.shape:
            return self._run_deferred()
        y = self.value_of(tensor)
        call = Call(type(module).__name__, None, self.place(), [x])
        if y.live and x in find_elementwise_ancestors(y) and y is not x:
            call.op = next((item.op for item, value, _ in self._deferred if value is y), call.name)
            self._deferred.clear()
            inside = f"{path}."
            self.hits = [
                hit for hit in self.hits if not hit.reason or not f"{hit.call.place.path}.".startswith(inside)
            ]
            return super().exchange_call(call, x, y, x_kept, tensor)
        if y.live or not y.cuts or not y.floating:
            return self._run_deferred()
        rule = self.exchange.make_gradient(call.op, {})
        if rule is None:
            return self._run_deferred()
        new = build_bridge(source, tensor, rule)
        self.hits.append(Hit(call, self.put_bridge(call.op, call, [*call.inputs], new)))
        return replace_tensor(result, tensor, new)

    def _run_deferred(self) -> None:
        if not self._entered:
            for *_, exchange in self._deferred:
                exchange()
            self._deferred.clear()
