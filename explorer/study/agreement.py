"""Compare quantised weights after training with those that result from the straight-through rule.

Both runs have the same learning rate, random seed and number of steps. The question comes from Schoenbauer et
al., "Custom Gradient Estimators are Straight-Through Estimators in Disguise", arXiv 2405.05171 (2024). At
small rates, many rules for weights train as straight-through does: under Adam without changes, under SGD once
start weights and rate are adjusted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from explorer.training.nets import Trace

Agreement = tuple[float | None, float | None]
"""The share among all weights, and among the weights that straight-through changed; None if unknown."""


def collect_quantised(traces: Sequence[Trace]) -> Tensor:
    """Return the quantised weights of all layers as one tensor of shape (nets, weights of a net)."""
    outputs = [trace.y.flatten(1) for trace in traces if trace.y is not None]
    return torch.cat(outputs, dim=1)


def compute_agreement(weights: Tensor, reference: Tensor, start: Tensor) -> Agreement:
    """Return the share of a net's quantised weights that equal those after straight-through training.

    Returns the share among all weights, and among those that straight-through changed, or None if there are
    none.

    Args:
        weights: the net's quantised weights, (n,).
        reference: those after straight-through training, (n,).
        start: those of straight-through before the first step, (n,).
    """
    equal, changed = weights == reference, reference != start
    return float(equal.double().mean()), float(equal[changed].double().mean()) if changed.any() else None
