"""A tape that records a model's calls as rows, with hooks that measure their backward."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from torch import Tensor, nn

from explorer.catalogue import OPS
from explorer.model.observing.rows import SAMPLES, Measurement, Row, find_unit_axis, sample_tensor
from explorer.model.tape import CALLS, Call, CallInput, Join, Site, Tape, Value, names, read_input
from explorer.model.tape.ledger import SWAPPED_CALL
from explorer.model.tape.names import LINEAR, STEPS, find_tensors, is_pointwise
from explorer.model.tape.private import forward_class, is_functorch_wrapped_tensor
from explorer.model.tape.spans import attach_span
from explorer.model.tape.tricks import chain_of, classify_join, find_applied_keys, name_join
from explorer.model.tape.values import NO_DERIVATIVE, UNLIMITED, find_ancestors, is_chosen

UNNEEDED = "its x requires no gradient"
_WRITTEN_BEHIND = "it writes behind autograd's back, by .data: the gradient passes as if nothing were done"
_DETACHED = "its output is detached"
_TRANSFORMED = "called inside torch.func, as by vmap: observe the model without it"


class Recorder(Tape):
    """A tape that records the calls of a model, with one row of sums for each site.

    Attributes:
        rows: the rows, by site and kind.
        passes: the number of forward passes that have begun.
        measurements: the measurements of calls whose gradients have not been counted yet.
    """

    def __init__(self, model: nn.Module) -> None:
        self.rows: dict[tuple[Site, str], Row] = {}
        self.passes = 0
        self.measurements: list[Measurement] = []
        self._is_scaling = False
        super().__init__(model)

    def prepare(self, name: str, function: Any, args: Any, kwargs: Any) -> tuple[CallInput, Any] | None:
        """Return what a call's row needs, x before the call and the call itself, or None if it is no site."""
        self._is_scaling = name in names.SCALINGS and isinstance(args[-1], int | float) and bool(args[-1])
        if name in names.EXTREMES:  # x may be the second tensor, as in max(0, x)
            args = sorted(args, key=lambda item: not getattr(item, "requires_grad", False))
        x = args[0] if args else None
        is_known = function in CALLS or name in STEPS or (name not in LINEAR and is_pointwise(name))
        if not is_known or not isinstance(x, Tensor) or not x.is_floating_point():
            return None
        return read_input(function, args, kwargs, x), (function, args, kwargs)

    def on_call(self, call: Call, prepared: Any, y: Tensor) -> None:
        """Count a call of a torch function in its site's row, and measure its backward."""
        call_input = prepared[0] if prepared else None
        if call.place.path is None:
            return
        if is_functorch_wrapped_tensor(y):
            key = call_input.key if call_input is not None else ""  # tensors of torch.func hide their values
            if key or call.name in STEPS or call.kind == "function":
                call.op = call.name if call.name in STEPS else key or call.name
                self._count(call, "call", call.op, key).reasons[_TRANSFORMED] = None
            return
        output = next((value for value in call.outputs if value.live), None)
        if output is None:
            self._record_without_graph(call, call_input)
            return
        inputs = call.list_live_inputs()
        is_linear = self._is_scaling or call.name in names.UNMEASURED  # it cannot stop the gradient
        if not inputs or (call_input is None and is_linear) or call.kind == "function":
            return
        if call.name in names.FORMATS.values():
            row = self._count(call, "call", call.op, call.op if call.op in OPS else "")
            self._measure(call, row, output, inputs, inputs[0].ref(), None if row.key else y, y)
            return
        if call_input is None or not (call.inputs[0].live or call.name in names.EXTREMES):
            self._measure(call, None, output, inputs)
            return
        call.op = call.name if call.name in STEPS else call_input.key or call.name
        row = self._count(call, "call", call.op, call_input.key)
        function, (_, *rest), kwargs = prepared[1]
        row.parameters, row.run, writes = call_input.parameters, None, names.may_write(*prepared[1])
        if all(item.grad_fn is None for item in find_tensors((rest, kwargs))):  # a function of x alone
            row.run = lambda x: function(x.clone() if writes else x, *rest, **kwargs)
        x = call_input.x
        self._measure(call, row, output, inputs, x, None if row.key else y, x if x.requires_grad else y)

    def _count(self, call: Call, kind: str, op: str, key: str = "") -> Row:
        """Return the row of a call's site, in which the call is counted once."""
        at = call.site, kind
        row = self.rows.get(at) or self.rows.setdefault(at, Row(*at, op, key))
        row.calls += call.counted != kind
        call.counted = kind
        return row

    def _record_without_graph(self, call: Call, call_input: CallInput | None) -> None:
        """Count a call whose result is not in autograd's graph, if it is one of an op."""
        source = call.inputs[0] if call.inputs else None
        if call_input is None or source is None:
            return
        carried = source.ref() if source.call.name in (".data", "detach") and source.cuts else None
        if carried is not None and call.outputs[0].ref() is carried:
            self.count_cut(call, call_input.key or call.name, _WRITTEN_BEHIND)
            return
        if call_input.key and call.graded and not source.cuts:
            call.op = call_input.key
            row = self._count(call, "call", call_input.key, call_input.key)
            row.add_x(sample_tensor(call_input.x))
            row.reasons[UNNEEDED] = None

    def on_function(self, call: Call, value: Value, tensor: Tensor | None) -> None:
        """Count a call of an autograd Function, whose output is ``value``, and measure its backward."""
        inputs = call.list_live_inputs()
        is_wrapped = tensor is not None and is_functorch_wrapped_tensor(tensor)
        if call.place.path is None or not inputs or is_wrapped:
            return
        for item, _ in self.left.values():  # such as alpha.item() in the Function's own forward
            cut = None if item.graded else self.rows.get((item.site, "cut"))
            if cut is not None and not {*call.lines[:1]}.isdisjoint(item.place.lines):
                cut.listed = False
        if hasattr(value.edge and value.edge[0], SWAPPED_CALL):  # a swap has replaced the model's own call
            for item in self.calls:
                if item.measured is not None and item.place == call.place:
                    item.measured.merged = True
        key, rule = find_applied_keys(value.edge)
        call.op = key or call.name
        row = self._count(call, "function", call.op, key)
        row.rule, owner = rule, forward_class(call.function)
        row.owner = owner if key or owner.__name__ == call.name else None  # None for a node of a swap
        self._measure(call, row, value, inputs, inputs[0].ref(), tensor)

    def on_checkpoint(self, node: Any) -> None:
        """Measure the backward of a checkpoint, and record the calls that it repeats."""
        super().on_checkpoint(node)
        call = self.by_node[node]
        self._measure(call, None, call.outputs[-1], call.list_live_inputs())

    def on_join(self, call: Call, join: Join, y: Tensor) -> None:
        """Count a detach trick or mask and measure its backward. A gate's detached ops are noted as cut."""
        kind = classify_join(call, join, y)
        if call.place.path is None or is_functorch_wrapped_tensor(y):
            return
        side = [value.call for value in sorted(join.side, key=lambda value: value.number)]
        if kind == "gate":
            chain = chain_of(join.side, join.way)
            if chain and side[0].is_cut and side[0].graded and not any(c.is_live or c.is_cut for c in chain):
                self.count_cut(side[0], " → ".join(item.op for item in chain), side[0].reason)
            for number, item in enumerate(side):
                if item.measured is not None and item.measured.row is not None:
                    item.measured.cut = next((c.reason for c in side[number:] if c.is_cut), _DETACHED)
                elif item.is_cut and not item.graded and not item.merged and item.name not in LINEAR:
                    self.count_cut(item, item.op, item.reason)
            return
        name_join(call, join, kind == "mask")
        if call.outputs[0].edge == join.x.edge:
            self.count_cut(call, call.op, _WRITTEN_BEHIND)
            return
        call.row = row = self._count(call, kind, call.op)
        self._merge(side, [value.call for value in join.way] if kind == "trick" else ())
        self._measure(call, row, call.outputs[0], [join.x], join.tensor, y)
        call.measured = None  # blame needs the gradients of the call itself, which is measured next

    def _merge(self, side: Iterable[Call], way: Iterable[Call]) -> None:
        """Mark the calls of a detach trick as its parts, so that only the trick has a row."""
        for call in side:
            if call.measured is not None:
                call.measured.merged = True
            if (row := self.rows.get((call.site, "cut"))) is not None:
                row.listed = False
        for call in way:
            for carrier in (call.row, call.measured and call.measured.row):
                if carrier is not None:
                    carrier.carries = True

    def on_cut(self, dead: Value, x: Value | None, made: set[Value]) -> None:
        """Count the call at which a detached value and its ancestors left autograd's graph."""
        between = {*_find_before_cut(dead)} | {value for value in made if not value.live}
        ordered = sorted(between, key=lambda value: value.number)
        cuts = [v.call for v in ordered if not v.live and any(item.live for item in v.call.inputs)]
        first = next(iter(cuts), None)
        is_intended = x is None and self.path and not is_chosen(dead)  # such as a detached norm
        if first is None or first.place.path is None or first.merged or is_intended:
            return
        if any((value.call.site, "cut") in self.rows for value in between if value.call.kind == "exit"):
            return
        ops = [item.op for item in chain_of(between, (), compared=True)]
        for call in dict.fromkeys(cuts):
            if call.site == first.site:
                self.count_cut(call, " → ".join(ops) or first.name, first.reason)

    def on_exit(self, call: Call) -> None:
        """Record a call whose result leaves torch, such as ``item``."""
        x = call.inputs[0]
        if not (x.live or x.cuts) or call.place.path is None or call.name in ("bool", "index") or call.merged:
            return
        inner = [] if x.live else chain_of(_find_before_cut(x), ())
        op = " → ".join(dict.fromkeys([*(item.op for item in inner), call.name]))
        self.count_cut(call, op, call.reason)

    def count_cut(self, call: Call, op: str, reason: str) -> None:
        """Count a call after which autograd's graph ends, with the reason."""
        self._count(call, "cut", op).reasons[reason] = None

    def _measure(
        self, call: Call, row: Row | None, y: Value, inputs: list[Value], x_tensor: Tensor | None = None,
        y_tensor: Tensor | None = None, like: Tensor | None = None,
    ) -> None:  # fmt: skip
        """Add a call's x to its row, if it has one, and prepare hooks that measure its backward.

        The layer that computed the tensor ``like`` determines which dimension has the units.
        """
        shape = inputs[0].shape if inputs[0].shape is not None else y.shape
        measurement = Measurement(row, len(inputs), shape if row is not None else None, self.passes)
        call.measured = measurement
        self.pending.append(partial(self._attach, measurement, y, inputs))
        if row is None:
            return
        self.measurements.append(measurement)
        if x_tensor is None:
            return
        if row.axis is None:
            row.axis = find_unit_axis(x_tensor if like is None or like.dim() != x_tensor.dim() else like)
        sample = sample_tensor(x_tensor)
        row.add_x(sample)
        if len(row.samples) < SAMPLES:
            measurement.x = sample
            if y_tensor is not None and y_tensor.shape == x_tensor.shape:
                measurement.y = sample_tensor(y_tensor)

    def _attach(self, measurement: Measurement, y: Value, inputs: list[Value]) -> None:
        assert y.edge is not None
        if y.has_no_derivative:
            measurement.cut = NO_DERIVATIVE
        edges = [item.edge for item in inputs if item.edge is not None]
        reached, functions = attach_span(y.edge, edges, measurement)
        for node in functions:  # Functions called inside an op of torch.library
            if node not in self.by_node:
                self.find_hidden((node, 0), place=y.call.place)
        measurement.got = [0 if number in reached else None for number in range(len(inputs))]
        measurement.first = min(reached, default=0)
        if measurement.first:
            measurement.shape = None


def _find_before_cut(dead: Value) -> Iterable[Value]:
    """Return a detached value and its ancestors, back to the calls after which the graph ends."""
    return find_ancestors([dead], lambda _, v: not v.live and bool(v.cuts or v.call.is_cut), UNLIMITED)
