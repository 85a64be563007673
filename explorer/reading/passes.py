"""The two passes of a Function: its op from forward, and what its backward returns."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from inspect import Parameter, signature

from explorer.formula.tree import Name, Node, Number
from explorer.reading.building import ZERO, detach, is_detached, untracked
from explorer.reading.drawing import CALLED, DREW
from explorer.reading.errors import RaisesError, require
from explorer.reading.reader import Reader, method
from explorer.reading.tracking import AUTOGRAD, SAID
from explorer.reading.values import Pasted, Quantity, Tensor, Value, quantity, sum_of

G = Name("g")
NOT_DIFFERENTIABLE = (
    "returns no floats, or marks them as non-differentiable: torch sends no gradient back through them"
)


@dataclass(frozen=True)
class Passes:
    """A Function after one forward and one backward.

    Attributes:
        reader, group: what has read it, and its class.
        op: the formula of its output.
        gradients: what backward returns.
        saved: the parameters saved as tensors.
        outputs: the number of values that forward returns.
    """

    reader: Reader
    group: type[Pasted]
    op: Node
    gradients: Value
    saved: frozenset[str]
    outputs: int = 1

    @property
    def returned(self) -> tuple[Value, ...]:
        """The gradients one by one; a list, which torch refuses, is one."""
        return self.gradients if isinstance(self.gradients, tuple) else (self.gradients,)

    @property
    def inputs(self) -> list[str]:
        """The names of forward's inputs, without the context."""
        return inputs_of(self.group)

    def under(self, position: int, needed: Collection[int]) -> Value:
        """The gradient of an input where the inputs at these positions alone need one."""
        needs = [index in needed for index in range(len(Pasted.needs_input_grad))]
        returned = both_passes(self.reader, self.group, needs).returned
        return returned[position] if position < len(returned) else None


def both_passes(
    reader: Reader, group: type[Pasted], needs: Sequence[bool] = (), follows: bool = False
) -> Passes:
    """A Function read forward and backward.

    ``needs`` says which inputs need a gradient; ``follows`` whether torch follows backward, for a second one.
    """
    AUTOGRAD.set("followed" if follows else "")
    DREW.set([])
    CALLED.set(None)
    x = Tensor(Name("x"))
    _require_called(reader, group)
    context, output = reader.forwarded(group, x, *reader.given(inputs_of(group)[1:]), needs=needs)
    y = quantity(first(output))
    marked = any(y is other for other in context.without_gradient)
    require(y.kind == "float32" and not marked, NOT_DIFFERENTIABLE)
    op = untracked(whole(y))
    held = _recorded(x, y) if follows else _recognised(op)
    vars(context).update({name: _each(value, held) for name, value in vars(context).items()})
    reader.constants = [name for name, value in vars(context).items() if _holds_constant(value)]
    nodes = (value.node for value in context.saved_tensors if type(value) is Quantity)
    saved = frozenset(node.name for node in nodes if isinstance(node, Name))
    SAID.get().clear()
    CALLED.set(set())
    try:
        outputs = len(output) if isinstance(output, tuple | list) else 1
        return Passes(reader, group, op, _returned(group, context), saved, outputs)
    finally:
        CALLED.set(None)


def _returned(group: type[Pasted], context: Pasted) -> Value:
    """The return value of backward for the upstream gradient g of the first output."""
    backward = method(group, "backward")
    takes = [parameter for parameter in signature(backward).parameters.values() if parameter.kind < 2]
    further = (Tensor(ZERO) for _ in takes[2:])  # 0 arrives at what is not the first output
    return backward(context, Tensor(G, upstream=True), *further)


def _require_called(reader: Reader, group: type[Pasted]) -> None:
    """Raise RaisesError where a call of the Function has too many inputs or too few."""
    if reader.inputs is None:
        return
    takes = list(signature(method(group, "forward")).parameters.values())
    needed = [each for each in takes if each.kind < 2 and each.default is Parameter.empty]
    most = len(inputs_of(group)) if all(each.kind < 2 for each in takes) else len(reader.inputs) + 1
    least = len(needed) - (not hasattr(group, "setup_context"))
    given = len(reader.inputs) + 1
    what = f"takes {len(inputs_of(group))} inputs and is called with {given}"
    require(least <= given <= most, what, RaisesError)


def _each(value: Value, held: Callable[[Tensor], Tensor]) -> Value:
    """A value of forward as backward finds it, each of its tensors replaced."""
    if isinstance(value, tuple | list):
        return type(value)(_each(part, held) for part in value)
    return held(value) if isinstance(value, Tensor) else value


def _recorded(x: Tensor, y: Quantity) -> Callable[[Tensor], Tensor]:
    """Tensors as torch follows them: nothing is recorded in forward, so all but x and y is constant."""
    leaves = {id(x): x, id(y): Tensor(Name("y"))}
    return lambda tensor: leaves.get(id(tensor)) or replace(tensor, node=detach(tensor.node), frozen=False)


def _recognised(op: Node) -> Callable[[Tensor], Tensor]:
    """Tensors with y in place of forward's own output."""

    def held(tensor: Tensor) -> Tensor:
        number = tensor.kind == "float32" and not (tensor.folded or tensor.summed)
        return Tensor(Name("y")) if number and untracked(tensor.node) == op else tensor

    return (lambda tensor: tensor) if isinstance(op, Name | Number) else held


def _holds_constant(value: Value) -> bool:
    parts = value if isinstance(value, tuple | list) else (value,)
    return any(isinstance(part, Tensor) and is_detached(part.node) for part in parts)


def inputs_of(group: type[Pasted]) -> list[str]:
    """The names of forward's inputs, without the context."""
    takes = signature(method(group, "forward")).parameters.values()
    named = [parameter.name for parameter in takes if parameter.kind < 2]
    return named if hasattr(group, "setup_context") else named[1:]


def first(value: Value) -> Value:
    """The first of several values, None where there are none; any other value as it is."""
    return next(iter(value), None) if isinstance(value, tuple | list) else value


def whole(value: Value) -> Node:
    """The tree of a value for each element; UnreadableError for anything else."""
    require(value is not None, "returns no tensor")
    held = quantity(value)
    require(not held.within, "returns only the elements picked out by a mask")
    require(not getattr(held, "folded", False), "returns a tensor in another shape")
    require(not sum_of(held), "returns a sum where a value for each element is wanted")
    return held.node
