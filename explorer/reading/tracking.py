"""The history of a tensor for autograd: gradient modes, detaching, and in-place writes."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace

from explorer.formula.operands import has_elements
from explorer.formula.tree import is_constant
from explorer.reading import values
from explorer.reading.arithmetic import made
from explorer.reading.building import detach, is_detached
from explorer.reading.errors import RaisesError, require
from explorer.reading.values import Tensor, Value, quantity
from explorer.reading.vocabulary import ELEMENTWISE, REASONS

GRAD_MODES = {
    "no_grad": "stopped",
    "inference_mode": "stopped",
    "once_differentiable": "stopped",
    "enable_grad": "followed",
}
AUTOGRAD = ContextVar("AUTOGRAD", default="")  # one of the modes; empty within a Function

# What is to be said of the statement that is being read, by kind; see Note.
SAID: ContextVar[dict[str, str]] = ContextVar("SAID")
WRITES_G = "changes g itself, which others may still need: change a copy, such as g.clone()"
COMPUTED_IN_FORWARD = (
    "keeps what forward computes, where nothing is recorded: no second derivative goes through it"
)
MAKES_CONSTANT = "makes a constant of it, through which no second derivative goes"


@contextmanager
def autograd(names: Collection[str]) -> Iterator[None]:
    """The block under contexts or decorators of these names; within a Function there is nothing to stop."""
    before = AUTOGRAD.get()
    after = next((GRAD_MODES[name] for name in names if name in GRAD_MODES), before)
    token = AUTOGRAD.set(after if before else before)
    try:
        yield
    finally:
        AUTOGRAD.reset(token)


def detached(value: Value) -> Value:
    """The values of a tensor without its history; within a Function there is no history to lose."""
    if not AUTOGRAD.get() or not isinstance(value, Tensor):
        return value
    value.frozen = True
    return constant(value)


def constant(value: Tensor) -> Tensor:
    """The same memory without its history."""
    twin = replace(value, node=detach(value.node))
    if twin.node != value.node and not is_detached(value.node):
        SAID.get()["constant"] = MAKES_CONSTANT
    return twin


def assigned(target: Value, value: Value) -> Value:
    """A tensor after a value was written into all the elements it holds."""
    tensor = own(target)
    alike = not isinstance(value, Tensor) or value.within == tensor.within or is_constant(value.node)
    require(alike, "assigns elements that were picked out by another mask")
    require(not getattr(value, "folded", False), REASONS["scatter"])
    before, after = values.sum_of(tensor), values.sum_of(value)
    summed = before and not has_elements(quantity(value).node)  # a sum that is overwritten by a number
    require(summed or bool(before) == bool(after), REASONS["sum"])
    tensor.node, tensor.summed = quantity(value).node, after
    return tensor


def written(owner: Value, key: Value, value: Value) -> None:
    """``tensor[mask] = value``, or an item of a list."""
    if isinstance(owner, list):
        require(isinstance(key, int), "puts items at a place that cannot be followed")
        require(-len(owner) <= key < len(owner), f"is no place among {len(owner)} items", RaisesError)
        owner[key] = value
        return
    fixed = "puts an item into a tuple, which Python refuses: make it a list first"
    require(not isinstance(owner, tuple), fixed, RaisesError)
    held = assigned(values.element(own(owner), key), value)
    if held is not owner:
        require(isinstance(key, Tensor), f"writes single elements of a tensor: {ELEMENTWISE}")
        owner.node = made("where", key, Tensor(held.node), Tensor(owner.node)).node


def own(value: Value) -> Value:
    """A tensor that may be written into: autograd sees it, and no detached one shares its memory."""
    require(isinstance(value, Tensor), "changes in place something that is no tensor")
    require(not value.frozen, "changes a tensor behind autograd's back, which cannot be followed")
    require(AUTOGRAD.get() != "stopped", "changes a tensor under no_grad, which a formula cannot tell")
    if value.upstream:
        SAID.get()["writes"] = WRITES_G
    return value
