"""The shape of a rule: the x over which it is drawn, its height, its width."""

from __future__ import annotations

import math
from functools import lru_cache

import torch
from torch import Tensor

from explorer.catalogue import Op, Rule
from explorer.curves.kinks import find_kinks
from explorer.training.instruments.base.at_draws import gradients
from explorer.training.instruments.base.instrument import Nets

_MARGIN = 4.0  # beyond the outermost kink, and around 0
_FARTHEST = 16.0  # of a kink that is still looked at
_SPAN_POINTS = 4001  # of the x at which a height is measured
_MOST = 8  # kinks; more are a pattern that goes on
_DECADES, _POINTS = (-4, 4), 4000  # of the x at which a width is measured, on each side of 0
_REST = 0.02  # of the area in the last decade: with more the rule has no finite width

Settled = tuple[tuple[str, float], ...]


def span(nets: Nets) -> tuple[float, float]:
    """The x over which all rules of a run are drawn: their kinks and the op's, 0, and a margin."""
    settled = tuple(sorted(nets.settings.parameters.items()))
    ends = [_kinks(nets.op, rule, settled) for rule in nets.rules]
    known = [0.0, *(x for each in ends for x in each)]
    return min(known) - _MARGIN, max(known) + _MARGIN


def peak(nets: Nets, member: int, layer: int, low: float, high: float) -> float:
    """The height of a member's rule, its largest size for g = 1 within [low, high]; 0 where it has none.

    Of a rule that draws it is that of its mean size, and 0 where the rule hangs on the loss.

    ``layer``, here and below: the index of a layer in ``op_layers``, where it may have learned values.
    """
    return _peak(nets.op, _rule(nets, member), _settled(nets, member, layer), low, high)


def width(nets: Nets, member: int, layer: int) -> float:
    """The width of a member's rule: its area ÷ its height, both of its size for g = 1 over all x.

    Infinite without an end. A box from −c to c is 2c wide, a triangle half its base. NaN for a rule that is
    0 everywhere, or that is not the same for every batch.
    """
    return _width(nets.op, _rule(nets, member), _settled(nets, member, layer))


def spread(x: Tensor) -> Tensor:
    """The width of normal data (members, …) by that measure: √(2π) standard deviations, (members,)."""
    flat = x.flatten(1)
    off: Tensor = torch.linalg.vector_norm(flat - flat.mean(1, keepdim=True), dim=1)
    return off * math.sqrt(math.tau / (flat.shape[1] - 1))  # ``std`` takes ten times as long


def _rule(nets: Nets, member: int) -> Rule:
    return nets.rules[nets.ensemble.active[member].rule]


def _settled(nets: Nets, member: int, layer: int) -> Settled:
    return tuple(sorted(nets.parameters(member, layer).items()))


@lru_cache(maxsize=256)
def _kinks(op: Op, rule: Rule, settled: Settled) -> tuple[float, ...]:
    known = find_kinks(op, rule, dict(settled), -_FARTHEST, _FARTHEST)
    return tuple(known) if known is not None and len(known) <= _MOST else ()


@lru_cache(maxsize=256)
def _peak(op: Op, rule: Rule, settled: Settled, low: float, high: float) -> float:
    sizes = _sizes(op, rule, settled, torch.linspace(low, high, _SPAN_POINTS))
    return float(sizes.nan_to_num(0, 0, 0).max())


@lru_cache(maxsize=256)
def _width(op: Op, rule: Rule, settled: Settled) -> float:
    side = torch.logspace(*_DECADES, _POINTS, dtype=torch.float64)
    x = torch.cat([-side.flip(0), side])
    sizes = _sizes(op, rule, settled, x)
    if not sizes.isfinite().all() or not sizes.max():
        return math.nan
    area, last = torch.trapezoid(sizes, x), x.abs() >= 10.0 ** (_DECADES[1] - 1)
    rest = sum(torch.trapezoid(sizes[part], x[part]) for part in (last & (x < 0), last & (x > 0)))
    return math.inf if rest > _REST * area else float(area / sizes.max())


def _sizes(op: Op, rule: Rule, settled: Settled, x: Tensor) -> Tensor:
    """The size of the gradient at x for g = 1, of what draws its mean; NaN where it hangs on the loss."""
    return gradients(op, rule, dict(settled), x, 1.0).abs().mean(0)
