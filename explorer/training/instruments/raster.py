"""The spikes of a net for one held-out example."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from explorer.training.instruments.base.example import EXAMPLE, of_firsts, small
from explorer.training.instruments.base.instrument import Nets, Visible, op_site
from explorer.training.nets import Latency, Trace
from explorer.training.nets.layers.spiking import TIMES
from explorer.training.settings import Settings


@of_firsts
def measured(nets: Nets, members: list[int], example: int) -> Callable[[int], dict[str, Any]]:
    """Return the spikes and potentials of one net, at its place among some members, for a held-out example.

    ``example``: its index among the held-out ones. ``of``: their number. ``label``: the class it belongs to.
    ``read``: the class that is read. ``image``: (pixels,) uint8, row by row, from 0 to 255. ``times``: steps
    of time. ``units``: the number of units in each layer: the pixels, then the hidden layers in order.
    ``spikes``: (all units · times,) uint8, unit by unit: 255 where it fires, 0 where not; in between what
    another op than a step returns, held from 0 to 1. ``potentials``: (classes,) float32, the mean potential
    of each output unit, the largest of which is read. ``words``: the picture in a sentence.
    """
    assert nets.data.held_out is not None
    x, y = nets.data.held_out
    image = x[example].view(1, 1, -1)
    outputs, traces = nets.ensemble.forward_traced(image, members)
    pixels = Latency([0]).forward(image, [], Trace())[0]
    hidden = [trace.y for trace in traces if trace.y is not None]

    def of(at: int) -> dict[str, Any]:
        layers = [pixels, *(each[at].cpu() for each in hidden)]
        label, read = int(y[example]), int(outputs[at, 0].argmax())
        return {
            "example": example,
            "of": len(y),
            "label": label,
            "read": read,
            "image": small(x[example]),
            "times": TIMES,
            "units": [each.shape[1] for each in layers],
            "spikes": small(torch.cat(layers, 1).T),
            "potentials": outputs[at, 0].cpu().numpy(),
            "words": _words(label, read, layers[1:]),
        }

    return of


def _words(label: int, read: int, hidden: list[Tensor]) -> str:
    fired = [int((each != 0).any(0).sum()) for each in hidden]
    layers = ", ".join(
        f"{count} of {each.shape[1]} units of layer {number} fire"
        for number, (count, each) in enumerate(zip(fired, hidden, strict=True), 1)
    )
    return f"a {label} read as {read}; {layers}"


def _missing(settings: Settings) -> str:
    return "" if op_site(settings).fires else "Not shown here: the units of this task do not spike."


INSTRUMENT = Visible(
    key="raster",
    label="Spikes",
    sentence="When each pixel and each hidden unit fires over the steps of time, a row a unit; below, the "
    "mean potential of each output.",
    limits="It shows one net per rule and one held-out example: others fire differently.",
    cost="2.1 ms and 11 kB for six rules",
    arguments=(EXAMPLE,),
    measure=measured,
    missing=_missing,
)
