"""Check from an op's growth whether its mean under noise exists, and find the range to integrate over."""

from __future__ import annotations

import math

import torch

from explorer.catalogue.noises import MAX_RATE, Noise
from explorer.measures.lens.parts import Curve

_EXPONENTIAL_X = 2.0 ** torch.arange(4, 9, dtype=torch.float64)  # x at which growth like exp(x) is detected
_POWER_X = 2.0 ** torch.arange(36, 40, dtype=torch.float64)  # x at which growth like a power of x is detected
_SPREAD = 1 + 0.37 * torch.linspace(0, 1, 17, dtype=torch.float64) ** 1.3  # factors on x, which may be a zero
_MAX_POWER = 0.9  # with tails of 1/x², |x| has no mean; below 1, because fitted powers are inexact
_ACCELERATION = 1.5  # an op whose growth rate rises by this factor grows faster than any exp(r * x)


def check_mean(y: Curve, noise: Noise, width: float) -> tuple[str, float]:
    """Check whether an op has a mean under noise, and choose the distance from x up to which to integrate.

    Returns:
        The reason why there is no mean, and the distance. The reason is "" if there is a mean, "undefined" if
        the op has no value at an x that the noise reaches, "grows" if the mean is infinite, "slow" if the
        mean is finite but the distance too large, and "steep" if that cannot be determined.
    """
    reach = noise.reach * width
    if noise.tail == "none":
        return "", reach
    sides = [_measure_sizes(y, sign) for sign in (-1, 1)]
    if any(math.isnan(size) for _, near in sides for size in near):
        return "undefined", reach
    if noise.tail == "power":
        grows = max(_fit_power(y, sign) for sign in (-1, 1)) > _MAX_POWER
        # Beyond this distance, values change the mean by less than 1e-4, even for a sine.
        return "grows" if grows else "", 100 * math.sqrt(width)
    rate = max(0.0, *(_fit_rate(*side) for side in sides)) * width
    if noise.tail == "normal":
        return ("steep" if math.isinf(rate) else ""), reach + rate * width
    if rate >= 1 - 1e-6:
        return "grows", reach
    return ("slow" if rate > MAX_RATE else ""), reach / (1 - rate)


def _measure_sizes(y: Curve, sign: int) -> tuple[list[float], list[float]]:
    """Return points far from x = 0 on one side, and the largest absolute value of the op near each."""
    at = _EXPONENTIAL_X[:, None] * _SPREAD
    return at[:, -1].tolist(), y(sign * at).abs().amax(1).tolist()


def _fit_rate(at: list[float], sizes: list[float]) -> float:
    """Return the r for which sizes grow like exp(r · x), or infinity if they grow faster."""
    finite = [(x, math.log(max(size, 1.0))) for x, size in zip(at, sizes, strict=True) if size < math.inf]
    if len(finite) < 3:
        return math.inf
    (x0, first), (x1, second), (x2, third) = finite[-3:]
    before, last = (second - first) / (x1 - x0), (third - second) / (x2 - x1)
    return math.inf if last > _ACCELERATION * before and len(finite) < len(at) else last


def _fit_power(y: Curve, sign: int) -> float:
    """Return the p for which an op grows like |x|**p far from 0, on one side."""
    sizes = y(sign * _POWER_X[:, None] * _SPREAD).abs().amax(1)
    if not sizes.isfinite().all():
        return math.inf
    return float((sizes[-1].clamp(min=1) / sizes[0].clamp(min=1)).log2() / 3)
