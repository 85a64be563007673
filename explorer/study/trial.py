"""A trial of a study, its row, and the order of trials."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, Literal, NamedTuple

from explorer.study.limits import SEEDS_TOGETHER

Stage = Literal["choose", "judge"]
COLUMNS = ("rule", "lr", "seed", "stage", "steps", "loss", "validation", "held_out", "diverged", "passed")
AGREEMENT = ("agree", "agree_changed")  # columns more, where the op stands on weights
REFERENCE = "straight_through"


class Trial(NamedTuple):
    """One run of a study."""

    stage: Stage
    rule: str
    lr: float
    seed: int


class Row(NamedTuple):
    """The row of a trial: its results.

    Attributes:
        trial: that was run.
        steps: taken; fewer than were asked for where it diverged.
        loss: on the batch of the last step, before it.
        validation, held_out: scores at the end, as ``Run`` has them; NaN where it diverged.
        diverged: whether a value was no longer finite.
        passed: what the rule makes of the upstream gradient at the end, sum of sizes after ÷ before: 0
            where it blocks everything, 1 for straight-through; NaN where no gradient arrives.
        agree, agree_changed: in stage "choose", the share of quantised weights that equal straight-through's
            after the same steps at the same rate with the same seed; of all, and of those that
            straight-through changed. None in the other stage, where the op does not stand on weights or a
            parameter learns, and where one of both diverged.
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

    def cells(self, columns: Sequence[str]) -> list[Any]:
        """Its values by the names of columns, those of ``trial`` or of its own."""
        return [getattr(self if column in self._fields else self.trial, column) for column in columns]

    @property
    def lane(self) -> Trial:
        """``trial``, as it was called."""
        return self.trial


def in_blocks(stage: Stage, configurations: Sequence[tuple[str, float]], seeds: Sequence[int]) -> list[Trial]:
    """The trials of a stage, a few seeds of every configuration, and then the next seeds."""
    blocks = [seeds[start : start + SEEDS_TOGETHER] for start in range(0, len(seeds), SEEDS_TOGETHER)]
    return [
        Trial(stage, *configuration, seed)
        for block in blocks
        for configuration in configurations
        for seed in block
    ]


def best_rate(rates: Mapping[float, Sequence[Row]]) -> float | None:
    """The rate with the highest mean validation, the smallest of equal ones; None where all diverged."""
    means = {
        lr: fmean(0.0 if row.diverged else row.validation for row in rows)
        for lr, rows in sorted(rates.items())
        if not all(row.diverged for row in rows)
    }
    return max(means, key=means.__getitem__) if means else None
