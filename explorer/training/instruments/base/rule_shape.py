"""The shape of a backward rule's curve: the range of x to plot, its peak and its width."""

from __future__ import annotations

import math
from functools import lru_cache

import torch
from torch import Tensor

from explorer.catalogue import Op, Rule
from explorer.curves.kinks import find_kinks
from explorer.training.instruments.base.gradient_samples import sample_gradients
from explorer.training.instruments.base.instrument import Nets

_MARGIN = 4.0  # distance from the outermost kink, or from 0, to the end of the plotted range
_MAX_KINK_X = 16.0  # kinks are searched up to this |x|
_SPAN_POINTS = 4001  # number of points at which a rule's height is measured
_MAX_KINKS = 8  # a rule with more kinks counts as periodic
_DECADES, _POINTS = (-4, 4), 4000  # powers of ten, and number, of the x at which a width is measured
FAINT_SHARE = 0.01  # a gradient below this fraction of the rule's peak counts as faint

ParameterItems = tuple[tuple[str, float], ...]


def compute_span(nets: Nets) -> tuple[float, float]:
    """Return the lower and the upper end of the x axis on which all rules of a run are plotted.

    The range contains 0 and all kinks of the op and the rules from −16 to 16, with a margin of 4 on both
    sides. A rule with more than eight kinks adds none.
    """
    items = tuple(sorted(nets.settings.parameters.items()))
    ends = [_find_kinks(nets.op, rule, items) for rule in nets.rules]
    positions = [0.0, *(x for kinks_of_rule in ends for x in kinks_of_rule)]
    return min(positions) - _MARGIN, max(positions) + _MARGIN


def compute_peak(nets: Nets, member: int, layer: int, low: float, high: float) -> float:
    """Return the largest absolute gradient of a net's rule between ``low`` and ``high``, for g = 1.

    For a random rule it is the largest mean of the absolute gradient over draws. Infinite and NaN values
    count as 0, so that the peak of a rule that depends on the loss is 0. ``member`` is the index of an active
    net, ``layer`` the index in ``op_layers`` of the layer whose learned parameters are used.
    """
    return _compute_peak(nets.op, _get_rule(nets, member), _get_items(nets, member, layer), low, high)


def compute_width(nets: Nets, member: int, layer: int) -> float:
    """Return the width of the window of a net's rule: the x where its gradient reaches 1 % of its peak.

    A box from −c to c has width 2c. The width is infinite if the window reaches beyond |x| = 1000. It is NaN
    if the rule is 0 everywhere, is not finite somewhere, or depends on the loss. ``member`` and ``layer`` are
    those of ``compute_peak``.
    """
    return _compute_width(nets.op, _get_rule(nets, member), _get_items(nets, member, layer))


def compute_data_width(x: Tensor) -> Tensor:
    """Return the width of each net's values: √(2π) times their standard deviation. Shape (nets,)."""
    flat = x.flatten(1)
    norm: Tensor = torch.linalg.vector_norm(flat - flat.mean(1, keepdim=True), dim=1)
    return norm * math.sqrt(math.tau / (flat.shape[1] - 1))  # takes a tenth of the time of ``std``


def _get_rule(nets: Nets, member: int) -> Rule:
    return nets.rules[nets.ensemble.active[member].rule]


def _get_items(nets: Nets, member: int, layer: int) -> ParameterItems:
    return tuple(sorted(nets.get_parameters(member, layer).items()))


@lru_cache(maxsize=256)
def _find_kinks(op: Op, rule: Rule, items: ParameterItems) -> tuple[float, ...]:
    found_kinks = find_kinks(op, rule, dict(items), -_MAX_KINK_X, _MAX_KINK_X)
    return tuple(found_kinks) if found_kinks is not None and len(found_kinks) <= _MAX_KINKS else ()


@lru_cache(maxsize=256)
def _compute_peak(op: Op, rule: Rule, items: ParameterItems, low: float, high: float) -> float:
    sizes = _compute_sizes(op, rule, items, torch.linspace(low, high, _SPAN_POINTS))
    return float(sizes.nan_to_num(0, 0, 0).max())


@lru_cache(maxsize=256)
def _compute_width(op: Op, rule: Rule, items: ParameterItems) -> float:
    side = torch.logspace(*_DECADES, _POINTS, dtype=torch.float64)
    x = torch.cat([-side.flip(0), side])
    sizes = _compute_sizes(op, rule, items, x)
    if not sizes.isfinite().all() or not sizes.max():
        return math.nan
    inside = sizes >= FAINT_SHARE * sizes.max()
    is_endless = inside[x.abs() >= 10.0 ** (_DECADES[1] - 1)].any()
    return math.inf if is_endless else float(torch.trapezoid(inside.double(), x))


def _compute_sizes(op: Op, rule: Rule, items: ParameterItems, x: Tensor) -> Tensor:
    """Return a rule's mean absolute gradient over draws at each x, for g = 1; NaN if it uses the loss."""
    return sample_gradients(op, rule, dict(items), x, 1.0).abs().mean(0)
