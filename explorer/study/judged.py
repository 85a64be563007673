"""Judged rules, each at the rate that validation chose: scores by seed, and their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev

from explorer.study.plan import Plan
from explorer.study.trial import Row
from explorer.training.ranking import MOST_RULES, Ranking, decimals, rank
from explorer.training.runs import quantile


@dataclass(frozen=True)
class Judged:
    """A rule at its own rate.

    Attributes:
        rule: its key.
        lr: the rate with the highest mean validation; None where all diverged at every rate, or none ran.
        validation: that mean, a seed that diverged counted as 0; NaN without a rate.
        scores: on held-out data by seed, of those that stayed finite.
        seeds: the seeds that judged it so far, diverged or not.
        lost: how many of the others diverged; without a rate, how many runs did at all rates.
        agreed: at that rate, the mean shares of quantised weights that equal straight-through's, see ``Row``.
    """

    rule: str
    lr: float | None
    validation: float
    scores: dict[int, float]
    seeds: tuple[int, ...]
    lost: int
    agreed: tuple[float, float]

    @property
    def mean(self) -> float:
        """Mean of the scores; NaN without any."""
        return fmean(self.scores.values()) if self.scores else math.nan

    @property
    def std(self) -> float:
        """Standard deviation of the scores; NaN with fewer than two."""
        return stdev(self.scores.values()) if len(self.scores) > 1 else math.nan

    @property
    def stderr(self) -> float:
        """Standard error of the mean; NaN with fewer than two scores."""
        return self.std / math.sqrt(len(self.scores)) if self.scores else math.nan

    @property
    def half(self) -> float:
        """Half of the 95 % interval of the mean; NaN with fewer than two scores."""
        return interval(list(self.scores.values()))


def interval(values: Sequence[float]) -> float:
    """Half of the 95 % interval of a mean, by Student's t; NaN with fewer than two values."""
    if len(values) < 2:
        return math.nan
    return quantile(len(values) - 1) * stdev(values) / math.sqrt(len(values))


def judged(plan: Plan, rows: Iterable[Row]) -> list[Judged]:
    """Return every rule, in the order of the plan."""
    rows = list(rows)
    made: dict[str, list[Row]] = {rule: [] for rule in plan.keys}
    for row in rows:
        made[row.trial.rule].append(row)
    return [
        _judged(rule, lr, made[rule]) if lr else _nothing(rule, len(made[rule]))
        for rule, lr in plan.chosen(rows).items()
    ]


def counted(row: Row) -> float:
    """A validation score as rates are chosen by it: one that diverged is 0."""
    return 0.0 if row.diverged else row.validation


def decimals_of(plan: Plan, rules: Iterable[Judged]) -> int:
    """With how many decimals all scores of a study are written."""
    return decimals([[*each.scores.values()] for each in rules], plan.unit)


def ranking(plan: Plan, rules: Sequence[Judged], names: Sequence[str], digits: int) -> Ranking | None:
    """Return the ranking of rules by the seeds that have judged all of them so far.

    None without such a seed, and for more of them than ``rank`` compares. ``digits``: the decimals of its
    means.
    """
    scores = paired(rules, names)
    if len(scores) > MOST_RULES or not any(scores.values()):
        return None
    return replace(rank(scores, plan.example, unit=plan.unit), decimals=digits)


def paired(rules: Sequence[Judged], names: Sequence[str]) -> dict[str, list[float]]:
    """Scores by name, of the seeds that have judged all of them; NaN for one that diverged."""
    seeds = sorted(set.intersection(*(set(each.seeds) for each in rules))) if rules else []
    return {
        name: [each.scores.get(seed, math.nan) for seed in seeds]
        for name, each in zip(names, rules, strict=True)
    }


def _judged(rule: str, lr: float, rows: Sequence[Row]) -> Judged:
    at_rate = [row for row in rows if row.trial.lr == lr]
    validation = [counted(row) for row in at_rate if row.trial.stage == "choose"]
    ended = [row for row in at_rate if row.trial.stage == "judge"]
    return Judged(
        rule,
        lr,
        fmean(validation) if validation else math.nan,
        {row.trial.seed: row.held_out for row in ended if not row.diverged},
        tuple(row.trial.seed for row in ended),
        sum(row.diverged for row in ended),
        agreed([row for row in at_rate if row.trial.stage == "choose"]),
    )


def agreed(rows: Sequence[Row]) -> tuple[float, float]:
    """Mean ``agree`` and ``agree_changed`` of rows, of those that have them."""
    return _mean(row.agree for row in rows), _mean(row.agree_changed for row in rows)


def _mean(values: Iterable[float | None]) -> float:
    """The mean of what is known and finite; NaN for nothing."""
    finite = [value for value in values if value is not None and math.isfinite(value)]
    return fmean(finite) if finite else math.nan


def _nothing(rule: str, lost: int) -> Judged:
    return Judged(rule, None, math.nan, {}, (), lost, (math.nan, math.nan))
