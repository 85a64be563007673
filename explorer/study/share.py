"""The size of a backward rule's gradient relative to straight-through's, before the first training step."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

import torch
from torch import Tensor

from explorer.catalogue import Rule, find_op, find_rule
from explorer.gradient import bind, share_of_all
from explorer.gradient.threads import use_one_thread
from explorer.training.nets import Member, join_rules
from explorer.training.runs import Lockstep
from explorer.training.settings import Settings

SEED = 0  # the random seed of the net that provides x and g
_REFERENCE = "straight_through"
_RATE = 1.0  # a learning rate without effect, because the net takes no step
_SHARES, _OPS = 1024, 8  # the number of cached shares, and of ops whose data are cached


@lru_cache(maxsize=_SHARES)
def compute_start_share(settings: Settings) -> float:
    """Return the mean size of a rule's gradient divided by straight-through's, before training.

    The settings must have exactly one rule. The data are x and g of the first batch, from all layers with the
    op, in a net of seed 0 with straight-through at its start weights. A stochastic op or rule uses the random
    numbers of the first step. Returns NaN if a value is not finite.
    """
    (rule,) = settings.rules
    if find_op(settings.op).is_random or find_rule(rule).is_random:
        return _compute_random_share(settings, rule)
    of_op = {parameter.name for parameter in find_op(settings.op).parameters}
    op_values = {name: value for name, value in settings.parameters.items() if name in of_op}
    pairs = _observe_op(
        replace(settings, rules=(_REFERENCE,), parameters=op_values, lr=_RATE, seed=SEED, seeds=1, learn=())
    )
    with use_one_thread():
        return share_of_all(bind(settings.op, rule, settings.parameters), pairs)


def _compute_random_share(settings: Settings, rule: str | Rule) -> float:
    """Return a stochastic rule's relative gradient size, from two nets with equal weights and draws."""
    single = replace(settings, lr=_RATE, seed=SEED, seeds=1, learn=())
    before = after = 0.0
    with use_one_thread():
        pair = join_rules(settings.op, (_REFERENCE, rule), settings.parameters)
        nets = Lockstep(single, settings.table, [SEED], [Member(0, 0), Member(1, 0)], pair)
        for g, gradient in _iterate_gradients(nets):
            before += float(g.abs().sum(dtype=torch.float64))
            after += float(gradient.abs().sum(dtype=torch.float64))
    return after / before if before and math.isfinite(after) else math.nan


def _iterate_gradients(nets: Lockstep) -> Iterator[tuple[Tensor, Tensor]]:
    ensemble, traces = nets.ensemble, nets.run_pass().traces
    layers = zip(ensemble.layers, traces, ensemble.parameter_views, strict=True)
    unused = ensemble.rows.make_views(torch.zeros_like(ensemble.parameters))
    for (layer, trace, view), target in zip(layers, unused, strict=True):
        if trace.upstream is None or layer.site is None:
            continue
        g = trace.upstream[:1]
        if layer.site.per_example:  # otherwise both nets get the same g, before any rule
            layer.backward(g.expand_as(trace.upstream).contiguous(), view, target, trace)
        assert trace.gradient is not None
        yield g, trace.gradient[1:]


@lru_cache(maxsize=_OPS)
def _observe_op(settings: Settings) -> Sequence[tuple[Tensor, Tensor]]:
    """Return (x, g) for each layer with the op before the first step; both have a first dimension of 1."""
    with use_one_thread():
        pair = join_rules(settings.op, settings.rules, settings.parameters)
        nets = Lockstep(settings, settings.table, [SEED], [Member(0, 0)], pair)
        traces = [trace.op for trace in nets.run_pass().traces if trace.x is not None]
    return [(trace.x, trace.upstream) for trace in traces]
