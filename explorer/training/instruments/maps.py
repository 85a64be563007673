"""The maps of a net of convolutions for one held-out example."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer.training.instruments.base.example import EXAMPLE, of_firsts, small
from explorer.training.instruments.base.instrument import Nets, Visible, op_site
from explorer.training.nets.layers import Convolution
from explorer.training.settings import Settings

MOST = 32  # maps of a layer that are drawn


@of_firsts
@torch.no_grad()
def measured(nets: Nets, members: list[int], example: int) -> Callable[[int], dict[str, Any]]:
    """Return the maps of one net, at its place among some members, for one held-out example.

    They are as the next layer sees them, before any mean of four. ``example``: its index among the held-out
    ones. ``label``: the class it belongs to. ``read``: the class that is read. ``image``: (pixels,) uint8,
    row by row, from 0 to 255. ``sides``: by layer, units on a side of a map. ``counts``: by layer, maps that
    are drawn. ``maps``: (all units,) uint8, layer by layer, map by map, row by row: from 0 at the lowest
    value of a layer to 255 at its highest. ``ends``: by layer, these two values. ``words``: the picture in a
    sentence.
    """
    assert nets.data.held_out is not None
    x, y = nets.data.held_out
    outputs, traces = nets.ensemble.forward_traced(x[example].view(1, 1, -1), members)
    layers = []
    for number, layer in enumerate(nets.ensemble.layers):
        if isinstance(layer, Convolution):
            behind = traces[number + 1]
            values = behind.saved[0].relu() if behind.y is None else behind.y
            layers.append(values.reshape(len(members), layer.channels, -1)[:, :MOST])

    def of(at: int) -> dict[str, Any]:
        own = [each[at].cpu() for each in layers]
        label, read = int(y[example]), int(outputs[at, 0].argmax())
        return {
            "example": example,
            "label": label,
            "read": read,
            "image": _scaled(x[example], *x.aminmax()),
            "sides": [round(each.shape[1] ** 0.5) for each in own],
            "counts": [len(each) for each in own],
            "maps": np.concatenate([_scaled(each, *each.aminmax()) for each in own]),
            "ends": [(float(each.min()), float(each.max())) for each in own],
            "words": _words(label, read, own),
        }

    return of


def _words(label: int, read: int, layers: list[Tensor]) -> str:
    still = [int((each == each[:, :1]).all(1).sum()) for each in layers]
    parts = [
        f"{count} of {len(each)} maps of layer {number} are of one value"
        for number, (count, each) in enumerate(zip(still, layers, strict=True), 1)
        if count
    ]
    return f"a {label} read as {read}; {', '.join(parts) or 'no map is of one value'}"


def _scaled(values: Tensor, low: Tensor, high: Tensor) -> Any:
    return small((values - low) / (high - low).clamp(min=torch.finfo(values.dtype).tiny))


def _missing(settings: Settings) -> str:
    return "" if op_site(settings).maps else "Not shown here: the layers of this task have no maps."


INSTRUMENT = Visible(
    key="maps",
    label="Maps",
    sentence="What each convolution makes of one held-out example: the stronger the ink, the higher the "
    "value in its layer.",
    limits=f"It shows one net per rule, one example and at most {MOST} maps of a layer: others may differ.",
    cost="1.6 ms and 4 kB for six rules",
    arguments=(EXAMPLE,),
    measure=measured,
    missing=_missing,
)
