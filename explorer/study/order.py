"""The order of rules in two studies: which pairs stand the other way round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isfinite

from explorer.formula import join_texts
from explorer.study.judged import Judged, paired
from explorer.study.plan import Plan
from explorer.training.ranking import MOST_RULES, differences_from

Pair = tuple[str, str]


@dataclass(frozen=True)
class Order:
    """Pairs of rules, controls left out, in two studies.

    Attributes:
        pairs: how many could be compared in both.
        changed: those of which another rule has the higher mean in the other study, by key.
        surely: those of them whose intervals leave out 0 in both studies, those from one rule to all others
            holding together at 95 % as in ``explorer.rank``.
        sentence: of both numbers.
    """

    pairs: int
    changed: tuple[Pair, ...]
    surely: tuple[Pair, ...]
    sentence: str


def order_of(plan: Plan, judged: Sequence[Judged], other: Plan, others: Sequence[Judged]) -> Order:
    """The order in one study against that in another; ValueError where they do not have the same rules."""
    own = [key for key in plan.keys if key not in plan.controls]
    if set(own) != {key for key in other.keys if key not in other.controls}:
        raise ValueError("the two studies have other rules: compare studies of the same rules")
    if len(own) > MOST_RULES:
        raise ValueError(f"at most {MOST_RULES} rules are compared")
    one, two = standings(plan, judged), standings(other, others)
    both = [pair for pair in combinations(own, 2) if pair in one and pair in two]
    changed = tuple(pair for pair in both if one[pair][0] * two[pair][0] < 0)
    surely = tuple(pair for pair in changed if one[pair][1] and two[pair][1])
    return Order(len(both), changed, surely, _sentence(plan, both, changed, surely))


def standings(plan: Plan, judged: Sequence[Judged]) -> dict[Pair, tuple[float, bool]]:
    """By pair of rules: how much lower the second is than the first, and whether its interval leaves out 0.

    Of more rules than ``rank`` compares there are none.
    """
    keys = [key for key in plan.keys if key not in plan.controls]
    if len(keys) > MOST_RULES:
        return {}
    ended = [each for each in judged if each.rule in keys and each.scores]
    scores = paired(ended, [each.rule for each in ended])
    means = {each.rule: each.mean for each in ended}
    found: dict[Pair, tuple[float, bool]] = {}
    for first in keys:
        reach = differences_from(scores, first, plan.example) if first in scores else {}
        for second, (least, most) in reach.items():
            sure = isfinite(most) and (least > 0 or most < 0)
            found[first, second] = (means[first] - means[second], sure)
    return found


def _sentence(plan: Plan, both: Sequence[Pair], changed: Sequence[Pair], surely: Sequence[Pair]) -> str:
    if not both:
        return "No pair of rules can be compared in both studies yet."
    sure = "none of them surely" if not surely else f"{len(surely)} of them surely"
    names = [" and ".join(plan.labels[key] for key in pair) for pair in surely]
    which = f": {join_texts(names)}" if names else ""
    pairs = f"{len(changed)} of {len(both)} pairs of rules change{'s' * (len(changed) == 1)} order"
    return f"{pairs}, {sure}{which}." if changed else f"None of {len(both)} pairs of rules changes order."
