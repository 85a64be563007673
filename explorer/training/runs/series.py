"""The losses, gradient norms and scores of a training run, step by step."""

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
    """The loss and gradient norms at every step and the score at every evaluation of a run.

    Attributes:
        interval: the number of steps between two evaluations.
        numbers: the loss and the gradient norms of the first and the last layer of weights at the start of
            every step; NaN if a net did not take the step. Shape (3, steps, rules, seeds), float32.
        scores: the scores on held-out data; NaN for diverged nets. Shape (evaluations, rules, seeds),
            float32.
        score_steps: the number of steps taken before each evaluation. Shape (evaluations,).
        diverged: the step at which a net diverged, or −1. Shape (rules, seeds).
    """

    def __init__(self, steps: int, rules: int, seeds: int) -> None:
        self.interval = -(-steps // MAX_SCORES)
        self.score_steps = np.array([*range(0, steps, self.interval), steps], np.int64)
        self.numbers = np.full((3, steps, rules, seeds), np.nan, np.float32)
        self.scores = np.full((len(self.score_steps), rules, seeds), np.nan, np.float32)
        self.diverged = np.full((rules, seeds), -1, np.int64)

    def record(self, step: int, members: Sequence[Member], numbers: Numbers) -> None:
        """Store the losses and gradient norms of a step. Nets missing from ``members`` have diverged."""
        if len(members) == self.diverged.size:
            self.numbers[:, step] = numbers.reshape(3, *self.diverged.shape)
            return
        rules, seeds = _split_indices(members)
        if members:
            self.numbers[:, step, rules, seeds] = numbers
        has_left = self.diverged < 0
        has_left[rules, seeds] = False
        self.diverged[has_left] = step

    def record_scores(self, step: int, members: Sequence[Member], scores: Numbers) -> None:
        """Store the scores of the nets ``members`` after this many steps."""
        index = int(np.searchsorted(self.score_steps, step))
        self.scores[index][_split_indices(members)] = scores

    def is_due(self, step: int) -> bool:
        """Return whether the nets must be evaluated after this many steps."""
        return step % self.interval == 0 or step == self.numbers.shape[1]

    def count_steps(self, rule: int, step: int) -> int:
        """Return how many of the first ``step`` steps at least one net of a backward rule has taken."""
        left = self.diverged[rule]
        return int(left.max()) if (left >= 0).all() else step

    def state(self, step: int) -> dict[str, Any]:
        """Return a copy of all stored values, up to this many steps."""
        count = int((self.score_steps <= step).sum())
        parts = (self.numbers[:, :step], self.scores[:count], self.diverged)
        numbers, scores, diverged = (torch.from_numpy(values.copy()) for values in parts)
        return {"numbers": numbers, "scores": scores, "diverged": diverged}

    def state_before(self, step: int) -> dict[str, Any]:
        """Return a copy of all stored values before a step, without the divergences of that step."""
        state = self.state(step)
        state["diverged"][state["diverged"] >= step] = -1
        return state

    def load(self, state: Mapping[str, torch.Tensor]) -> None:
        """Restore the stored values from a return value of ``state``."""
        numbers, scores = state["numbers"].numpy(), state["scores"].numpy()
        self.numbers[:], self.scores[:] = np.nan, np.nan
        self.numbers[:, : numbers.shape[1]], self.scores[: len(scores)] = numbers, scores
        self.diverged[:] = state["diverged"].numpy()


def compute_mean(values: Numbers) -> Numbers:
    """Return the mean along the last axis of the values that are not NaN, or NaN if there are none."""
    return values[..., 0] if values.shape[-1] == 1 else _compute_mean_and_count(values)[0]


def compute_deviation(values: Numbers) -> Numbers:
    """Return the standard deviation along the last axis of the values that are not NaN.

    It is NaN for fewer than two.
    """
    if values.shape[-1] == 1:
        return np.full(values.shape[:-1], np.nan, np.float32)
    middle, count = _compute_mean_and_count(values)
    squares = np.where(np.isnan(values), 0, values - middle[..., None]).astype(np.float64) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = squares.sum(-1) / (count - 1)
    return np.sqrt(np.where(count > 1, variance, np.nan)).astype(np.float32)


def find_bounds(values: Numbers) -> tuple[Numbers, Numbers]:
    """Return the lowest and the highest value along the last axis, without NaN, or NaN for a single seed."""
    if values.shape[-1] == 1:
        return (np.full(values.shape[:-1], np.nan, np.float32),) * 2
    return np.fmin.reduce(values, -1), np.fmax.reduce(values, -1)


def expand_steps(values: Numbers, steps: Iterable[int], count: int) -> Numbers:
    """Return values with an entry for each of ``count`` steps, NaN for steps at which nothing was recorded.

    ``values`` has shape (…, points, rules, seeds), and ``steps`` the step of each point. The result has shape
    (…, rules, seeds, count).
    """
    pairs = [(index, step) for index, step in enumerate(steps) if step < count and index < values.shape[-3]]
    result = np.full((*values.shape[:-3], *values.shape[-2:], count), np.nan, np.float32)
    indices, targets = ([pair[end] for pair in pairs] for end in (0, 1))
    result[..., targets] = np.moveaxis(values[..., indices, :, :], -3, -1)
    return result


def select_points(count: int) -> NDArray[int64]:
    """Return at most ``MAX_POINTS`` evenly spaced indices below ``count``, with the first and the last."""
    stride = max(1, -(-(count - 1) // (MAX_POINTS - 1)))
    return np.append(np.arange(0, count - 1, stride), [count - 1] * (count > 0)).astype(np.int64)


def _compute_mean_and_count(values: Numbers) -> tuple[Numbers, NDArray[int64]]:
    """Return means along the last axis that ignore NaN, and the number of values in each mean."""
    absent = np.isnan(values)
    count = (~absent).sum(-1)
    total = np.where(absent, 0, values).sum(-1, dtype=np.float64)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan).astype(np.float32), count


def _split_indices(members: Sequence[Member]) -> tuple[NDArray[int64], NDArray[int64]]:
    indices = np.array(members, np.int64).reshape(-1, 2)
    return indices[:, 0], indices[:, 1]
