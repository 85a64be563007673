"""Weights as small numbers, for pictures of them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from explorer.training.instruments.base.instrument import Nets
from explorer.training.nets import KERNEL, Convolution

MOST_MAPS = 16  # of a layer, and below it, whose kernels are drawn
_FULL = 127  # of the largest weight


def used(nets: Nets, number: int) -> Tensor:
    """The weights of a layer as the net uses them: where the op stands on them, those that it makes."""
    trace = nets.now.traces[number]
    if trace.y is not None and not nets.site.per_example:
        return trace.y
    return nets.ensemble.layers[number].weights(nets.ensemble.parameter_views[number])


def kernel_of(nets: Nets, number: int) -> int:
    """The side of a layer's kernels, 0 where its weights are none."""
    return KERNEL if isinstance(nets.ensemble.layers[number], Convolution) else 0


def pictured(weights: Tensor, kernel: int) -> dict[str, Any]:
    """Some weights (inputs, outputs) of one net.

    ``values`` (inputs · outputs,) int8 row by row, 127 for the ``largest`` one, ``columns``, and the side of
    each ``kernel``, 0 where they are none: a column is then one for each map below, one after the other.
    """
    largest = weights.abs().max().clamp(min=torch.finfo(weights.dtype).tiny)
    values = (weights / largest * _FULL).round().nan_to_num(0).to(torch.int8)
    return {
        "values": values.cpu().numpy().flatten(),
        "columns": weights.shape[1],
        "kernel": kernel,
        "largest": float(largest),
    }
