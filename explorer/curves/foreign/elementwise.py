"""Tests whether a function is elementwise and deterministic, and the points used for them."""

import itertools
import math
from collections.abc import Callable

import torch
from torch import Tensor

from explorer.curves.foreign.subject import SEED, Subject, UntriedError

NEAR, FAR = 8.0, 1e4  # the largest |x| of evenly spaced points, and of geometrically spaced ones
OFF = 0.00137  # keeps points off round numbers, where kinks tend to be
_MOVE = 0.83  # factor on the x that are moved to see their effect on other y
_EXTRA_VALUES = 8  # random values to which the elements of an example are moved
_TOLERANCE = 1e3  # in eps


def has_random_output(subject: Subject) -> bool:
    """Return whether two calls on the same x give different y, on a wide range of x or on −1 to 1."""
    wide, chances = subject.sample(-NEAR, NEAR, 64), subject.sample(-1.0, 1.0, 64)
    with torch.no_grad():
        pairs = [(subject.run(x.clone()), subject.run(x.clone())) for x in (wide, chances)]
    return not all(is_same(*pair, 0.0) for pair in pairs)


def find_dependence(subject: Subject) -> str:
    """Return why a function is not elementwise, as a clause; "" if it is.

    Some elements of x are moved, by four patterns: y may change at those elements only.
    """
    x = subject.sample(-NEAR, NEAR, 64)
    with torch.no_grad():
        y = subject.run(x.clone())
        if y.shape != x.shape:
            return f"it is not elementwise: x of shape {tuple(x.shape)} gives y of shape {tuple(y.shape)}"
        tolerance = _TOLERANCE * _find_eps(x, y)
        order = torch.arange(x.numel()).reshape(x.shape)
        patterns = (order % 2 == 0, order % 2 == 1, order % 3 == 0, order == 0)
        for is_moved, replacement in itertools.product(patterns, _make_replacements(subject, x)):
            shifted = subject.fit_domain(torch.where(is_moved, replacement, x))
            if not is_same(y[~is_moved], subject.run(shifted.clone())[~is_moved], tolerance):
                return "it is not elementwise: y at one x depends on the other elements"
        # The function may accept only the number of rows of an example.
        if subject.example is None and not is_same(y[::3], subject.run(x[::3].clone()), tolerance):
            return "it is not elementwise: y at one x depends on the number of elements"
    return ""


def _make_replacements(subject: Subject, x: Tensor) -> list[Tensor]:
    """Return values that replace elements of x; more of them for an example, which may be small.

    A look-up, for instance, changes only if an element crosses a border.
    """
    generator = torch.Generator().manual_seed(SEED)
    low, high = x.aminmax()
    extra = [
        low + (high - low) * torch.rand(x.shape, generator=generator, dtype=torch.float64).to(x)
        for _ in range(_EXTRA_VALUES if subject.example is not None else 0)
    ]
    return [x.flip(0) * _MOVE + 0.11, *extra]


def require_elementwise(subject: Subject) -> None:
    """Raise UntriedError with the reason if y at one x depends on other x, or is random."""
    if subject.seed is None and has_random_output(subject):
        raise UntriedError("two calls on the same x give different y: it draws at random")
    if reason := find_dependence(subject):
        raise UntriedError(reason)
    x = spread_points(NEAR, 64, 8, subject.trial.dtype)
    require_independence(subject.y, subject.clip(x), name="y")


def require_independence(function: Callable[..., Tensor], *inputs: Tensor, name: str) -> None:
    """Raise UntriedError if a value depends on the other elements, or on its position among them.

    Args:
        function: ``(*inputs) -> (n,)``.
        *inputs: (n,) each; the first is x.
        name: the name of the value in the message.
    """
    all_values = function(*inputs)
    for indices in _list_subsets(inputs[0]):
        part = function(*(each[indices] for each in inputs))
        if not is_same(all_values[indices], part, 1e3 * torch.finfo(inputs[0].dtype).eps):
            raise UntriedError(f"it is not elementwise: {name} at one x depends on the other elements")


def _list_subsets(x: Tensor) -> list[Tensor]:
    """Return indices that select other subsets or orders of x.

    They are every third, reversed, shifted by one, the first half, the quarter nearest to 0 and the farthest.
    """
    indices = torch.arange(len(x))
    nearest = x.abs().argsort()
    quarters = nearest[: len(x) // 4], nearest[-len(x) // 4 :]
    return [indices[::3], indices.flip(0), indices.roll(1), indices[: len(x) // 2], *quarters]


def _find_eps(*values: Tensor) -> float:
    """Return the largest machine epsilon among floating values."""
    return max((torch.finfo(value.dtype).eps for value in values if value.is_floating_point()), default=0.0)


def merge_points(parts: list[Tensor]) -> Tensor:
    """Return all distinct values in ascending order."""
    x = torch.cat(parts).sort().values
    return x[torch.cat([torch.ones_like(x[:1], dtype=torch.bool), x.diff() > 0])]


def spread_points(near: float, even: int, factors: int, dtype: torch.dtype) -> Tensor:
    """Return points spaced evenly up to ``near`` on both sides of 0, and geometrically up to ±10,000."""
    far = torch.logspace(-6, math.log10(FAR), factors, dtype=dtype) * (1 - OFF)
    middle = torch.linspace(-near, near, even, dtype=dtype) + OFF
    return merge_points([-far, middle, far])


def is_same(left: Tensor, right: Tensor, tolerance: float) -> bool:
    """Return whether values agree up to a tolerance, relative and absolute; NaN is NaN."""
    return left.shape == right.shape and bool(
        torch.allclose(left, right, rtol=tolerance, atol=tolerance, equal_nan=True)
    )
