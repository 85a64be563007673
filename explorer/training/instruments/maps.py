"""The maps of a net of convolutions for one held-out example."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from explorer.training.instruments.base.example import EXAMPLE, of_example
from explorer.training.instruments.base.instrument import Visible, op_site
from explorer.training.nets import Ensemble
from explorer.training.nets.layers import Convolution
from explorer.training.settings import Settings
from explorer.training.tasks import Data

if TYPE_CHECKING:
    from numpy import uint8
    from numpy.typing import NDArray

MOST = 32  # maps of a layer that are drawn


@dataclass(frozen=True)
class Maps:
    """The maps of one net for one held-out example, as the next layer sees them, before any mean of four.

    Attributes:
        seed: the number of the net among the seeds of its rule, from 0.
        example: its index among the held-out ones.
        label: the class it belongs to.
        read: the class that is read.
        image: (pixels,) uint8, row by row, from 0 to 255.
        sides: by layer, units on a side of a map.
        counts: by layer, maps that are drawn.
        maps: (all units,) uint8, layer by layer, map by map, row by row: from 0 at the lowest value of a
            layer to 255 at its highest.
        ends: by layer, these two values.
        words: the picture in a sentence.
    """

    seed: int
    example: int
    label: int
    read: int
    image: NDArray[uint8]
    sides: list[int]
    counts: list[int]
    maps: NDArray[uint8]
    ends: list[tuple[float, float]]
    words: str


@torch.no_grad()
def maps(ensemble: Ensemble, data: Data, example: int) -> dict[int, Maps]:
    """The maps of the first finite net of each rule for a held-out example."""
    assert data.held_out is not None
    x, y = data.held_out
    nets, image = ensemble.firsts(), x[example].view(1, 1, -1)
    outputs, traces = ensemble.traced(image, list(nets.values()))
    layers = []
    for number, layer in enumerate(ensemble.layers):
        if isinstance(layer, Convolution):
            behind = traces[number + 1]
            values = behind.saved[0].relu() if behind.y is None else behind.y
            layers.append(values.reshape(len(nets), layer.channels, -1)[:, :MOST])
    records = {}
    for at, (rule, net) in enumerate(nets.items()):
        own = [each[at].cpu() for each in layers]
        label, read = int(y[example]), int(outputs[at, 0].argmax())
        records[rule] = Maps(
            seed=ensemble.going[net].seed,
            example=example,
            label=label,
            read=read,
            image=_bytes(x[example], *x.aminmax()),
            sides=[round(each.shape[1] ** 0.5) for each in own],
            counts=[len(each) for each in own],
            maps=torch.cat([_scaled(each) for each in own]).numpy(),
            ends=[(float(each.min()), float(each.max())) for each in own],
            words=_words(label, read, own),
        )
    return records


def _words(label: int, read: int, layers: list[Tensor]) -> str:
    still = [int((each == each[:, :1]).all(1).sum()) for each in layers]
    parts = [
        f"{count} of {len(each)} maps of layer {number} are of one value"
        for number, (count, each) in enumerate(zip(still, layers, strict=True), 1)
        if count
    ]
    return f"a {label} read as {read}; {', '.join(parts) or 'no map is of one value'}"


def _scaled(values: Tensor) -> Tensor:
    return torch.from_numpy(_bytes(values, *values.aminmax()))


def _bytes(values: Tensor, low: Tensor, high: Tensor) -> NDArray[uint8]:
    """Values between two as 0 to 255, in one row."""
    shares = (values - low) / (high - low).clamp(min=torch.finfo(values.dtype).tiny)
    whole: NDArray[uint8] = (shares.clamp(0, 1) * 255).round().nan_to_num(0).to(torch.uint8).flatten().numpy()
    return whole


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
    measure=of_example(maps),
    missing=_missing,
)
