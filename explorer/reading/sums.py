"""Compute sums and statistics over the elements of a tensor, and the shapes of sums."""

from contextvars import ContextVar
from dataclasses import replace

from explorer.formula.operands import has_elements
from explorer.formula.tree import Name, Node
from explorer.reading import values
from explorer.reading.arithmetic import compute
from explorer.reading.building import ZERO, build, to_number
from explorer.reading.errors import require
from explorer.reading.values import Sum, Tensor, Value, to_quantity, unpack
from explorer.reading.vocabulary import REASONS

# Remarks on expressions, collected after each call in the pasted code.
REMARKS: ContextVar[list[tuple[Node, str]]] = ContextVar("REMARKS")
NUMPY = ContextVar("NUMPY", default=False)  # whether the tensor has become a NumPy array, whose std differs
PER_CHANNEL = "is taken over all elements here, though the code takes it along a dimension: a curve has one"


def compute_statistic(name: str, self: Value, *positional: Value, dim: Value = None, **named: Value) -> Value:
    """Return a mean, maximum, minimum or standard deviation over all elements of a tensor.

    A statistic along a dimension is taken over all elements as well, with a remark.
    """
    operand = to_quantity(self)
    require(not values.get_sum(operand), REASONS["sum"])
    require(
        not operand.within,
        "is taken over elements selected by a mask: in a formula it is taken over all elements",
    )
    if not has_elements(operand.node):
        require(name != "std", "is the standard deviation of a single number, which is NaN in torch")
        return self
    flags = [value for value in positional if isinstance(value, bool)]
    if name == "std":
        sample = all(flags[:1]) and named.get("unbiased", True) and named.get("correction", 1) == 1
        message = "divides by the number of elements, where std in a formula divides by one less"
        require(sample and not NUMPY.get(), message)
    result = Tensor(build(name, operand.node), operand.kind if name in ("amax", "amin") else "float32")
    dimensions = [*positional[: len(positional) - len(flags)], dim, named.get("axis")]
    if any(value is not None for value in dimensions):
        REMARKS.get().append((result.node, PER_CHANNEL))
    return result


def compute_sum(
    self: Value, dim: Value = None, keepdim: Value = False, axis: Value = None, keepdims: Value = False
) -> Value:
    """Return the sum of a tensor's elements. Along dimensions, this gives several sums; a curve shows one."""
    operand, dimensions = to_quantity(self), axis if dim is None else dim
    before = values.get_sum(operand)
    require(before or has_elements(operand.node) or operand.node == ZERO, REASONS["sum"])
    node = build("where", operand.within, operand.node, ZERO) if operand.within else to_number(operand.node)
    if dimensions is None or (before and not before.over):
        return Tensor(node, summed=Sum(bare=dimensions is None))
    return Tensor(node, summed=Sum((*(before.over if before else ()), dimensions)))


def sum_to_shape(self: Value, *shape: Value) -> Value:
    """Return a tensor summed to a smaller shape, as ``sum_to_size`` does to reverse broadcasting."""
    sizes = unpack(shape[0]) if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    is_scalar = all(isinstance(size, int) and size == 1 for size in sizes)
    return arrange(compute_sum(self)) if is_scalar else compute_sum(self, sizes)


def compute_extreme(name: str, self: Value, other: Value = None, *more: Value, **along: Value) -> Value:
    """Return the result of ``torch.max`` or ``torch.min`` in pasted code.

    The result is elementwise for two tensors. A number as the second argument is a dimension.
    """
    if other is not None and not isinstance(other, int | float):
        return compute(name, self, other)
    dimensions = () if other is None else (other,)
    largest = compute_statistic(f"a{name}", self, *dimensions, *more, **along)
    has_dimension = dimensions or along.get("dim") is not None
    return (largest, values.Opaque("the position of the largest value")) if has_dimension else largest


def arrange(self: Value, *_sizes: Value, **_named: Value) -> Value:
    """Return a number or a sum after a change of shape, which leaves its value unchanged."""
    if values.get_sum(self):
        return values.reshape_sum(self)
    require(not has_elements(to_quantity(self).node), REASONS["scatter"])
    return self


def expand(self: Value, *sizes: Value, **named: Value) -> Value:
    """Return a number or a sum repeated as by ``Tensor.expand``.

    A sum can only be repeated for each value of a parameter.
    """
    summed = values.get_sum(self)
    if not summed:
        return arrange(self, *sizes, **named)
    sizes = unpack(sizes[0]) if sizes and isinstance(sizes[0], tuple) else sizes
    if sizes and all(size in (1, -1) for size in sizes):
        return arrange(self)
    size_node = getattr(next(iter(sizes), None), "of", None)
    spread = size_node.name if isinstance(size_node, Name) and not has_elements(size_node) else ""
    require(spread, REASONS["sum"])
    self.frozen = True
    return replace(self, summed=replace(summed, bare=False, spread=spread))
