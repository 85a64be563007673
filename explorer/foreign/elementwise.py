"""Whether a function is elementwise and gives the same twice, and the points at which that is tried."""

import math

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
    whole, part = subject.y(x), subject.y(x[::3])
    if not same(whole[::3], part, 1e3 * torch.finfo(subject.trial.dtype).eps):
        raise UntriedError("it is not elementwise: y at one x depends on the other elements")


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
