"""The spikes of a net for one held-out example."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from explorer.training.instruments.base.example import EXAMPLE, of_example
from explorer.training.instruments.base.instrument import Visible, op_site
from explorer.training.nets import Ensemble, Latency, Trace
from explorer.training.nets.layers.spiking import TIMES
from explorer.training.settings import Settings
from explorer.training.tasks import Data

if TYPE_CHECKING:
    from numpy import float32, uint8
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Raster:
    """The spikes and potentials of one net for one held-out example.

    Attributes:
        seed: the number of the net among the seeds of its rule, from 0.
        example: its index among the held-out ones.
        of: their number.
        label: the class it belongs to.
        read: the class that is read.
        image: (pixels,) uint8, row by row, from 0 to 255.
        times: steps of time.
        units: the number of units in each layer: the pixels, then the hidden layers in order.
        spikes: (all units · times,) uint8, unit by unit: 255 where it fires, 0 where not; in between what
            another op than a step returns, held from 0 to 1.
        potentials: (classes,) float32, the mean potential of each output unit, the largest of which is read.
        words: the picture in a sentence.
    """

    seed: int
    example: int
    of: int
    label: int
    read: int
    image: NDArray[uint8]
    times: int
    units: list[int]
    spikes: NDArray[uint8]
    potentials: NDArray[float32]
    words: str


def raster(ensemble: Ensemble, data: Data, example: int) -> dict[int, Raster]:
    """The spikes of the first finite net of each rule while it looks at a held-out example."""
    assert data.held_out is not None
    x, y = data.held_out
    nets, image = ensemble.firsts(), x[example].view(1, 1, -1)
    outputs, traces = ensemble.traced(image, list(nets.values()))
    pixels = Latency([0]).forward(image, [], Trace())[0]
    hidden = [trace.y for trace in traces if trace.y is not None]
    records = {}
    for at, (rule, net) in enumerate(nets.items()):
        layers = [pixels, *(each[at].cpu() for each in hidden)]
        label, read = int(y[example]), int(outputs[at, 0].argmax())
        records[rule] = Raster(
            seed=ensemble.going[net].seed,
            example=example,
            of=len(y),
            label=label,
            read=read,
            image=_bytes(x[example]),
            times=TIMES,
            units=[each.shape[1] for each in layers],
            spikes=_bytes(torch.cat(layers, 1).T.flatten()),
            potentials=outputs[at, 0].cpu().numpy(),
            words=_words(label, read, layers[1:]),
        )
    return records


def _words(label: int, read: int, hidden: list[Tensor]) -> str:
    fired = [int((each != 0).any(0).sum()) for each in hidden]
    layers = ", ".join(
        f"{count} of {each.shape[1]} units of layer {number} fire"
        for number, (count, each) in enumerate(zip(fired, hidden, strict=True), 1)
    )
    return f"a {label} read as {read}; {layers}"


def _bytes(values: Tensor) -> NDArray[uint8]:
    """Values from 0 to 1 as 0 to 255."""
    whole: NDArray[uint8] = (values.clamp(0, 1) * 255).round().to(torch.uint8).numpy()
    return whole


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
    measure=of_example(raster),
    missing=_missing,
)
