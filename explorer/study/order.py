"""Compare the order of backward rules, by their scores, in two studies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isfinite

from explorer.formula import join_texts
from explorer.study.outcomes import RuleOutcome, pair_scores
from explorer.study.plan import Plan
from explorer.training.ranking import MAX_RULES, differences_from

Pair = tuple[str, str]


@dataclass(frozen=True)
class Order:
    """The pairs of backward rules whose order differs between two studies.

    Controls are left out.

    Attributes:
        pairs: the number of pairs that can be compared in both studies.
        changed: the pairs of keys whose rules swap places: the rule with the higher mean differs between the
            studies.
        surely: the changed pairs whose intervals exclude 0 in both studies. Intervals from one rule to all
            others hold together at 95 %, as in ``explorer.rank``.
        sentence: both numbers as a sentence.
    """

    pairs: int
    changed: tuple[Pair, ...]
    surely: tuple[Pair, ...]
    sentence: str


def compare_orders(
    plan: Plan, judged: Sequence[RuleOutcome], other: Plan, other_judged: Sequence[RuleOutcome]
) -> Order:
    """Return the pairs of backward rules whose order by mean score differs between two studies.

    Raises ValueError if the studies have different rules, or more than ``explorer.rank`` compares.
    """
    rules = [key for key in plan.keys if key not in plan.controls]
    if set(rules) != {key for key in other.keys if key not in other.controls}:
        raise ValueError("the two studies have different rules: compare studies of the same rules")
    if len(rules) > MAX_RULES:
        raise ValueError(f"at most {MAX_RULES} rules can be compared: compare studies with fewer rules")
    first, second = compare_pairs(plan, judged), compare_pairs(other, other_judged)
    compared = [pair for pair in combinations(rules, 2) if pair in first and pair in second]
    changed = tuple(pair for pair in compared if first[pair][0] * second[pair][0] < 0)
    surely = tuple(pair for pair in changed if first[pair][1] and second[pair][1])
    return Order(len(compared), changed, surely, _make_sentence(plan, compared, changed, surely))


def compare_pairs(plan: Plan, judged: Sequence[RuleOutcome]) -> dict[Pair, tuple[float, bool]]:
    """Return how much lower the second rule's mean score is, for each ordered pair of rules with scores.

    The second value is whether the interval of the difference excludes 0. Controls are left out. The dict is
    empty for more rules than ``explorer.rank`` compares.
    """
    keys = [key for key in plan.keys if key not in plan.controls]
    if len(keys) > MAX_RULES:
        return {}
    ended = [outcome for outcome in judged if outcome.rule in keys and outcome.scores]
    scores = pair_scores(ended, [each.rule for each in ended])
    means = {each.rule: each.mean for each in ended}
    by_pair: dict[Pair, tuple[float, bool]] = {}
    for first in keys:
        reach = differences_from(scores, first, plan.example) if first in scores else {}
        for second, (lower, upper) in reach.items():
            sure = isfinite(upper) and (lower > 0 or upper < 0)
            by_pair[first, second] = (means[first] - means[second], sure)
    return by_pair


def _make_sentence(
    plan: Plan, compared: Sequence[Pair], changed: Sequence[Pair], surely: Sequence[Pair]
) -> str:
    if not compared:
        return "No pair of rules can be compared in both studies yet."
    sure = "none of them surely" if not surely else f"{len(surely)} of them surely"
    names = [" and ".join(plan.labels[key] for key in pair) for pair in surely]
    suffix = f": {join_texts(names)}" if names else ""
    pairs = f"{len(changed)} of {len(compared)} pairs of rules change{'s' * (len(changed) == 1)} order"
    return (
        f"{pairs}, {sure}{suffix}." if changed else f"None of {len(compared)} pairs of rules changes order."
    )
