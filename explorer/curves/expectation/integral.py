"""Integrate functions of a random number u over (0, 1), splitting the interval where they jump."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

_MIN_U, _MAX_U = 1e-300, 1 - 2.0**-53  # in place of u = 0 and u = 1
_EARLIER_MAX_U = 1 - 2.0**-46  # a mean that changes if u ends here instead is unreliable
_REFINEMENTS = ((1 / 8, 3.25), (1 / 16, 3.3), (1 / 32, 3.35), (1 / 64, 3.4))
_WIDER = (1 / 64, 3.9)  # step and range of a second integral that reveals divergent means and narrow spikes
_NUDGE = 2.0**-51  # relative shift of an integral's limits; it misses only spikes narrower than a float
_TOLERANCE = 1e-6  # maximum relative difference of two step sizes; the finer is then far better
_GROWTH_TOLERANCE = 1e-5
_NO_MEAN = "the mean over draws does not exist here, cannot be computed, or is too large for a float"
_PROBE_COUNT = 24  # number of x at which means are checked with the second integral


class NoMeanError(ValueError):
    """Raised if a mean over random numbers does not exist or is too large for a float."""


Shape = Literal["flat", "smooth", "any"]


class Moments(NamedTuple):
    """The mean and the standard deviation (``spread``) over a random number at each x, (n,) each."""

    mean: Tensor
    spread: Tensor


class _SizedMoments(NamedTuple):
    """The mean and standard deviation of a function of random u, and the mean of its absolute value."""

    moments: Moments
    size: Tensor


class Nodes(NamedTuple):
    """Quadrature nodes ``u`` on (0, 1) with their weights, and ``complement``, which is 1 − u."""

    u: Tensor
    complement: Tensor
    weights: Tensor


def integrate_moments(
    function: Callable[[Tensor, Tensor], Tensor], x: Tensor, cuts: Tensor, shape: Shape
) -> Moments:
    """Compute the mean and standard deviation of ``function(x, u)`` over random u in (0, 1), for each x.

    Args:
        function: the integrand; its arguments and its result have the same shape.
        x: (n,) float64.
        cuts: (n, m) ascending: the u at which the integrand is discontinuous, padded with 1.
        shape: "flat" for an integrand that is constant in u between cuts, "smooth" for one that is nearly a
            polynomial, else "any".

    Returns:
        The moments, with NaN for those that are not finite. If standard deviations do not converge, all of
        them are NaN.

    Raises:
        NoMeanError: if no mean is finite, or if means do not converge.
    """
    if shape != "any":
        count = 1 if shape == "flat" else 16
        point, weight = map(torch.from_numpy, np.polynomial.legendre.leggauss(count))
        nodes = Nodes((1 + point) / 2, (1 - point) / 2, weight / 2)
        return _require_mean(_apply_quadrature(function, x, cuts, nodes).moments)
    last = _apply_quadrature(function, x, cuts, _make_tanh_sinh_nodes(*_REFINEMENTS[0]))
    for refinement in _REFINEMENTS[1:]:
        before, last = last, _apply_quadrature(function, x, cuts, _make_tanh_sinh_nodes(*refinement))
        if all(_compare_moments(before, last, _TOLERANCE)):
            break
    probes = torch.linspace(0, len(x) - 1, min(len(x), _PROBE_COUNT)).long()
    moved_cuts = torch.where(cuts < 1, cuts * (1 - _NUDGE), cuts)[probes]
    wider = _apply_quadrature(function, x[probes], moved_cuts, _make_tanh_sinh_nodes(*_WIDER), _EARLIER_MAX_U)
    at_probes = _SizedMoments(Moments(*(moment[probes] for moment in last.moments)), last.size[probes])
    mean, spread = last.moments
    if not all(_compare_moments(at_probes, wider, _GROWTH_TOLERANCE)):
        if not _compare_moments(at_probes, wider, _TOLERANCE)[0]:
            raise NoMeanError(_NO_MEAN)
        spread = torch.full_like(x, torch.nan)  # infinite, or with spikes too narrow for float64
    return _require_mean(Moments(mean, spread))


def _compare_moments(first: _SizedMoments, second: _SizedMoments, tolerance: float) -> list[bool]:
    """Return two flags: whether two estimates agree in their means, and in their standard deviations.

    They are compared relative to their size, wherever the first is finite.
    """
    sizes = 1 + second.size, 1 + second.size + second.moments.spread
    compared = zip(first.moments, second.moments, sizes, strict=True)
    return [bool((((a - b).abs() <= tolerance * size) | ~a.isfinite()).all()) for a, b, size in compared]


def _require_mean(moments: Moments) -> Moments:
    """Return moments with infinite values replaced by NaN. Raises NoMeanError if no mean is finite."""
    has_mean = moments.mean.isfinite()
    if len(has_mean) and not bool(has_mean.any()):
        raise NoMeanError(_NO_MEAN)
    spread = torch.where(has_mean & moments.spread.isfinite(), moments.spread, torch.nan)
    return Moments(torch.where(has_mean, moments.mean, torch.nan), spread)


def _apply_quadrature(
    function: Callable[[Tensor, Tensor], Tensor], x: Tensor, cuts: Tensor, nodes: Nodes, max_u: float = _MAX_U
) -> _SizedMoments:
    begin = torch.cat([torch.zeros_like(cuts[:, :1]), cuts[:, :-1]], dim=1)[..., None]
    end = cuts[..., None]
    width = end - begin
    u = torch.where(nodes.u < 0.5, begin + width * nodes.u, end - width * nodes.complement)
    u = u.clamp(_MIN_U, max_u)
    weights = width * nodes.weights
    values = function(x[:, None, None].expand(u.shape), u)
    values = torch.where(weights == 0, 0.0, values)
    mean, size = (values * weights).sum((1, 2)), (values.abs() * weights).sum((1, 2))
    spread = ((values - mean[:, None, None]) ** 2 * weights).sum((1, 2)).sqrt()
    return _SizedMoments(Moments(mean, spread), size)


def _make_tanh_sinh_nodes(step: float, reach: float) -> Nodes:
    """Return double exponential quadrature nodes, dense at both ends (Takahasi and Mori, 1974)."""
    even = torch.arange(-round(reach / step), round(reach / step) + 1, dtype=torch.float64) * step
    inner = math.pi * torch.sinh(even)
    near, far = torch.sigmoid(inner), torch.sigmoid(-inner)
    weights = step * math.pi * torch.cosh(even) * near * far
    return Nodes(near, far, weights / weights.sum())
