"""The full-precision weights of nets with quantised weights, and their quantised values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from explorer.formula import format_percent, format_short
from explorer.training.instruments.base.example import measure_first_nets
from explorer.training.instruments.base.instrument import Nets, Record, Visible, get_op_site
from explorer.training.instruments.base.pictures import Block, Panel, Picture, draw_histogram, draw_note
from explorer.training.limits import BINS
from explorer.training.nets import Trace
from explorer.training.settings import Settings

MAX_VALUES = 16  # number of quantised values that are counted separately


@measure_first_nets
def measure(nets: Nets, members: list[int]) -> Callable[[int], dict[str, Any]]:
    """Return a function from a net's index to a dict with the distribution of its weights.

    ``layers``: see ``_describe_layer``, from the first to the last. ``words``: a summary in a sentence.
    """
    example = nets.data.train.x[:1].unsqueeze(0)
    (_, now), (_, before) = (
        nets.ensemble.forward_traced(example, members, start=start) for start in (False, True)
    )
    stages = [(old, new) for old, new in zip(before, now, strict=True) if new.y is not None]

    def get_record(at: int) -> dict[str, Any]:
        layers = [_describe_layer(old, new, at) for old, new in stages]
        return {"layers": layers, "words": _describe(layers)}

    return get_record


def _describe_layer(before: Trace, now: Trace, at: int) -> dict[str, Any]:
    """Return a description of the weights of one layer before training and now, as a dict for its picture.

    Weights are multiplied by √inputs as the op sees them. ``edges``: (bins + 1,) float32, of the histogram of
    full-precision weights. ``counts``: (bins,) int64, weights in each bin. ``values``: (values,) float32,
    ascending, the op's outputs; empty if there are more than ``MAX_VALUES`` different ones. ``by_value``:
    (values · bins,) int64, value by value: the counts of weights with that output. ``changed``: the fraction
    of weights whose output differs from that at the start.
    """
    assert before.y is not None
    assert now.x is not None
    assert now.y is not None
    x, y = now.x[at].flatten(), now.y[at].flatten() + 0.0  # + 0.0 turns −0 into 0
    low, high = x.aminmax()
    width = (high - low).clamp(min=torch.finfo(x.dtype).tiny) / BINS
    bins = ((x - low) / width).int().clamp(0, BINS - 1)
    values, indices = y.unique(return_inverse=True)  # type: ignore[no-untyped-call]  # torch
    if len(values) > MAX_VALUES:
        values, indices = values[:0], indices[:0]
    cells = (indices * BINS + bins) if len(values) else indices
    return {
        "edges": np.linspace(low.item(), high.item(), BINS + 1, dtype=np.float32),
        "counts": bins.bincount(minlength=BINS).cpu().numpy(),
        "values": values.cpu().numpy(),
        "by_value": cells.bincount(minlength=len(values) * BINS).cpu().numpy(),
        "changed": (before.y[at].flatten() != y).float().mean().item(),
    }


def _describe(layers: list[dict[str, Any]]) -> str:
    sizes = [int(layer["counts"].sum()) for layer in layers]
    changed = sum(layer["changed"] * size for layer, size in zip(layers, sizes, strict=True)) / sum(sizes)
    return f"the op's value has changed for {format_percent(changed)} of all weights since the start"


def draw(record: Record) -> list[Picture]:
    """Return a picture for each layer: a histogram divided by the op's value, with the share of each."""
    blocks = [
        block for number, layer in enumerate(record["layers"], 1) for block in _draw_layer(number, layer)
    ]
    return [{"words": record["words"], "blocks": blocks}]


def _draw_layer(number: int, layer: dict[str, Any]) -> list[Block]:
    counts, values = layer["counts"], layer["values"]
    parts = layer["by_value"].reshape(-1, len(counts)) if len(values) else counts[None]
    shares = [
        f"{format_short(float(value))}: {format_percent(part.sum() / counts.sum())}"
        for value, part in zip(values, parts, strict=False)  # not strict: without values there is one part
    ]
    note = [f"Layer {number}: {format_percent(layer['changed'])} changed", *shares]
    histogram = draw_histogram(parts.flatten(), counts.max(initial=1), layer["edges"], strong=True)
    return [histogram, draw_note(" · ".join(note))]


def _explain_missing(settings: Settings) -> str:
    if get_op_site(settings).per_example:
        return "Not shown here: the op is not applied to the weights."
    return ""


INSTRUMENT = Visible(
    key="weights",
    label="Weights",
    sentence="The full-precision weights, and the op's value for each. Stronger colour: a higher value.",
    limits=(
        "One net per rule. All weights count equally, even those that the loss does not depend on: a "
        "change need not be an improvement."
    ),
    cost="4.1 ms and 11 kB for six rules",
    measure=measure,
    draw=draw,
    panel=Panel(order=4, rows=13),
    missing=_explain_missing,
)
