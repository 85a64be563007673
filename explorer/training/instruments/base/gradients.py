"""The size of each backward rule's gradient at one training step, and the fraction that the rule blocks."""

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
    """Statistics of the gradient of one backward rule at one training step, averaged over its random seeds.

    Norms and ``passed`` belong to the batch of the next step, ``blocked`` and ``idle_units`` to the examples
    that instruments use. If several layers contain the op, the last three describe the first of them: the
    first hidden layer, or the weights of the first layer times √inputs, which are the op's inputs.

    Attributes:
        w1: the Euclidean norm of the gradient of the first layer of weights.
        w2: the Euclidean norm of the gradient of the last layer of weights.
        w1_moved: the Euclidean distance of the first layer of weights from its initial values.
        passed: the sum of the gradient's absolute values after the rule, divided by the sum before it: 0 if
            the rule blocks everything, 1 for straight-through, above 1 if it amplifies; None if no seed has
            an upstream gradient.
        blocked: the fraction (0 to 1) of the op's inputs at which the rule returns 0 for an upstream gradient
            other than 0: "0 by the rule" in the instrument ``causes``.
        idle_units: the fraction (0 to 1) of units that get gradient 0 from every example; None for an op on
            weights, which sees no examples.
    """

    w1: float
    w2: float
    w1_moved: float
    passed: float | None
    blocked: float
    idle_units: float | None


@torch.no_grad()
def compute_gradients(
    ensemble: Ensemble, batch_pass: Pass, observed: ObservedPass, moved: Sequence[float]
) -> dict[int, Gradients | None]:
    """Compute gradient statistics for each backward rule that still has finite nets.

    Args:
        ensemble: the nets.
        batch_pass: the forward and backward pass on the batch of the next step.
        observed: the pass on the examples that instruments use.
        moved: the distance of each net's first layer of weights from its initial values.

    Returns:
        A dict from the index of each rule to its ``Gradients``, or to None if a value is not finite.
    """
    w1, w2 = batch_pass.numbers[1:].tolist()
    _, before, after = _get_first_op(batch_pass.traces)
    above, below = (
        with_float64(each).abs().flatten(1).sum(1, dtype=torch.float64).tolist() for each in (before, after)
    )
    blocked, idle = _compute_shares(*_get_first_op(observed.traces)).cpu().tolist()
    by_rule: dict[int, Gradients | None] = {}
    at_units = all(layer.site.per_example for layer in ensemble.layers if layer.site)
    for rule, members in ensemble.group_by_rule().items():
        values_by_member = [[each[member] for member in members] for each in (w1, w2, moved, blocked, idle)]
        first, last, distance, blocked_share, idle_share = map(fmean, values_by_member)
        sizes = [(above[member], below[member]) for member in members]
        factors = [after / before for before, after in sizes if before]
        is_finite = all(map(math.isfinite, (first, last, distance, blocked_share, *chain(*sizes))))
        passed = fmean(factors) if factors else None
        idle_units = idle_share if at_units else None
        gradients = Gradients(first, last, distance, passed, blocked_share, idle_units)
        by_rule[rule] = gradients if is_finite else None
    return by_rule


def _get_first_op(traces: Sequence[Trace]) -> tuple[Tensor, Tensor, Tensor]:
    op = next(trace for trace in traces if trace.gradient is not None).op
    return op.x, op.upstream, op.gradient


def _compute_shares(x: Tensor, upstream: Tensor, gradient: Tensor) -> Tensor:
    """Return the fraction of inputs that the rule blocks, and the fraction of units that get no gradient.

    The result has shape (2, nets). The fractions are NaN if an input is not finite.
    """
    x, upstream, gradient = map(with_float64, (x, upstream, gradient))
    # Without calls of ``all`` and ``mean`` on masks, which take three times as long.
    masks = [(gradient == 0) & (upstream != 0), gradient.abs().amax(1) == 0]
    shares = [mask.flatten(1).count_nonzero(1).double() / mask[0].numel() for mask in masks]
    return torch.stack(shares).where(x.flatten(1).abs().amax(1).isfinite(), math.nan)
