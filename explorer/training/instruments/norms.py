"""The instrument "norms": the norm of the gradient in each layer of a net."""

import numpy as np
import torch

from explorer.training.instruments.base.instrument import Nets, Record, Visible
from explorer.training.instruments.base.pictures import Panel, Picture, describe_bars, draw_log_bars


@torch.no_grad()
def measure(nets: Nets) -> dict[int, Record]:
    """Measure the norm of the gradient in each layer on the next batch.

    Returns a dict from the index of each rule to a dict with ``norms``, means over seeds, of shape (layers of
    weights,), float32, and ``most``, the largest finite norm of all nets.
    """
    batch_pass = nets.ensemble.run_pass(*nets.batch, nets.task.loss)
    pairs = zip(nets.ensemble.layers, batch_pass.gradients, strict=True)
    sizes = torch.stack([layer.size(gradients) for layer, gradients in pairs if layer.shapes], 1)
    by_member, most = sizes.cpu().numpy(), float(sizes.nan_to_num(0, 0, 0).max())
    return {
        rule: {"norms": np.mean(by_member[members], 0), "most": most}
        for rule, members in nets.ensemble.group_by_rule().items()
    }


def draw(record: Record) -> list[Picture]:
    """Return a picture of a rule's ``record``: a bar for the norm of the gradient in each layer."""
    bars = draw_log_bars(record["norms"], -6, max(3, int(np.ceil(np.log10(record["most"] or 1)))))
    return [{"words": describe_bars(bars), "blocks": [bars]}]


INSTRUMENT = Visible(
    key="norms",
    label="Gradient norms",
    sentence="The length of each layer's weight gradient on the next batch, on a log scale from 0.000001.",
    limits="This does not show direction: a long gradient may point the wrong way. Adam evens out lengths.",
    cost="0.09 ms for six rules with one hidden layer of 16 units",
    measure=measure,
    draw=draw,
    panel=Panel(order=8, rows=2.5, opens=False),
)
