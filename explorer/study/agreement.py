"""The share of quantised weights that end as straight-through's do: same rate, seed and steps.

Source of the question: Schoenbauer et al., "Custom Gradient Estimators are Straight-Through Estimators in
Disguise", arXiv 2405.05171 (2024): at small rates many rules for weights train as straight-through does,
under Adam as they are, under SGD once start weights and rate are adjusted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from explorer.training.nets import Trace

Agreement = tuple[float | None, float | None]
"""The share among all weights, and among those that straight-through changed; None: not known."""


def quantised(traces: Sequence[Trace]) -> Tensor:
    """The weights as the op returns them, (members, all of a net)."""
    outputs = [trace.y.flatten(1) for trace in traces if trace.y is not None]
    return torch.cat(outputs, dim=1)


def agreement(own: Tensor, other: Tensor, start: Tensor) -> Agreement:
    """How much of a net's quantised weights equals straight-through's, which began at ``start``; (n,)."""
    same, changed = own == other, other != start
    return float(same.double().mean()), float(same[changed].double().mean()) if changed.any() else None
