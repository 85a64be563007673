"""A listener to the forward and backward passes of a user's model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from explorer.model.observing.blame import Blame, find_blame
from explorer.model.observing.rows import Measurement, Row, find_unit_axis, has_any, sample_tensor
from explorer.model.tape import CALLS, Call, CallInput, Join, Site, Span, Tape, Value, read_input
from explorer.model.tape.names import LINEAR, STEPS, UNMEASURED, find_tensors, is_pointwise, may_write
from explorer.model.tape.private import DisableTorchFunction, forward_class, is_functorch_wrapped_tensor
from explorer.model.tape.tricks import JoinKind, chain_of, classify_join, find_applied_keys, find_chain_site

_PASSES = 8  # forward passes without a backward before the oldest calls are forgotten
UNNEEDED = "its x requires no gradient"
_WRITTEN_BEHIND = "it writes behind autograd's back, by .data: the gradient passes as if nothing were done"
_DETACHED = "its output is detached"


class Listener(Tape):
    """The calls of a model and the gradients at each, as rows.

    Attributes:
        rows: by site and kind.
        turns: the forward passes, from 1, that had a backward.
        blamed: by parameter, why no gradient came.
        arrived: by parameter, whether any gradient was not zero.
        unseen: nodes without a call, with their number.
        modules: the paths of the submodules, in order of their first calls.
    """

    def __init__(self, model: nn.Module) -> None:
        self.rows: dict[tuple[Site, str], Row] = {}
        self.passes = self._since_backward = 0
        self.turns: set[int] = set()
        self.blamed: dict[str, Blame] = {}
        self.arrived: dict[str, bool] = {}
        self.unseen: dict[str, int] = {}
        self.modules: dict[str, None] = {}
        self._parameter_hooks = ExitStack()
        self._measurements: list[Measurement] = []
        self._results: list[Value] = []
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
        self.done = self.done or self._since_backward > _PASSES
        if not self._in_backward:
            self.passes += 1
            if self.done:
                self.settle()
                self._measurements.clear()
        super().on_pass_begin()

    def settle(self) -> None:
        """Count the calls of passes that had a backward, as far as no gradient came to them."""
        self.turns |= {item.turn for item in self._measurements if item.backwards}
        left = []
        for item in self._measurements:
            if item.turn in self.turns or item.cut or item.merged:
                item.settle(item.turn in self.turns)
            else:
                left.append(item)
        self._measurements = left

    def on_pass_end(self, path: str, result: Any) -> Any:
        """Record the end of a pass."""
        tensors = find_tensors(result)
        for item in tensors:
            if item.requires_grad and torch.is_grad_enabled() and not is_functorch_wrapped_tensor(item):
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
        """Find the calls to blame for parameters without gradient."""
        with DisableTorchFunction():
            left = {
                name: parameter
                for name, parameter in self.model.named_parameters()
                if parameter.requires_grad and not self.arrived.get(name) and name not in self.blamed
            }
            if left:
                self.blamed |= find_blame(self, left, self.arrived, self._add_culprit)

    def prepare(self, name: str, function: Any, args: Any, kwargs: Any) -> tuple[CallInput, Any] | None:
        """Return the x of a call that may be a site, and the call itself."""
        x = args[0] if args else None
        is_known = function in CALLS or name in STEPS or (name not in LINEAR and is_pointwise(name))
        if not is_known or not isinstance(x, Tensor) or not x.is_floating_point():
            return None
        return read_input(function, args, kwargs, x), (function, args, kwargs)

    def on_call(self, call: Call, prepared: Any, y: Tensor) -> None:
        """Record a call."""
        call_input, run = prepared or (None, ())
        if call.place.path is None or is_functorch_wrapped_tensor(y):
            return
        output = next((value for value in call.outputs if value.live), None)
        if output is None:
            self._record_without_graph(call, call_input)
            return
        inputs = call.list_live_inputs()
        if not inputs or (call_input is None and call.name in UNMEASURED) or call.kind == "function":
            return
        if call_input is None or not call.inputs[0].live:
            self._measure(call, None, output, inputs)
            return
        call.op = call.name if call.name in STEPS else call_input.key or call.name
        row = self._count(call.site, "call", call.op, call_input.key)
        row.parameters, row.run = call_input.parameters, _make_run(*run)
        x = call_input.x
        self._measure(call, row, output, inputs, x, None if row.key else y, x if x.requires_grad else y)

    def _count(self, site: Site, kind: str, op: str, key: str = "") -> Row:
        """Return the row of a site, with one call more."""
        if (site, kind) not in self.rows:
            self.rows[site, kind] = Row(site, kind, op, key)
        row = self.rows[site, kind]
        row.calls += 1
        return row

    def _record_without_graph(self, call: Call, call_input: CallInput | None) -> None:
        """Record a call that autograd does not follow."""
        source = call.inputs[0] if call.inputs else None
        if call_input is None or source is None:
            return
        if source.call.name in (".data", "detach") and source.cuts:
            carried = source.ref()
            if carried is not None and call.outputs[0].ref() is carried:
                self._count_cut(call.site, call_input.key or call.name, _WRITTEN_BEHIND)
                return
        if call_input.key and call.graded and not source.cuts:
            call.op = call_input.key
            row = self._count(call.site, "call", call_input.key, call_input.key)
            row.add_x(call_input.x)
            row.reasons[UNNEEDED] = None

    def on_function(self, call: Call, value: Value, tensor: Tensor | None) -> None:
        """Record the y of a Function."""
        inputs = call.list_live_inputs()
        is_wrapped = tensor is not None and is_functorch_wrapped_tensor(tensor)
        if call.place.path is None or not inputs or is_wrapped:
            return
        key, rule = find_applied_keys(value.edge)
        call.op = key or call.name
        row = self._count(call.site, "function", call.op, key)
        row.rule, row.owner = rule, forward_class(call.function)
        self._measure(call, row, value, inputs, inputs[0].ref(), tensor)

    def on_join(self, call: Call, join: Join, y: Tensor) -> None:
        """Record a join."""
        meaning = classify_join(call, join, y)
        if call.place.path is None or is_functorch_wrapped_tensor(y):
            return
        side = [value.call for value in join.made - join.way]
        if meaning is JoinKind.GATE:
            self._record_detached(side)
            return
        ops = chain_of(join.made - join.way, join.way)
        last = [call.name] if meaning is JoinKind.MASK or not ops else []
        call.op = " → ".join(dict.fromkeys([*(item.op for item in ops), *last]))
        call.row = row = self._count(find_chain_site(call, ops), meaning.value, call.op)
        self._merge(side, [value.call for value in join.way] if meaning is JoinKind.TRICK else ())
        self._measure(call, row, call.outputs[0], [join.x], join.x.ref(), y)
        call.measured = None  # blame asks for the call itself, which is measured next

    def _record_detached(self, side: list[Call]) -> None:
        """Name the ops on the side of a gate, whose own gradient is dropped."""
        for call in side:
            if call.measured is not None and call.measured.row is not None:
                call.measured.cut = _DETACHED
            elif call.is_cut and not call.graded and not call.merged and call.name not in LINEAR:
                self._count_cut(call.site, call.op, call.reason)

    def _merge(self, side: Iterable[Call], way: Iterable[Call]) -> None:
        """Make the calls of a trick parts of its row."""
        for call in side:
            if call.measured is not None:
                call.measured.merged = True
            for kind in ("cut", "trick") if call.kind == "join" else ("cut",):
                if (row := self.rows.get((call.site, kind))) is not None:
                    row.listed = False
        for call in way:
            for carrier in (call.row, call.measured and call.measured.row):
                if carrier is not None:
                    carrier.carries = True

    def on_cut(self, dead: Value, x: Value | None, made: set[Value]) -> None:
        """Record a cut."""
        between = {*_iterate_before_cut(dead)} | {value for value in made if not value.live}
        ordered = sorted(between, key=lambda value: value.number)
        first = next((value.call for value in ordered if value.call.is_cut), None)
        if first is None or first.place.path is None or first.merged or (x is None and self.path):
            return
        if any((value.call.site, "cut") in self.rows for value in between if value.call.kind == "exit"):
            return
        ops = chain_of(between, ())
        self._count_cut(first.site, " → ".join(item.op for item in ops) or first.name, first.reason)

    def on_exit(self, call: Call) -> None:
        """Record a call out of torch, such as ``item``."""
        x = call.inputs[0]
        if not (x.live or x.cuts) or call.place.path is None or call.name in ("bool", "index") or call.merged:
            return
        inner = [] if x.live else chain_of(_iterate_before_cut(x), ())
        op = " → ".join(dict.fromkeys([*(item.op for item in inner), call.name]))
        self._count_cut(call.site, op, call.reason)

    def _count_cut(self, site: Site, op: str, reason: str) -> None:
        self._count(site, "cut", op).reasons[reason] = None

    def _add_culprit(self, call: Call) -> None:
        """Add a row for a call that cuts parameters off, unless its line has one."""
        lines = {(s.file, s.line) for (s, _), row in self.rows.items() if row.listed and row.calls}
        if call.place.path is not None and (call.site.file, call.site.line) not in lines:
            self._count_cut(call.site, call.op, call.reason)

    def _measure(
        self, call: Call, row: Row | None, y: Value, inputs: list[Value], x_tensor: Tensor | None = None,
        y_tensor: Tensor | None = None, like: Tensor | None = None,
    ) -> None:  # fmt: skip
        """Measure the backward of a call; ``like``: the tensor by whose layer the units are found."""
        shape = inputs[0].shape if inputs[0].shape is not None else y.shape
        measurement = Measurement(row, len(inputs), shape if row is not None else None, self.passes)
        call.measured = measurement
        self.pending.append(partial(self._attach, measurement, y, inputs))
        if row is None:
            return
        self._measurements.append(measurement)
        if x_tensor is None:
            return
        if row.axis is None:
            row.axis = find_unit_axis(x_tensor if like is None or like.dim() != x_tensor.dim() else like)
        row.add_x(x_tensor)
        if row.wants_samples:
            measurement.x = sample_tensor(x_tensor)
            if y_tensor is not None and y_tensor.shape == x_tensor.shape:
                measurement.y = sample_tensor(y_tensor)

    def _attach(self, measurement: Measurement, y: Value, inputs: list[Value]) -> None:
        """Put the hooks of a measurement on autograd's nodes."""
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

    def on_hidden_call(self, node: Any, call: Call) -> None:
        """Count a node of an elementwise function whose call was not seen."""
        words = re.sub(r"Backward\d*$", "", node.name().rpartition("::")[2])
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", words).lower()
        if (
            call.kind == "hidden"
            and call.place.path is not None
            and is_pointwise(name)
            and name not in LINEAR
        ):
            self.unseen[node.name()] = self.unseen.get(node.name(), 0) + 1


def _make_run(function: Any, args: Any, kwargs: Any) -> Callable[[Tensor], Any] | None:
    """Return a call as a function of x alone; None where its other arguments are followed by autograd."""
    rest, writes = args[1:], may_write(function, args, kwargs)
    if any(item.grad_fn is not None for item in find_tensors((rest, kwargs))):
        return None
    return lambda x: function(x.clone() if writes else x, *rest, **kwargs)


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
