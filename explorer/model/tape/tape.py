"""A tape of torch's calls in a model's forward passes, and of values that leave autograd's graph and return.

A call is identified by its input and output values, not by its code. A value is live if autograd follows it.
Other values keep references to the live values that they were computed from. A *join* is a pointwise call of
a live value and a value computed from the same x outside the graph, as in detach tricks, masks and ``.data``.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from explorer.model.tape import names, private
from explorer.model.tape import values as graph
from explorer.model.tape.ledger import Ledger
from explorer.model.tape.names import find_tensors
from explorer.model.tape.passes import do_nothing
from explorer.model.tape.private import DisableTorchFunction, versions_of
from explorer.model.tape.values import Call, Value, collect_sources, find_elementwise_ancestors


class Join(NamedTuple):
    """A call whose inputs have one x in common, on a path that autograd follows and on one that it does not.

    Attributes:
        x: the latest value from which all inputs are computed element by element.
        made: the values computed from x, up to the inputs of the call.
        way: the values in ``made`` on the path that autograd follows.
        tensor: x's tensor, copied if the call may write into it; None if it is not kept.
    """

    x: Value
    made: set[Value]
    way: set[Value]
    tensor: Tensor | None

    @property
    def side(self) -> set[Value]:
        """The other values in ``made``, which are outside the graph."""
        return self.made - self.way


class Tape(Ledger):
    """A torch function mode that records a model's calls of torch, and the values between them.

    Only calls in one thread are recorded. Subclasses override further hooks:
        prepare(name, function, args, kwargs): returns what ``on_call`` needs from before a call.
        on_call(call, prepared, y), on_join(call, join, y): return a tensor that replaces y, or None.
        on_cut(dead, x, made): for a detached value that meets no live value from the same x.
        on_exit(call): for a call such as ``item``, whose result is not a tensor.
        find_substitute(value, tensor): returns the tensor that replaces an argument, or None.
        on_backward_end(): for the end of a backward pass.

    Attributes:
        follows: whether to follow the model's modules while a checkpoint repeats its calls.
    """

    prepare: Callable[..., Any] = do_nothing
    on_call = on_join = on_cut = on_exit = find_substitute = on_backward_end = do_nothing
    follows = False

    def run_call(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Return the result of a call. Subclasses override this method to hide a call from outer tapes."""
        return function(*args, **kwargs)

    def __init__(self, model: nn.Module) -> None:
        self.done = self._in_backward = False
        super().__init__(model)

    def __exit__(self, *error: Any) -> None:
        with DisableTorchFunction():
            self.flush()
        super().__exit__(*error)

    def clear(self) -> None:
        """Drop all calls, values and pending hooks of the pass."""
        super().clear()
        self.pending: list[Callable[[], object]] = []
        self.roots: list[Value] = []
        self.bridges = False

    def on_pass_begin(self) -> None:
        """Drop the last pass if it is finished, since another forward pass begins."""
        if not self._in_backward and (self.done or not torch.is_grad_enabled()):
            self.clear()
            self._since, self.done = private.get_next_number(), False

    def on_checkpoint(self, node: Any) -> None:
        """Record also the calls that a checkpoint repeats in backward, where torch has disabled all modes."""
        path, own, _ = self.by_node[node].place

        def enter(_: Any) -> None:
            if self.follows:
                self.attach()
            elif path is not None:  # a function in it may have no self by which its submodule is known
                self._enter(path, own)
            TorchFunctionMode.__enter__(self)  # type: ignore[no-untyped-call]  # torch's own

        def leave(*_: Any) -> None:
            TorchFunctionMode.__exit__(self, None, None, None)  # type: ignore[no-untyped-call]
            if self.follows:
                self.detach()
            elif path is not None:
                self._leave()

        node.register_prehook(enter)
        node.register_hook(leave)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, name, called = kwargs or {}, names.name_of(func), func
        if name in ("backward", "grad"):
            return self._run_backward(func, args, kwargs)
        is_idle = torch.is_inference_mode_enabled() and not self.calls
        if is_idle or (name[0] == "." and name not in names.VALUE_ATTRIBUTES):
            return func(*args, **kwargs)
        kinds = [*map(type, args)] if name in names.REFLECTIONS and func is getattr(Tensor, name) else []
        if len(kinds) == 2 and kinds[0] is not kinds[1] and issubclass(*kinds):  # Python's t.lt(x) for x > t
            name, args = names.REFLECTIONS[name], args[::-1]
            func = getattr(Tensor, name)
        if kwargs.get("rounding_mode"):  # of torch.div, whose gradient is then zero
            name = f"{kwargs['rounding_mode']}_divide"
        with DisableTorchFunction():  # calls made here are hidden from other tapes
            tensors = find_tensors((args, kwargs))
            values, join = [self.value_of(item) for item in tensors], None
            self.flush()
            if (self.bridges or any(v.cuts for v in values)) and torch.is_grad_enabled():
                args, kwargs = self.with_substitutes((args, kwargs))
                tensors = find_tensors((args, kwargs))
                values = [self.value_of(item) for item in tensors]
                is_live = any(v.live for v in values)
                if is_live and (join := self._find_meeting(name, values)) is not None:
                    if join.tensor is not None and names.may_write(func, args, kwargs):
                        join = join._replace(tensor=join.tensor.clone())
                elif is_live:
                    for dead in filter(attrgetter("cuts"), values):
                        self.on_cut(dead, *graph.origin_of(dead))
            versions = versions_of(tensors)
            prepared = self.prepare(name, func, args, kwargs)
        result = self.run_call(func, args, kwargs)
        with DisableTorchFunction():
            given = {*map(id, tensors)}
            outs = [item for item in find_tensors(result) if id(item) not in given]
            if name == ".data=":
                outs.append(args[0])
            elif (newer := versions_of(tensors)) != versions:
                changes = zip(tensors, versions, newer, strict=True)
                outs += [item for item, before, after in changes if before != after]
            if not outs and tensors and tensors[0].requires_grad != values[0].live:  # as by detach_
                outs = tensors[:1]
            if not outs:
                if name in names.EXITS and values and not find_tensors(result):
                    call = self.record(name, func, values[:1], (), "exit")
                    self.left[call.site] = call, tensors[0].numel() + self.left.get(call.site, (None, 0))[1]
                    self.on_exit(call)
                return result
            is_function = name == "custom_function_call"  # a Function under torch.func
            kind, name = ("function", args[0].__name__) if is_function else ("call", name)
            made_anew = name.endswith("_like") or name.startswith("new_")
            if name == "to" or name.endswith("_as"):  # a second tensor gives only a shape, dtype or device
                values = values[:1]
            if name in names.CARRIERS and tensors and tensors[0].dtype in names.FORMATS:
                name, values = _find_rounding(name, values, outs[0])
            call = self.record(name, called, [] if made_anew else values, outs, kind)
            call.alpha = kwargs.get("alpha", 1)
            new = self.on_join(call, join, outs[0]) if join is not None and call.is_live else None
            new = self.on_call(call, prepared, outs[0]) if new is None else new
            return result if new is None else names.replace_tensor(result, outs[0], new)

    def with_substitutes(self, items: Any) -> Any:
        """Return nested lists, tuples and dicts with tensors replaced by their substitutes, if any."""
        for tensor in find_tensors(items):
            if (new := self.find_substitute(self.value_of(tensor), tensor)) is not None:
                items = names.replace_tensor(items, tensor, new)
        return items

    def record(self, name: str, func: Any, values: list[Value], outs: Any, kind: str = "call") -> Call:
        """Record and return a call, given the values of its inputs and its output tensors ``outs``."""
        call = Call(name, func, self.place(), values, kind)
        self.calls.append(call)
        for item in outs:
            edge = (item.grad_fn, item.output_nr) if item.requires_grad else None
            if edge is not None and edge[0] is None:  # overwritten unnoticed by autograd, or a new leaf
                leaf = self.value_of(item)
                leaf.call.inputs += [v for v in values if self.path and v is not leaf]
                call.outputs += [] if call.graded or not item._is_view() else [leaf]
                continue
            value = self.put(item, Value(call, item, edge, () if edge else collect_sources(values)[-8:]))
            if not values and name in ("tensor", "as_tensor", "asarray"):
                self.match_exit(value, item)
        return call

    def flush(self) -> None:
        """Register the pending hooks on the last call's results, after a swap has registered its own."""
        while self.pending:
            self.pending.pop(0)()

    def _run_backward(self, func: Any, args: Any, kwargs: Any) -> Any:
        tensors = find_tensors(args[:1])
        if any(map(private.is_functorch_wrapped_tensor, tensors)):  # torch.func has gradients of its own
            return func(*args, **kwargs)
        self.roots += [self.value_of(item) for item in tensors]
        self.flush()
        self._recent.clear()  # backward can then free what it has used
        nested, self._in_backward = self._in_backward, True
        try:
            return func(*args, **kwargs)
        except RuntimeError as error:
            calls = self.calls if "is not implemented" in str(error) else []  # torch's words
            for call in (item for item in calls if item.is_live and item.outputs[0].has_no_derivative):
                name = call.name
                advice = f": swap(model, {name!r}, …) gives it one" if names.is_pointwise(name) else ""
                raise RuntimeError(f"{call.site}: torch has no derivative of {name}{advice}") from error
            raise
        finally:
            self._in_backward, self.done = nested, True
            if not nested:
                with DisableTorchFunction():
                    self.on_backward_end()

    def _find_meeting(self, name: str, values: list[Value]) -> Join | None:
        """Return the join that a call with these inputs is, or None if it is none."""
        shape = max((v.shape for v in values if v.shape is not None), key=lambda s: s.numel())
        bridged = [  # computed elementwise from a tensor that a swap has put in
            v for v in values if self.bridges and v.live
            and any(item.call.kind == "bridge" for item in find_elementwise_ancestors(v))
        ]  # fmt: skip
        pure = [*filter(graph.is_from_bridges, bridged)]
        bridged = next(some for some in (bridged, pure, []) if any(v.live and v not in some for v in values))
        side = [
            v for v in values if (v in bridged if v.live else v.cuts)
            and (v.shape == shape or (not v.live and graph.is_chosen(v)))
        ]  # fmt: skip
        if not side or not names.is_pointwise(name):
            return None
        sources, live = [*collect_sources(side)], [v for v in values if v.live and v not in side]
        common = graph.find_common_ancestors(sources, shape)
        sums = graph.find_ancestors(
            live, lambda call, _: call.name in names.SUMS and {*sources}.isdisjoint(call.outputs)
        )
        terms = collect_sources(v for v in sums if v.cuts)  # of the detached terms of live sums
        if terms and (wider := common & graph.find_common_ancestors(terms, shape)):
            sources, common = [*sources, *terms], wider
        ways = {v: find_elementwise_ancestors(v) for v in live}
        ways = {v: before for v, before in ways.items() if not common.isdisjoint(before)}
        x = graph.find_sole_source(common.intersection(*ways.values()), sources, shape) if ways else None
        if x is None:
            return None
        made = graph.find_values_between(x, [*side, *ways])
        way = graph.find_ancestors(ways, lambda _, v: v.live and v in made).keys() & made
        return Join(x, made, way, x.ref())

    def reach(self, on_graph: bool) -> dict[Value, None]:
        """Return the values that the results depend on.

        ``on_graph``: only those that a gradient can reach.
        """

        def can_pass(call: Call, value: Value) -> bool:
            is_followed = value.live and call.kind != "leaf" and any(o.live for o in call.outputs)
            return not on_graph or is_followed

        return graph.find_ancestors(self.roots, can_pass, graph.UNLIMITED)


def _find_rounding(name: str, values: list[Value], y: Tensor) -> tuple[str, list[Value]]:
    """Return the op and the x of a cast back from eight bits; for other calls, ``name`` and ``values``."""
    x = values[0]
    key = names.FORMATS[x.dtype]  # type: ignore[index]
    while x.dtype in names.FORMATS and x.call.inputs:
        x = x.call.inputs[0]
    return (key, [x]) if y.dtype not in names.FORMATS and x.shape == y.shape else (name, values)
