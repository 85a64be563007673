"""Trace the forward and the backward of a Function to find the formulas of its op and gradients."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from inspect import Parameter, signature

from explorer.formula.tree import Name, Node, Number
from explorer.reading.building import ZERO, detach, is_detached, strip_detach
from explorer.reading.errors import RaisesError, require
from explorer.reading.randomness import DRAWN_NAMES, LOSS_INPUTS
from explorer.reading.reader import Reader, find_method
from explorer.reading.tracking import AUTOGRAD, PENDING_NOTES
from explorer.reading.values import PastedClass, Quantity, Tensor, Value, get_sum, to_quantity

G = Name("g")
NOT_DIFFERENTIABLE = (
    "returns no floats, or marks them as non-differentiable: torch sends no gradient back through them"
)


@dataclass(frozen=True)
class Passes:
    """The results of tracing one forward and one backward of an ``autograd.Function``.

    Attributes:
        reader: the reader that followed the code.
        cls: the class of the Function.
        op: the formula of the output.
        gradients: the return value of backward.
        saved: the parameters saved as tensors.
        outputs: the number of values that forward returns.
    """

    reader: Reader
    cls: type[PastedClass]
    op: Node
    gradients: Value
    saved: frozenset[str]
    outputs: int = 1

    @property
    def returned(self) -> tuple[Value, ...]:
        """The gradients that backward returns, as a tuple. A list, which torch rejects, is a single item."""
        return self.gradients if isinstance(self.gradients, tuple) else (self.gradients,)

    @property
    def inputs(self) -> list[str]:
        """The names of forward's inputs, without the context."""
        return list_inputs(self.cls)

    def find_gradient(self, position: int, needed: Collection[int]) -> Value:
        """Return the gradient for one input if only the inputs at the ``needed`` positions need one."""
        needs = [index in needed for index in range(len(PastedClass.needs_input_grad))]
        returned = read_passes(self.reader, self.cls, needs).returned
        return returned[position] if position < len(returned) else None


def read_passes(
    reader: Reader, cls: type[PastedClass], needs: Sequence[bool] = (), follows: bool = False
) -> Passes:
    """Trace a Function's forward, and then its backward, and return what they compute.

    Args:
        reader: the reader that follows the code.
        cls: the class of the Function.
        needs: for each input, whether it needs a gradient; empty if all inputs do.
        follows: whether autograd follows backward, for a second derivative.
    """
    AUTOGRAD.set("followed" if follows else "")
    DRAWN_NAMES.set([])
    LOSS_INPUTS.set(None)
    is_marked = any("mark_dirty" in line for line in reader.lines)  # torch then knows of a change of x
    x = Tensor(Name("x"), belongs_to="" if is_marked else "x")
    _require_called(reader, cls)
    context, output = reader.run_forward(cls, x, *reader.bind_inputs(list_inputs(cls)[1:]), needs=needs)
    y = to_quantity(take_first(output))
    marked = any(y is other for other in context.without_gradient)
    require(y.kind == "float32" and not marked, NOT_DIFFERENTIABLE)
    op = strip_detach(require_tree(y))
    output_leaf = Tensor(Name("y"))

    def restore(tensor: Tensor) -> Tensor:
        if follows:  # forward runs without autograd, so that only x and y have a history in backward
            detached = replace(tensor, node=detach(tensor.node), frozen=False)
            return output_leaf if tensor is y else tensor if tensor is x else detached
        is_plain = tensor.kind == "float32" and not (tensor.folded or tensor.summed)
        is_trivial = isinstance(op, Name | Number)
        return (
            Tensor(Name("y")) if not is_trivial and is_plain and strip_detach(tensor.node) == op else tensor
        )

    saved_values = {name: _map_tensors(value, restore) for name, value in vars(context).items()}
    vars(context).update(saved_values)
    reader.constants = [
        name
        for name, value in saved_values.items()
        for part in (value if isinstance(value, tuple | list) else (value,))
        if isinstance(part, Tensor) and is_detached(part.node)
    ]
    nodes = (value.node for value in context.saved_tensors if type(value) is Quantity)
    saved = frozenset(node.name for node in nodes if isinstance(node, Name))
    PENDING_NOTES.get().clear()
    LOSS_INPUTS.set(set())
    try:
        outputs = len(output) if isinstance(output, tuple | list) else 1
        return Passes(reader, cls, op, _run_backward(cls, context), saved, outputs)
    finally:
        LOSS_INPUTS.set(None)


def _run_backward(cls: type[PastedClass], context: PastedClass) -> Value:
    backward = find_method(cls, "backward")
    takes = [parameter for parameter in signature(backward).parameters.values() if parameter.kind < 2]
    other_gradients = (Tensor(ZERO) for _ in takes[2:])  # the upstream gradient of all further outputs is 0
    return backward(context, Tensor(G, belongs_to="g"), *other_gradients)


def _require_called(reader: Reader, cls: type[PastedClass]) -> None:
    if reader.inputs is None:
        return
    takes = list(signature(find_method(cls, "forward")).parameters.values())
    needed = [each for each in takes if each.kind < 2 and each.default is Parameter.empty]
    maximum = len(list_inputs(cls)) if all(each.kind < 2 for each in takes) else len(reader.inputs) + 1
    minimum = len(needed) - (not hasattr(cls, "setup_context"))
    count = len(reader.inputs) + 1
    message = f"takes {len(list_inputs(cls))} inputs and is called with {count}"
    require(minimum <= count <= maximum, message, RaisesError)


def _map_tensors(value: Value, convert: Callable[[Tensor], Tensor]) -> Value:
    if isinstance(value, tuple | list):
        return type(value)(_map_tensors(part, convert) for part in value)
    return convert(value) if isinstance(value, Tensor) else value


def list_inputs(cls: type[PastedClass]) -> list[str]:
    """Return the names of the inputs of a Function's forward, without the context."""
    takes = signature(find_method(cls, "forward")).parameters.values()
    named = [parameter.name for parameter in takes if parameter.kind < 2]
    return named if hasattr(cls, "setup_context") else named[1:]


def take_first(value: Value) -> Value:
    """Return the first item of a tuple or list, None if it is empty, or any other value unchanged."""
    return next(iter(value), None) if isinstance(value, tuple | list) else value


def require_tree(value: Value) -> Node:
    """Return the expression tree of a tensor that has one value for each element of x.

    Raises UnreadableError for any other value.
    """
    require(value is not None, "returns no tensor: return one value for each element of x")
    operand = to_quantity(value)
    require(
        not operand.within,
        "returns only the elements selected by a mask: return one value for each element of x",
    )
    require(
        not getattr(operand, "folded", False),
        "returns a tensor of another shape than x: return one value for each element of x",
    )
    require(not get_sum(operand), "returns a sum, but a curve needs a value for each element")
    return operand.node
