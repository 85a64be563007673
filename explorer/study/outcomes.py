"""The outcome of a study for each backward rule, at the learning rate chosen for it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev

from explorer.study.plan import Plan
from explorer.study.trial import Row
from explorer.training.ranking import MAX_RULES, Ranking, compute_quantile, count_decimals, rank


@dataclass(frozen=True)
class RuleOutcome:
    """The scores of a backward rule at the learning rate that validation data chose for it.

    Attributes:
        rule: the key of the rule.
        lr: the rate with the highest mean validation score; None if all runs diverged at every rate, or no
            run has ended.
        validation: the mean validation score at this rate, with a diverged seed counted as 0; NaN without a
            rate.
        scores: a dict from the seeds that stayed finite to their scores on held-out data.
        seeds: the seeds that have judged the rule so far, diverged or not.
        n_diverged: the number of judging seeds that diverged; without a rate, the number of diverged runs.
        agreement: the mean shares of quantised weights that equal straight-through's at this rate; see
            ``Row``.
    """

    rule: str
    lr: float | None
    validation: float
    scores: dict[int, float]
    seeds: tuple[int, ...]
    n_diverged: int
    agreement: tuple[float, float]

    @property
    def mean(self) -> float:
        """The mean of the rule's scores on held-out data, or NaN if there are none."""
        return fmean(self.scores.values()) if self.scores else math.nan

    @property
    def std(self) -> float:
        """The standard deviation of the rule's scores, or NaN if there are fewer than two."""
        return stdev(self.scores.values()) if len(self.scores) > 1 else math.nan

    @property
    def stderr(self) -> float:
        """The standard error of the rule's mean score, or NaN if there are fewer than two scores."""
        return self.std / math.sqrt(len(self.scores)) if self.scores else math.nan

    @property
    def half_width(self) -> float:
        """Half the width of the mean score's 95 % interval, by Student's t; NaN for fewer than two scores."""
        count = len(self.scores)
        return compute_quantile(2, count - 1) * self.stderr if count > 1 else math.nan


def judge_rules(plan: Plan, rows: Iterable[Row]) -> list[RuleOutcome]:
    """Return the scores of each backward rule at its chosen rate, in the order of the study's plan."""
    rows = list(rows)
    rows_by_rule: dict[str, list[Row]] = {rule: [] for rule in plan.keys}
    for row in rows:
        rows_by_rule[row.trial.rule].append(row)
    unknown = (math.nan, math.nan)
    return [
        _judge_rule(rule, lr, rows_by_rule[rule])
        if lr
        else RuleOutcome(rule, None, math.nan, {}, (), len(rows_by_rule[rule]), unknown)
        for rule, lr in plan.choose_rates(rows).items()
    ]


def score_validation(row: Row) -> float:
    """Return the validation score of a run, which is 0 if the run diverged."""
    return 0.0 if row.diverged else row.validation


def choose_score_decimals(plan: Plan, rules: Iterable[RuleOutcome]) -> int:
    """Return the number of decimals to print for all scores of a study."""
    return count_decimals([[*each.scores.values()] for each in rules], plan.unit)


def make_ranking(
    plan: Plan, rules: Sequence[RuleOutcome], names: Sequence[str], digits: int
) -> Ranking | None:
    """Return the ranking of backward rules by the seeds with which all of them have held-out scores.

    Returns None if there is no such seed, and for more rules than ``explorer.rank`` compares. ``names`` are
    the rules' names in the ranking, and ``digits`` is the number of decimals of the means.
    """
    scores = pair_scores(rules, names)
    if len(scores) > MAX_RULES or not any(scores.values()):
        return None
    return replace(rank(scores, plan.example, unit=plan.unit), decimals=digits)


def pair_scores(rules: Sequence[RuleOutcome], names: Sequence[str]) -> dict[str, list[float]]:
    """Return a dict from rule names to scores with those seeds with which all rules have scores.

    The score of a diverged seed is NaN.
    """
    seeds = sorted(set.intersection(*(set(each.seeds) for each in rules))) if rules else []
    return {
        name: [rule.scores.get(seed, math.nan) for seed in seeds]
        for name, rule in zip(names, rules, strict=True)
    }


def _judge_rule(rule: str, lr: float, rows: Sequence[Row]) -> RuleOutcome:
    at_rate = [row for row in rows if row.trial.lr == lr]
    validation = [score_validation(row) for row in at_rate if row.trial.stage == "choose"]
    ended = [row for row in at_rate if row.trial.stage == "judge"]
    return RuleOutcome(
        rule,
        lr,
        fmean(validation) if validation else math.nan,
        {row.trial.seed: row.held_out for row in ended if not row.diverged},
        tuple(row.trial.seed for row in ended),
        sum(row.diverged for row in ended),
        average_agreement([row for row in at_rate if row.trial.stage == "choose"]),
    )


def average_agreement(rows: Sequence[Row]) -> tuple[float, float]:
    """Return the means of ``agree`` and ``agree_changed`` over the runs that have them."""
    return _average_finite(row.agree for row in rows), _average_finite(row.agree_changed for row in rows)


def _average_finite(values: Iterable[float | None]) -> float:
    finite = [value for value in values if value is not None and math.isfinite(value)]
    return fmean(finite) if finite else math.nan
