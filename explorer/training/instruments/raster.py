"""The instrument "raster": the spikes of a spiking net for one held-out example."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from explorer.training.instruments.base.example import EXAMPLE, measure_first_nets, to_uint8
from explorer.training.instruments.base.instrument import Nets, Record, Visible, get_op_site
from explorer.training.instruments.base.pictures import Panel, Picture, draw_example, draw_image
from explorer.training.nets import Latency, Trace
from explorer.training.nets.layers.spiking import TIMES


@measure_first_nets
def measure(nets: Nets, members: list[int], example: int) -> list[dict[str, Any]]:
    """Measure the spikes of the nets at the indices ``members`` for one held-out example.

    Returns:
        A list with a dict for each net.

        - ``example``: the index of the held-out example.
        - ``of``: the number of held-out examples.
        - ``label`` and ``read``: its class and the predicted class.
        - ``image``: the pixels row by row, from 0 to 255. Shape (pixels,), uint8.
        - ``times``: the number of time steps.
        - ``units``: a list of the number of units in each layer: the pixels, then the hidden layers in order.
        - ``spikes``: the time steps of each unit, unit by unit: 255 for a spike, 0 for none, and values
          between for ops other than a step, clamped to 0 … 1. Shape (all units · times,), uint8.
        - ``potentials``: the mean potential of each output unit. The largest one determines the predicted
          class. Shape (classes,), float32.
        - ``words``: the prediction and how many units of each layer fire, as text.
    """
    assert nets.data.held_out is not None
    x, y = nets.data.held_out
    image = x[example].view(1, 1, -1)
    outputs, traces = nets.ensemble.forward_traced(image, members)
    pixels = Latency([0]).forward(image, [], Trace())[0]
    hidden_spikes = [trace.y for trace in traces if trace.y is not None]

    results = []
    for at, output in enumerate(outputs):
        layers = [pixels, *(each[at].cpu() for each in hidden_spikes)]
        label, read = int(y[example]), int(output[0].argmax())
        fires = ", ".join(
            f"{int((each != 0).any(0).sum())} of {each.shape[1]} units after w{number} fire"
            for number, each in enumerate(layers[1:], 1)
        )
        results.append(
            {
                "example": example,
                "of": len(y),
                "label": label,
                "read": read,
                "image": to_uint8(x[example]),
                "times": TIMES,
                "units": [each.shape[1] for each in layers],
                "spikes": to_uint8(torch.cat(layers, 1).T),
                "potentials": output[0].cpu().numpy(),
                "words": f"a {label} read as {read}; {fires}",
            }
        )
    return results


def draw(record: Record) -> list[Picture]:
    """Return a picture of a net's ``record``: the example, spikes with a row per unit, potentials as bars."""
    times = record["times"]
    layers = np.split(record["spikes"], times * np.cumsum(record["units"])[:-1])
    images = [
        draw_image(spikes, times, f"after w{number}" if number else "pixels")
        for number, spikes in enumerate(layers)
    ]
    potentials = record["potentials"] - record["potentials"].min()
    outputs = {"kind": "outputs", "levels": potentials / (potentials.max() or 1), "chosen": record["read"]}
    row = {"kind": "row", "images": images, "fits": False}
    return [{"words": record["words"], "blocks": [draw_example(record), row, outputs]}]


INSTRUMENT = Visible(
    key="raster",
    label="Spikes",
    sentence="When each pixel and each hidden unit fires, one row per unit, over the time steps. Below: the "
    "mean potential of each output.",
    limits="One net per rule and one held-out example: others fire differently.",
    cost="2.1 ms and 11 kB for six rules",
    arguments=(EXAMPLE,),
    measure=measure,
    draw=draw,
    panel=Panel(order=2, rows=14),
    missing=lambda settings: (
        "" if get_op_site(settings).fires else "Not shown here: the units of this task do not spike."
    ),
)
