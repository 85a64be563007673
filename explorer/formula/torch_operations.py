"""The torch operations for the nodes of an expression, and functions that torch lacks."""

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
from explorer.formula.tree import Call, Node, Polyline, UserCall


def get_torch_operation(node: Node) -> Callable[..., Any]:
    """Return the torch function that computes a node from the values of its operands."""
    if isinstance(node, UserCall):
        return node.function
    if isinstance(node, Polyline):
        return partial(_evaluate_polyline, node)
    return _OPERATIONS[node.function] if isinstance(node, Call) else operators.get_operation(node)


def _bind_function(row: Function) -> Callable[..., Any]:
    """Return a function that computes a row of the table with torch, with NaN for invalid arguments."""
    if row.own:
        return _CUSTOM[row.name]
    call, is_valid = partial(attrgetter(row.torch)(torch), **dict(row.keywords)), row.domain
    if row.least:
        return lambda a: call(a) if a.numel() >= row.least else a.sum() * math.nan
    if row.needs_detach:
        return lambda *arguments: call(*arguments).detach()
    if is_valid:
        return lambda a, *numbers: (
            call(a, *numbers) if is_valid(a.dtype == torch.float64, *numbers) else a * math.nan
        )
    return call


def _evaluate_polyline(node: Polyline, a: Tensor) -> Tensor:
    """Return the value of a polyline at each element of a, exact at the polyline's points.

    The derivative is the slope of the line; at a point, that of the line to its right, or 0 at the last.
    """
    (first, *_), *_, (last, *_) = node.points
    # not cached: the tensor could be on another device or from inference mode
    lines = torch.tensor([*zip(*node.points, strict=True), node.slopes], dtype=a.dtype, device=a.device)
    return follow_lines(lines, a.clamp(first, last))


def follow_lines(lines: Tensor, x: Tensor) -> Tensor:
    """Return the values of piecewise straight lines at each element of x; all tensors have the same dtype.

    Args:
        lines: (3, n): the ascending start of each line, the value at the start, and the slope.
        x: positions of any shape. The first line also applies to the left of its start.
    """
    index = torch.bucketize(x.detach().flatten(), lines[0, 1:], right=True, out_int32=True)
    start, first, slope = (column.index_select(0, index).view(x.shape) for column in lines)
    y: Tensor = (x - start).mul_(slope).add_(first)
    return y


def compute_in_torch(node: Node, values: list[float]) -> float:
    """Compute one node, a call or an operator, from Python numbers with torch, in float64 IEEE arithmetic."""
    kinds = [torch.bool if isinstance(value, bool) else torch.float64 for value in values]
    tensors = [torch.tensor(value, dtype=kind) for value, kind in zip(values, kinds, strict=True)]
    return float(get_torch_operation(node)(*tensors))


class _Layout(NamedTuple):
    """The layout of a floating dtype's bits, viewed as an integer; ``mask`` is that of the exponent."""

    floating: torch.dtype
    integer: torch.dtype
    bits: int  # the number of bits of the mantissa
    bias: int
    mask: Tensor  # a tensor, because converting a number would double the cost


def _make_layout(floating: torch.dtype, integer: torch.dtype, bits: int, bias: int) -> _Layout:
    exponents = (2 * bias + 1) << bits
    mask = torch.tensor(exponents, dtype=integer, device="cpu")  # fits any device
    return _Layout(floating, integer, bits, bias, mask)


_LAYOUTS = {
    torch.float32: _make_layout(torch.float32, torch.int32, 23, 127),
    torch.float64: _make_layout(torch.float64, torch.int64, 52, 1023),
}


Numbers = float | Tensor  # one number for all elements, or a tensor that broadcasts with x


def _to_integer(value: Numbers, low: int, high: int) -> int:
    return round(min(max(low, float(value)), high))


def _to_integers(value: Numbers, low: int, high: int) -> Tensor:
    return torch.as_tensor(value, dtype=torch.float64).nan_to_num(low).clamp(low, high).round().long()


def _is_varying(value: Numbers) -> bool:
    return isinstance(value, Tensor) and value.numel() > 1


def fp(a: Tensor, mantissa: Numbers, least: Numbers, largest: Numbers) -> Tensor:
    """Round a to the nearest numbers of a floating-point format, halves to even, and detach the result.

    The format has ``mantissa`` bits, 0 to 52, and exponents from ``least`` on. The result is exact in every
    dtype. Values beyond ``largest`` become ``largest``, which need not be a number of the format.
    """
    x = a.detach()
    if _is_varying(mantissa) or _is_varying(least) or _is_varying(largest):
        ends = torch.as_tensor(largest, dtype=torch.float64).abs()
        rounded = _round_by_fraction(
            x.double(), _to_integers(mantissa, 0, 52), _to_integers(least, -1022, 1023)
        )
        return rounded.clamp(-ends, ends).copysign(x).to(x.dtype)
    bits, low, top = _to_integer(mantissa, 0, 52), _to_integer(least, -1022, 1023), abs(float(largest))
    layout = _LAYOUTS.get(x.dtype) or _LAYOUTS[torch.float32]
    high = max(low, math.frexp(top)[1] - 1 if math.isfinite(top) else layout.bias)
    if bits > layout.bits - 2 or low <= -layout.bias or high + layout.bits - bits > layout.bias:
        rounded = _round_by_fraction(x.double(), torch.tensor(bits), torch.tensor(low))
    else:
        is_wide = x.dtype == layout.floating  # ``to`` with an equal dtype still costs time
        rounded = _round_by_sum(x if is_wide else x.to(layout.floating), layout, bits, low, high)
    rounded = rounded.clamp(-top, top).copysign_(x)
    return rounded if rounded.dtype == x.dtype else rounded.to(x.dtype)


def _round_by_sum(x: Tensor, layout: _Layout, bits: int, low: int, high: int) -> Tensor:
    """Round x to multiples of 2**(exponent of x − bits), by adding and subtracting a large number.

    The large number is 3/2 of a power of two above x, so that sums of either sign have the same exponent.
    """
    exponents = (x.view(layout.integer) & layout.mask).view(layout.floating)
    exponents.clamp_min_(2.0**low).clamp_max_(2.0**high)
    larger = 1.5 * 2.0 ** (layout.bits - bits)
    return torch.add(x, exponents, alpha=larger).sub_(exponents, alpha=larger)


def _round_by_fraction(x: Tensor, bits: Tensor, low: Tensor) -> Tensor:
    """Round x as ``_round_by_sum`` does, slower, but for formats almost as wide as float64 too."""
    fraction, power = torch.frexp(x)
    exponent = torch.maximum(power.long() - 1, low)
    return (
        torch.round(fraction * _compute_power(power - exponent + bits))
        * _compute_power(-bits)
        * _compute_power(exponent)
    )


def _compute_power(exponent: Tensor) -> Tensor:
    """Return 2 to the power of an integer tensor, exactly, but at least 2**-1022."""
    return ((exponent.long().clamp(min=-1022) + 1023) << 52).view(torch.float64)


def exponent(a: Tensor, least: Numbers) -> Tensor:
    """Return floor(log2(abs(a))), but at least ``least``, without a gradient; infinity and NaN stay."""
    size = (a.detach().float() if a.element_size() < 4 else a.detach()).abs()
    binade = torch.frexp(size).exponent.long() - 1
    low = _to_integers(least, -1022, 1023)
    result = torch.where(size == 0, low, torch.maximum(binade, low)).to(size.dtype)
    return torch.where(size.isfinite(), result, size).to(a.dtype)


def _cast(row: Function, a: Tensor) -> Tensor:
    assert row.format
    _, *layout = row.format
    if not torch.is_grad_enabled():
        tangent = unpack_dual(a).tangent  # type: ignore[no-untyped-call]
        if tangent is None:
            return fp(a, *layout)
    return (fp(a, *layout) - (a.detach() - a).nan_to_num()).to(getattr(torch, row.name)).to(a.dtype)


_CUSTOM: Mapping[str, Callable[..., Tensor]] = {
    "fp": fp,
    "exponent": exponent,
    **{name: partial(_cast, row) for name, row in FUNCTIONS.items() if row.format},
}
_OPERATIONS = {name: _bind_function(row) for name, row in FUNCTIONS.items()}
