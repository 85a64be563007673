"""The series of a run: losses, norms and scores of its members, and the part of them in a snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from explorer.training.limits import MAX_POINTS, MAX_SCORES
from explorer.training.nets import Member

if TYPE_CHECKING:
    from numpy import float32, int64
    from numpy.typing import NDArray

    Numbers = NDArray[float32]


class Series:
    """Numbers of every step and of every time the nets were judged, by rule and seed.

    Attributes:
        every: steps between two judgements.
        numbers: (3, steps, rules, seeds) float32, loss and norms of the first and last layer of weights at
            the start of every step; NaN where a member did not take it.
        scores: (judged, rules, seeds) float32 on held-out data, NaN likewise.
        score_steps: (judged,) the steps taken before each.
        diverged: (rules, seeds) the step at which a member left, or −1.
    """

    def __init__(self, steps: int, rules: int, seeds: int) -> None:
        self.every = -(-steps // MAX_SCORES)
        self.score_steps = np.array([*range(0, steps, self.every), steps], np.int64)
        self.numbers = np.full((3, steps, rules, seeds), np.nan, np.float32)
        self.scores = np.full((len(self.score_steps), rules, seeds), np.nan, np.float32)
        self.diverged = np.full((rules, seeds), -1, np.int64)

    def record(self, step: int, members: Sequence[Member], numbers: Numbers) -> None:
        """Note the numbers of a step, (3, members); members that were there before and are not have left."""
        if len(members) == self.diverged.size:
            self.numbers[:, step] = numbers.reshape(3, *self.diverged.shape)
            return
        rules, seeds = _indices(members)
        if members:
            self.numbers[:, step, rules, seeds] = numbers
        gone = self.diverged < 0
        gone[rules, seeds] = False
        self.diverged[gone] = step

    def judged(self, step: int, members: Sequence[Member], scores: Numbers) -> None:
        """Note the scores of members (members,) after so many steps."""
        index = int(np.searchsorted(self.score_steps, step))
        self.scores[index][_indices(members)] = scores

    def is_due(self, step: int) -> bool:
        """Whether the nets are to be judged after so many steps."""
        return step % self.every == 0 or step == self.numbers.shape[1]

    def taken(self, rule: int, step: int) -> int:
        """The number of steps, of so many, that any member of a rule took."""
        left = self.diverged[rule]
        return int(left.max()) if (left >= 0).all() else step

    def state(self, step: int) -> dict[str, Any]:
        """A copy of the series after so many steps."""
        count = int((self.score_steps <= step).sum())
        parts = (self.numbers[:, :step], self.scores[:count], self.diverged)
        numbers, scores, diverged = (torch.from_numpy(values.copy()) for values in parts)
        return {"numbers": numbers, "scores": scores, "diverged": diverged}

    def state_before(self, step: int) -> dict[str, Any]:
        """A copy of the series as it was before a step, whatever came of that."""
        state = self.state(step)
        state["diverged"][state["diverged"] >= step] = -1
        return state

    def load(self, state: Mapping[str, torch.Tensor]) -> None:
        """Continue from the ``state`` of another series."""
        numbers, scores = state["numbers"].numpy(), state["scores"].numpy()
        self.numbers[:], self.scores[:] = np.nan, np.nan
        self.numbers[:, : numbers.shape[1]], self.scores[: len(scores)] = numbers, scores
        self.diverged[:] = state["diverged"].numpy()


def mean(values: Numbers) -> Numbers:
    """The mean over the last axis of the members that were there; NaN where none was."""
    return values[..., 0] if values.shape[-1] == 1 else _mean(values)[0]


def deviation(values: Numbers) -> Numbers:
    """The standard deviation over the last axis, of the members there; NaN where fewer than two were."""
    if values.shape[-1] == 1:
        return np.full(values.shape[:-1], np.nan, np.float32)
    middle, count = _mean(values)
    squares = np.where(np.isnan(values), 0, values - middle[..., None]).astype(np.float64) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = squares.sum(-1) / (count - 1)
    return np.sqrt(np.where(count > 1, variance, np.nan)).astype(np.float32)


def of_steps(values: Numbers, steps: Iterable[int], count: int) -> Numbers:
    """Values (…, steps, rules, seeds) of some steps as (…, rules, seeds, count) of all; NaN elsewhere."""
    known = [(index, step) for index, step in enumerate(steps) if step < count and index < values.shape[-3]]
    result = np.full((*values.shape[:-3], *values.shape[-2:], count), np.nan, np.float32)
    indices, at = ([pair[end] for pair in known] for end in (0, 1))
    result[..., at] = np.moveaxis(values[..., indices, :, :], -3, -1)
    return result


def thinned(count: int) -> NDArray[int64]:
    """The indices of at most ``MAX_POINTS`` of so many values, evenly from the first, and the latest."""
    stride = max(1, -(-(count - 1) // (MAX_POINTS - 1)))
    return np.append(np.arange(0, count - 1, stride), [count - 1] * (count > 0)).astype(np.int64)


def _mean(values: Numbers) -> tuple[Numbers, NDArray[int64]]:
    absent = np.isnan(values)
    count = (~absent).sum(-1)
    total = np.where(absent, 0, values).sum(-1, dtype=np.float64)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan).astype(np.float32), count


def _indices(members: Sequence[Member]) -> tuple[NDArray[int64], NDArray[int64]]:
    indices = np.array(members, np.int64).reshape(-1, 2)
    return indices[:, 0], indices[:, 1]
