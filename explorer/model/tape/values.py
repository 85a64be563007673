"""Records of torch calls and of the values between them, with searches in their graph."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import count
from typing import Any

import torch
from torch import Tensor

from explorer.model.tape.names import CARRIERS, COMPARISONS, EXITS, INTEGERS, LINEAR, VIEWS, is_pointwise
from explorer.model.tape.private import forward_class
from explorer.model.tape.sites import Lines, Place, Site, find_site

Edge = tuple[Any, int]  # a node of autograd's graph, and an output number
_NEAR, UNLIMITED = 40, 10**9  # number of values searched for a join, and for other questions
_NUMBERS = count()
_CASTS = LINEAR | INTEGERS
NO_DERIVATIVE = "torch has no derivative for it"


class Value:
    """What a tensor holds after one call. A tensor gets a new value when it is changed in place.

    Attributes:
        call: the call that produced the value.
        number: the value's position among all values.
        edge: the value's edge in autograd's graph; None if autograd does not follow it.
        live: whether autograd follows the value.
        dtype, shape: of the tensor; None if it is unknown.
        cuts: for a value that is not live, the live values from which it was computed.
        ref: a weak reference to the tensor.
        substitute: the tensor with which a swap replaces it.
    """

    __slots__ = ("call", "cuts", "dtype", "edge", "live", "number", "ref", "shape", "substitute")

    def __init__(
        self, call: Call, tensor: Tensor | None, edge: Edge | None = None, cuts: tuple[Value, ...] = ()
    ) -> None:
        self.call, self.edge, self.live, self.cuts = call, edge, edge is not None, cuts
        self.number = next(_NUMBERS)
        self.ref: Callable[[], Tensor | None] = (lambda: None) if tensor is None else weakref.ref(tensor)
        self.shape = None if tensor is None else tensor.shape
        self.dtype = None if tensor is None else tensor.dtype
        self.substitute: Tensor | None = None
        call.outputs.append(self)

    @property
    def floating(self) -> bool:
        """Whether the value is a floating-point number; True if its dtype is unknown."""
        return self.dtype is None or self.dtype.is_floating_point

    @property
    def has_no_derivative(self) -> bool:
        """Whether torch has no derivative for the call, such as ``heaviside``, and backward raises there."""
        return self.edge is not None and type(self.edge[0]).__name__ == "NotImplemented"


def collect_sources(values: Iterable[Value]) -> tuple[Value, ...]:
    """Return distinct live values from which ``values`` are computed; a live value stands for itself."""
    return tuple(dict.fromkeys(source for v in values for source in ((v,) if v.live else v.cuts)))


def is_detached(value: Value) -> bool:
    """Return whether a value is the result of ``detach`` or ``.data``, or a view, cast or copy of one."""
    while not value.live and value.call.name in CARRIERS | VIEWS and value.call.inputs:
        if value.call.name in ("detach", ".data"):
            return True
        value = value.call.inputs[0]
    return False


def is_choice(value: Value) -> bool:
    """Return whether a value is a truth value or an index, made by a call of the model other than a cast."""
    is_other = value.floating or value.call.merged or value.call.name in _CASTS
    return not is_other and any(item.floating for item in value.call.inputs)


def is_chosen(value: Value) -> bool:
    """Return whether a detached value is a choice, or computed from one."""
    return any(map(is_choice, find_ancestors([value], lambda _, v: not v.live and bool(v.cuts))))


class Call:
    """A call of torch or of a Function, or the start of a tape, which no call made.

    Attributes:
        name: the name of the function.
        function: the torch function, or the class of the autograd node.
        place: the place of the call.
        inputs, outputs: the values.
        kind: "call", "function", "hidden" (its call was not seen), "exit" (its result is no tensor), "bridge"
            (a swap has put it in), "leaf", or "source" (a tensor from nowhere known).
        graded: whether gradients were enabled. If not, ``mode`` is the context that disabled them.
        merged: whether the call is part of a Function's forward.
        measured: the observation's measurement of the call's backward.
        row: for a join, its row in an observation.
        counted: the kind of the row that counts the call; "" if none does.
        alpha: the argument of that name, the factor of one input of ``torch.add`` or ``sub``.
    """

    def __init__(
        self, name: str, function: Any, place: Place, inputs: list[Value], kind: str = "call"
    ) -> None:
        self.name, self.function, self.place, self.kind = name, function, place, kind
        self.inputs, self.outputs = inputs, list[Value]()
        self.measured: Any = None
        self.row: Any = None
        self.counted, self.alpha = "", 1
        self.merged, self.graded, self.op = False, torch.is_grad_enabled(), name
        self.mode = "no_grad" if self.graded or not torch.is_inference_mode_enabled() else "inference_mode"

    def list_live_inputs(self) -> list[Value]:
        """Return the inputs that autograd follows. Those with y's shape come first, x foremost."""
        live = [item for item in self.inputs if item.live]
        return sorted(live, key=lambda v: v.shape != self.outputs[0].shape) if self.outputs else live

    def is_inside(self, function: Call) -> bool:
        """Return whether this call is part of the forward of a Function's call, which runs under no_grad."""
        is_hidden = self.merged or not {*function.lines[:1]}.isdisjoint(self.place.lines)
        return self.kind == "call" and not self.graded and is_hidden

    @property
    def lines(self) -> Lines:
        """The lines of the call's place. Those of a Function begin where it is called, not in its forward."""
        lines = self.place.lines
        inner = getattr(getattr(forward_class(self.function), "forward", None), "__code__", None)
        at = next((number for number, (code, _) in enumerate(lines) if code is inner), -1)
        return lines[at + 1 :] or lines

    @cached_property
    def site(self) -> Site:
        """The call's place in the model."""
        return find_site(self.place, self.lines, self.op)

    @property
    def is_live(self) -> bool:
        """Whether autograd follows the call's first output."""
        return bool(self.outputs) and self.outputs[0].live

    @property
    def is_cut(self) -> bool:
        """Whether autograd follows one of the call's inputs but none of its outputs."""
        return (
            bool(self.outputs) and any(v.live for v in self.inputs) and not any(v.live for v in self.outputs)
        )

    @property
    def reason(self) -> str:
        """Why no gradient passes the call, as a clause. It is "" if autograd follows the call."""
        if self.kind == "exit":
            return f"it leaves torch for {EXITS[self.name]}: no gradient comes back"
        dead = [v for v in self.outputs if not v.live or v.call is not self]  # a leaf has a call of its own
        if self.outputs and not dead:
            return str(self.measured.cut) if self.measured is not None else ""
        if self.name in ("detach", ".data", "requires_grad", ".requires_grad="):
            return "its output is detached"
        if not self.graded:
            return f"called under {self.mode}"
        if self.name in COMPARISONS:
            return "a comparison: its result has no gradient"
        if dead and not dead[0].floating:
            indices = "its indices have no gradient"
            return indices if self.is_live else "its result is no floating-point number: it has no gradient"
        return NO_DERIVATIVE


def find_ancestors(
    values: Iterable[Value], can_follow: Callable[[Call, Value], bool], limit: int = 2 * _NEAR
) -> dict[Value, None]:
    """Return values and about ``limit`` of their ancestors, as far as ``can_follow(call, input)`` allows."""
    visited = dict.fromkeys(values)
    todo = deque(visited)
    while todo and len(visited) < limit:
        call = todo.popleft().call
        for item in call.inputs:
            if item not in visited and can_follow(call, item):
                visited[item] = None
                todo.append(item)
    return visited


def find_elementwise_ancestors(value: Value, stop: Value | None = None) -> set[Value]:
    """Return a live value and the live values from which it is computed elementwise, not beyond ``stop``."""

    def can_follow(call: Call, item: Value) -> bool:
        is_elementwise = call.kind in ("function", "bridge") or is_pointwise(call.name)
        return item.live and is_elementwise and (stop is None or stop not in call.outputs)

    return {*find_ancestors([value], can_follow, _NEAR)}


def is_from_bridges(value: Value) -> bool:
    """Return whether all sources are bridges."""

    def can_follow(call: Call, item: Value) -> bool:
        return item.live and call.kind != "bridge" and (call.kind == "function" or is_pointwise(call.name))

    ancestors = find_ancestors([value], can_follow, _NEAR)
    return all(v.call.kind == "bridge" or not ancestors.keys().isdisjoint(v.call.inputs) for v in ancestors)


def find_values_between(x: Value, values: Iterable[Value]) -> set[Value]:
    """Return the values computed from x on the way to ``values``, with these and without x."""
    made = {x}
    for value in sorted(find_ancestors(values, lambda _, v: v.number > x.number), key=lambda v: v.number):
        if not made.isdisjoint(value.call.inputs):
            made.add(value)
    return made - {x}


def find_sole_source(common: Iterable[Value], values: Iterable[Value], shape: Any) -> Value | None:
    """Return the latest value of ``common`` through which all paths from earlier values to ``values`` lead.

    Only values with the given shape count. If none qualifies, returns the latest of them. ``p + (sign(x) -
    p).detach()`` is computed from x, not from p, since sign(x) does not depend on p.
    """
    candidates = sorted((v for v in common if v.shape == shape), key=lambda v: -v.number)
    for x in candidates:
        before = find_elementwise_ancestors(x) - {x}
        if all(before.isdisjoint(find_elementwise_ancestors(value, x)) for value in values):
            return x
    return candidates[0] if candidates else None


def find_common_ancestors(values: Sequence[Value], shape: Any) -> set[Value]:
    """Return the live values from which all of ``values`` are computed elementwise.

    Values of another shape do not count, such as a threshold per unit, unless there are no others.
    """
    alike = [v for v in values if v.shape == shape] or values
    return set.intersection(*map(find_elementwise_ancestors, alike))


def origin_of(dead: Value) -> tuple[Value | None, set[Value]]:
    """Return the x from which a detached value was computed elementwise, and the values between them."""
    common = find_common_ancestors(dead.cuts, dead.shape)
    x = max((v for v in common if v.shape == dead.shape), key=lambda v: v.number, default=None)
    return x, set() if x is None else find_values_between(x, [dead])
