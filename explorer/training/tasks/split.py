"""Data that is the same for every seed, cut into three parts."""

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

from explorer.training.tasks.task import Data, Draw, Part


def parts(x: Tensor, y: Tensor, outputs: int, judged: int) -> Data:
    """Data shuffled alike and split: the last ``judged`` rows held out, as many before for validation."""
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    x, y = x[order], y[order]
    train, validation, held_out = (
        Part(x[a:b], y[a:b])
        for a, b in ((None, -2 * judged), (-2 * judged, -judged), (-judged, None))
    )  # fmt: skip
    return Data(train, outputs, validation, held_out)


def fixed(load: Callable[[], Data]) -> Callable[[Draw], Data]:
    """The data of a task that is the same whatever is drawn, loaded once."""
    loaded = cache(load)
    return lambda _draw: loaded()
