"""The gradient at one step: its size, and the part of it that the rule blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import fmean

import torch
from torch import Tensor

from explorer.gradient import with_float64
from explorer.training.nets import Ensemble, ObservedPass, Pass, Trace


@dataclass(frozen=True)
class Gradients:
    """The gradient of one rule at one step, means over its seeds.

    Norms and ``passed`` are those of the batch of the next step, the last two of the examples that
    instruments look at. In a net with several layers with the op the last three are of the first one: the
    first hidden layer, or the weights of the first layer, times √inputs as the op sees them.

    Attributes:
        w1: Euclidean norm of the gradient of the first layer of weights.
        w2: Euclidean norm of the gradient of the last layer of weights.
        w1_moved: Euclidean distance of the first layer of weights from its start.
        passed: the factor on the upstream gradient, sum of sizes after ÷ before: 0 where the rule
            blocks everything, 1 for straight-through, above 1 where it amplifies; None where there is
            no upstream gradient with any seed.
        blocked: fraction (0 to 1) of the op's inputs at which the rule returns 0 to an upstream
            gradient that is not 0: the share "0 by the rule" of the instrument ``causes``.
        idle_units: fraction (0 to 1) of units that get gradient 0 from every example; None of an op on
            weights, which sees no examples.
    """

    w1: float
    w2: float
    w1_moved: float
    passed: float | None
    blocked: float
    idle_units: float | None


@torch.no_grad()
def gradients(ensemble: Ensemble, now: Pass, observed: ObservedPass) -> dict[int, Gradients | None]:
    """The gradients by the number of each rule that is going; None where one is not finite.

    ``now``: the pass that the next step begins with; ``observed``: one over the examples of instruments.
    """
    w1, w2 = now.numbers[1:].tolist()
    _, before, after = _op(now.traces)
    above, below = (_sizes(each).tolist() for each in (before, after))
    blocked, idle = _shares(*_op(observed.traces)).cpu().tolist()
    moved, by_rule = ensemble.measure_distances(), {}
    at_units = all(layer.site.per_example for layer in ensemble.layers if layer.site)
    for rule, members in ensemble.group_by_rule().items():
        each = [[values[member] for member in members] for values in (w1, w2, moved, blocked, idle)]
        first, last, far, none, still = map(fmean, each)
        sizes = [(above[member], below[member]) for member in members]
        factors = [after / before for before, after in sizes if before]
        known = all(map(math.isfinite, (first, last, far, none, *chain(*sizes))))
        passed = fmean(factors) if factors else None
        rest = still if at_units else None
        by_rule[rule] = Gradients(first, last, far, passed, none, rest) if known else None
    return by_rule


def _op(traces: Sequence[Trace]) -> tuple[Tensor, Tensor, Tensor]:
    """x, and g before and after the rule, at the first layer with the op: (members, n, units …) each."""
    op = next(trace for trace in traces if trace.gradient is not None).op
    return op.x, op.upstream, op.gradient


def _sizes(values: Tensor) -> Tensor:
    """Return the sum of each member's values without their signs, (members,) float64."""
    return with_float64(values).abs().flatten(1).sum(1, dtype=torch.float64)


def _shares(x: Tensor, upstream: Tensor, gradient: Tensor) -> Tensor:
    """The shares of blocked inputs and of idle units, (2, members); NaN where an input is not finite."""
    x, upstream, gradient = map(with_float64, (x, upstream, gradient))
    zero = gradient == 0
    blocked = (zero & (upstream != 0)).flatten(1).double().mean(1)
    idle = zero.all(1).flatten(1).double().mean(1)
    return torch.stack([blocked, idle]).where(x.isfinite().flatten(1).all(1), math.nan)
