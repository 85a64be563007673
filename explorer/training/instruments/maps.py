"""The instrument "maps": the feature maps of a convolutional net for one held-out example."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer.formula import format_short
from explorer.training.instruments.base.example import EXAMPLE, measure_first_nets, to_uint8
from explorer.training.instruments.base.instrument import Nets, Record, Visible, get_op_site
from explorer.training.instruments.base.pictures import Panel, Picture, draw_example, draw_image
from explorer.training.nets.layers import Convolution

MAX_MAPS = 32  # maximum number of maps per layer


@measure_first_nets
@torch.no_grad()
def measure(nets: Nets, members: list[int], example: int) -> list[dict[str, Any]]:
    """Measure the feature maps of the nets at the indices ``members`` for one held-out example.

    Returns:
        A list with a dict for each net. Lists in it have an entry per convolution.

        - ``example``: the index of the held-out example.
        - ``label`` and ``read``: its class and the predicted class.
        - ``image``: the pixels row by row, from 0 to 255. Shape (pixels,), uint8.
        - ``sides`` and ``counts``: lists of the side of a map in units, and of the number of maps included.
        - ``maps``: the values after the activation and before any pooling, map by map and row by row, from 0
          for the lowest value of a layer to 255 for its highest. Shape (all units,), uint8.
        - ``ends``: a list of these two values.
        - ``words``: the prediction and the number of constant maps, as text.
    """
    assert nets.data.held_out is not None
    x, y = nets.data.held_out
    outputs, traces = nets.ensemble.forward_traced(x[example].view(1, 1, -1), members)
    layers, results = [], []
    for number, layer in enumerate(nets.ensemble.layers):
        if isinstance(layer, Convolution):
            next_trace = traces[number + 1]
            values = next_trace.saved[0].relu() if next_trace.y is None else next_trace.y
            layers.append(values.reshape(len(members), layer.channels, -1)[:, :MAX_MAPS])

    for at, output in enumerate(outputs):
        maps = [each[at].cpu() for each in layers]
        constant_counts = [int((each == each[:, :1]).all(1).sum()) for each in maps]
        parts = [
            f"{count} of {len(each)} maps after w{number} are constant"
            for number, (count, each) in enumerate(zip(constant_counts, maps, strict=True), 1)
            if count
        ]
        label, read = int(y[example]), int(output[0].argmax())
        results.append(
            {
                "example": example,
                "label": label,
                "read": read,
                "image": _scale(x[example], *x.aminmax()),
                "sides": [round(each.shape[1] ** 0.5) for each in maps],
                "counts": [len(each) for each in maps],
                "maps": np.concatenate([_scale(each, *each.aminmax()) for each in maps]),
                "ends": [(float(each.min()), float(each.max())) for each in maps],
                "words": f"a {label} read as {read}; {', '.join(parts) or 'no map is constant'}",
            }
        )
    return results


def _scale(values: Tensor, low: Tensor, high: Tensor) -> Any:
    return to_uint8((values - low) / (high - low).clamp(min=torch.finfo(values.dtype).tiny))


def draw(record: Record) -> list[Picture]:
    """Return a picture of a net's ``record``: the example, and below it the maps of each layer as a grid."""
    sizes = [count * side**2 for side, count in zip(record["sides"], record["counts"], strict=True)]
    maps = np.split(record["maps"], np.cumsum(sizes)[:-1])
    layers = enumerate(zip(maps, record["sides"], record["ends"], strict=True), 1)
    images = [
        draw_image(
            values, 0, f"after w{number}: {format_short(low)} to {format_short(high)}", side=side, zoom=4
        )
        for number, (values, side, (low, high)) in layers
    ]
    row = {"kind": "row", "images": images, "fits": True}
    return [{"words": record["words"], "blocks": [draw_example(record), row]}]


INSTRUMENT = Visible(
    key="maps",
    label="Maps",
    sentence="The maps that each convolution computes for one held-out example. Stronger ink: a higher value "
    "within its layer.",
    limits=f"One net per rule, one example and at most {MAX_MAPS} maps of a layer: others may differ.",
    cost="1.6 ms and 4 kB for six rules",
    arguments=(EXAMPLE,),
    measure=measure,
    draw=draw,
    panel=Panel(order=2, rows=12),
    missing=lambda settings: (
        "" if get_op_site(settings).maps else "Not shown here: the layers of this task have no maps."
    ),
)
