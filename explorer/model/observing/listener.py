"""A tape that follows the forward and backward passes of a user's model during an observation."""

from __future__ import annotations

import re
from contextlib import ExitStack
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from explorer.model.observing.blame import Blame, find_blame
from explorer.model.observing.recorder import Recorder
from explorer.model.observing.rows import has_any
from explorer.model.tape import Call, Tape, Value
from explorer.model.tape.names import LINEAR, find_tensors, is_pointwise
from explorer.model.tape.private import DisableTorchFunction, is_functorch_wrapped_tensor

_PASSES = 8  # number of forward passes without backward after which recorded calls are dropped


class Listener(Recorder):
    """A recorder of a model's calls, which also finds the parameters without gradient.

    Attributes:
        turns: the forward passes that had a backward, counted from 1.
        blamed: the reason why a parameter has no gradient, by the parameter's name.
        arrived: whether a parameter has received a nonzero gradient, by the parameter's name.
        unseen: the number of autograd nodes without a recorded call, by the node's name.
        modules: the paths of the submodules, in order of their first calls.
    """

    def __init__(self, model: nn.Module) -> None:
        self._since_backward = 0
        self.turns: set[int] = set()
        self.blamed: dict[str, Blame] = {}
        self.arrived: dict[str, bool] = {}
        self.unseen: dict[str, int] = {}
        self.modules: dict[str, None] = {}
        self._parameter_hooks = ExitStack()
        self._results: list[Value] = []
        super().__init__(model)

    def enter(self) -> None:
        """Start listening to the model."""
        self.attach()
        for name, parameter in self.model.named_parameters():
            if parameter.requires_grad:
                hook = parameter.register_hook(partial(self._record_arrival, name))  # type: ignore[no-untyped-call]
                self._parameter_hooks.callback(hook.remove)
        Tape.__enter__(self)  # type: ignore[no-untyped-call]  # torch's own

    def stop(self) -> None:
        """Stop listening to calls. Later backward passes and gradients of parameters are still recorded."""
        Tape.__exit__(self, None, None, None)  # type: ignore[no-untyped-call]  # torch's own
        with DisableTorchFunction():
            self.flush()
        self.detach()

    def leave(self) -> None:
        """Clear the recorded calls, and remove all hooks from the model and its parameters.

        A later backward is still recorded.
        """
        if self.turns and not self.done:  # the backward came after ``stop``
            self.roots = self.roots or self._results
            self.on_backward_end()
        self._parameter_hooks.close()
        self._results.clear()
        self.clear()

    def on_pass_begin(self) -> None:
        """Record that a forward pass begins."""
        self._since_backward = 0 if self.done else self._since_backward + 1
        self.done = self.done or self._since_backward > _PASSES
        if not self._in_backward:
            self.passes += 1
            if self.done:
                self.settle()
                self.measurements.clear()
        super().on_pass_begin()

    def settle(self) -> None:
        """Count the calls to which no gradient came, for all forward passes that had a backward."""
        self.turns |= {item.turn for item in self.measurements if item.backwards}
        left = []
        for item in self.measurements:
            if item.turn in self.turns or item.cut or item.merged:
                item.settle(item.turn in self.turns)
            else:
                left.append(item)
        self.measurements = left

    def on_pass_end(self, path: str, result: Any) -> Any:
        """Record the end of a forward pass."""
        tensors = find_tensors(result)
        if any(map(is_functorch_wrapped_tensor, tensors)):  # torch.func computes its own gradients
            return
        for item in tensors:
            if item.requires_grad and torch.is_grad_enabled():
                turn = self.passes
                item.register_hook(lambda _, turn=turn: self.turns.add(turn))  # type: ignore[no-untyped-call]
        self._results = [self.value_of(item) for item in tensors]
        lost = [value for value in self._results if value.cuts]
        if lost and not any(value.live for value in self._results):
            for value in lost:
                self.on_cut(value, None, set())
            self.roots += self._results
            self.on_backward_end()

    def on_module_call(self, module: nn.Module, path: str, args: Any) -> None:
        """Record the call of a submodule."""
        self.modules.setdefault(path, None)

    def _record_arrival(self, name: str, g: Tensor | None) -> None:
        if g is not None and not self.arrived.get(name):
            self.arrived[name] = has_any(g.coalesce().values() if g.is_sparse else g)

    def on_backward_end(self) -> None:
        """Find the calls that are to blame for parameters without gradient."""
        with DisableTorchFunction():
            left = {
                name: parameter
                for name, parameter in self.model.named_parameters()
                if parameter.requires_grad and not self.arrived.get(name) and name not in self.blamed
            }
            if left:
                self.blamed |= find_blame(self, left, self.arrived, self._add_culprit)

    def _add_culprit(self, call: Call) -> None:
        """Add a row for a call that cuts parameters off from the graph, unless its line already has a row."""
        lines = {(s.file, s.line) for (s, _), row in self.rows.items() if row.listed and row.calls}
        if call.place.path is not None and (call.site.file, call.site.line) not in lines:
            self.count_cut(call.site, call.op, call.reason)

    def on_hidden_call(self, node: Any, call: Call) -> None:
        """Count the autograd node of an elementwise function whose call was not recorded."""
        words = re.sub(r"Backward\d*$", "", node.name().rpartition("::")[2])
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", words).lower()
        if (
            call.kind == "hidden"
            and call.place.path is not None
            and is_pointwise(name)
            and name not in LINEAR
        ):
            self.unseen[node.name()] = self.unseen.get(node.name(), 0) + 1
