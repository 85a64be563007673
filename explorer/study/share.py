"""The share of straight-through's gradient that a rule passes in a net before its first step."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

import torch
from torch import Tensor

from explorer.catalogue import Rule, find_op, find_rule
from explorer.gradient import bind, share_of_all
from explorer.training.nets import Member, joined
from explorer.training.runs import Lockstep
from explorer.training.settings import Settings
from explorer.training.system import one_thread

SEED = 0  # of the net whose op is looked at
_REFERENCE = "straight_through"
_RATE = 1.0  # of a net that takes no step
_SHARES, _OPS = 1024, 8  # how many are kept, and the data of how many ops


@lru_cache(maxsize=_SHARES)
def share_at_start(settings: Settings) -> float:
    """The mean size of the gradient of the settings' one rule ÷ that of straight-through's.

    The data are what the op sees in a net of seed 0 with straight-through at its start weights: x and g of
    the first batch, in all layers with the op, g as it came, and what is drawn in the first step. NaN where
    one of them is not finite.
    """
    (rule,) = settings.rules
    if find_op(settings.op).is_random or find_rule(rule).is_random:
        return _drawn_share(settings, rule)
    of_op = {each.name for each in find_op(settings.op).parameters}
    own = {name: value for name, value in settings.parameters.items() if name in of_op}
    seen = _seen(
        replace(settings, rules=(_REFERENCE,), parameters=own, lr=_RATE, seed=SEED, seeds=1, learn=())
    )
    with one_thread():
        return share_of_all(bind(settings.op, rule, settings.parameters), seen)


def _drawn_share(settings: Settings, rule: str | Rule) -> float:
    """The share of a pair that draws, from a net of each rule at the same weights with the same draws."""
    alone = replace(settings, lr=_RATE, seed=SEED, seeds=1, learn=())
    before = behind = 0.0
    with one_thread():
        pair = joined(settings.op, (_REFERENCE, rule), settings.parameters)
        nets = Lockstep(alone, settings.table, [SEED], [Member(0, 0), Member(1, 0)], pair)
        for g, gradient in _both(nets):
            before += float(g.abs().sum(dtype=torch.float64))
            behind += float(gradient.abs().sum(dtype=torch.float64))
    return behind / before if before and math.isfinite(behind) else math.nan


def _both(nets: Lockstep) -> Iterator[tuple[Tensor, Tensor]]:
    """In each layer with the op g as it came to the first net, and what the second rule makes of it."""
    ensemble, traces = nets.ensemble, nets.look().traces
    layers = zip(ensemble.layers, traces, ensemble.parameter_views, strict=True)
    unused = ensemble.rows.views(torch.zeros_like(ensemble.parameters))
    for (layer, trace, own), into in zip(layers, unused, strict=True):
        if trace.upstream is None or layer.site is None:
            continue
        g = trace.upstream[:1]
        if layer.site.per_example:  # else g came by no rule
            layer.backward(g.expand_as(trace.upstream).contiguous(), own, into, trace)
        assert trace.gradient is not None
        yield g, trace.gradient[1:]


@lru_cache(maxsize=_OPS)
def _seen(settings: Settings) -> Sequence[tuple[Tensor, Tensor]]:
    """x and g of each layer with the op, (1, …) each."""
    with one_thread():
        pair = joined(settings.op, settings.rules, settings.parameters)
        nets = Lockstep(settings, settings.table, [SEED], [Member(0, 0)], pair)
        traces = [trace.op for trace in nets.look().traces if trace.x is not None]
    return [(trace.x, trace.upstream) for trace in traces]
