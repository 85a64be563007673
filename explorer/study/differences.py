"""Distances of rules from the highest, seed by seed: the numbers of a ranking's sentence, to be drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from statistics import fmean
from typing import Literal

from explorer.study.judged import Judged, decimals_of, paired, ranking
from explorer.study.plan import Plan
from explorer.training.ranking import MOST_RULES, Ranking, differences_from, lower_text

Standing = Literal["highest", "level", "lower", "unknown"]


@dataclass(frozen=True)
class Difference:
    """How far one rule is from the highest, in the unit of the scores; below 0 where it is lower.

    Attributes:
        rule: its key.
        mean: of its scores with the seeds that have judged all rules.
        middle: the mean difference from the highest over the seeds that both share.
        low, high: the interval of it; those of the rules hold together at 95 %, and so do those of the
            controls. NaN without one.
        seeds: the difference with each seed.
        standing: "highest"; "level" where it may be best too; "lower" where the scores show that it is not;
            "unknown" with one seed. Of a control: by the interval.
        is_control: whether it was added as a control.
        words: the difference in words, such as "lower by 0.6 to 3.2 points".
    """

    rule: str
    mean: float
    middle: float
    low: float
    high: float
    seeds: Mapping[int, float]
    standing: Standing
    is_control: bool
    words: str


def differences(plan: Plan, rules: Sequence[Judged]) -> list[Difference]:
    """One for each rule that is compared, the highest mean first; then the controls, in the same order.

    Nothing before a seed has judged all of them, nor for more rules than ``rank`` compares.
    """
    ended = [each for each in rules if each.seeds]
    own = [each for each in ended if each.rule not in plan.controls]
    compared = ranking(plan, own, [each.rule for each in own], decimals_of(plan, rules)) if own else None
    if compared is None or not compared.means:
        return []
    best, *_ = compared.means
    by_key = {each.rule: each for each in ended}
    controls = [each for each in ended if each.rule in plan.controls]
    own_made = [_rule(compared, by_key[key], by_key[best]) for key in compared.means]
    return [*own_made, *_controls(plan, compared, by_key[best], controls)]


def _rule(compared: Ranking, each: Judged, best: Judged) -> Difference:
    if each is best:
        mean = compared.means[each.rule]
        return Difference(each.rule, mean, 0.0, 0.0, 0.0, {}, "highest", False, "the highest mean")
    return _made(compared, each, best, compared.differences[each.rule], is_control=False)


def _controls(plan: Plan, compared: Ranking, best: Judged, controls: Sequence[Judged]) -> list[Difference]:
    """The controls against the highest rule, whose intervals hold together."""
    together = [best, *controls]
    scores = paired(together, [each.rule for each in together])
    if len(together) > MOST_RULES or not any(scores.values()):
        return []
    reaches = differences_from(scores, best.rule, plan.example)
    made = [
        _made(compared, each, best, reaches[each.rule], is_control=True)
        for each in controls
        if each.rule in reaches
    ]
    return sorted(made, key=lambda each: -each.middle)


def _made(
    compared: Ranking, each: Judged, best: Judged, reach: tuple[float, float], *, is_control: bool
) -> Difference:
    least, most = reach
    seeds = {seed: score - best.scores[seed] for seed, score in each.scores.items() if seed in best.scores}
    known = isfinite(most)
    return Difference(
        rule=each.rule,
        mean=each.mean,
        middle=fmean(seeds.values()) if seeds else nan,
        low=-most if known else nan,
        high=-least if known else nan,
        seeds=seeds,
        standing="unknown" if not known else "lower" if least > 0 else "level",
        is_control=is_control,
        words=lower_text(compared, reach) if known else "no interval with so few seeds",
    )


def equal_to_controls(plan: Plan, judged: Sequence[Judged]) -> list[str]:
    """A sentence on each rule that has the very scores of a control, seed by seed: it does what that does."""
    ended = [each for each in judged if each.scores]
    rules, controls = (
        [each for each in ended if (each.rule in plan.controls) is which] for which in (False, True)
    )
    return [
        f"{plan.labels[rule.rule]} has exactly the scores of {plan.labels[control.rule]}, a control, "
        f"with {'its one seed' if len(rule.scores) == 1 else f'all {len(rule.scores)} seeds'}."
        for rule in rules
        for control in controls
        if rule.scores == control.scores
    ]
