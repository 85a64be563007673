"""The instrument "causes": the fraction of units and examples that get no gradient, by reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from explorer.formula import format_percent
from explorer.training.instruments.base.instrument import Nets, Record, Visible
from explorer.training.instruments.base.pictures import Legend, Panel, Picture
from explorer.training.instruments.base.rule_shape import compute_peak, compute_span
from explorer.training.nets import OpTrace

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

_FAINT_SHARE = 0.01  # a gradient below this fraction of the rule's height counts as faint
_LABELLED_SHARE = 0.2  # a smaller part of the bar has no space for a label
NAMES = (
    "gradient",
    f"below {format_percent(_FAINT_SHARE)} of its peak",
    "0 by the rule",
    "no gradient from above",
)


@torch.no_grad()
def measure(nets: Nets) -> dict[int, Record]:
    """Return, by backward rule, a dict with the fraction of units and examples that get no gradient.

    Each field except ``names`` is a list by layer with the op. ``shares``: (4,) float32, the fraction of each
    cause in the order of ``names``, with sum 1. ``whole``: the part of each fraction in units with that cause
    for every example; 0 for weights, which see no examples. ``channels``: (channels,) float32, the fraction
    of each map or kernel without a gradient; empty without channels. ``words``: a sentence or two.
    """
    causes = mask_causes(nets)
    channel_shares = [
        _compute_channel_shares(nets, *layer_causes)
        for layer_causes in zip(nets.op_layers, causes, strict=True)
    ]
    shares_by_layer = zip(*map(_compute_shares, causes), strict=True)
    shares, whole_shares = (torch.stack(each, 1).cpu().numpy() for each in shares_by_layer)
    if not nets.site.per_example:
        whole_shares[:] = 0
    records: dict[int, Record] = {}
    for rule, members in nets.ensemble.group_by_rule().items():
        parts, wholes = (each[members].mean(0) for each in (shares, whole_shares))
        layers = enumerate(zip(parts, wholes, strict=True), 1)
        channels = [each[members].mean(0).cpu().numpy() for each in channel_shares]
        words = [
            _describe_layer(nets, number, *each) + _describe_channels(channels[number - 1])
            for number, each in layers
        ]
        records[rule] = {
            "names": NAMES,
            "shares": list(parts),
            "whole": list(wholes),
            "channels": channels,
            "words": words,
        }
    return records


def mask_causes(nets: Nets) -> list[Tensor]:
    """Return masks of the units and examples without a gradient, one for each possible cause.

    There is one bool tensor for each layer with the op: (4, active members, n, units), in the order of
    ``NAMES``.
    """
    traces = [nets.current_pass.traces[number].op for number in nets.op_layers]
    return [_classify(op, _compute_peaks(nets, layer)) for layer, op in enumerate(traces)]


def _compute_peaks(nets: Nets, layer: int) -> Tensor:
    """Return the height of each net's backward rule in one layer, (active members,)."""
    low, high = compute_span(nets)
    members = range(len(nets.ensemble.active))
    return nets.x.new_tensor([compute_peak(nets, member, layer, low, high) for member in members])


def _classify(op: OpTrace, peaks: Tensor) -> Tensor:
    is_zero = op.gradient == 0
    is_above = is_zero & (op.upstream == 0)
    is_faint = ~is_zero & (
        op.gradient.abs() < _FAINT_SHARE * peaks.view(-1, *[1] * (op.x.dim() - 1)) * op.upstream.abs()
    )
    return torch.stack([~is_zero & ~is_faint, is_faint, is_zero & ~is_above, is_above])


def _compute_shares(causes: Tensor) -> tuple[Tensor, Tensor]:
    """Return the fraction of units and examples with each cause of a missing gradient, (members, 4).

    The second result counts only units for which the cause holds in every example.
    """
    by_unit = causes.sum(2, dtype=torch.int32) / causes.shape[2]
    return by_unit.flatten(2).mean(2).T, (by_unit == 1).float().flatten(2).mean(2).T


def _compute_channel_shares(nets: Nets, number: int, causes: Tensor) -> Tensor:
    """Return the fraction of each channel that gets no gradient, (active members, channels)."""
    layer, has_gradient = nets.ensemble.layers[number], causes[0]
    if not layer.channels:
        return causes.new_zeros(len(has_gradient), 0, dtype=torch.float32)
    by_unit: Tensor = has_gradient.sum(1, keepdim=True, dtype=torch.int32) / has_gradient.shape[1]
    return 1 - layer.group_by_channel(by_unit).mean(2)


def _describe_channels(shares: NDArray[float32]) -> str:
    """Return a sentence on the channels with the lowest and the highest fraction without a gradient.

    Returns "" if all fractions are equal.
    """
    if not len(shares) or format_percent(shares.min()) == format_percent(shares.max()):
        return ""
    lowest, highest = (
        f"{format_percent(shares[at])} (channel {at + 1})" for at in (shares.argmin(), shares.argmax())
    )
    return f" By channel, {lowest} to {highest} get none."


def _describe_layer(nets: Nets, layer: int, shares: Tensor, whole_shares: Tensor) -> str:
    """Return a sentence on how many units of a layer get no gradient, and why."""
    parts = []
    for name, share, whole_share in zip(
        NAMES[1:], shares.tolist()[1:], whole_shares.tolist()[1:], strict=True
    ):
        always = (
            f" ({format_percent(whole_share)} in units where this holds for every example)"
            if whole_share
            else ""
        )
        parts += [f"{format_percent(share)} {name}{always}"] if share else []
    return f"Layer {layer}, {nets.site.elements}: {', '.join(parts) or 'all get a gradient'}."


def draw(record: Record) -> list[Picture]:
    """Return a picture for each layer: a bar divided by cause, and the share of each channel below it."""
    layers = zip(*(record[name] for name in ("shares", "whole", "channels", "words")), strict=True)
    return [_draw_layer(*layer) for layer in layers]


def _draw_layer(
    shares: NDArray[float32], whole: NDArray[float32], channels: NDArray[float32], words: str
) -> Picture:
    always = [0.0, *whole.tolist()[1:]]  # 0 for units that always get a gradient
    parts = [
        [round(share, 4), round(part, 4), format_percent(share) if share >= _LABELLED_SHARE else ""]
        for share, part in zip(shares.tolist(), always, strict=True)
    ]
    strip = {"kind": "strip", "levels": channels, "name": "Channel", "meaning": "without a gradient"}
    return {
        "words": words,
        "blocks": [{"kind": "stack", "parts": parts}, *([strip] if len(channels) else [])],
    }


INSTRUMENT = Visible(
    key="causes",
    label="Without gradient",
    sentence="How many of the op's inputs (units × examples, or weights) get no gradient, and why: the rule "
    f"returns 0, less than {format_percent(_FAINT_SHARE)} of its peak, or nothing comes from above. Hatched: "
    "for every example.",
    limits="This does not show how much a net needs these inputs: a net with few of them may learn less. "
    "If each channel has learned its own value, the peak is that of the rule at their mean.",
    cost="0.94 ms for six rules with one hidden layer of 16 units",
    measure=measure,
    draw=draw,
    panel=Panel(
        order=7,
        rows=1.5,
        layered=True,
        legend=(
            *(Legend(name, f"cause-{cause}", {"cause": cause}) for cause, name in enumerate(NAMES)),
            Legend("for every example", "cause-2 every"),
        ),
        asks="unit",
    ),
)
