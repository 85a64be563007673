"""The instrument "kernels": the convolution kernels of a net, as images."""

from __future__ import annotations

import torch

from explorer.formula import format_short
from explorer.training.instruments.base import weight_images
from explorer.training.instruments.base.instrument import Nets, Record, Visible, get_op_site
from explorer.training.instruments.base.pictures import Panel, Picture
from explorer.training.instruments.base.weight_images import MAX_MAPS, draw_weights, encode_weights


@torch.no_grad()
def measure(nets: Nets) -> dict[int, Record]:
    """Measure the convolution kernels of one net of each rule, after the op if it is applied to kernels.

    Returns:
        A dict from the index of each rule to a dict with these keys. Lists have an entry per convolution.

        - ``seed``: the random seed of the net.
        - ``layers``: a list of results of ``encode_weights`` for the first ``MAX_MAPS`` maps and as many maps
          of the layer below.
        - ``of``: a list of pairs: the number of maps of the layer, and of the layer below.
        - ``words``: the number and the size of the kernels, as text.
    """
    ensemble = nets.ensemble
    layers = [
        (weight_images.get_used_weights(nets, at), side)
        for at in ensemble.weighted_layers
        if (side := weight_images.get_kernel_side(nets, at))
    ]
    sizes = [[weights.shape[2], weights.shape[1] // side**2] for weights, side in layers]
    words = "; ".join(
        f"w{number}: {map_count} × {below} kernels of {side} × {side}"
        for number, ((map_count, below), (_, side)) in enumerate(zip(sizes, layers, strict=True), 1)
    )
    return {
        rule: {
            "seed": nets.settings.seed + ensemble.active[member].seed,
            "layers": [
                encode_weights(each[member, : MAX_MAPS * side**2, :MAX_MAPS], side) for each, side in layers
            ],
            "of": sizes,
            "words": words,
        }
        for rule, member in ensemble.find_firsts().items()
    }


def draw(record: Record) -> list[Picture]:
    """Return a picture of a net's ``record``: kernels, with a row for each map and a column per map below."""
    layers = enumerate(zip(record["layers"], record["of"], strict=True), 1)
    images = [
        draw_weights(layer, f"w{number}, {maps} × {below}: ±{format_short(layer['largest'])}")
        for number, (layer, (maps, below)) in layers
    ]
    return [{"words": record["words"], "blocks": [{"kind": "row", "images": images, "fits": True}]}]


INSTRUMENT = Visible(
    key="kernels",
    label="Kernels",
    sentence="The kernels as the net uses them: blue above 0, orange below. One row for each map of a layer, "
    "one column for each map below it; with a single map below, kernels lie side by side.",
    limits=f"One net per rule, and at most {MAX_MAPS} × {MAX_MAPS} kernels of a layer. Kernels that look "
    "meaningful need not work better.",
    cost="0.37 ms and 8 kB for six rules",
    measure=measure,
    draw=draw,
    panel=Panel(order=4, rows=10),
    missing=lambda settings: (
        "" if get_op_site(settings).maps else "Not shown here: the layers of this task have no kernels."
    ),
)
