"""The loss along each rule's direction."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from explorer.training.instruments.base.instrument import Nets, Record, Requested
from explorer.training.numerics import norms

DISTANCES = np.geomspace(1e-3, 2.0, 21, dtype=np.float32)
"""Lengths of a step, in lengths of all weights together."""


@torch.no_grad()
def measured(nets: Nets) -> dict[int, Record | None]:
    """The true loss on the examples after one step against each rule's gradient, means over seeds.

    A distance is that of the weights; what learns of the op goes along, by its own rate. ``distances`` and
    ``losses``: (21,) float32; ``loss``: where it stands. A rule without any gradient stays where it is.
    """
    ensemble, now = nets.ensemble, nets.now
    size, length = _length(nets, "size", now.gradients), _length(nets, "length", ensemble.parameter_views)
    unit = torch.where(size > 0, length / size, 0)[:, None] * ensemble.rows.scale_learned(now.flat)
    losses = [_loss(nets, ensemble.parameters - float(distance) * unit) for distance in DISTANCES]
    by_member = torch.stack(losses, 1).cpu().numpy()
    return {
        rule: {
            "distances": DISTANCES,
            "losses": by_member[members].mean(0),
            "loss": float(now.losses[members].mean()),
        }
        for rule, members in ensemble.group_by_rule().items()
    }


def _length(nets: Nets, what: str, views: list[list[Tensor]]) -> Tensor:
    """The norm of the weights of all layers together, or of their gradients: (members going,)."""
    pairs = zip(nets.ensemble.layers, views, strict=True)
    return norms(torch.stack([getattr(layer, what)(each) for layer, each in pairs if layer.shapes], 1))


def _loss(nets: Nets, parameters: Tensor) -> Tensor:
    ensemble = nets.ensemble
    output = ensemble.compute_output(nets.x, ensemble.rows.make_views(parameters), ensemble.optimiser.steps)
    return nets.task.loss(output, nets.y)[0]


INSTRUMENT = Requested(
    key="line_search",
    label="Line search",
    sentence=(
        "The true loss on the first training examples along the step that each rule would take; parameters "
        "that learn go along at their own rate."
    ),
    limits="It does not predict which rule ends higher: one step now says little of the hundreds after it.",
    cost="14 ms for six rules with one hidden layer of 16 units",
    measure=measured,
)
