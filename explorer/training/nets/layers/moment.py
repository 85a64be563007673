"""The training step and layer for which a stochastic op needs random numbers."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from explorer.gradient import find_float64_device, hash_uniform

EVALUATION_STEP = -1
"""The step of passes on held-out data: always the same, so that scores depend on the weights only."""

_MIN_U = 2.0**-24


class Moment(NamedTuple):
    """The training step and layer for which an op needs random numbers.

    Attributes:
        step: the step of the run, from 0, or ``EVALUATION_STEP``.
        layer: the index among the layers with the op, from 0.
        redraws: how often the random numbers of this step have been replaced by new ones.
        twin: whether the antithetic 1 − u is used instead of u.
        copies: the number of copies of all examples in a batch, each with the same u.
    """

    step: int = EVALUATION_STEP
    layer: int = 0
    redraws: int = 0
    twin: bool = False
    copies: int = 1

    @property
    def is_evaluation(self) -> bool:
        """Whether these random numbers are for evaluation on held-out data."""
        return self.step == EVALUATION_STEP

    def draw(self, seeds: Sequence[int], like: Tensor) -> Tensor:
        """Return a random number between 0 and 1, both excluded, for each element of ``like``.

        ``seeds`` are those of the nets. Nets with equal seeds get equal numbers.
        """
        count = like[0].numel() // self.copies
        device = find_float64_device(like.device)
        by_seed = {
            seed: hash_uniform(seed, self.step, count, self.layer, self.redraws, device).to(like)
            for seed in dict.fromkeys(seeds)
        }
        u = torch.stack([by_seed[seed] for seed in seeds]).repeat(1, self.copies).view(like.shape)
        u.clamp_(_MIN_U, 1 - _MIN_U)  # so that 1 − u is exact in float32
        return 1 - u if self.twin else u
