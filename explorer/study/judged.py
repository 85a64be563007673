"""Judged rules, each at the rate that validation chose: scores by seed, and their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import Literal

from explorer.study.plan import Plan
from explorer.study.trial import Row, Values
from explorer.training.ranking import MOST_RULES, Ranking, decimals, rank
from explorer.training.runs import quantile

State = Literal["good", "dead", "mismatch"]


@dataclass(frozen=True)
class Judged:
    """A rule with some values of swept parameters, at its own rate.

    Attributes:
        rule: its key.
        values: of the swept parameters it has.
        lr: the rate with the highest mean validation; None where all diverged at every rate, or none ran.
        validation: that mean, a seed that diverged counted as 0; NaN without a rate.
        scores: on held-out data by seed, of those that stayed finite.
        seeds: the seeds that judged it so far, diverged or not.
        lost: how many of the others diverged; without a rate, how many runs did at all rates.
        passed: mean of what the rule makes of the upstream gradient; NaN where that is not known.
        agreed: at that rate, the mean shares of quantised weights that equal straight-through's, see ``Row``.
    """

    rule: str
    values: Values
    lr: float | None
    validation: float
    scores: dict[int, float]
    seeds: tuple[int, ...]
    lost: int
    passed: float
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
    """Every rule with every swept value, in their order."""
    rows = list(rows)
    made: dict[tuple[str, Values], list[Row]] = {}
    for row in rows:
        made.setdefault((row.trial.rule, row.trial.values), []).append(row)
    return [
        _judged(*variant, lr, made.get(variant, [])) if lr else _nothing(*variant, len(made.get(variant, [])))
        for variant, lr in plan.chosen(rows).items()
    ]


def counted(row: Row) -> float:
    """A validation score as rates are chosen by it: one that diverged is 0."""
    return 0.0 if row.diverged else row.validation


def by_rule(plan: Plan, variants: Iterable[Judged]) -> list[Judged]:
    """Each rule once, with the swept values that have the highest validation."""
    top: dict[str, Judged] = {}
    for each in variants:
        held = top.get(each.rule)
        if held is None or held.lr is None or each.validation > held.validation:
            top[each.rule] = each
    return [top[rule] for rule in plan.keys]


def decimals_of(plan: Plan, variants: Iterable[Judged]) -> int:
    """With how many decimals all scores of a study are written."""
    return decimals([[*each.scores.values()] for each in variants], plan.unit)


def ranking(
    plan: Plan, variants: Sequence[Judged], names: Sequence[str], digits: int | None = None
) -> Ranking | None:
    """The ranking of rules, or of swept values, by the seeds that have judged all of them so far.

    None without such a seed, and for more of them than ``rank`` compares. ``digits``: with how many decimals
    its means are written, where others stand beside them.
    """
    scores = paired(variants, names)
    if len(scores) > MOST_RULES or not any(scores.values()):
        return None
    result = rank(scores, plan.example, unit=plan.unit)
    return result if digits is None else replace(result, decimals=digits)


def paired(variants: Sequence[Judged], names: Sequence[str]) -> dict[str, list[float]]:
    """Scores by name, of the seeds that have judged all of them; NaN for one that diverged."""
    seeds = sorted(set.intersection(*(set(each.seeds) for each in variants))) if variants else []
    return {
        name: [each.scores.get(seed, math.nan) for seed in seeds]
        for name, each in zip(names, variants, strict=True)
    }


def states(plan: Plan, variants: Sequence[Judged]) -> list[State | None]:
    """The state of each swept value of a rule, by the ranking of all; None where seeds do not show it.

    "good" where it may be the best; otherwise "dead" where less of the gradient passes than with the
    highest, and "mismatch" where more does, that is also where the op is flat.
    """
    names = [str(each.values) for each in variants]
    ranked = ranking(plan, variants, names)
    if ranked is None or ranked.shared < 2 or not ranked.means:
        return [None] * len(variants)
    top = variants[names.index(ranked.best[0])]
    return [_state(ranked, name, each.passed, top.passed) for name, each in zip(names, variants, strict=True)]


def _state(ranked: Ranking, name: str, passed: float, most: float) -> State | None:
    if name in ranked.best:
        return "good"
    if name not in ranked.lower or passed == most:
        return None
    return "mismatch" if passed > most else "dead"


def _judged(rule: str, values: Values, lr: float, rows: Sequence[Row]) -> Judged:
    at_rate = [row for row in rows if row.trial.lr == lr]
    validation = [counted(row) for row in at_rate if row.trial.stage == "choose"]
    ended = [row for row in at_rate if row.trial.stage == "judge"]
    return Judged(
        rule,
        values,
        lr,
        fmean(validation) if validation else math.nan,
        {row.trial.seed: row.held_out for row in ended if not row.diverged},
        tuple(row.trial.seed for row in ended),
        sum(row.diverged for row in ended),
        _mean(row.passed for row in ended),
        agreed([row for row in at_rate if row.trial.stage == "choose"]),
    )


def agreed(rows: Sequence[Row]) -> tuple[float, float]:
    """Mean ``agree`` and ``agree_changed`` of rows, of those that have them."""
    return _mean(row.agree for row in rows), _mean(row.agree_changed for row in rows)


def _mean(values: Iterable[float | None]) -> float:
    """The mean of what is known and finite; NaN for nothing."""
    finite = [value for value in values if value is not None and math.isfinite(value)]
    return fmean(finite) if finite else math.nan


def _nothing(rule: str, values: Values, lost: int) -> Judged:
    return Judged(rule, values, None, math.nan, {}, (), lost, math.nan, (math.nan, math.nan))
