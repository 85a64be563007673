"""The values of tensors during a forward pass, found by the tensor or by its edge in autograd's graph."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from explorer.model.tape.names import find_tensors
from explorer.model.tape.passes import Passes, do_nothing
from explorer.model.tape.private import BackwardCFunction, get_next_number, get_sequence_number
from explorer.model.tape.sites import Place
from explorer.model.tape.values import Call, Edge, Value, collect_sources, find_ancestors

SWAPPED_CALL = "_explorer_call"
"""The attribute of a node that a swap has made: the call's op, its module as from ``mark_of``, and lines."""

_KEPT_TENSORS, _DEEP = 96, 99  # number of tensors kept alive; maximum depth of the search for an older value


class Ledger(Passes):
    """The values that tensors have during a forward pass.

    The call of an autograd Function is found by its node, when the Function's result is first used.

    Subclasses override further hooks: ``on_function(call, value, tensor)`` for a value that an autograd
    Function has returned, ``on_checkpoint(node)`` for the node of a checkpoint, which repeats calls in
    backward, and ``on_hidden_call(node, call)`` for a node whose call was not seen.

    Attributes:
        calls: the calls in the order in which they were found.
        leaves: the values of parameters and other leaves, by the identity of the tensor.
        by_node: the calls of Functions and of hidden calls, by their nodes in autograd's graph.
        left: the last call by which values left torch, with their number of elements, by site.
    """

    on_function: Callable[..., Any] = do_nothing
    on_checkpoint = on_hidden_call = do_nothing

    def __init__(self, model: nn.Module) -> None:
        super().__init__(model)
        self.calls: list[Call] = []
        self._recent: deque[Tensor] = deque(maxlen=_KEPT_TENSORS)
        self._since = get_next_number()
        self.clear()

    def clear(self) -> None:
        """Drop all calls and values. They then do not refer to each other, which frees autograd's nodes."""
        for call in self.calls:
            call.inputs, call.outputs = [], []
        self._held: dict[int, tuple[Any, Value]] = {}
        self._by_edge: dict[Edge, Value] = {}
        self.by_node: dict[Any, Call] = {}
        self.leaves: dict[int, Value] = {}
        self.left: dict[Any, tuple[Call, int]] = {}
        self.calls = []
        self._recent.clear()

    def on_arguments(self, args: Any) -> None:
        """Record the tensors that a submodule will be called with, as results of its caller's calls."""
        for tensor in find_tensors(args):
            self.value_of(tensor)

    def on_module_return(self, module: nn.Module, path: str, result: Any) -> Any:
        """Record the tensors that a submodule returns."""
        for tensor in find_tensors(result):
            self.value_of(tensor)

    def put(self, tensor: Tensor, value: Value) -> Value:
        """Store the value that a tensor now has, and return this value."""
        self._held[id(tensor)] = weakref.ref(tensor), value
        self._recent.append(tensor)
        if value.edge is not None:
            self._by_edge[value.edge] = value
        return value

    def value_of(self, tensor: Tensor) -> Value:
        """Return the value that a tensor has now. A new value is made for a tensor of unknown origin."""
        held = self._held.get(id(tensor))
        value = held[1] if held is not None and held[0]() is tensor else None
        if not tensor.requires_grad:
            return value if value is not None and not value.live else self._make_source(tensor, value)
        node = tensor.grad_fn
        if node is None:
            return self.leaves.get(id(tensor)) or self._make_leaf(tensor)
        edge = node, tensor.output_nr
        if value is None or value.edge != edge:
            value = self.put(tensor, self._by_edge.get(edge) or self.find_hidden(edge, value, tensor))
        return value

    def find_hidden(
        self, edge: Edge, inner: Value | None = None, tensor: Tensor | None = None, depth: int = 0,
        place: Place | None = None,
    ) -> Value:  # fmt: skip
        """Return the value of an autograd node's output whose call was not seen, as for a Function or C++.

        ``inner`` is the tensor's previous value, the last one of the Function's forward.
        """
        node = edge[0]
        if edge in self._by_edge or hasattr(node, "variable"):
            return self._by_edge.get(edge) or self.value_of(node.variable)
        if (call := self.by_node.get(node)) is None:
            if place is None:
                is_seen = inner is not None and inner.call.kind == "call"
                place = inner.call.place if inner is not None and is_seen else self.place()
            call = self._make_hidden_call(node, depth, place)
        is_function = call.kind == "function"
        if inner is not None:
            call.inputs.append(inner)
            for item in find_ancestors(
                [inner], lambda _, v: is_function and not v.live and not v.call.graded
            ):
                item.call.merged = is_function
        value = self._by_edge[edge] = Value(call, tensor, edge)
        if node.name() == "CheckpointFunctionBackward":
            self.on_checkpoint(node)
        elif is_function:
            self.on_function(call, value, tensor)
        return value

    def _make_hidden_call(self, node: Any, depth: int, place: Place) -> Call:
        is_old = depth > _DEEP or get_sequence_number(node) < self._since  # the node is from an earlier pass
        edges = [] if is_old else [edge for edge in node.next_functions if edge[0] is not None]
        inputs = [self.find_hidden(edge, None, None, depth + 1, place) for edge in edges]
        kind = "source" if is_old else "function" if isinstance(node, BackwardCFunction) else "hidden"
        name = node.name().rpartition("::")[2].removesuffix("Backward")
        if (origin := getattr(node, SWAPPED_CALL, None)) is not None:
            name, module, lines = origin
            path, own = self._paths.get(module, (None, False))
            place = Place(path, own, lines)
        call = self.by_node[node] = Call(name, type(node), place, inputs, kind)
        self.calls.append(call)
        self.on_hidden_call(node, call)
        return call

    def _make_source(self, tensor: Tensor, before: Value | None) -> Value:
        """Return a new value for a tensor that no recorded call made, such as one from NumPy."""
        befores = [] if before is None else [before]
        call = Call("", None, self.place(), befores, "source")
        value = self.put(tensor, Value(call, tensor, cuts=tuple(befores)))
        self.match_exit(value, tensor)
        return value

    def _make_leaf(self, tensor: Tensor) -> Value:
        node = tensor.view_as(tensor).grad_fn
        if node is None:  # gradients are disabled
            with torch.inference_mode(False), torch.enable_grad():
                node = tensor.view_as(tensor).grad_fn
        if node is None:  # a constant under torch.func
            return self._make_source(tensor, None)
        edge = node.next_functions[0]
        value = Value(Call("", None, Place(None, False, ()), [], "leaf"), tensor, edge)
        self.leaves[id(tensor)] = self._by_edge[edge] = value
        return value

    def match_exit(self, value: Value, tensor: Tensor) -> None:
        """Give a value of unknown origin the inputs of the latest exit from torch with as many elements."""
        for call, elements in reversed(self.left.values()):
            if elements == tensor.numel():
                value.cuts = collect_sources(call.inputs)
                value.call = Call(call.name, None, call.place, [*call.inputs], "exit")
                value.call.outputs.append(value)
                self.calls.append(value.call)
                return
