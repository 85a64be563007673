"""The operations of a tree's inner nodes in torch, one by one, and the functions that torch does not have."""

import math
from collections.abc import Callable, Mapping
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.forward_ad import unpack_dual

from explorer.formula import operators
from explorer.formula.functions import FUNCTIONS, Function
from explorer.formula.tree import Call, Foreign, Node, Through


def operation(node: Node) -> Callable[..., Any]:
    """The torch operation of an inner node, on the values of its operands."""
    if isinstance(node, Foreign):
        return node.function
    if isinstance(node, Through):
        return partial(_through, node)
    return _OPERATIONS[node.function] if isinstance(node, Call) else operators.operation(node)


def _called(row: Function) -> Callable[..., Any]:
    """The torch operation of a function, on the values of its arguments."""
    if row.own:
        return _OWN[row.name]
    call, takes = partial(attrgetter(row.torch)(torch), **dict(row.keywords)), row.domain
    if row.least:
        return lambda a: call(a) if a.numel() >= row.least else a.sum() * math.nan
    if row.needs_detach:
        return lambda *arguments: call(*arguments).detach()
    if takes:
        return lambda a, *numbers: (
            call(a, *numbers) if takes(a.dtype == torch.float64, *numbers) else a * math.nan
        )
    return call


def _through(node: Through, a: Tensor) -> Tensor:
    """Return the height of straight lines, of a's shape and dtype: at a point exactly its y.

    Its derivative is the slope; at a point that of the line to its right, which is 0 at the last one.
    """
    (first, *_), *_, (last, *_) = node.points
    # Made at each call: a tensor that is kept could be of another device or of inference mode.
    lines = torch.tensor([*zip(*node.points, strict=True), node.slopes], dtype=a.dtype, device=a.device)
    return follow_lines(lines, a.clamp(first, last))


def follow_lines(lines: Tensor, x: Tensor) -> Tensor:
    """Return the values at x of straight lines; all three of one dtype.

    Args:
        lines: (3, n): where each line begins, ascending, its value there, and its slope.
        x: any shape; before the first beginning the first line holds.
    """
    index = torch.bucketize(x.detach().flatten(), lines[0, 1:], right=True, out_int32=True)
    start, first, slope = (column.index_select(0, index).view(x.shape) for column in lines)
    y: Tensor = (x - start).mul_(slope).add_(first)
    return y


def torch_step(node: Node, values: list[float]) -> float:
    """An inner node's value as IEEE arithmetic has it, in float64."""
    kinds = [torch.bool if isinstance(value, bool) else torch.float64 for value in values]
    tensors = [torch.tensor(value, dtype=kind) for value, kind in zip(values, kinds, strict=True)]
    return float(operation(node)(*tensors))


class _Layout(NamedTuple):
    """A floating dtype as an integer: of its bits those of the exponent are set in ``mask``."""

    floating: torch.dtype
    integer: torch.dtype
    bits: int  # of the mantissa
    bias: int
    mask: Tensor  # a number would become one at each call, which costs as much as the operation


def _layout(floating: torch.dtype, integer: torch.dtype, bits: int, bias: int) -> _Layout:
    exponents = (2 * bias + 1) << bits
    mask = torch.tensor(exponents, dtype=integer, device="cpu")  # one number goes with any device
    return _Layout(floating, integer, bits, bias, mask)


_LAYOUTS = {
    torch.float32: _layout(torch.float32, torch.int32, 23, 127),
    torch.float64: _layout(torch.float64, torch.int64, 52, 1023),
}


Numbers = float | Tensor  # one for all elements, or some of a shape that broadcasts to theirs


def _whole(value: Numbers, low: int, high: int) -> int:
    return round(min(max(low, float(value)), high))


def _wholes(value: Numbers, low: int, high: int) -> Tensor:
    return torch.as_tensor(value, dtype=torch.float64).nan_to_num(low).clamp(low, high).round().long()


def _vary(value: Numbers) -> bool:
    return isinstance(value, Tensor) and value.numel() > 1


def fp(a: Tensor, mantissa: Numbers, least: Numbers, largest: Numbers) -> Tensor:
    """The nearest number of a format, halves to even, detached; of a's shape and dtype.

    Exact in every dtype. Beyond ``largest``, which need be no number of the format, it is ``largest``.
    """
    x = a.detach()
    if _vary(mantissa) or _vary(least) or _vary(largest):
        ends = torch.as_tensor(largest, dtype=torch.float64).abs()
        rounded = _by_fraction(x.double(), _wholes(mantissa, 0, 52), _wholes(least, -1022, 1023))
        return rounded.clamp(-ends, ends).copysign(x).to(x.dtype)
    bits, low, top = _whole(mantissa, 0, 52), _whole(least, -1022, 1023), abs(float(largest))
    layout = _LAYOUTS.get(x.dtype) or _LAYOUTS[torch.float32]
    high = max(low, math.frexp(top)[1] - 1 if math.isfinite(top) else layout.bias)
    if bits > layout.bits - 2 or low <= -layout.bias or high + layout.bits - bits > layout.bias:
        rounded = _by_fraction(x.double(), torch.tensor(bits), torch.tensor(low))
    else:
        is_wide = x.dtype == layout.floating  # a conversion that changes nothing costs as much as a pass
        rounded = _by_sum(x if is_wide else x.to(layout.floating), layout, bits, low, high)
    rounded = rounded.clamp(-top, top).copysign_(x)
    return rounded if rounded.dtype == x.dtype else rounded.to(x.dtype)


def _by_sum(x: Tensor, layout: _Layout, bits: int, low: int, high: int) -> Tensor:
    """x rounded to steps of 2**(exponent - bits), by a summand so large that the sum has such steps.

    It is 3/2 of a power of two, made of x's own exponent, so that sums of either sign stay in one octave.
    """
    exponents = (x.view(layout.integer) & layout.mask).view(layout.floating)
    exponents.clamp_min_(2.0**low).clamp_max_(2.0**high)
    larger = 1.5 * 2.0 ** (layout.bits - bits)
    return torch.add(x, exponents, alpha=larger).sub_(exponents, alpha=larger)


def _by_fraction(x: Tensor, bits: Tensor, low: Tensor) -> Tensor:
    """The same for formats about as wide as float64 itself, x in float64; slower."""
    fraction, power = torch.frexp(x)
    exponent = torch.maximum(power.long() - 1, low)
    return torch.round(fraction * _power(power - exponent + bits)) * _power(-bits) * _power(exponent)


def _power(exponent: Tensor) -> Tensor:
    """2 to a whole number, exactly; at least 2**-1022."""
    return ((exponent.long().clamp(min=-1022) + 1023) << 52).view(torch.float64)


def exponent(a: Tensor, least: Numbers) -> Tensor:
    """floor(log2(abs(a))), exactly, and no less than ``least``; detached. Infinite where a is."""
    size = (a.detach().float() if a.element_size() < 4 else a.detach()).abs()
    binade = torch.frexp(size).exponent.long() - 1
    low = _wholes(least, -1022, 1023)
    result = torch.where(size == 0, low, torch.maximum(binade, low)).to(size.dtype)
    return torch.where(size.isfinite(), result, size).to(a.dtype)


def _cast(row: Function, a: Tensor) -> Tensor:
    """A number of a format that torch has, with torch's own backward: a cast that changes no value."""
    assert row.format
    _, *layout = row.format
    if not torch.is_grad_enabled():
        tangent = unpack_dual(a).tangent  # type: ignore[no-untyped-call]
        if tangent is None:
            return fp(a, *layout)
    return (fp(a, *layout) - (a.detach() - a).nan_to_num()).to(getattr(torch, row.name)).to(a.dtype)


_OWN: Mapping[str, Callable[..., Tensor]] = {
    "fp": fp,
    "exponent": exponent,
    **{name: partial(_cast, row) for name, row in FUNCTIONS.items() if row.format},
}
_OPERATIONS = {name: _called(row) for name, row in FUNCTIONS.items()}
