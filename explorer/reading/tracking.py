"""Autograd's record of a traced tensor: gradient modes, detaching and in-place writes."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace

from explorer.formula.operands import has_elements
from explorer.formula.tree import is_constant
from explorer.reading import values
from explorer.reading.arithmetic import compute
from explorer.reading.building import detach, is_detached
from explorer.reading.errors import RaisesError, require
from explorer.reading.values import Tensor, Value, to_quantity
from explorer.reading.vocabulary import ELEMENTWISE, REASONS

GRAD_MODES = {
    "no_grad": "stopped",
    "inference_mode": "stopped",
    "once_differentiable": "stopped",
    "enable_grad": "followed",
}
AUTOGRAD = ContextVar("AUTOGRAD", default="")  # autograd's mode in the code, "" in a Function

# Sentences for notes on the current statement of the pasted code, by kind of note.
PENDING_NOTES: ContextVar[dict[str, str]] = ContextVar("SAID")
WRITES = "changes {0} itself, which others may still need: change a copy, such as {0}.clone()"
COMPUTED_IN_FORWARD = (
    "saves a value that forward computes without recording: no second derivative goes through it"
)
MAKES_CONSTANT = "makes a constant of it, through which no second derivative goes"


@contextmanager
def set_autograd(names: Collection[str]) -> Iterator[None]:
    """Apply a context or decorator, such as ``no_grad``, to autograd's mode inside the block.

    In a Function nothing changes.
    """
    before = AUTOGRAD.get()
    after = next((GRAD_MODES[name] for name in names if name in GRAD_MODES), before)
    token = AUTOGRAD.set(after if before else before)
    try:
        yield
    finally:
        AUTOGRAD.reset(token)


def detach_tensor(value: Value) -> Value:
    """Return a tensor that shares its memory but has no autograd history.

    In a Function, which has no history, and for anything but a tensor, the value is returned unchanged.
    """
    if not AUTOGRAD.get() or not isinstance(value, Tensor):
        return value
    value.frozen = True
    detached = replace(value, node=detach(value.node))
    if detached.node != value.node and not is_detached(value.node):
        PENDING_NOTES.get()["constant"] = MAKES_CONSTANT
    return detached


def assign(target: Value, value: Value) -> Value:
    """Write a value into all elements of a traced tensor, and return the tensor.

    Raises UnreadableError if the tensor may not be changed, or for a value of another mask or shape.
    """
    tensor = require_writable(target)
    is_same_mask = not isinstance(value, Tensor) or value.within == tensor.within or is_constant(value.node)
    require(is_same_mask, "assigns elements that were selected by another mask: use the mask of the target")
    require(not getattr(value, "folded", False), REASONS["scatter"])
    before, after = values.get_sum(tensor), values.get_sum(value)
    summed = before and not has_elements(to_quantity(value).node)  # a number may be stored over a sum
    require(summed or bool(before) == bool(after), REASONS["sum"])
    tensor.node, tensor.summed = to_quantity(value).node, after
    return tensor


def write_item(owner: Value, key: Value, value: Value) -> None:
    """Perform the assignment ``owner[key] = value``, where owner is a tensor or a list.

    The key of a tensor must be a mask.
    """
    if isinstance(owner, list):
        require(isinstance(key, int), "assigns an item of a list at an index that is not an integer")
        require(
            -len(owner) <= key < len(owner), f"is no valid index of a list of {len(owner)} items", RaisesError
        )
        owner[key] = value
        return
    message = "puts an item into a tuple, which Python refuses: make it a list first"
    require(not isinstance(owner, tuple), message, RaisesError)
    target = assign(values.select_element(require_writable(owner), key), value)
    if target is not owner:
        require(isinstance(key, Tensor), f"writes single elements of a tensor: {ELEMENTWISE}")
        owner.node = compute("where", key, Tensor(target.node), Tensor(owner.node)).node


def require_writable(value: Value) -> Value:
    """Return a tensor if it may be changed in place. Raises UnreadableError otherwise.

    Autograd must see the change, and no detached tensor may share the memory.
    """
    require(
        isinstance(value, Tensor),
        "changes a value in place that is not a tensor: assign a new value to the name",
    )
    require(not value.frozen, "changes a tensor behind autograd's back, which cannot be followed")
    require(
        AUTOGRAD.get() != "stopped",
        "changes a tensor under no_grad, which a formula cannot express: leave out no_grad",
    )
    if value.belongs_to:
        PENDING_NOTES.get()["writes"] = WRITES.format(value.belongs_to)
    return value
