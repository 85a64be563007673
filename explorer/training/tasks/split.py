"""The split of data into training, validation and held-out examples, which is the same for every seed."""

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

from explorer.training.tasks.task import Data, Draw, Part


def split_data(x: Tensor, y: Tensor, outputs: int, judged: int) -> Data:
    """Return data shuffled and split into training, validation and held-out examples.

    After shuffling, the last ``judged`` rows are held out, and as many before them are for validation.
    ``outputs`` is the number of classes, or of numbers to predict.
    """
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    x, y = x[order], y[order]
    train, validation, held_out = (
        Part(x[a:b], y[a:b])
        for a, b in ((None, -2 * judged), (-2 * judged, -judged), (-judged, None))
    )  # fmt: skip
    return Data(train, outputs, validation, held_out)


def cache_data(load: Callable[[], Data]) -> Callable[[Draw], Data]:
    """Return a function that loads a task's examples at its first call, then returns the same ones."""
    loaded = cache(load)
    return lambda _draw: loaded()
