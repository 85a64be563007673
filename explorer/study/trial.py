"""A training run of a study, its results, and the order in which runs are computed."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, Literal, NamedTuple

from explorer.study.limits import SEEDS_TOGETHER

Stage = Literal["choose", "judge"]
COLUMNS = ("rule", "lr", "seed", "stage", "steps", "loss", "validation", "held_out", "diverged", "passed")
AGREEMENT = ("agree", "agree_changed")  # further columns if the op is on weights
REFERENCE = "straight_through"


class Trial(NamedTuple):
    """One training run of a study, given by its stage, backward rule, learning rate and random seed.

    The stage is "choose" for a run that helps to choose its rule's rate, and "judge" for one that scores it.
    """

    stage: Stage
    rule: str
    lr: float
    seed: int


class Row(NamedTuple):
    """The results of one training run of a study.

    Attributes:
        trial: the stage, rule, learning rate and seed of the run.
        steps: the number of steps taken, fewer than planned if the run diverged.
        loss: the loss on the batch of the last step, before that step.
        validation, held_out: the final scores, as in ``Run``; NaN if the run diverged.
        diverged: whether a value became infinite or NaN.
        passed: the final sum of gradient sizes after the rule ÷ before it: 0 if the rule blocks everything, 1
            for straight-through; NaN if no gradient arrives.
        agree, agree_changed: in stage "choose", the share of quantised weights that equal straight-through's
            after the same steps at the same rate with the same seed: of all weights, and of the weights that
            straight-through changed. They are None in stage "judge", if the op is not on weights, if a
            parameter learns, and if one of the two runs diverged.
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
        """Return the values of the named columns, which are fields of the results or of the run."""
        return [getattr(self if column in self._fields else self.trial, column) for column in columns]

    @property
    def lane(self) -> Trial:
        """The former name of ``trial``, kept for older code."""
        return self.trial


def make_trials(
    stage: Stage, configurations: Sequence[tuple[str, float]], seeds: Sequence[int]
) -> list[Trial]:
    """Return the runs of a stage in the order of their computation.

    A few seeds of every rule and rate come first, then the next few seeds.
    """
    blocks = [seeds[start : start + SEEDS_TOGETHER] for start in range(0, len(seeds), SEEDS_TOGETHER)]
    return [
        Trial(stage, *configuration, seed)
        for block in blocks
        for configuration in configurations
        for seed in block
    ]


def find_best_rate(rates: Mapping[float, Sequence[Row]]) -> float | None:
    """Return the learning rate with the highest mean validation score, the lower of two equal ones.

    Returns None if all runs diverged.
    """
    means = {
        lr: fmean(0.0 if row.diverged else row.validation for row in rows)
        for lr, rows in sorted(rates.items())
        if not all(row.diverged for row in rows)
    }
    return max(means, key=means.__getitem__) if means else None
