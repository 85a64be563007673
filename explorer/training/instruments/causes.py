"""Causes of a missing gradient: the share of units and examples without one, by cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from explorer.formula import format_percent
from explorer.training.instruments.base.instrument import Nets, Record, Visible
from explorer.training.instruments.base.rule_shape import peak, span
from explorer.training.nets import OpTrace

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

_FAINT = 0.01  # of the peak of a rule's shape
NAMES = ("gradient", f"below {format_percent(_FAINT)} of its peak", "0 by the rule", "nothing from above")


@torch.no_grad()
def measured(nets: Nets) -> dict[int, Record]:
    """The record of each rule that is going, means over its seeds.

    ``shares``: (4,) float32 by layer with the op, in the order of ``names``, 1 together. ``whole``: the
    part of each in units with that cause for every example; 0 of weights, for they see no examples.
    ``channels``: (channels,) float32 by layer, the share of each map or kernel without a gradient; empty
    where there are none. ``words``: a sentence or two by layer.
    """
    causes = by_cause(nets)
    lacking = [_by_channel(nets, *each) for each in zip(nets.op_layers, causes, strict=True)]
    both = zip(*map(_shares, causes), strict=True)
    shares, whole = (torch.stack(each, 1).cpu().numpy() for each in both)
    if not nets.site.per_example:
        whole[:] = 0
    records: dict[int, Record] = {}
    for rule, members in nets.ensemble.group_by_rule().items():
        parts, wholes = (each[members].mean(0) for each in (shares, whole))
        layers = enumerate(zip(parts, wholes, strict=True), 1)
        channels = [each[members].mean(0).cpu().numpy() for each in lacking]
        words = [
            _words(nets, number, *each) + _channel_words(channels[number - 1]) for number, each in layers
        ]
        records[rule] = {
            "names": NAMES,
            "shares": list(parts),
            "whole": list(wholes),
            "channels": channels,
            "words": words,
        }
    return records


def by_cause(nets: Nets) -> list[Tensor]:
    """One-hot masks of ``NAMES`` by layer with the op: (4, members going, n, units) bool each."""
    traces = [nets.now.traces[number].op for number in nets.op_layers]
    return [_told_apart(op, _peaks(nets, layer)) for layer, op in enumerate(traces)]


def _peaks(nets: Nets, layer: int) -> Tensor:
    """The peak of each member's rule in a layer, (members going,)."""
    low, high = span(nets)
    members = range(len(nets.ensemble.active))
    return nets.x.new_tensor([peak(nets, member, layer, low, high) for member in members])


def _told_apart(op: OpTrace, peaks: Tensor) -> Tensor:
    none = op.gradient == 0
    above = none & (op.upstream == 0)
    faint = ~none & (op.gradient.abs() < _FAINT * peaks.view(-1, *[1] * (op.x.dim() - 1)) * op.upstream.abs())
    return torch.stack([~none & ~faint, faint, none & ~above, above])


def _shares(causes: Tensor) -> tuple[Tensor, Tensor]:
    """The shares of all, and of units with one cause for every example: (members, 4) each."""
    by_unit = causes.sum(2, dtype=torch.int32) / causes.shape[2]
    return by_unit.flatten(2).mean(2).T, (by_unit == 1).float().flatten(2).mean(2).T


def _by_channel(nets: Nets, number: int, causes: Tensor) -> Tensor:
    """The share without a gradient, (members going, channels)."""
    layer, has = nets.ensemble.layers[number], causes[0]
    if not layer.channels:
        return causes.new_zeros(len(has), 0, dtype=torch.float32)
    by_unit: Tensor = has.sum(1, keepdim=True, dtype=torch.int32) / has.shape[1]
    return 1 - layer.group_by_channel(by_unit).mean(2)


def _channel_words(shares: NDArray[float32]) -> str:
    """A sentence on the channels with the least and the most, where they differ."""
    if not len(shares) or format_percent(shares.min()) == format_percent(shares.max()):
        return ""
    least, most = (
        f"{format_percent(shares[at])} (channel {at + 1})" for at in (shares.argmin(), shares.argmax())
    )
    return f" By channel, from {least} to {most} get none."


def _words(nets: Nets, layer: int, shares: Tensor, whole: Tensor) -> str:
    """A sentence on one layer, without the units that get a gradient."""
    parts = []
    for name, share, every in zip(NAMES[1:], shares.tolist()[1:], whole.tolist()[1:], strict=True):
        always = f" ({format_percent(every)} in units where it is so for every example)" if every else ""
        parts += [f"{format_percent(share)} {name}{always}"] if share else []
    return f"Layer {layer}, {nets.site.elements}: {', '.join(parts) or 'all get a gradient'}."


INSTRUMENT = Visible(
    key="causes",
    label="Without gradient",
    sentence="How many of the op's inputs (units × examples, or weights) get no gradient, and why: the rule "
    f"returns 0, less than {format_percent(_FAINT)} of its peak, or nothing comes from above. Hatched: for "
    "every example.",
    limits="It does not say how much a net needs these inputs: a net with few of them may learn less. Where "
    "each channel has learned a value of its own, the peak is that of the rule with their mean.",
    cost="0.94 ms for six rules with one hidden layer of 16 units",
    measure=measured,
    legend=(*NAMES, "for every example"),
)
