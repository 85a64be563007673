"""Weights of a net encoded as small integers, for images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer.training.instruments.base.instrument import Nets
from explorer.training.instruments.base.pictures import Block, draw_image
from explorer.training.nets import KERNEL, Convolution

MAX_MAPS = 16  # the maximum number of maps of a layer, and of the layer below, whose kernels are sent
_MAX_CODE = 127  # the integer that encodes the largest weight


def get_used_weights(nets: Nets, number: int) -> Tensor:
    """Return a layer's weights, or for an op on weights the op's outputs, not yet divided by √fan_in.

    ``number`` is the index of the layer, and fan_in its number of inputs: the layer uses op(w·√fan_in) /
    √fan_in. Shape (active nets, inputs, units).
    """
    trace = nets.current_pass.traces[number]
    if trace.y is not None and not nets.site.per_example:
        return trace.y
    return nets.ensemble.layers[number].weights(nets.ensemble.parameter_views[number])


def get_kernel_side(nets: Nets, number: int) -> int:
    """Return the side length of the convolution kernels of layer ``number``, or 0 if it is no convolution."""
    return KERNEL if isinstance(nets.ensemble.layers[number], Convolution) else 0


def encode_weights(weights: Tensor, kernel: int) -> dict[str, Any]:
    """Return the weights of one net's layer as int8 values for an image.

    ``weights`` has shape (inputs, outputs). ``kernel`` is the side of the square images in a column, such as
    one kernel per map below, or 0. The result is a dict: ``values``, int8 from −127 to 127, row by row, 0 for
    NaN; ``largest``, the absolute weight that ±127 encodes; ``columns``, the number of outputs; and
    ``kernel``.
    """
    largest = weights.abs().max().clamp(min=torch.finfo(weights.dtype).tiny)
    values = (weights / largest * _MAX_CODE).round().nan_to_num(0).to(torch.int8)
    return {
        "values": values.cpu().numpy().flatten(),
        "columns": weights.shape[1],
        "kernel": kernel,
        "largest": float(largest),
    }


def draw_weights(encoded: Mapping[str, Any], caption: str = "") -> Block:
    """Return a block with the image of weights from ``encode_weights``: blue above 0, orange below.

    Without kernels, a row is an input and a column an output. Kernels form a grid with a row per output and a
    column per map below. With a single map below, they form an approximately square grid.
    """
    codes = (encoded["values"].astype(np.int16) + 128).astype(np.uint8).reshape(-1, encoded["columns"])
    side = encoded["kernel"]
    if not side:
        return draw_image(codes.flatten(), encoded["columns"], caption, palette="signed")
    below = len(codes) // side**2
    tiles = codes.reshape(below, side**2, -1).transpose(2, 0, 1).flatten()
    across = {"across": below} if below > 1 else {}
    return draw_image(tiles, 0, caption, palette="signed", side=side, zoom=2, **across)
