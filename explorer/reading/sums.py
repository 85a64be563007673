"""Sums and statistics over elements, and the shapes that a sum is given."""

from contextvars import ContextVar
from dataclasses import replace

from explorer.formula.operands import has_elements
from explorer.formula.tree import Name, Node
from explorer.reading import values
from explorer.reading.arithmetic import made
from explorer.reading.building import ZERO, built, number
from explorer.reading.errors import require
from explorer.reading.values import Sum, Tensor, Value, quantity, several
from explorer.reading.vocabulary import REASONS

# Remarks on parts of the trees.
REMARKS: ContextVar[list[tuple[Node, str]]] = ContextVar("REMARKS")
NUMPY = ContextVar("NUMPY", default=False)  # whether a tensor has become an array, whose std is another
PER_CHANNEL = "is taken over all elements here, though the code takes it along a dimension: a curve has one"


def statistic(name: str, self: Value, *positional: Value, dim: Value = None, **named: Value) -> Value:
    """One number for all elements; one for each channel, too, is taken over all, and said to be so."""
    held = quantity(self)
    require(not values.sum_of(held), REASONS["sum"])
    require(not held.within, "is taken over elements picked out by a mask: a formula takes it over all")
    if not has_elements(held.node):
        require(name != "std", "is the spread of a single number")
        return self
    flags = [value for value in positional if isinstance(value, bool)]
    if name == "std":
        sample = all(flags[:1]) and named.get("unbiased", True) and named.get("correction", 1) == 1
        another = "divides by the number of elements, where std in a formula divides by one less"
        require(sample and not NUMPY.get(), another)
    result = Tensor(built(name, held.node), held.kind if name in ("amax", "amin") else "float32")
    dimensions = [*positional[: len(positional) - len(flags)], dim, named.get("axis")]
    if any(value is not None for value in dimensions):
        REMARKS.get().append((result.node, PER_CHANNEL))
    return result


def total(
    self: Value, dim: Value = None, keepdim: Value = False, axis: Value = None, keepdims: Value = False
) -> Value:
    """The sum of the elements; along dimensions, one of several that a curve shows as one."""
    held, dimensions = quantity(self), axis if dim is None else dim
    before = values.sum_of(held)
    require(before or has_elements(held.node) or held.node == ZERO, REASONS["sum"])
    node = built("where", held.within, held.node, ZERO) if held.within else number(held.node)
    if dimensions is None or (before and not before.over):
        return Tensor(node, summed=Sum(bare=dimensions is None))
    return Tensor(node, summed=Sum((*(before.over if before else ()), dimensions)))


def summed_to(self: Value, *shape: Value) -> Value:
    """The sums that leave this shape, as broadcasting to it the other way would be undone."""
    sizes = several(shape[0]) if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    whole = all(isinstance(size, int) and size == 1 for size in sizes)
    return arranged(total(self)) if whole else total(self, sizes)


def larger(name: str, self: Value, other: Value = None, *more: Value, **along: Value) -> Value:
    """``torch.max``: the larger of two tensors; a number beside one tensor is a dimension."""
    if other is not None and not isinstance(other, int | float):
        return made(name, self, other)
    dimensions = () if other is None else (other,)
    largest = statistic(f"a{name}", self, *dimensions, *more, **along)
    apart = dimensions or along.get("dim") is not None
    return (largest, values.Opaque("where the largest stands")) if apart else largest


def arranged(self: Value, *_sizes: Value, **_named: Value) -> Value:
    """A single number, which is the same in any shape; a sum."""
    if values.sum_of(self):
        return values.shaped(self)
    require(not has_elements(quantity(self).node), REASONS["scatter"])
    return self


def expanded(self: Value, *sizes: Value, **named: Value) -> Value:
    """A single number at several places; a sum at those of a parameter's values."""
    held = values.sum_of(self)
    if not held:
        return arranged(self, *sizes, **named)
    sizes = several(sizes[0]) if sizes and isinstance(sizes[0], tuple) else sizes
    if sizes and all(size in (1, -1) for size in sizes):
        return arranged(self)
    of = getattr(next(iter(sizes), None), "of", None)
    spread = of.name if isinstance(of, Name) and not has_elements(of) else ""
    require(spread, REASONS["sum"])
    self.frozen = True
    return replace(self, summed=replace(held, bare=False, spread=spread))
