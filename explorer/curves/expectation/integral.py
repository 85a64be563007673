"""Integrals over u in (0, 1), split where the integrand switches."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

_LEAST, _MOST = 1e-300, 1 - 2.0**-53  # u that stand for 0 and 1
_EARLIER = 1 - 2.0**-46  # a mean that is another if u goes no farther hangs on what floats do not tell
_REFINEMENTS = ((1 / 8, 3.25), (1 / 16, 3.3), (1 / 32, 3.35), (1 / 64, 3.4))
_FURTHER = (1 / 64, 3.9)  # where a mean that is not there still grows, and no spike is missed
_NUDGE = 2.0**-51  # of a cut: a spike that it moves out of sight is narrower than floats tell
_AGREES = 1e-6  # of its size: so near, and the finer of two refinements is right to far more digits
_GROWS = 1e-5
_NO_MEAN = "the mean over what is drawn does not exist here, cannot be computed, or is too large"
_TRIED = 24  # x at which a mean is looked at once more


class NoMeanError(ValueError):
    """A mean over u that does not exist, or is too large for a number."""


Shape = Literal["flat", "smooth", "any"]


class Moments(NamedTuple):
    """Mean and standard deviation over u, (n,) each."""

    mean: Tensor
    spread: Tensor


class _Sized(NamedTuple):
    """Moments, and the mean of the absolute value."""

    moments: Moments
    size: Tensor


class Nodes(NamedTuple):
    """Places on (0, 1) and their weights; ``far`` are the distances from 1."""

    near: Tensor
    far: Tensor
    weights: Tensor


def moments(value: Callable[[Tensor, Tensor], Tensor], x: Tensor, cuts: Tensor, shape: Shape) -> Moments:
    """Mean and spread over u of ``value(x, u)``, both of one shape.

    x: (n,) float64. cuts: (n, m) ascending, the u at which it switches, 1 where there are fewer. ``shape``:
    what it is along u between them. NaN where they are not finite; spreads that do not settle are NaN
    for every x. Raises NoMeanError where no mean is finite, and where means do not settle.
    """
    if shape != "any":
        return _checked(_moments(value, x, cuts, _legendre(1 if shape == "flat" else 16)).moments)
    last = _moments(value, x, cuts, _tanh_sinh(*_REFINEMENTS[0]))
    for refinement in _REFINEMENTS[1:]:
        before, last = last, _moments(value, x, cuts, _tanh_sinh(*refinement))
        if all(_near(before, last, _AGREES)):
            break
    some = torch.linspace(0, len(x) - 1, min(len(x), _TRIED)).long()
    moved = torch.where(cuts < 1, cuts * (1 - _NUDGE), cuts)[some]
    further = _moments(value, x[some], moved, _tanh_sinh(*_FURTHER), _EARLIER)
    here = _Sized(Moments(*(each[some] for each in last.moments)), last.size[some])
    mean, spread = last.moments
    if not all(_near(here, further, _GROWS)):
        if not _near(here, further, _AGREES).mean:
            raise NoMeanError(_NO_MEAN)
        spread = torch.full_like(x, torch.nan)  # without a bound, or of spikes that floats hardly tell
    return _checked(Moments(mean, spread))


class _Settled(NamedTuple):
    """Whether means agree, and whether spreads do."""

    mean: bool
    spread: bool


def _near(one: _Sized, other: _Sized, share: float) -> _Settled:
    """Whether two agree wherever the first is finite, up to a share of their size."""
    sizes = 1 + other.size, 1 + other.size + other.moments.spread
    compared = zip(one.moments, other.moments, sizes, strict=True)
    return _Settled(
        *(bool((((a - b).abs() <= share * size) | ~a.isfinite()).all()) for a, b, size in compared)
    )


def _checked(found: Moments) -> Moments:
    """NaN where it is not finite, as at a pole; NoMeanError where no mean is."""
    there = found.mean.isfinite()
    if len(there) and not bool(there.any()):
        raise NoMeanError(_NO_MEAN)
    spread = torch.where(there & found.spread.isfinite(), found.spread, torch.nan)
    return Moments(torch.where(there, found.mean, torch.nan), spread)


def _moments(
    value: Callable[[Tensor, Tensor], Tensor], x: Tensor, cuts: Tensor, nodes: Nodes, most: float = _MOST
) -> _Sized:
    begin = torch.cat([torch.zeros_like(cuts[:, :1]), cuts[:, :-1]], dim=1)[..., None]
    end = cuts[..., None]
    width = end - begin
    u = torch.where(nodes.near < 0.5, begin + width * nodes.near, end - width * nodes.far)
    u = u.clamp(_LEAST, most)
    weights = width * nodes.weights
    values = value(x[:, None, None].expand(u.shape), u)
    values = torch.where(weights == 0, 0.0, values)
    mean, size = (values * weights).sum((1, 2)), (values.abs() * weights).sum((1, 2))
    spread = ((values - mean[:, None, None]) ** 2 * weights).sum((1, 2)).sqrt()
    return _Sized(Moments(mean, spread), size)


def _legendre(n: int) -> Nodes:
    place, weight = map(torch.from_numpy, np.polynomial.legendre.leggauss(n))
    return Nodes((1 + place) / 2, (1 - place) / 2, weight / 2)


def _tanh_sinh(step: float, reach: float) -> Nodes:
    """Double exponential nodes, crowded at both ends (Takahasi and Mori, 1974)."""
    even = torch.arange(-round(reach / step), round(reach / step) + 1, dtype=torch.float64) * step
    inner = math.pi * torch.sinh(even)
    near, far = torch.sigmoid(inner), torch.sigmoid(-inner)
    weights = step * math.pi * torch.cosh(even) * near * far
    return Nodes(near, far, weights / weights.sum())
