"""Inputs of the op under the curve of each rule: where the data sits."""

from __future__ import annotations

import math
from statistics import fmean

import numpy as np
import torch
from torch import Tensor

from explorer.gradient import with_float64
from explorer.training.instruments.base.instrument import Nets, Record, Visible
from explorer.training.instruments.base.rule_shape import span, spread, width

_BINS = 40
_CLEAR = 1.5  # times as wide, before it is said
_NO_CURVE = "This rule hangs on the loss of each example, so that it has no one curve over x."


@torch.no_grad()
def measured(nets: Nets) -> dict[int, Record]:
    """The record of each rule that is going, over all its seeds.

    ``edges``: (bins + 1,) float32, the same at every step. ``counts``: (bins,) int64 by layer with the op;
    what lies beyond is in the outermost. ``means``: (bins,) float32 by layer, of the values in each bin, NaN
    in an empty one. ``beyond``: (layers,) float32, the share of what lies beyond. ``ratio``: (layers,)
    float32, how many times as wide as the rule the data is (see ``shape``), NaN where the rule has no finite
    width. ``words``: a sentence by layer, empty where there is nothing to say.
    """
    low, high = span(nets)
    edges = np.linspace(low, high, _BINS + 1, dtype=np.float32)
    observed = [nets.now.traces[layer].op.x for layer in nets.op_layers]
    bins = [_binned(x, low, high) for x in observed]
    beyond = torch.stack([((x < low) | (x > high)).float().flatten(1).mean(1) for x in observed], 1)
    widths = torch.stack([spread(x) for x in observed], 1)
    records: dict[int, Record] = {}
    for rule, members in nets.ensemble.group_by_rule().items():
        own = [fmean(width(nets, member, layer) for member in members) for layer in range(len(observed))]
        ratio = widths[members].mean(0).cpu().numpy() / np.array(list(map(_finite, own)), np.float32)
        records[rule] = {
            "edges": edges,
            "counts": [each[members].sum(0).cpu().numpy() for each, _ in bins],
            "means": [
                (sums[members].sum(0) / each[members].sum(0)).float().cpu().numpy() for each, sums in bins
            ],
            "beyond": beyond[members].mean(0).cpu().numpy(),
            "ratio": ratio.astype(np.float32),
            "words": [
                _NO_CURVE if nets.rules[rule].needs_loss else _words(nets, *each)
                for each in enumerate(ratio.tolist(), 1)
            ],
        }
    return records


def _binned(x: Tensor, low: float, high: float) -> tuple[Tensor, Tensor]:
    """The count of each member's values in each bin, and their sum: (members, bins) each."""
    known = with_float64(x).flatten(1).nan_to_num(0)
    bins = ((known - low) * (_BINS / (high - low))).clamp_(0, _BINS - 1).int()
    first = _BINS * torch.arange(len(x), dtype=torch.int32, device=known.device)
    cells = (bins + first[:, None]).flatten()
    every = len(x) * _BINS
    sums = torch.zeros(every, dtype=torch.float64, device=known.device)
    sums.index_add_(0, cells, known.flatten().double())
    return cells.bincount(minlength=every).view(len(x), _BINS), sums.view(len(x), _BINS)


def _finite(width: float) -> float:
    return width if math.isfinite(width) and width else math.nan


def _words(nets: Nets, layer: int, ratio: float) -> str:
    """A sentence on the width of the data beside that of the rule."""
    things = f"layer {layer}'s {nets.site.inputs}"
    if not math.isfinite(ratio) or not ratio:
        return ""
    if ratio >= _CLEAR:
        return f"{things[0].upper()}{things[1:]} are {_times(ratio)} times as wide as this rule."
    if 1 / ratio >= _CLEAR:
        return f"This rule is {_times(1 / ratio)} times as wide as {things}."
    return f"{things[0].upper()}{things[1:]} are about as wide as this rule."


def _times(ratio: float) -> str:
    return f"{float(f'{ratio:.2g}'):,.1f}".removesuffix(".0")


INSTRUMENT = Visible(
    key="inputs",
    label="Where the data sits",
    sentence="How often the op sees which x, behind the rule's curve; the outermost bars hold all beyond.",
    limits="It does not say which of them the loss depends on. Where each channel has learned a value of its "
    "own, the curve is that of their mean; of what draws it is the mean over draws.",
    cost="1.4 ms for six rules with one hidden layer of 16 units",
    measure=measured,
)
