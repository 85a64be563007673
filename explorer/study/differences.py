"""The differences, seed by seed, of each backward rule's score in a study from the best rule's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from statistics import fmean
from typing import Literal

from explorer.study.outcomes import RuleOutcome, choose_score_decimals, make_ranking, pair_scores
from explorer.study.plan import Plan
from explorer.training.ranking import MAX_RULES, Ranking, bound_reach, describe_lower, differences_from
from explorer.training.ranking.comparison import Interval

Standing = Literal["highest", "level", "lower", "unknown"]


@dataclass(frozen=True)
class Difference:
    """The difference between a rule's score and that of the best rule, negative if it is lower.

    Attributes:
        rule: the key of the rule.
        mean: the rule's mean score with the seeds for which all rules have a held-out score.
        middle: the mean difference from the best rule, over the seeds that both share.
        low, high: the interval of the difference; NaN if there is none, as for equal scores. The rules'
            intervals hold together at 95 %, and so do those of the controls.
        seeds: the difference with each seed.
        standing: "highest"; "level" if the rule may also be best; "lower" if the scores show that it is not;
            "unknown" with one seed. For a control, its own interval decides.
        is_control: whether the rule was added as a control.
        words: the difference as text, such as "lower by 0.6 to 3.2 points".
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


def find_differences(plan: Plan, rules: Sequence[RuleOutcome]) -> list[Difference]:
    """Return the difference of each rule's score from that of the best rule, highest mean first.

    The controls (rules to be beaten) follow, in the same order. The list is empty before all rules have a
    held-out score with one common seed, and for more rules than ``explorer.rank`` compares.
    """
    ended = [each for each in rules if each.seeds]
    competing = [each for each in ended if each.rule not in plan.controls]
    compared = (
        make_ranking(plan, competing, [each.rule for each in competing], choose_score_decimals(plan, rules))
        if competing
        else None
    )
    if compared is None or not compared.means:
        return []
    best, *_ = compared.means
    by_key = {each.rule: each for each in ended}
    controls = [each for each in ended if each.rule in plan.controls]
    mean, words = compared.means[best], f"the highest {'of the rules' if controls else 'mean'}"
    return [
        Difference(best, mean, 0.0, 0.0, 0.0, {}, "highest", False, words),
        *(
            _make_difference(compared, by_key[key], by_key[best], reach, is_control=False)
            for key, reach in compared.differences.items()
        ),
        *_compare_controls(plan, compared, by_key[best], controls),
    ]


def _compare_controls(
    plan: Plan, compared: Ranking, best: RuleOutcome, controls: Sequence[RuleOutcome]
) -> list[Difference]:
    """Return the difference of each control's score from that of the best rule."""
    reaches = compare_with_controls(plan, best, controls)
    results = [
        _make_difference(compared, each, best, reaches[each.rule], is_control=True)
        for each in controls
        if each.rule in reaches
    ]
    return sorted(results, key=lambda each: -each.middle)


def compare_with_controls(
    plan: Plan, rule: RuleOutcome, controls: Sequence[RuleOutcome]
) -> dict[str, Interval]:
    """Return a dict from each control to an interval for how much lower its score is than a rule's.

    The intervals of one rule hold together at 95 %, whatever the other rules are. They are infinite with
    fewer than two seeds in common. Controls that lost half of their seeds or more are left out. The dict is
    empty if the rule did, and for more controls than ``explorer.rank`` compares.
    """
    compared = [rule, *controls]
    scores = pair_scores(compared, [each.rule for each in compared])
    if len(compared) > MAX_RULES or not any(scores.values()):
        return {}
    return differences_from(scores, rule.rule, plan.example)


def _make_difference(
    compared: Ranking,
    outcome: RuleOutcome,
    best: RuleOutcome,
    reach: tuple[float, float],
    *,
    is_control: bool,
) -> Difference:
    lowest, highest = bound_reach(compared, reach)
    seeds = {seed: score - best.scores[seed] for seed, score in outcome.scores.items() if seed in best.scores}
    is_known, words = isfinite(reach[1]), "too few seeds for an interval"
    has_interval = is_known and outcome.scores != best.scores
    if is_known:
        equal = f"the same score on all {len(seeds)} seeds"
        words = describe_lower(compared, reach) if has_interval else equal
    return Difference(
        rule=outcome.rule,
        mean=outcome.mean,
        middle=fmean(seeds.values()) if seeds else nan,
        low=-highest if has_interval else nan,
        high=-lowest if has_interval else nan,
        seeds=seeds,
        standing="unknown" if not is_known else "lower" if lowest > 0 else "level",
        is_control=is_control,
        words=words,
    )


_TIED_WORDS = "all {} seeds. Their intervals may differ: the best rule is compared with controls separately."


def describe_control_ties(plan: Plan, judged: Sequence[RuleOutcome]) -> list[str]:
    """Return a sentence for each rule whose score equals a control's with every seed."""
    ended = [each for each in judged if each.scores]
    rules, controls = (
        [each for each in ended if (each.rule in plan.controls) is is_control] for is_control in (False, True)
    )
    return [
        f"{plan.labels[rule.rule]} scores exactly the same as {plan.labels[control.rule]}, a control, on "
        + ("its one seed." if len(rule.scores) == 1 else _TIED_WORDS.format(len(rule.scores)))
        for rule in rules
        for control in controls
        if rule.scores == control.scores
    ]
