"""The instrument "weights": full-precision weights and the values that the op makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from explorer.formula import format_percent, format_short
from explorer.training.instruments.base.example import measure_first_nets
from explorer.training.instruments.base.instrument import Nets, Record, Visible, get_op_site
from explorer.training.instruments.base.pictures import Panel, Picture, draw_histogram, draw_note
from explorer.training.limits import BINS
from explorer.training.nets import Trace

MAX_VALUES = 16  # number of quantised values that are counted separately


@measure_first_nets
def measure(nets: Nets, members: list[int]) -> list[dict[str, Any]]:
    """Measure the distribution of the weights of the nets at the indices ``members``.

    Returns:
        A list with a dict for each net: ``layers``, a list of the results of ``_measure_layer``, and
            ``words``, a sentence on the fraction of weights whose value after the op has changed since the
            start.
    """
    example = nets.data.train.x[:1].unsqueeze(0)
    (_, now), (_, before) = (
        nets.ensemble.forward_traced(example, members, start=start) for start in (False, True)
    )
    results = []
    for at in range(len(members)):
        layers = [
            _measure_layer(old, new, at) for old, new in zip(before, now, strict=True) if new.y is not None
        ]
        sizes = [int(layer["counts"].sum()) for layer in layers]
        changes = sum(layer["changed"] * size for layer, size in zip(layers, sizes, strict=True))
        share = format_percent(changes / sum(sizes))
        words = f"the op's value has changed for {share} of all weights since the start"
        results.append({"layers": layers, "words": words})
    return results


def _measure_layer(before: Trace, now: Trace, at: int) -> dict[str, Any]:
    """Measure the full-precision weights of one layer times √inputs, which are the op's inputs.

    Args:
        before: the layer's tensors with the initial weights.
        now: the layer's tensors with the current weights.
        at: the index of the net in them.

    Returns:
        A dict with these keys.

        - ``edges``: the edges of the bins of a histogram. Shape (bins + 1,), float32.
        - ``counts``: the number of weights in each bin. Shape (bins,), int64.
        - ``values``: the distinct outputs of the op, ascending; empty if there are more than ``MAX_VALUES``.
          Shape (values,), float32.
        - ``by_value``: the counts of weights with each output, value by value. Shape (values · bins,), int64.
        - ``changed``: the fraction of weights whose output differs from that at the start.
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


def draw(record: Record) -> list[Picture]:
    """Return a picture of a net's ``record``: histograms of its weights, and the share of each op output."""
    blocks = []
    for number, layer in enumerate(record["layers"], 1):
        counts, values = layer["counts"], layer["values"]
        parts = layer["by_value"].reshape(-1, len(counts)) if len(values) else counts[None]
        shares = [
            f"{format_short(float(value))}: {format_percent(part.sum() / counts.sum())}"
            for value, part in zip(
                values, parts, strict=False
            )  # not strict: without values there is one part
        ]
        note = [f"Layer {number}: {format_percent(layer['changed'])} changed", *shares]
        highest = counts.max(initial=1)
        blocks += [
            draw_histogram(parts.flatten(), highest, layer["edges"], strong=True),
            draw_note(" · ".join(note)),
        ]
    return [{"words": record["words"], "blocks": blocks}]


INSTRUMENT = Visible(
    key="weights",
    label="Weights",
    sentence="The full-precision weights, and the op's value for each. Stronger colour: a higher value.",
    limits="One net per rule. All weights count equally, even those that the loss does not depend on: a "
    "change need not be an improvement.",
    cost="4.1 ms and 11 kB for six rules",
    measure=measure,
    draw=draw,
    panel=Panel(order=4, rows=13),
    missing=lambda settings: (
        "Not shown here: the op is not applied to the weights." if get_op_site(settings).per_example else ""
    ),
)
