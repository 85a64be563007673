"""A listener to the forward and backward passes of a user's model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from explorer.model.observing.blame import Blame, find_blame
from explorer.model.observing.rows import Measurement, Row
from explorer.model.observing.statistics import find_unit_axis, has_any, sample_tensor
from explorer.model.tape import CALLS, Call, Join, Site, Span, Tape, Value, op_key_of, parameters_of
from explorer.model.tape.names import LINEAR, STEPS, UNMEASURED, find_tensors, is_pointwise, may_write
from explorer.model.tape.private import DisableTorchFunction, forward_class, is_functorch_wrapped_tensor
from explorer.model.tape.tricks import JoinKind, chain_of, classify_join, find_applied_keys, find_chain_site

_PASSES = 8  # forward passes without a backward before the oldest calls are forgotten
UNNEEDED = "its x requires no gradient"
WRITTEN_BEHIND = "it writes behind autograd's back, by .data: the gradient passes as if nothing were done"


@dataclass(frozen=True)
class Unseen:
    """A node of autograd's graph whose call was not seen.

    Attributes:
        node: its name.
        count: number of such nodes.
        reason: why the call was not seen.
    """

    node: str
    count: int
    reason: str

    def __str__(self) -> str:
        return f"{self.node}{f' × {self.count}' if self.count > 1 else ''}, {self.reason}"


class CallInput(NamedTuple):
    """The x of a call that may be a site, before the call."""

    x: Tensor
    key: str
    parameters: dict[str, float | Tensor]
    run: Callable[[Tensor], Any] | None


class Listener(Tape):
    """The calls of a model and the gradients at each, as rows.

    Attributes:
        rows: by site and kind.
        turns: the forward passes, from 1, that had a backward.
        blamed: by parameter, why no gradient came.
        arrived: by parameter, whether any gradient was not zero.
        unseen: nodes without a call, with their number.
    """

    def __init__(self, model: nn.Module) -> None:
        self.rows: dict[tuple[Site, str], Row] = {}
        self.passes = self._since_backward = 0
        self.turns: set[int] = set()
        self.blamed: dict[str, Blame] = {}
        self.arrived: dict[str, bool] = {}
        self.unseen: dict[str, int] = {}
        self._parameter_hooks = ExitStack()
        self._results: list[Value] = []
        self.modules: dict[
            str, bool
        ] = {}  # by path, in order of first calls: whether gradient came to its result
        self._mets: list[Measurement] = []
        super().__init__(model)

    def enter(self) -> None:
        """Begin to listen."""
        self.attach()
        for name, parameter in self.model.named_parameters():
            if parameter.requires_grad:
                hook = parameter.register_hook(partial(self._record_arrival, name))  # type: ignore[no-untyped-call]
                self._parameter_hooks.callback(hook.remove)
        Tape.__enter__(self)  # type: ignore[no-untyped-call]  # torch's own

    def stop(self) -> None:
        """Stop listening to calls. A backward still counts, and so do the gradients of parameters."""
        Tape.__exit__(self, None, None, None)  # type: ignore[no-untyped-call]  # torch's own
        with DisableTorchFunction():
            self.flush()
        self.detach()

    def leave(self) -> None:
        """Clear the calls. A later backward still counts; no hook is left on model and parameters."""
        if self.turns and not self.done:  # the backward came after ``stop``
            self.roots = self.roots or self._results
            self.on_backward_end()
        self._parameter_hooks.close()
        self._results.clear()
        self.clear()

    def on_pass_begin(self) -> None:
        """Record that a forward pass begins."""
        self._since_backward = 0 if self.done else self._since_backward + 1
        if self._since_backward > _PASSES:
            self.done = True
        if self.done and not self._in_backward:
            self.settle()
            self._mets.clear()
        super().on_pass_begin()
        if not self._in_backward:
            self.passes += 1

    def settle(self) -> None:
        """Count the calls of passes that had a backward, as far as no gradient came to them."""
        turns = self.turns | {measurement.turn for measurement in self._mets if measurement.backwards}
        self.turns |= turns
        open_measurements = []
        for measurement in self._mets:
            if measurement.turn in turns or measurement.cut or measurement.merged:
                measurement.settle(measurement.turn in turns)
            else:
                open_measurements.append(measurement)
        self._mets = open_measurements

    def on_pass_end(self, path: str, result: Any) -> Any:
        """Record the end of a pass."""
        results = [item for item in find_tensors(result) if isinstance(item, Tensor)]
        for item in results:
            if item.requires_grad and torch.is_grad_enabled() and not is_functorch_wrapped_tensor(item):
                turn = self.passes
                item.register_hook(lambda _, turn=turn: self.turns.add(turn))  # type: ignore[no-untyped-call]
        values = self._results = [self.value_of(item) for item in results]
        lost_values = [v for v in values if v.cuts]
        if lost_values and not any(v.live for v in values):
            for value in lost_values:
                self.on_cut(value, None, set())
            self.roots += values
            self.on_backward_end()

    def on_module_return(self, module: nn.Module, path: str, args: Any, result: Any) -> Any:
        """Record the result of a submodule."""
        self.modules.setdefault(path, False)
        for item in find_tensors(result):
            if item.requires_grad and not self.modules[path] and not is_functorch_wrapped_tensor(item):
                item.register_hook(partial(self._reach_module, path))  # type: ignore[no-untyped-call]
                break

    def _reach_module(self, path: str, g: Tensor | None) -> None:
        if g is not None and not self.modules[path]:
            self.modules[path] = has_any(g)

    def _record_arrival(self, name: str, g: Tensor | None) -> None:
        if g is not None and not self.arrived.get(name):
            values = g.coalesce().values() if g.is_sparse else g
            self.arrived[name] = has_any(values)

    def on_backward_end(self) -> None:
        """Record the end of a backward."""
        with DisableTorchFunction():
            names = [
                n for n, p in self.model.named_parameters() if p.requires_grad and not self.arrived.get(n)
            ]
            if unblamed := {
                n: p for n, p in self.model.named_parameters() if n in names and n not in self.blamed
            }:
                self.blamed |= find_blame(self, unblamed, self.arrived, self.add_culprit)

    def prepare(self, name: str, function: Any, args: Any, kwargs: Any) -> CallInput | None:
        """Return the part of x that is needed after the call."""
        listed = CALLS.get(function)
        x = args[0] if args else None
        is_known = listed is not None or name in STEPS or (name not in LINEAR and is_pointwise(name))
        if not is_known or not isinstance(x, Tensor) or not x.is_floating_point():
            return None
        key = (op_key_of(listed, args, kwargs) or "") if listed else ""
        writes = may_write(function, args, kwargs)
        parameters = parameters_of(listed, args, kwargs) if listed and key else {}
        return CallInput(
            x.detach().clone() if writes else x, key, parameters, _run_of(function, args, kwargs, writes)
        )

    def on_call(self, call: Call, x_before: Any, y: Tensor) -> None:
        """Record a call."""
        if call.place.path is None or is_functorch_wrapped_tensor(y):
            return
        output = next((v for v in call.outputs if v.live), None)
        if output is None:
            self._record_without_graph(call, x_before)
            return
        inputs = call.list_live_inputs()
        if not inputs or (x_before is None and call.name in UNMEASURED) or call.kind == "function":
            return
        row = None
        if x_before is not None and call.inputs and call.inputs[0].live:
            row = self._row_of(call, x_before, x_before.x if x_before.x.requires_grad else y)
        measurement = self._measure(call, row, output, inputs)
        if row is not None and x_before is not None:
            self._take_x(row, measurement, x_before.x, None if row.key else y)

    def _row_of(self, call: Call, prepared: CallInput, like: Tensor) -> Row:
        call.op = prepared.key or call.name
        row = self._row(call.site, "call", call.op, prepared.key)
        row.run = prepared.run
        row.parameters = {n: v for n, v in prepared.parameters.items() if not isinstance(v, Tensor)}
        if row.total.axis is None:
            row.total.axis = find_unit_axis(like if prepared.x.dim() == like.dim() else prepared.x)
        return row

    def _row(self, site: Site, kind: str, op: str, key: str = "") -> Row:
        if (site, kind) not in self.rows:
            self.rows[site, kind] = Row(site, kind, op, key)
        row = self.rows[site, kind]
        row.take_call()
        return row

    def _take_x(self, row: Row, measurement: Measurement, x: Tensor, y: Tensor | None) -> None:
        row.total.add_x(x)
        if row.total.wants_samples:
            measurement.x = sample_tensor(x)
            measurement.y = sample_tensor(y) if y is not None and y.shape == x.shape else None

    def _record_without_graph(self, call: Call, prepared: CallInput | None) -> None:
        """Record a call that autograd does not follow."""
        source = call.inputs[0] if call.inputs else None
        writes_behind = source is not None and source.call.name in (".data", "detach") and source.cuts
        if writes_behind and prepared is not None and any(v is not source for v in call.outputs):
            carried = source.ref() if source is not None else None
            if carried is not None and call.outputs[0].ref() is carried:
                self._cut_row(call.site, prepared.key or call.name, WRITTEN_BEHIND)
                return
        if prepared is not None and prepared.key and call.graded and source is not None and not source.cuts:
            call.op = prepared.key
            row = self._row(call.site, "call", prepared.key, prepared.key)
            row.total.add_x(prepared.x)
            row.total.reasons[UNNEEDED] = None

    def on_function(self, call: Call, value: Value, tensor: Tensor | None) -> None:
        """Record the y of a Function."""
        inputs = call.list_live_inputs()
        if (
            call.place.path is None
            or not inputs
            or (tensor is not None and is_functorch_wrapped_tensor(tensor))
        ):
            return
        x = inputs[0].ref()
        keys = find_applied_keys(value.edge)
        call.op = keys[0] or call.name
        row = self._row(call.site, "function", call.op, keys[0])
        row.rule, row.owner = keys[1], forward_class(call.function)
        measurement = self._measure(call, row, value, inputs)
        if x is not None:
            row.total.axis = find_unit_axis(x) if row.total.axis is None else row.total.axis
            self._take_x(row, measurement, x, tensor)

    def on_join(self, call: Call, join: Join, y: Tensor) -> None:
        """Record a join."""
        meaning = classify_join(call, join, y)
        if call.place.path is None or is_functorch_wrapped_tensor(y):
            return
        side = [v.call for v in join.made - join.way]
        if meaning is JoinKind.GATE:
            self._record_detached(side)
            return
        ops = chain_of(join.made - join.way, join.way)
        call.op = " → ".join(item.op for item in ops) or call.name
        if meaning is JoinKind.MASK:
            call.op = " → ".join(dict.fromkeys([*(item.op for item in ops), call.name]))
        row = self._row(find_chain_site(call, ops), meaning.value, call.op)
        self._merge(side, [v.call for v in join.way] if meaning is JoinKind.TRICK else ())
        x = join.x.ref()
        measurement, call.row = self._measure(call, row, call.outputs[0], [join.x]), row
        call.measured = None  # blame asks for the call itself, which is measured next
        if x is not None:
            row.total.axis = find_unit_axis(x) if row.total.axis is None else row.total.axis
            self._take_x(row, measurement, x, y)

    def _record_detached(self, side: list[Call]) -> None:
        """Name the ops on the side of a gate, whose own gradient is dropped."""
        reason = next(
            (c.reason for c in side if c.is_cut and c.name in ("detach", ".data")), "its output is detached"
        )
        for call in side:
            if isinstance(call.measured, Measurement) and call.measured.row is not None:
                call.measured.cut = reason
            elif call.is_cut and not call.graded and not call.merged and call.name not in LINEAR:
                self._cut_row(call.site, call.op, call.reason)

    def _merge(self, side: list[Call], way: Any) -> None:
        for call in side:
            if isinstance(call.measured, Measurement):
                call.measured.merged = True
            for kind in ("cut", "trick"):
                row = self.rows.get((call.site, kind))
                if row is not None and (kind == "cut" or call.kind == "join"):
                    row.listed = False
        for call in way:
            for row in (call.row, call.measured.row if isinstance(call.measured, Measurement) else None):
                if row is not None:
                    row.carries = True

    def on_cut(self, dead: Value, x: Value | None, made_values: set[Value]) -> None:
        """Record a cut."""
        values_between = {*_iterate_before_cut(dead)} | {v for v in made_values if not v.live}
        first = next((v.call for v in sorted(values_between, key=lambda v: v.number) if v.call.is_cut), None)
        if first is None or first.place.path is None or first.merged or (x is None and self.path):
            return
        if any((v.call.site, "cut") in self.rows for v in values_between if v.call.kind == "exit"):
            return
        ops = chain_of(values_between, ())
        self._cut_row(first.site, " → ".join(item.op for item in ops) or first.name, first.reason)

    def on_exit(self, call: Call) -> None:
        """Record a call that leaves torch."""
        dead_or_live = any(v.live or v.cuts for v in call.inputs)
        if (
            dead_or_live
            and call.place.path is not None
            and call.name not in ("bool", "index")
            and not call.merged
        ):
            first = (
                call
                if call.inputs[0].live
                else next((v.call for v in _iterate_before_cut(call.inputs[0])), call)
            )
            inner = [] if first is call else chain_of(_iterate_before_cut(call.inputs[0]), ())
            op = " → ".join(dict.fromkeys([*(item.op for item in inner), call.name]))
            self._cut_row(call.site, op, call.reason)

    def _cut_row(self, site: Site, op: str, reason: str) -> None:
        row = self._row(site, "cut", op)
        row.total.reasons[reason] = None

    def add_culprit(self, call: Call) -> None:
        """Add a row for a call that cuts parameters off, unless its line has one."""
        lines = {(s.file, s.line) for (s, _), row in self.rows.items() if row.listed and row.total.calls}
        if call.place.path is not None and (call.site.file, call.site.line) not in lines:
            self._cut_row(call.site, call.op, call.reason)

    def _measure(self, call: Call, row: Row | None, y: Value, inputs: list[Value]) -> Measurement:
        shape = inputs[0].shape if inputs[0].shape is not None else y.shape
        measurement = Measurement(row, len(inputs), shape if row is not None else None, self.passes)
        call.measured = measurement
        if row is not None:
            self._mets.append(measurement)
        self.pending.append(partial(self._attach, measurement, y, inputs))
        return measurement

    def _attach(self, measurement: Measurement, y: Value, inputs: list[Value]) -> None:
        if y.edge is None:
            return
        span = Span(y.edge, [item.edge for item in inputs if item.edge is not None], measurement)
        functions, span.functions = span.functions, []
        for node in functions:  # called by an op of torch.library
            if not self.has_call(node):
                self.find_hidden((node, 0), place=y.call.place)
        measurement.got = [0 if number in span.reached else None for number in range(len(inputs))]
        measurement.first = min(span.reached, default=0)
        if measurement.first:
            measurement.shape = None

    def _make_hidden_call(self, *arguments: Any) -> Call:
        call = super()._make_hidden_call(*arguments)
        node = arguments[0].name()
        plain = re.sub(r"Backward\d*$", "", node.rpartition("::")[2])
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", plain).lower()
        if (
            call.kind == "hidden"
            and call.place.path is not None
            and is_pointwise(name)
            and name not in LINEAR
        ):
            self.unseen[node] = self.unseen.get(node, 0) + 1
        return call


def _run_of(function: Any, args: Any, kwargs: Any, writes: bool) -> Callable[[Tensor], Any] | None:
    rest = args[1:]
    if any(item.grad_fn is not None for item in find_tensors((rest, kwargs))):
        return None
    return lambda z: function(z.clone() if writes else z, *rest, **kwargs)


def _iterate_before_cut(dead: Value) -> Iterator[Value]:
    """Yield a value outside the graph and those before it up to the calls that left the graph."""
    visited, todo = {dead}, [dead]
    while todo:
        value = todo.pop()
        yield value
        for item in value.call.inputs:
            if not item.live and item not in visited and (item.cuts or item.call.is_cut):
                visited.add(item)
                todo.append(item)
