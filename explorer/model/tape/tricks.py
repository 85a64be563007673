"""Classification of joins: detach tricks, masks, and gates whose gradient is dropped."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import torch
from torch import Tensor

from explorer.gradient import BOUNDARY
from explorer.model.tape.names import CARRIERS, COMPARISONS, INTEGERS, LINEAR, LOGICAL, SUMS, VIEWS
from explorer.model.tape.private import forward_class, is_functorch_wrapped_tensor
from explorer.model.tape.tape import Join
from explorer.model.tape.values import Call, Edge, Value, find_ancestors, is_choice, is_chosen

_PRODUCTS = {
    "mul", "rmul", "imul", "multiply", "div", "truediv", "divide", "true_divide", "where", "masked_fill",
    "setitem",
}  # fmt: skip
_SIGNS = SUMS | dict.fromkeys(CARRIERS, (1,))
_MASKING = COMPARISONS | LOGICAL | LINEAR | {"bool"}
_PLAIN = LINEAR | VIEWS | INTEGERS | {""}


def classify_join(call: Call, join: Join, y: Tensor) -> Literal["trick", "mask", "gate"]:
    """Return what kind of join a call with the result y is: "trick", "mask" or "gate".

    A trick restores a detached value, a mask is computed from x itself, and a gate uses the detached value as
    a factor.
    """
    choices = {v for v in join.side if is_choice(v)}
    if choices and call.name in _PRODUCTS:
        before = find_ancestors([i for v in choices for i in v.call.inputs], lambda _, v: v in join.made)
        if all(v.call.name in _MASKING or v in before or is_chosen(v) for v in join.side):
            return "mask"
    restored = [*join.side, *([] if call.name in _PRODUCTS else [join.x])]  # x by a scale of its gradient
    return "trick" if any(is_restoring(v, y) for v in restored) else "gate"


def is_restoring(value: Value, y: Tensor) -> bool:
    """Return whether y equals a value up to rounding, as after a detach trick. False if y overwrites it."""
    tensor = value.ref()
    if tensor is None or tensor is y or value.call.name in ("sub", "rsub"):
        return False
    if tensor.shape != y.shape or tensor.dtype != y.dtype:
        return False
    if is_functorch_wrapped_tensor(y):  # its values are unknown
        return True
    with torch.no_grad():
        if not y.numel() or torch.equal(tensor, y):
            return True
        return float((tensor - y).abs().max()) <= 1e-5 * float(y.abs().max()) + 1e-12


def find_restored(y: Value) -> list[Value]:
    """Return the detached term that y, as a sum, is equal to. Empty unless all its other terms cancel out.

    Values are compared only between two computations by the same calls from the same inputs.
    """
    todo, sums = [(y, 1, False)], dict[Value, tuple[int, bool]]()
    while todo:
        value, sign, cut = todo.pop()
        inputs, signs = value.call.inputs, _SIGNS.get(value.call.name)
        if value.call.kind == "bridge":
            inputs, signs = inputs[-1:], None if inputs[-1].live else (1,)
        if signs is not None and len(inputs) == len(signs) and value.call.alpha == 1:
            cut = cut or not value.live
            todo += [(item, sign * factor, cut) for item, factor in zip(inputs, signs, strict=True)]
            continue
        term = next((v for v in sums if v is value or _is_same(v, value)), value)
        before, was_cut = sums.get(term, (0, False))
        sums[term] = before + sign, was_cut or cut or not value.live
    left = {value: total for value, total in sums.items() if total[0]}
    return [*left] if [*left.values()] == [(1, True)] else []


def _is_same(one: Value, other: Value) -> bool:
    a, b, first, second = one.ref(), other.ref(), one.call, other.call
    if one is other or first.name != second.name or len(first.inputs) != len(second.inputs):
        return one is other
    if a is None or b is None or not (is_functorch_wrapped_tensor(a) or torch.equal(a, b)):
        return False
    return first.kind != "leaf" and all(map(_is_same, first.inputs, second.inputs))


def chain_of(side: Iterable[Value], way: Iterable[Value], compared: bool = False) -> list[Call]:
    """Return the nonlinear calls among detached values, in order, without those also on the live ``way``.

    Comparisons are left out if there are other calls, unless ``compared``.
    """
    known = _PLAIN.union(v.call.name for v in way)
    chain: dict[Any, Call] = {}
    for call in (v.call for v in sorted(side, key=lambda v: v.number)):
        if call.name not in known and not call.merged and call.kind in ("call", "function"):
            chain.setdefault((call.op, call.site), call)
    return [c for c in chain.values() if compared or c.name not in COMPARISONS] or [*chain.values()]


def name_join(call: Call, join: Join, is_mask: bool) -> list[Call]:
    """Give a join the op and the site by which tables show it, and return the detached calls in it.

    The op names these calls, and for a mask also the join. The site is that of the join, or of the only
    detached call in a trick.
    """
    chain = chain_of(join.side, join.way, compared=is_mask)
    last = [call.name] if is_mask or not chain else []
    call.op = " → ".join(dict.fromkeys([*(item.op for item in chain), *last]))
    if len(chain) == 1 and not is_mask and chain[0].place.path is not None:
        call.site = chain[0].site
    return chain


def find_applied_keys(edge: Edge | None) -> tuple[str, str]:
    """Return the keys of op and rule if ``explorer.apply`` made the node of an edge, otherwise ("", "")."""
    node: Any = edge[0] if edge else None
    keys: tuple[str, str] = node.bound.keys if forward_class(node) in BOUNDARY else ("", "")
    return keys
