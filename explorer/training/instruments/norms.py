"""The norm of the gradient in each layer of a net."""

import numpy as np
import torch

from explorer.training.instruments.base.instrument import Nets, Record, Visible


@torch.no_grad()
def measure(nets: Nets) -> dict[int, Record]:
    """Measure the norm of the gradient in each layer on the next batch, for each backward rule.

    ``norms``: (layers of weights,) float32, means over seeds.
    """
    batch_pass = nets.ensemble.run_pass(*nets.batch, nets.task.loss)
    pulls = zip(nets.ensemble.layers, batch_pass.gradients, strict=True)
    sizes = torch.stack([layer.size(gradients) for layer, gradients in pulls if layer.shapes], 1)
    by_member = sizes.cpu().numpy()
    return {
        rule: {"norms": np.mean(by_member[members], 0)}
        for rule, members in nets.ensemble.group_by_rule().items()
    }


INSTRUMENT = Visible(
    key="norms",
    label="Gradient norms",
    sentence="The length of each layer's weight gradient on the next batch, first layer to last.",
    limits="This does not show direction: a long gradient may point the wrong way. Adam divides by its size.",
    cost="0.09 ms for six rules with one hidden layer of 16 units",
    measure=measure,
)
