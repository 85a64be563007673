"""Batching that changes no bit of a member: decides which members one call may compute together.

torch's elementwise functions compute the last numbers of a tensor by another method than the rest and may
round them differently. MKL sums in another order if a matrix begins at an odd address or has one row or
column, and with AVX-512 it rounds a product with one inner number before it adds the bias. So members are computed together only if neither can happen, and otherwise one by one. On an
accelerator they are always computed together: there the last bits may depend on the other members.
"""

from collections.abc import Callable, Iterable

import torch
from torch import Tensor

_STEP = 32  # float32 numbers in the longest vectorised step of torch on a CPU
_ALIGNMENT = 64  # in bytes, of every tensor that torch allocates on a CPU

Product = Callable[[Tensor, Tensor], Tensor]
"""``(members, n, k), (members, k, m) -> (members, n, m)``."""


def pad_count(count: int) -> int:
    """Return a count of numbers, rounded up to whole steps."""
    return -(-count // _STEP) * _STEP


def is_step_aligned(tensor: Tensor) -> bool:
    """Return whether all members of a tensor, (members, …), can share one vectorised call with equal results.

    On the CPU each member must fill whole vector steps.
    """
    members = tensor.shape[0]
    return members == 1 or tensor.numel() // members % _STEP == 0 or not tensor.is_cpu


def is_aligned(numbers: int) -> bool:
    """Return whether each member of this many numbers is aligned as if allocated alone."""
    return 4 * numbers % _ALIGNMENT == 0


def make_aligned(like: Tensor) -> Tensor:
    """Return an uninitialised copy, (members, …), in which each member is aligned as if allocated alone."""
    numbers = like[0].numel()
    return like.new_empty(len(like), pad_count(numbers))[:, :numbers].view(like.shape)


def apply_to_members(function: Callable[..., Tensor], *tensors: Tensor) -> Tensor:
    """Apply a function to tensors (members, …): to all members at once if no bit changes, else one by one."""
    if all(map(is_step_aligned, tensors)):
        return function(*tensors)
    return torch.cat([function(*member) for member in zip(*map(split_members, tensors), strict=True)])


def split_members(tensor: Tensor) -> list[Tensor]:
    """Return each member as a tensor (1, …)."""
    return [tensor[member : member + 1] for member in range(len(tensor))]


def sum_members(tensor: Tensor) -> Tensor:
    """Return the sum of each member, (members,), in an order that does not depend on other members."""
    return tensor.flatten(1).sum(1)


def compute_norms(tensor: Tensor) -> Tensor:
    """Return the Euclidean norm of each member, (members,)."""
    return sum_members(tensor.square()).sqrt_()


def multiply_members(left: Tensor, right: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return matrix products of all members, in one call if no bit changes; bias: (members, 1, m)."""
    operands = (left, right) if bias is None else (bias, left, right)
    product: Callable[..., Tensor] = torch.bmm if bias is None else torch.baddbmm
    if _can_batch(left, right):
        return product(*operands)
    members = zip(*map(split_members, operands), strict=True)
    return torch.cat([product(*map(_align, member)) for member in members])


def multiply_singly(left: Iterable[Tensor], right: Iterable[Tensor]) -> Tensor:
    """Return the matrix product of each member, computed alone, stacked."""
    return torch.stack([_align(a).mm(_align(b)) for a, b in zip(left, right, strict=False)])


def _can_batch(left: Tensor, right: Tensor) -> bool:
    """Return whether one batched product gives each member the bits it has alone."""
    members, rows, inner = left.shape
    if members == 1 or not left.is_cpu:
        return True
    columns = right.shape[2]
    starts = left.stride(0) | right.stride(0) | rows * columns  # a power of 2 divides all if it divides this
    return min(rows, inner, columns) > 1 and 4 * starts % _ALIGNMENT == 0


def _align(matrix: Tensor) -> Tensor:
    """Return a matrix aligned as if allocated alone: at other addresses MKL may sum in another order."""
    return matrix if matrix.data_ptr() % _ALIGNMENT == 0 else matrix.clone()
