"""Whether an op has a mean under noise, and how far from x it has to be summed: by how it grows."""

from __future__ import annotations

import math

import torch

from explorer.catalogue.noises import MOST_RATE, Noise
from explorer.measures.lens.parts import Curve

_FAR = 2.0 ** torch.arange(4, 9, dtype=torch.float64)  # of x: doubling, for what grows like exp(x)
_FARTHEST = 2.0 ** torch.arange(36, 40, dtype=torch.float64)  # for powers
_BESIDE = 1 + 0.37 * torch.linspace(0, 1, 17, dtype=torch.float64) ** 1.3  # so that no zero alone is met
_FASTEST_POWER = 0.9  # known only so well of what swings; |x| itself has no mean under noise like 1/x²
_GROWING = 1.5  # times the rate before: faster than any exp(r * x)


def growth(y: Curve, noise: Noise, width: float) -> tuple[str, float]:
    """Why an op has no mean under noise, "" where it has one; and how far in x the noise is to be followed.

    The reason is "undefined" where it has no value at x that the noise reaches, "grows" where its mean is
    infinite, "slow" where that is finite but too far out, "steep" where it may be either.
    """
    reach = noise.reach * width
    if noise.tail == "none":
        return "", reach
    sides = [_sizes(y, way) for way in (-1, 1)]
    if any(math.isnan(size) for _, near in sides for size in near):
        return "undefined", reach
    if noise.tail == "power":
        # What lies farther moves less than 1e-4, even of a sine.
        return ("grows" if max(_power(y, way) for way in (-1, 1)) > _FASTEST_POWER else ""), 100 * math.sqrt(
            width
        )
    rate = max(0.0, *(_rate(*side) for side in sides)) * width
    if noise.tail == "normal":
        return ("steep" if math.isinf(rate) else ""), reach + rate * width
    if rate >= 1 - 1e-6:
        return "grows", reach
    return ("slow" if rate > MOST_RATE else ""), reach / (1 - rate)


def _sizes(y: Curve, way: int) -> tuple[list[float], list[float]]:
    """The largest size of the op around each far x on one side."""
    at = _FAR[:, None] * _BESIDE
    return at[:, -1].tolist(), y(way * at).abs().amax(1).tolist()


def _rate(at: list[float], sizes: list[float]) -> float:
    """The r with which sizes grow like exp(r · x) as far as they are finite; infinite for faster growth."""
    known = [(x, math.log(max(size, 1.0))) for x, size in zip(at, sizes, strict=True) if size < math.inf]
    if len(known) < 3:
        return math.inf
    (x0, first), (x1, second), (x2, third) = known[-3:]
    before, last = (second - first) / (x1 - x0), (third - second) / (x2 - x1)
    return math.inf if last > _GROWING * before and len(known) < len(at) else last


def _power(y: Curve, way: int) -> float:
    """The p with which an op grows like |x|**p on one side."""
    sizes = y(way * _FARTHEST[:, None] * _BESIDE).abs().amax(1)
    if not sizes.isfinite().all():
        return math.inf
    return float((sizes[-1].clamp(min=1) / sizes[0].clamp(min=1)).log2() / 3)
