"""The instrument "causes": the fraction of the op's inputs that get no gradient, by cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from explorer.formula import format_percent
from explorer.training.instruments.base.instrument import Nets, Record, Visible
from explorer.training.instruments.base.pictures import Legend, Panel, Picture
from explorer.training.instruments.base.rule_shape import FAINT_SHARE, compute_peak, compute_span
from explorer.training.nets import OpTrace

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

_LABELLED_SHARE = 0.2  # a smaller part of the bar has no space for a label
NAMES = (
    "gradient",
    f"below {format_percent(FAINT_SHARE)} of its peak",
    "0 by the rule",
    "no gradient from above",
)


@torch.no_grad()
def measure(nets: Nets) -> dict[int, Record]:
    """Measure which fraction of the op's inputs gets a gradient, and why the others get none.

    Returns:
        A dict from the index of each rule to a dict with these keys. Lists have an entry per layer with the
            op, and fractions are means over seeds. A gradient below 1 % of the rule's peak counts as none.

        - ``names``: the names of the four cases: a gradient, and three causes of having none.
        - ``shares``: a list of the fraction of inputs in each case, with sum 1. Shape (4,), float32.
        - ``whole``: a list of the fraction of units in the same case for every example; 0 for an op on
          weights, which see no examples. Shape (4,), float32.
        - ``channels``: a list of the fraction of inputs without a gradient in each map or kernel; empty
          without channels. Shape (channels,), float32.
        - ``words``: a list of texts of a sentence or two.
    """
    causes = mask_causes(nets)
    channel_shares = []
    for number, (has_gradient, *_) in zip(nets.op_layers, causes, strict=True):
        layer = nets.ensemble.layers[number]
        if layer.channels:
            by_unit = has_gradient.sum(1, keepdim=True, dtype=torch.int32) / has_gradient.shape[1]
            channel_shares.append(1 - layer.group_by_channel(by_unit).mean(2))
        else:
            channel_shares.append(torch.zeros(len(has_gradient), 0))
    shares_by_layer = zip(*map(_compute_shares, causes), strict=True)
    shares, whole_shares = (torch.stack(each, 1).cpu().numpy() for each in shares_by_layer)
    if not nets.site.per_example:
        whole_shares[:] = 0
    records: dict[int, Record] = {}
    for rule, members in nets.ensemble.group_by_rule().items():
        parts, wholes = (each[members].mean(0) for each in (shares, whole_shares))
        channels = [each[members].mean(0).cpu().numpy() for each in channel_shares]
        layers = enumerate(zip(parts, wholes, channels, strict=True))
        records[rule] = {
            "names": NAMES,
            "shares": list(parts),
            "whole": list(wholes),
            "channels": channels,
            "words": [_describe_layer(nets, number, *each) for number, each in layers],
        }
    return records


def mask_causes(nets: Nets) -> list[Tensor]:
    """Return a mask of the op's inputs with each cause in ``NAMES``, for each layer with the op.

    Each input has exactly one cause. The masks are bool tensors of shape (4, active nets, n, units). For an
    op on weights, n counts the layer's inputs.
    """
    low, high = compute_span(nets)
    masks = []
    for layer, number in enumerate(nets.op_layers):
        peaks = [compute_peak(nets, member, layer, low, high) for member in range(len(nets.ensemble.active))]
        masks.append(_classify(nets.current_pass.traces[number].op, nets.x.new_tensor(peaks)))
    return masks


def _classify(op: OpTrace, peaks: Tensor) -> Tensor:
    """Return a mask of the op's inputs with each cause in ``NAMES``. Shape (4, nets, n, units).

    ``peaks`` is the largest absolute gradient of each net's rule for g = 1, at the mean of its learned
    values if each channel has one. Shape (nets,).
    """
    is_zero = op.gradient == 0
    is_above = is_zero & (op.upstream == 0)
    is_faint = ~is_zero & (
        op.gradient.abs() < FAINT_SHARE * peaks.view(-1, *[1] * (op.x.dim() - 1)) * op.upstream.abs()
    )
    return torch.stack([~is_zero & ~is_faint, is_faint, is_zero & ~is_above, is_above])


def _compute_shares(causes: Tensor) -> tuple[Tensor, Tensor]:
    """Return the fraction of inputs with each cause, and that of units with the same cause in every example.

    Both results have shape (nets, 4).
    """
    by_unit = causes.sum(2, dtype=torch.int32) / causes.shape[2]
    return by_unit.flatten(2).mean(2).T, (by_unit == 1).float().flatten(2).mean(2).T


def _describe_layer(
    nets: Nets,
    layer: int,
    shares: NDArray[float32],
    whole_shares: NDArray[float32],
    channels: NDArray[float32],
) -> str:
    """Return text on how many units of a layer get no gradient, and why.

    A second sentence names the channels with the lowest and the highest fraction if these differ.
    """
    parts = []
    rows = zip(NAMES[1:], shares.tolist()[1:], whole_shares.tolist()[1:], strict=True)
    for name, share, whole_share in rows:
        always = f" ({format_percent(whole_share)} in units where this holds for every example)"
        parts += [f"{format_percent(share)} {name}{always if whole_share else ''}"] if share else []
    name = nets.site.name_inputs(layer, len(nets.op_layers))
    words = f"{name[0].upper()}{name[1:]}: {', '.join(parts) or 'all get a gradient'}."
    if not len(channels) or format_percent(channels.min()) == format_percent(channels.max()):
        return words
    lowest, highest = (
        f"{format_percent(channels[at])} (channel {at + 1})" for at in (channels.argmin(), channels.argmax())
    )
    return f"{words} By channel, {lowest} to {highest} get none."


def draw(record: Record) -> list[Picture]:
    """Return a picture for each layer of a rule's ``record``: a bar that is divided by cause.

    Below the bar is the fraction without a gradient for each channel, if there are channels.
    """
    pictures = []
    for shares, whole, channels, words in zip(
        *(record[name] for name in ("shares", "whole", "channels", "words")), strict=True
    ):
        always = [0.0, *whole.tolist()[1:]]  # 0 for units that always get a gradient
        parts = [
            [round(share, 4), round(part, 4), format_percent(share) if share >= _LABELLED_SHARE else ""]
            for share, part in zip(shares.tolist(), always, strict=True)
        ]
        strip = {"kind": "strip", "levels": channels, "name": "Channel", "meaning": "without a gradient"}
        blocks = [{"kind": "stack", "parts": parts}, *([strip] if len(channels) else [])]
        pictures.append({"words": words, "blocks": blocks})
    return pictures


INSTRUMENT = Visible(
    key="causes",
    label="Without gradient",
    sentence="How many of the op's inputs (one per unit and example, or weights) get no gradient, and why: "
    f"the rule returns 0, less than {format_percent(FAINT_SHARE)} of its peak, or nothing comes from above. "
    "Hatched: for every example.",
    limits="It counts inputs; % in a lane sums sizes, and may be 90 % where half of the inputs get nothing. "
    "It does not show how much a net needs these inputs: a net with few of them may learn less.",
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
