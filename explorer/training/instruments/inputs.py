"""The instrument "inputs": histograms of the op's inputs, shown behind the curve of each backward rule."""

from __future__ import annotations

import math
from statistics import fmean

import numpy as np
import torch
from torch import Tensor

from explorer.formula import format_percent, format_short
from explorer.gradient import with_float64
from explorer.training.instruments.base.instrument import Nets, Record, Visible
from explorer.training.instruments.base.pictures import Panel, Picture, draw_histogram, draw_note
from explorer.training.instruments.base.rule_shape import compute_data_width, compute_span, compute_width

_BINS = 40
_MOST_BEYOND = {1: 0.5} | {2**power: 0.1 for power in range(1, 12)}  # fraction of inputs outside, by width
_MIN_BEYOND = 0.03  # a smaller fraction of the inputs outside the chart is not mentioned
_NO_CURVE = "This rule depends on the loss of each example, so it has no single curve over x."


@torch.no_grad()
def measure(nets: Nets) -> dict[int, Record]:
    """Measure the distribution of the op's inputs in each layer, over all random seeds of a rule.

    Returns:
        A dict from the index of each rule to a dict with these keys. Lists have an entry per layer with the
            op.

        - ``edges``: the edges of the bins, the same for all rules. Shape (bins + 1,), float32.
        - ``counts``: a list of the number of inputs in each bin. The outermost bins include all inputs beyond
          the edges. Shape (bins,), int64.
        - ``means``: a list of the mean input in each bin, NaN if it is empty. Shape (bins,), float32.
        - ``beyond``: the fraction of inputs outside the edges. Shape (layers,), float32.
        - ``ratio``: the width of the data ÷ that of the rule's window (see ``rule_shape``), NaN if
          the window has no finite width. Shape (layers,), float32.
        - ``words``: a list of sentences on these widths, "" without a finite ratio above 0. For a rule that
          depends on the loss, they say that it has no single curve.
    """
    observed = [nets.current_pass.traces[layer].op.x for layer in nets.op_layers]
    low, high = _widen_span(*compute_span(nets), torch.cat([x.flatten() for x in observed]))
    edges = np.linspace(low, high, _BINS + 1, dtype=np.float32)
    bins = [_count_bins(x, low, high) for x in observed]
    outside = [((x < low) | (x > high)).flatten(1) for x in observed]
    beyond = torch.stack([each.count_nonzero(1) / each.shape[1] for each in outside], 1)
    widths = torch.stack([compute_data_width(x) for x in observed], 1)
    records: dict[int, Record] = {}
    for rule, indices in nets.ensemble.group_by_rule().items():
        members = slice(indices[0], indices[-1] + 1)  # a view, because nets are ordered by rule
        rule_widths = np.array(
            [fmean(compute_width(nets, member, layer) for member in indices) for layer in range(len(bins))],
            np.float32,
        )
        rule_widths[(rule_widths == 0) | ~np.isfinite(rule_widths)] = np.nan
        ratio = widths[members].mean(0).cpu().numpy() / rule_widths
        records[rule] = {
            "edges": edges,
            "counts": [each[members].sum(0).cpu().numpy() for each, _ in bins],
            "means": [
                (sums[members].sum(0) / each[members].sum(0)).float().cpu().numpy() for each, sums in bins
            ],
            "beyond": beyond[members].mean(0).cpu().numpy(),
            "ratio": ratio.astype(np.float32),
            "words": [
                _NO_CURVE if nets.rules[rule].needs_loss else _describe_layer(nets, *each)
                for each in enumerate(ratio.tolist())
            ],
        }
    return records


def _widen_span(low: float, high: float, x: Tensor) -> tuple[float, float]:
    """Return the span of the histograms: wider by a power of two where more than half of x lies beyond it."""
    for scale, most in _MOST_BEYOND.items():
        if ((x < scale * low) | (x > scale * high)).float().mean() <= most:
            return scale * low, scale * high
    return low, high


def _count_bins(x: Tensor, low: float, high: float) -> tuple[Tensor, Tensor]:
    """Return the number of inputs in each bin of a histogram from ``low`` to ``high``, and their sum.

    Both results have shape (nets, bins). The outermost bins include all inputs beyond, and NaN counts as 0.
    """
    values = with_float64(x).flatten(1).nan_to_num(0)
    bins = ((values - low) * (_BINS / (high - low))).clamp_(0, _BINS - 1).int()
    first = _BINS * torch.arange(len(x), dtype=torch.int32, device=values.device)
    cells = (bins + first[:, None]).flatten()
    cell_count = len(x) * _BINS
    sums = torch.zeros(cell_count, dtype=torch.float64, device=values.device)
    sums.index_add_(0, cells, values.flatten().double())
    return cells.bincount(minlength=cell_count).view(len(x), _BINS), sums.view(len(x), _BINS)


def _describe_layer(nets: Nets, layer: int, ratio: float) -> str:
    """Return a sentence on ``ratio``, a layer's data width ÷ the rule's window; "" if it is 0 or infinite."""
    if not math.isfinite(ratio) or not ratio:
        return ""
    things = nets.site.name_inputs(layer, len(nets.op_layers))
    number = format_short(float(f"{ratio:.2g}"))
    return f"{things[0].upper()}{things[1:]} are {number} times as wide as this rule's window."


def draw(record: Record) -> list[Picture]:
    """Return a picture for each layer of a rule's ``record``: a histogram behind its curve, and a note."""
    return [_draw_layer(record, layer) for layer in range(len(record["counts"]))]


def _draw_layer(record: Record, layer: int) -> Picture:
    edges, counts, words = record["edges"], record["counts"][layer], record["words"][layer]
    marks = edges[0], (edges[0] + edges[-1]) / 2, edges[-1]
    start, middle, stop = (format_short(float(mark)) for mark in marks)
    beyond = float(record["beyond"][layer])
    ends = f"±{stop}" if edges[0] == -edges[-1] else f"{start} … {stop}"
    share = format_percent(beyond)
    outside = f"{share[0].upper()}{share[1:]} lie beyond {ends}." if beyond >= _MIN_BEYOND else ""
    ticks = [f"≤ {start}", middle, f"≥ {stop}"] if beyond else [start, middle, stop]
    histogram = draw_histogram(
        counts, counts[1:-1].max(initial=1), edges,
        curve=True, ticks=ticks, means=record["means"][layer], outside=outside,
    )  # fmt: skip
    inside = f"{format_percent(1 - beyond)} of the data lie between {start} and {stop}."
    note = draw_note(" ".join(filter(None, [words, outside])))
    return {"words": " ".join(filter(None, [words, inside])), "blocks": [histogram, note]}


INSTRUMENT = Visible(
    key="inputs",
    label="Where the data sits",
    sentence="The distribution of the op's inputs x, behind the rule's curve, whose highest value is in the "
    "corner. The outermost bars hold everything beyond.",
    limits="The rule's window is where it is at least 1 % of its peak. This does not show which inputs the "
    "loss depends on. The curve of a random rule is its mean over draws.",
    cost="1.4 ms for six rules with one hidden layer of 16 units",
    measure=measure,
    draw=draw,
    panel=Panel(order=6, rows=7.5, layered=True),
)
