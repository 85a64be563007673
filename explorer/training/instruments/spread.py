"""The spread of the gradient of one batch over draws, layer by layer."""

import torch
from torch import Tensor

from explorer.training.instruments.base.instrument import Nets, Record, Visible
from explorer.training.settings import Settings

DRAWS = 8


@torch.no_grad()
def measured(nets: Nets) -> dict[int, Record]:
    """The record of each rule that is going.

    ``spread``: (layers of weights,) float32, the standard deviation of single draws ÷ the length of the mean
    gradient, medians over the rule's seeds; infinite where the mean is lost among so few draws, NaN where
    there is no gradient.
    """
    looks = [_slopes(nets, again) for again in range(1, DRAWS + 1)]
    ratios = torch.stack([_ratio(torch.stack(layer)) for layer in zip(*looks, strict=True)], 1)
    return {
        rule: {"spread": ratios[members].median(0).values.cpu().numpy()}
        for rule, members in nets.ensemble.by_rule().items()
    }


def _slopes(nets: Nets, again: int) -> list[Tensor]:
    """The gradients of each layer of weights on the batch of the next step: (members, numbers)."""
    ensemble = nets.ensemble
    gradients = ensemble.look_at(*nets.batch, nets.task.loss, again).gradients
    pulls = zip(ensemble.layers, gradients, strict=True)
    return [layer.slopes(own).flatten(1) for layer, own in pulls if layer.shapes]


def _ratio(slopes: Tensor) -> Tensor:
    """Standard deviation ÷ length of the mean, of (draws, members, numbers), without their share in it."""
    mean = slopes.mean(0)
    variance = (slopes - mean).square().sum((0, 2)) / (DRAWS - 1)
    square = mean.square().sum(1) - variance / DRAWS
    return (variance / square.clamp(min=0)).sqrt()


def missing(settings: Settings) -> str:
    """Why there is no spread: nothing draws in any part of the run."""
    if any(entry.draws for entry in settings.entries):
        return ""
    return "Not measured here: nothing draws, so that the gradient of a batch has no spread."


INSTRUMENT = Visible(
    key="spread",
    label="Spread of draws",
    sentence=f"The next batch, drawn anew {DRAWS} times: how far its gradient lies from the mean over draws, "
    "in lengths of that mean, for each layer of weights.",
    limits=f"It says nothing of bias: a quiet rule may be sure of a wrong direction. {DRAWS} draws "
    "tell it roughly; ∞ says that the mean is lost among them.",
    cost="15 ms for six rules with one hidden layer of 16 units",
    measure=measured,
    missing=missing,
)
