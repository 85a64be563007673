"""The gradient at one step: its size, and the part of it that the rule blocks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from explorer.training.nets import Ensemble, Pass

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    Values = NDArray[float32]


@dataclass(frozen=True)
class Gradients:
    """The gradient of one rule at one step, of its first finite seed.

    In a net with several layers with the op, all but the first three are of the first one: the first hidden
    layer, or the weights of the first layer, times √inputs as the op sees them.

    Attributes:
        w1: Euclidean norm of the gradient of the first layer of weights, mean over its seeds.
        w2: Euclidean norm of the gradient of the last layer of weights, mean over its seeds.
        w1_moved: Euclidean distance of the first layer of weights from its start, mean over its seeds.
        passed: the factor on the upstream gradient, sum of sizes after ÷ before: 0 where the rule
            blocks everything, 1 for straight-through, above 1 where it amplifies; None where there is
            no upstream gradient.
        blocked: fraction (0 to 1) of the op's inputs at which the rule returns 0 to an upstream
            gradient that is not 0.
        idle_units: fraction (0 to 1) of units that get gradient 0 from every example.
    """

    w1: float
    w2: float
    w1_moved: float
    passed: float | None
    blocked: float
    idle_units: float


def gradients(ensemble: Ensemble, now: Pass) -> dict[int, Gradients | None]:
    """The gradients by the number of each rule that is going; None where one is not finite."""
    op = next(trace for trace in now.traces if trace.gradient is not None).op
    tensors = [each.cpu().numpy() for each in (op.x, op.upstream, op.gradient)]  # torch is slow with little
    w1, w2 = now.numbers[1:].tolist()
    moved, by_rule = ensemble.moved(), {}
    for rule, members in ensemble.by_rule().items():
        net = members[0]
        far = fmean(moved[member] for member in members)
        first, last = (fmean(each[member] for member in members) for each in (w1, w2))
        by_rule[rule] = _measured(first, last, far, *(each[net] for each in tensors))
    return by_rule


def _measured(
    w1: float, w2: float, moved: float, x: Values, upstream: Values, gradient: Values
) -> Gradients | None:
    """The gradients of one net, its arrays (n, units)."""
    above, below = (float(np.abs(each).sum(dtype=np.float64)) for each in (upstream, gradient))
    if not (all(map(math.isfinite, (w1, w2, moved, above, below))) and np.isfinite(x).all()):
        return None
    zero = gradient == 0
    return Gradients(
        w1=w1,
        w2=w2,
        w1_moved=moved,
        passed=below / above if above else None,
        blocked=float((zero & (upstream != 0)).mean()),
        idle_units=float(zero.all(0).mean()),
    )
