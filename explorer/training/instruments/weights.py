"""Full-precision weights and their quantised values, for tasks whose weights the op quantises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from explorer.formula import percent
from explorer.training.instruments.base.instrument import Nets, Record, Visible, op_site
from explorer.training.limits import BINS
from explorer.training.nets import Ensemble, Trace
from explorer.training.settings import Settings
from explorer.training.tasks import Data

if TYPE_CHECKING:
    from numpy import float32, int64
    from numpy.typing import NDArray

MOST_VALUES = 16  # of quantised weights that are counted one by one


@dataclass(frozen=True)
class Layer:
    """The weights of one layer; all as the op sees them, that is times √inputs.

    Attributes:
        edges: (bins + 1,) float32, of the histogram of full-precision weights.
        counts: (bins,) int64, weights in each bin.
        values: (values,) float32, ascending, what the op makes of them; empty where these are more than
            ``MOST_VALUES`` different ones.
        by_value: (values · bins,) int64, value by value: the counts of those that became it.
        changed: the share of weights of which the op makes another value than at the start.
    """

    edges: NDArray[float32]
    counts: NDArray[int64]
    values: NDArray[float32]
    by_value: NDArray[int64]
    changed: float


@dataclass(frozen=True)
class Weights:
    """The weights of one net.

    Attributes:
        seed: the number of the net among the seeds of its rule, from 0.
        layers: from the first to the last.
        words: the picture in a sentence.
    """

    seed: int
    layers: list[Layer]
    words: str


def weights(ensemble: Ensemble, data: Data) -> dict[int, Weights]:
    """The weights of the first finite net of each rule, by the number of its rule."""
    nets = ensemble.firsts()
    one = data.train.x[:1].unsqueeze(0)
    (_, now), (_, before) = (
        ensemble.traced(one, list(nets.values()), start=start) for start in (False, True)
    )
    stages = [(old, new) for old, new in zip(before, now, strict=True) if new.y is not None]
    records = {}
    for at, (rule, net) in enumerate(nets.items()):
        layers = [_layer(old, new, at) for old, new in stages]
        records[rule] = Weights(ensemble.going[net].seed, layers, _words(layers))
    return records


def _layer(before: Trace, now: Trace, at: int) -> Layer:
    """The weights of one layer at the start and now."""
    assert before.y is not None
    assert now.x is not None
    assert now.y is not None
    x, y = now.x[at].flatten(), now.y[at].flatten() + 0.0  # −0 becomes 0
    low, high = x.aminmax()
    width = (high - low).clamp(min=torch.finfo(x.dtype).tiny) / BINS
    bins = ((x - low) / width).int().clamp(0, BINS - 1)
    values, which = y.unique(return_inverse=True)  # type: ignore[no-untyped-call]  # torch
    if len(values) > MOST_VALUES:
        values, which = values[:0], which[:0]
    cells = (which * BINS + bins) if len(values) else which
    return Layer(
        edges=np.linspace(low.item(), high.item(), BINS + 1, dtype=np.float32),
        counts=bins.bincount(minlength=BINS).cpu().numpy(),
        values=values.cpu().numpy(),
        by_value=cells.bincount(minlength=len(values) * BINS).cpu().numpy(),
        changed=(before.y[at].flatten() != y).float().mean().item(),
    )


def _words(layers: list[Layer]) -> str:
    sizes = [int(layer.counts.sum()) for layer in layers]
    changed = sum(layer.changed * size for layer, size in zip(layers, sizes, strict=True)) / sum(sizes)
    return f"of {percent(changed)} of all weights the op makes another value than at the start"


def _measured(nets: Nets) -> dict[int, Record]:
    records = weights(nets.ensemble, nets.data).items()
    return {rule: vars(each) | {"layers": [vars(layer) for layer in each.layers]} for rule, each in records}


def _missing(settings: Settings) -> str:
    if op_site(settings).per_example:
        return "Not shown here: the op does not stand on the weights."
    return ""


INSTRUMENT = Visible(
    key="weights",
    label="Weights",
    sentence="Where the full-precision weights lie, and what the op makes of them: the stronger the colour, "
    "the higher the value.",
    limits=(
        "It is one net of each rule, and counts weights alike whether the loss depends on them or not: "
        "that they change is no sign that they change for the better."
    ),
    cost="4.1 ms and 11 kB for six rules",
    measure=_measured,
    missing=_missing,
)
