"""Whether a function is elementwise and gives the same twice, and the points at which that is tried."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from explorer.foreign.subject import Subject, UntriedError

NEAR, FAR = 8.0, 1e4  # looked at evenly, and by factors
OFF = 0.00137  # keeps points off the round numbers where kinks are


def require_steady(subject: Subject) -> None:
    """Raise UntriedError where two calls on the same x differ."""
    x = subject.lifted(spread_points(NEAR, 64, 8, subject.trial.dtype))
    whole, again = subject.run(x.clone()), subject.run(x.clone())
    if not same(whole, again, 0.0):
        raise UntriedError("two calls on the same x give different y: it draws at random")


def require_elementwise(subject: Subject) -> None:
    """Raise UntriedError with the reason where y at one x hangs on the others, or is drawn at random."""
    x = spread_points(NEAR, 64, 8, subject.trial.dtype)
    lifted = subject.lifted(x)
    y = subject.run(lifted)
    if y.shape != lifted.shape:
        shapes = f"x of shape {tuple(lifted.shape)} gives y of shape {tuple(y.shape)}"
        raise UntriedError(f"it is not elementwise: {shapes}")
    require_steady(subject)
    require_same_in_any_company(subject.y, x, what="y")


def require_same_in_any_company(values: Callable[..., Tensor], *inputs: Tensor, what: str) -> None:
    """Raise UntriedError where a value depends on the other elements, or on its place among them.

    ``values``: ``(*inputs) -> (n,)``; ``inputs``: (n,) each, the first is x.
    """
    whole = values(*inputs)
    for chosen in _companies(inputs[0]):
        part = values(*(each[chosen] for each in inputs))
        if not same(whole[chosen], part, 1e3 * torch.finfo(inputs[0].dtype).eps):
            raise UntriedError(f"it is not elementwise: {what} at one x depends on the other elements")


def _companies(x: Tensor) -> list[Tensor]:
    """Return indices of x in other company and at other places: every third, turned round, near 0, far."""
    places = torch.arange(len(x))
    nearest = x.abs().argsort()
    quarters = nearest[: len(x) // 4], nearest[-len(x) // 4 :]
    return [places[::3], places.flip(0), places.roll(1), places[: len(x) // 2], *quarters]


def merged(parts: list[Tensor]) -> Tensor:
    """All values, ascending, each once."""
    x = torch.cat(parts).sort().values
    return x[torch.cat([torch.ones_like(x[:1], dtype=torch.bool), x.diff() > 0])]


def spread_points(near: float, even: int, factors: int, dtype: torch.dtype) -> Tensor:
    """Points even up to ``near`` on both sides of 0, and by factors up to ±10,000; off the round numbers."""
    far = torch.logspace(-6, math.log10(FAR), factors, dtype=dtype) * (1 - OFF)
    middle = torch.linspace(-near, near, even, dtype=dtype) + OFF
    return merged([-far, middle, far])


def same(left: Tensor, right: Tensor, tolerance: float) -> bool:
    """Whether values agree up to a tolerance, relative and absolute; NaN is NaN."""
    return bool(torch.allclose(left, right, rtol=tolerance, atol=tolerance, equal_nan=True))
