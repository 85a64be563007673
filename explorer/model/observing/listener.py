"""A recorder of a model's calls that also finds the calls which stop the gradients of parameters."""

from __future__ import annotations

import cmath
import math
import re
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from explorer.model.observing.recorder import Recorder
from explorer.model.observing.rows import has_any
from explorer.model.tape import Call, Site, Value
from explorer.model.tape.names import FORMATS, INDICES, LINEAR, find_tensors, is_pointwise
from explorer.model.tape.private import is_functorch_wrapped_tensor
from explorer.model.tape.values import NO_DERIVATIVE, UNLIMITED, find_ancestors

ZERO = "its backward is zero everywhere"
UNKNOWN = "no gradient comes there, for a reason that was not recorded"
ZERO_HERE = "its backward gives a gradient only to its other inputs"
UNUSED = "no call leads from there to the loss"
BY_VALUE = "each gradient is zero by the values it was multiplied with, or by a hook"
NOT_FINITE = "its backward returns values that are not finite"
ORIGIN_NOT_FINITE = "it is not finite where it begins: look at the loss and at the values of the model"
_BRANCHING = ("bool", "index")  # exits that only steer Python; blamed if there is no other
_UNDERFLOW = dict.fromkeys(FORMATS.values(), "it rounds the gradient to eight bits, and all of it to 0")
_PASSES = 8  # number of forward passes without backward after which recorded calls are dropped


class Blame(NamedTuple):
    """The reason why a parameter has no gradient, or a gradient that is not finite.

    Attributes:
        gradient: "none", "zero" or "not finite".
        site, op: the call that is to blame; None and "" if no call is.
        reason: how the call changes the gradient, or why there is none without such a call.
    """

    gradient: str
    site: Site | None
    op: str
    reason: str


class Listener(Recorder):
    """A recorder of a model's calls that also finds the parameters without gradient, and why they have none.

    Attributes:
        turns: the numbers, from 1, of the forward passes that had a backward.
        blamed: the reason why a parameter has no gradient, by the parameter's name.
        arrived: whether a parameter has received a nonzero gradient, by the parameter's name.
        broken: the names of the parameters that have received a gradient with NaN or infinity.
        unseen: the number of autograd nodes without a recorded call, by the node's name.
        modules: the paths of the submodules, as keys in order of their first calls.
    """

    def __init__(self, model: nn.Module) -> None:
        self._since_backward = 0
        self.turns: set[int] = set()
        self.blamed: dict[str, Blame] = {}
        self.arrived: dict[str, bool] = {}
        self.broken: set[str] = set()
        self.unseen: dict[str, int] = {}
        self.modules: dict[str, None] = {}
        self._parameter_hooks = ExitStack()
        self._results: list[Value] = []
        super().__init__(model)

    def listen_to_parameters(self) -> None:
        """Register hooks that record which parameters receive a gradient, until ``leave``."""
        for name, parameter in self.model.named_parameters():
            if parameter.requires_grad:
                hook = parameter.register_hook(partial(self._record_arrival, name))  # type: ignore[no-untyped-call]
                self._parameter_hooks.callback(hook.remove)

    def leave(self) -> None:
        """Clear the recorded calls, and remove the hooks from the parameters.

        A later backward is still recorded.
        """
        if self.turns and not self.done:  # the backward came after the block
            self.roots = self.roots or self._results
            self.on_backward_end()
        self._parameter_hooks.close()
        self._results.clear()
        self.clear()

    def on_pass_begin(self) -> None:
        """Count a forward pass that begins, and drop earlier calls that a backward has used."""
        self._since_backward = 0 if self.done else self._since_backward + 1
        self.done = self.done or self._since_backward > _PASSES
        if not self._in_backward:
            self.passes += 1
            if self.done:
                self.settle()
                self.measurements.clear()
        super().on_pass_begin()

    def settle(self) -> None:
        """Count the calls whose y received no gradient, for all forward passes that had a backward."""
        self.turns |= {item.turn for item in self.measurements if item.backwards}
        left = []
        for item in self.measurements:
            if item.turn in self.turns or item.cut or item.merged:
                item.settle(item.turn in self.turns)
            else:
                left.append(item)
        self.measurements = left

    def on_pass_end(self, result: Any) -> None:
        """Note the results of a forward pass. If none is in autograd's graph, find out which call cut it."""
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
        """Note the path of a submodule that is called."""
        self.modules.setdefault(path, None)

    def _record_arrival(self, name: str, g: Tensor | None) -> None:
        if g is None:
            return
        values = g.coalesce().values() if g.is_sparse else g
        total = values.sum().item()  # may overflow if all are finite
        if not self.arrived.get(name):
            self.arrived[name] = bool(total) or has_any(values)
        if not cmath.isfinite(total) and not values.isfinite().all():
            self.broken.add(name)

    def find_blame(self, name: str) -> Blame | None:
        """Return why a parameter gets no finite gradient; None if it gets one, or no backward has run.

        For NaN or infinity this is the site nearest to the loss that received finite gradients.
        """
        if name not in self.broken:
            return None if self.arrived.get(name) else self.blamed.get(name)
        for row in reversed(self.rows.values()):
            if row.broken and math.isfinite(row.square_out):
                return Blame("not finite", row.site, row.op, NOT_FINITE)
        return Blame("not finite", None, "", ORIGIN_NOT_FINITE)

    def on_hidden_call(self, node: Any, call: Call) -> None:
        """Count the autograd node of an elementwise function whose call was not recorded."""
        if call.kind == "hidden" and call.place.path is not None:
            words = re.sub(r"Backward\d*$", "", node.name().rpartition("::")[2])
            name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", words).lower()
            if is_pointwise(name) and name not in LINEAR:
                self.unseen[node.name()] = self.unseen.get(node.name(), 0) + 1

    def on_backward_end(self) -> None:
        """Find the calls that stop the gradient of each parameter that has received none so far."""
        left = {
            name: parameter for name, parameter in self.model.named_parameters()
            if parameter.requires_grad and not self.arrived.get(name) and name not in self.blamed
        }  # fmt: skip
        if not left:
            return
        graph, data = self.reach(True), self.reach(False)
        consumers: dict[Value, list[Call]] = {}
        for call in self.calls:
            for value in call.inputs:
                consumers.setdefault(value, []).append(call)
        for name, parameter in left.items():
            leaf = self.leaves.get(id(parameter))
            calls = [] if leaf is None else _find_culprits(leaf, consumers, graph, data)
            if not calls and leaf is not None and leaf not in data:
                exits = sorted((c for c, _ in self.left.values()), key=lambda c: c.name not in _BRANCHING)
                calls = [c for c in exits if leaf in find_ancestors(c.inputs, lambda *_: True, UNLIMITED)]
                calls = calls[-1:]
            for call in calls:
                lines = {(s.file, s.line) for (s, _), row in self.rows.items() if row.listed and row.calls}
                is_inside = call.place.path is not None
                if call.reason and is_inside and (call.site.file, call.site.line) not in lines:
                    self.count_cut(call, call.op, call.reason)
            gradient, reason = ("zero", BY_VALUE) if name in self.arrived else ("none", UNKNOWN)
            if calls:
                is_partial = calls[0].measured is not None and any(calls[0].measured.got)
                zero = ZERO_HERE if is_partial else _UNDERFLOW.get(calls[0].name, ZERO)
                self.blamed[name] = Blame(gradient, calls[0].site, calls[0].op, calls[0].reason or zero)
            else:
                self.blamed[name] = Blame(gradient, None, "", reason if leaf in data else UNUSED)


def _find_culprits(
    leaf: Value, consumers: Mapping[Value, list[Call]], graph: Mapping[Value, None],
    data: Mapping[Value, None],
) -> list[Call]:  # fmt: skip
    """Return the calls that stop the gradient of a leaf tensor: it becomes 0 there or leaves the graph.

    ``graph`` and ``data`` are the values on which the loss depends, in autograd's graph and in fact.
    """
    blame: dict[Call, None] = {}
    visited, todo, on_graph = {leaf}, [leaf], leaf in graph
    while todo:
        value = todo.pop()
        calls = consumers.get(value, ())
        functions = [c for c in calls if c.kind == "function" and any(o in data for o in c.outputs)]
        for call in calls:
            if any(call.is_inside(function) for function in functions):
                continue
            stops = [o for o in call.outputs if not o.live or o.call is not call]
            cuts = not on_graph and value.live and any(o in (graph if o.live else data) for o in stops)
            # A call blocks a nonzero gradient if it passes only zeros to the value.
            counts = [] if call.measured is None or not value.live else call.measured.got
            pairs = zip(call.list_live_inputs(), counts, strict=False)
            passed = next((count for item, count in pairs if item is value), None)
            if cuts or (passed == 0 and (call.measured.came > 0 or call.measured.cut == NO_DERIVATIVE)):
                blame[call] = None
                continue
            outputs = [
                o for o in call.outputs if o.live and o not in visited and (o in graph or not on_graph)
            ]
            visited.update(outputs)
            todo += outputs
    # The call nearest to the loss comes first. A detach is rather meant, and indices never have a gradient.
    return sorted(
        blame, key=lambda call: (call.name in INDICES, call.name == "detach", -call.outputs[0].number)
    )
