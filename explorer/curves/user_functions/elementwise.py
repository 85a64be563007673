"""Test whether a user-defined function is elementwise and deterministic."""

import itertools
import math
from collections.abc import Callable

import torch
from torch import Tensor

from explorer.curves.user_functions.subject import SEED, Subject, UntriedError

NEAR, FAR = 8.0, 1e4  # the largest |x| of the evenly spaced and of the geometrically spaced test points
OFF = 0.00137  # shifts test points off round numbers, which are often kinks
_MOVE = 0.83  # factor on some elements of x, to see whether other outputs change
FAR_FACTOR = 20.0  # another such factor, beyond a maximum of x that scales all y
_EXTRA_VALUES = 8  # the number of random replacements for each element of the user's example
_TOLERANCE = 1e3  # maximum difference of values that count as equal, in machine epsilons


def has_random_output(subject: Subject) -> bool:
    """Return whether two calls of a function with the same x give different outputs."""
    wide, chances = subject.sample(-NEAR, NEAR, 64), subject.sample(-1.0, 1.0, 64)
    with torch.no_grad():
        pairs = [(subject.run(x.clone()), subject.run(x.clone())) for x in (wide, chances)]
    return not all(is_same(*pair, 0.0) for pair in pairs)


def find_dependence(subject: Subject) -> str:
    """Return a clause that explains why a function is not elementwise, or "" if it is.

    Some elements of x are changed, in four patterns, and only their outputs may change. Unless the user gave
    an example, fewer elements must give the same outputs.
    """
    x = subject.sample(-NEAR, NEAR, 64)
    with torch.no_grad():
        y = subject.run(x.clone())
        if y.shape != x.shape:
            return f"it is not elementwise: x of shape {tuple(x.shape)} gives y of shape {tuple(y.shape)}"
        floating = [each for each in (x, y) if each.is_floating_point()]
        tolerance = _TOLERANCE * max((torch.finfo(each.dtype).eps for each in floating), default=0.0)
        order = torch.arange(x.numel()).reshape(x.shape)
        patterns = (order % 2 == 0, order % 2 == 1, order % 3 == 0, order == 0)
        for is_moved, replacement in itertools.product(patterns, _make_replacements(subject, x)):
            shifted = torch.where(is_moved, subject.fit_domain(replacement), x)
            if not is_same(y[~is_moved], subject.run(shifted.clone())[~is_moved], tolerance):
                return "it is not elementwise: y at one x depends on the other elements"
        try:
            if not is_same(y[::3], subject.run(x[::3].clone()), tolerance):
                return "it is not elementwise: y at one x depends on the number of elements"
        except UntriedError:
            return "it is not elementwise: it takes only one number of rows"
    return ""


def _make_replacements(subject: Subject, x: Tensor) -> list[Tensor]:
    generator = torch.Generator().manual_seed(SEED)
    low, high = x.aminmax()
    extra = [
        low + (high - low) * torch.rand(x.shape, generator=generator, dtype=torch.float64).to(x)
        for _ in range(_EXTRA_VALUES if subject.example is not None else 0)
    ]
    return [x.flip(0) * _MOVE + 0.11, FAR_FACTOR * x, *extra]


def require_independence(function: Callable[..., Tensor], *inputs: Tensor, name: str) -> None:
    """Raise UntriedError if a value of a function depends on other elements or on the order of elements.

    Args:
        function: takes the inputs and returns (n,).
        *inputs: tensors, (n,) each; the first is x.
        name: the name of the value in the message.
    """
    all_values = function(*inputs)
    indices, nearest = torch.arange(len(inputs[0])), inputs[0].abs().argsort()
    count = len(indices)
    selections = [indices[::3], indices.flip(0), indices.roll(1), indices[: count // 2]]
    for indices in (*selections, nearest[: count // 4], nearest[-count // 4 :]):
        part = function(*(each[indices] for each in inputs))
        if not is_same(all_values[indices], part, 1e3 * torch.finfo(inputs[0].dtype).eps):
            raise UntriedError(f"it is not elementwise: {name} at one x depends on the other elements")


def merge_points(parts: list[Tensor]) -> Tensor:
    """Concatenate tensors and return their distinct values in ascending order."""
    x = torch.cat(parts).sort().values
    return x[torch.cat([torch.ones_like(x[:1], dtype=torch.bool), x.diff() > 0])]


def make_test_points(near: float, even: int, factors: int, dtype: torch.dtype) -> Tensor:
    """Return ``even`` test x within ±``near``, and ``factors`` per side in geometric steps to ±10,000."""
    far = torch.logspace(-6, math.log10(FAR), factors, dtype=dtype) * (1 - OFF)
    middle = torch.linspace(-near, near, even, dtype=dtype) + OFF
    return merge_points([-far, middle, far])


def is_same(left: Tensor, right: Tensor, tolerance: float | None = None) -> bool:
    """Return whether two tensors agree up to a relative and absolute tolerance, with NaN equal to NaN.

    The default tolerance covers the rounding of their dtype.
    """
    if tolerance is None:
        tolerance = 1e-6 if left.dtype == torch.float64 else 1e-3
    return left.shape == right.shape and bool(
        torch.allclose(left, right, rtol=tolerance, atol=tolerance, equal_nan=True)
    )
