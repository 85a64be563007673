"""The kernels of a net of convolutions as pictures."""

from __future__ import annotations

import torch

from explorer.training.instruments.base.instrument import Nets, Record, Visible, op_site
from explorer.training.instruments.base.pictured import MOST_MAPS, kernel_of, pictured, used
from explorer.training.settings import Settings


@torch.no_grad()
def measured(nets: Nets) -> dict[int, Record]:
    """The record of the first finite net of each rule.

    ``seed``: of the net. ``layers``: its kernels as it uses them, see ``pictured``, of the first
    ``MOST_MAPS`` maps over as many of the layer below; ``of``: by layer, how many there are of each.
    ``words``: them in a sentence.
    """
    ensemble = nets.ensemble
    layers = [(used(nets, at), side) for at in ensemble.weighted_layers if (side := kernel_of(nets, at))]
    of = [[each.shape[2], each.shape[1] // side**2] for each, side in layers]
    words = "; ".join(
        f"layer {number}: {own} × {below} kernels of {side} × {side}"
        for number, ((own, below), (_, side)) in enumerate(zip(of, layers, strict=True), 1)
    )
    return {
        rule: {
            "seed": nets.settings.seed + ensemble.active[member].seed,
            "layers": [
                pictured(each[member, : MOST_MAPS * side**2, :MOST_MAPS], side) for each, side in layers
            ],
            "of": of,
            "words": words,
        }
        for rule, member in ensemble.find_firsts().items()
    }


def _missing(settings: Settings) -> str:
    return "" if op_site(settings).maps else "Not shown here: the layers of this task have no kernels."


INSTRUMENT = Visible(
    key="kernels",
    label="Kernels",
    sentence="The kernels as the net uses them, blue above 0, orange below: a row for each map of a layer, a "
    "column for each map below it; where there is one below, side by side.",
    limits=f"It is one net of each rule, and at most {MOST_MAPS} × {MOST_MAPS} kernels of a layer: that they "
    "look like something is no sign that they do more.",
    cost="0.37 ms and 8 kB for six rules",
    measure=measured,
    missing=_missing,
)
