"""Batching that changes no bit of a member: the members that may be computed in one call.

torch's elementwise functions take the last numbers of a tensor by another way than those before and may
round them otherwise, and MKL adds up in another order where a matrix begins at an odd place or has one row
or column. So members go together where none of that can be, and otherwise one by one. On an accelerator they
always go together: there the last bits may depend on the company.
"""

from collections.abc import Callable, Iterable

import torch
from torch import Tensor

_STEP = 32  # float32 numbers in the longest step that torch takes on a CPU
_ALIGNMENT = 64  # bytes, of every tensor that torch makes on a CPU

Product = Callable[[Tensor, Tensor], Tensor]
"""``(members, n, k), (members, k, m) -> (members, n, m)``."""


def padded(count: int) -> int:
    """A count of numbers, rounded up to whole steps."""
    return -(-count // _STEP) * _STEP


def even(tensor: Tensor) -> bool:
    """Whether each member of a tensor (members, …) ends where a step does, so that all can go together."""
    members = tensor.shape[0]
    return members == 1 or tensor.numel() // members % _STEP == 0 or not tensor.is_cpu


def aligned(numbers: int) -> bool:
    """Whether each member with so many numbers begins where a tensor of its own would."""
    return 4 * numbers % _ALIGNMENT == 0


def roomy(like: Tensor) -> Tensor:
    """An empty tensor like another (members, …), each member of which begins where one of its own would."""
    numbers = like[0].numel()
    return like.new_empty(len(like), padded(numbers))[:, :numbers].view(like.shape)


def together(function: Callable[..., Tensor], *tensors: Tensor) -> Tensor:
    """A function of tensors (members, …): all members at once where that changes no bit, else one by one."""
    if all(map(even, tensors)):
        return function(*tensors)
    return torch.cat([function(*member) for member in zip(*map(split, tensors), strict=True)])


def split(tensor: Tensor) -> list[Tensor]:
    """Each member as a tensor (1, …)."""
    return [tensor[member : member + 1] for member in range(len(tensor))]


def sums(tensor: Tensor) -> Tensor:
    """The sum of each member, (members,): one sum over all would add up in another order in other company."""
    return tensor.flatten(1).sum(1)


def norms(tensor: Tensor) -> Tensor:
    """The Euclidean norm of each member, (members,)."""
    return sums(tensor.square()).sqrt_()


def batched(left: Tensor, right: Tensor, bias: Tensor | None = None) -> Tensor:
    """Matrix products of all members, in one call where that changes no bit; bias: (members, 1, m)."""
    operands = (left, right) if bias is None else (bias, left, right)
    product: Callable[..., Tensor] = torch.bmm if bias is None else torch.baddbmm
    if _alike(left, right):
        return product(*operands)
    members = zip(*map(split, operands), strict=True)
    return torch.cat([product(*map(_aligned, member)) for member in members])


def one_by_one(left: Iterable[Tensor], right: Iterable[Tensor]) -> Tensor:
    """Matrix products of each member alone, stacked."""
    return torch.stack([_aligned(a).mm(_aligned(b)) for a, b in zip(left, right, strict=False)])


def _alike(left: Tensor, right: Tensor) -> bool:
    """Whether one product of all members gives each the bits it has alone."""
    members, rows, _ = left.shape
    if members == 1 or not left.is_cpu:
        return True
    columns = right.shape[2]
    starts = left.stride(0) | right.stride(0) | rows * columns  # a power of 2 divides all if it divides this
    return rows > 1 and columns > 1 and 4 * starts % _ALIGNMENT == 0


def _aligned(matrix: Tensor) -> Tensor:
    """The same where a tensor of its own would begin: elsewhere MKL may add up in another order."""
    return matrix if matrix.data_ptr() % _ALIGNMENT == 0 else matrix.clone()
