"""A trial of a study, its row, and the order of trials."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, Literal, NamedTuple

from explorer.study.limits import SEEDS_TOGETHER

Stage = Literal["choose", "judge"]
COLUMNS = ("rule", "lr", "seed", "stage", "steps", "loss", "validation", "held_out", "diverged", "passed")
AGREEMENT = ("agree", "agree_changed")  # further columns if the op is on weights
REFERENCE = "straight_through"


class Trial(NamedTuple):
    """One run of a study."""

    stage: Stage
    rule: str
    lr: float
    seed: int


class Row(NamedTuple):
    """The results of a trial.

    Attributes:
        trial: the trial.
        steps: number of steps taken; fewer than planned if it diverged.
        loss: loss on the batch of the last step, before that step.
        validation, held_out: scores at the end, as in ``Run``; NaN if the trial diverged.
        diverged: whether a value became infinite or NaN.
        passed: sum of gradient sizes after the rule ÷ before it, at the end: 0 if the rule blocks all, 1
            for straight-through; NaN if no gradient arrives.
        agree, agree_changed: in stage "choose", the share of quantised weights that equal straight-through's
            after the same steps at the same rate with the same seed; of all weights, and of the weights that
            straight-through changed. None in the other stage, if the op is not on weights, if a parameter
            learns, or one of the two runs diverged.
    """

    trial: Trial
    steps: int
    loss: float
    validation: float
    held_out: float
    diverged: bool
    passed: float
    agree: float | None = None
    agree_changed: float | None = None

    def get_values(self, columns: Sequence[str]) -> list[Any]:
        """Return values by column names, which are fields of the row or of its trial."""
        return [getattr(self if column in self._fields else self.trial, column) for column in columns]

    @property
    def lane(self) -> Trial:
        """The former name of ``trial``."""
        return self.trial


def make_trials(
    stage: Stage, configurations: Sequence[tuple[str, float]], seeds: Sequence[int]
) -> list[Trial]:
    """Return the trials of a stage: a few seeds of every configuration, then the next seeds."""
    blocks = [seeds[start : start + SEEDS_TOGETHER] for start in range(0, len(seeds), SEEDS_TOGETHER)]
    return [
        Trial(stage, *configuration, seed)
        for block in blocks
        for configuration in configurations
        for seed in block
    ]


def find_best_rate(rates: Mapping[float, Sequence[Row]]) -> float | None:
    """Return the rate with the highest mean validation, the smallest of equal ones; None if all diverged."""
    means = {
        lr: fmean(0.0 if row.diverged else row.validation for row in rows)
        for lr, rows in sorted(rates.items())
        if not all(row.diverged for row in rows)
    }
    return max(means, key=means.__getitem__) if means else None
