"""The instrument "line_search": a net's loss after gradient steps of several lengths."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from explorer.training.instruments.base.instrument import Nets, Record, Requested
from explorer.training.numerics import compute_norms

DISTANCES = np.geomspace(1e-3, 2.0, 21, dtype=np.float32)
"""Lengths of a step, relative to the norm of all weights."""


@torch.no_grad()
def measure(nets: Nets) -> dict[int, Record | None]:
    """Measure the loss of the nets after gradient steps of several lengths, for each rule.

    Learned parameters of the op move too, at their own rate. A net without a gradient does not move.

    Returns:
        A dict from the index of each rule to a dict with these keys. Values are means over random seeds.

        - ``distances``: the lengths of the steps, relative to the norm of all weights. Shape (21,), float32.
        - ``losses``: the loss after a step of each length. Shape (21,), float32.
        - ``loss``: the current loss.
    """
    ensemble, now = nets.ensemble, nets.current_pass
    size, length = (
        _measure_length(nets, "size", now.gradients),
        _measure_length(nets, "length", ensemble.parameter_views),
    )
    unit = torch.where(size > 0, length / size, 0)[:, None] * ensemble.rows.scale_learned(now.flat)
    losses = []
    for distance in DISTANCES:
        views = ensemble.rows.make_views(ensemble.parameters - float(distance) * unit)
        output = ensemble.compute_output(nets.x, views, ensemble.optimiser.steps)
        losses.append(nets.task.loss(output, nets.y)[0])
    by_member = torch.stack(losses, 1).cpu().numpy()
    return {
        rule: {
            "distances": DISTANCES,
            "losses": by_member[members].mean(0),
            "loss": float(now.losses[members].mean()),
        }
        for rule, members in ensemble.group_by_rule().items()
    }


def _measure_length(nets: Nets, method: str, views: list[list[Tensor]]) -> Tensor:
    """Return the norm of all weights of each net, or of their gradient. Shape (active nets,).

    ``method`` is the name of the method of ``Layer`` that returns the norm in one layer: "length" for
    weights, "size" for gradients. ``views`` has the weights or gradients of each layer.
    """
    pairs = zip(nets.ensemble.layers, views, strict=True)
    return compute_norms(
        torch.stack([getattr(layer, method)(view) for layer, view in pairs if layer.shapes], 1)
    )


INSTRUMENT = Requested(
    key="line_search",
    label="Line search",
    sentence="The true loss on the first training examples, along the step that each rule would take. "
    "Learned parameters move too, at their own rate.",
    limits="This does not predict which rule ends higher: one step says little about the hundreds after it.",
    cost="14 ms for six rules with one hidden layer of 16 units",
    measure=measure,
)
