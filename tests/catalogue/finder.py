"""Finds the jumps and corners of a function of x by looking at its values alone."""

from collections.abc import Callable

import torch
from torch import Tensor

_NARROW = 1e-6
_ROUGH = 1e-9
_WEIGHTS = torch.tensor([1.0, -4.0, 6.0, -4.0, 1.0], dtype=torch.float64)


def kinks_of(function: Callable[[Tensor], Tensor], start: float, stop: float) -> list[float]:
    """Where a function jumps, bends abruptly or ceases to be finite within an interval.

    Intervals in which the fourth difference of five values vanishes are smooth; the others are
    halved until they are 1e-6 wide. In a smooth function that difference falls sixteenfold with each
    halving, at a corner only twofold and at a jump not at all, so only those are left at the end.

    Args:
        function: (n,) float64 -> (n,).
        start: left end; no kink may lie on a multiple of the interval's binary fractions.
        stop: right end.
    """
    edges = torch.linspace(start, stop, 601, dtype=torch.float64)
    left, width = edges[:-1], float(edges[1] - edges[0])
    while width > _NARROW:
        left, width = torch.cat([left, left + width / 2]), width / 2
        points = left[:, None] + torch.arange(5, dtype=torch.float64) * (width / 4)
        values = function(points.reshape(-1)).reshape(points.shape)
        left = left[_is_rough(values)]
    return clusters(sorted((left + width / 2).tolist()))


def _is_rough(values: Tensor) -> Tensor:
    finite = values.isfinite()
    size = values.abs().amax(dim=1).clamp(min=1)
    rough = (values @ _WEIGHTS).abs() > _ROUGH * size
    return torch.where(finite.all(dim=1), rough, finite.any(dim=1))


def clusters(points: list[float]) -> list[float]:
    """Points closer than 1e-3 to their neighbour are one, in their middle."""
    groups: list[list[float]] = []
    for point in points:
        if groups and point - groups[-1][-1] < 1e-3:
            groups[-1].append(point)
        else:
            groups.append([point])
    return [(group[0] + group[-1]) / 2 for group in groups]
