"""The moment of a pass, from which it follows what an op that draws draws there."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from explorer.gradient import find_float64_device, hash_uniform

JUDGED = -1
"""The step of nets that are judged: always the same, so that a score moves by the weights alone."""

_LEAST = 2.0**-24


class Moment(NamedTuple):
    """When and where an op draws.

    Attributes:
        step: of the run, from 0, or ``JUDGED``.
        layer: of those with the op, from 0.
        again: how often the same step has been drawn anew.
        twin: whether with 1 − u in the place of u.
        copies: so many times all examples stand one after the other, each time with the same u.
    """

    step: int = JUDGED
    layer: int = 0
    again: int = 0
    twin: bool = False
    copies: int = 1

    @property
    def is_judging(self) -> bool:
        """Whether nets are judged."""
        return self.step == JUDGED

    def u(self, seeds: Sequence[int], like: Tensor) -> Tensor:
        """One u for each element, (members, …) as ``like``, strictly between 0 and 1; alike for one seed."""
        count = like[0].numel() // self.copies
        device = find_float64_device(like.device)
        known = {
            seed: hash_uniform(seed, self.step, count, self.layer, self.again, device).to(like)
            for seed in dict.fromkeys(seeds)
        }
        u = torch.stack([known[seed] for seed in seeds]).repeat(1, self.copies).view(like.shape)
        u.clamp_(_LEAST, 1 - _LEAST)  # so that float32 has 1 − u
        return 1 - u if self.twin else u
