"""Batching of nets in one call of torch, only if that does not change a single bit of their results.

torch's elementwise functions compute the last numbers of a tensor by a different method, which may round
differently. MKL sums in another order if a matrix begins at an odd address or has one row or column, and with
AVX-512 it rounds a product with one inner number before it adds the bias. Nets are therefore computed
together only if neither can happen, and otherwise one by one. On an accelerator they are always computed
together: there the last bits may depend on the other nets.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

_STEP = 32  # the maximum number of float32 values that torch computes in one vectorised step
_ALIGNMENT = 64  # bytes; every tensor that torch allocates on a CPU starts at a multiple of this number

Product = Callable[[Tensor, Tensor], Tensor]
"""A function that returns a matrix product for each net, from shapes (nets, n, k) and (nets, k, m)."""


def pad_count(count: int) -> int:
    """Return a count rounded up to a multiple of the processor's vector length."""
    return -(-count // _STEP) * _STEP


def is_step_aligned(tensor: Tensor) -> bool:
    """Return whether all nets can share one call of torch with the results that separate calls give.

    They can if the numbers of each net in the tensor fill whole vector steps of the processor. Nets on other
    devices than the CPU always can.
    """
    members = tensor.shape[0]
    return members == 1 or tensor.numel() // members % _STEP == 0 or not tensor.is_cpu


def is_aligned(numbers: int) -> bool:
    """Return whether rows of this many numbers are each aligned in memory as if allocated alone."""
    return 4 * numbers % _ALIGNMENT == 0


def make_aligned(like: Tensor) -> Tensor:
    """Return an uninitialised tensor in which each net's part is aligned like a separate tensor."""
    numbers = like[0].numel()
    return like.new_empty(len(like), pad_count(numbers))[:, :numbers].view(like.shape)


def apply_to_members(function: Callable[..., Tensor], *tensors: Tensor) -> Tensor:
    """Apply ``function`` to tensors of all nets, in one call if that changes no bit, or else net by net."""
    if all(map(is_step_aligned, tensors)):
        return function(*tensors)
    return torch.cat([function(*member) for member in zip(*map(split_members, tensors), strict=True)])


def split_members(tensor: Tensor) -> list[Tensor]:
    """Return one tensor of shape (1, …) for each net of a tensor of shape (nets, …)."""
    return [tensor[member : member + 1] for member in range(len(tensor))]


def sum_members(tensor: Tensor) -> Tensor:
    """Return the sum of each net's values, in an order that does not depend on other nets. Shape (nets,)."""
    return tensor.flatten(1).sum(1)


def compute_norms(tensor: Tensor) -> Tensor:
    """Return the Euclidean norm of the values of each net. Shape (nets,)."""
    return sum_members(tensor.square()).sqrt_()


def multiply_members(left: Tensor, right: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return ``left @ right`` for each net, plus ``bias`` of shape (nets, 1, m) unless it is None.

    One batched call computes all products if it gives the same bits as a separate call for each net.
    """
    operands = (left, right) if bias is None else (bias, left, right)
    product: Callable[..., Tensor] = torch.bmm if bias is None else torch.baddbmm
    if _can_batch(left, right):
        return product(*operands)
    members = zip(*map(split_members, operands), strict=True)
    return torch.cat([product(*map(_align, member)) for member in members])


def multiply_singly(left: Tensor | Sequence[Tensor], right: Tensor) -> Tensor:
    """Return ``left @ right`` for each net, computed in a separate call."""
    if right.shape[0] == 1:  # without a loop over tensors and a copy, which take as long as a small product
        return _align(left[0]).mm(_align(right[0])).unsqueeze(0)
    return torch.stack([_align(a).mm(_align(b)) for a, b in zip(left, right, strict=False)])


def _can_batch(left: Tensor, right: Tensor) -> bool:
    """Return whether one batched product gives the same bits as a separate product for each net."""
    members, rows, inner = left.shape
    if members == 1 or not left.is_cpu:
        return True
    columns = right.shape[2]
    starts = left.stride(0) | right.stride(0) | rows * columns  # aligned only if all three are
    return min(rows, inner, columns) > 1 and 4 * starts % _ALIGNMENT == 0


def _align(matrix: Tensor) -> Tensor:
    """Return a matrix aligned in memory like a separate tensor. Otherwise MKL may sum in another order."""
    return matrix if matrix.data_ptr() % _ALIGNMENT == 0 else matrix.clone()
