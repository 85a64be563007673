"""Comparison of backward rules by their scores for the same seeds, with simultaneous 95 % intervals.

The test is Tukey's honest significant difference with seeds as blocks. Each pair's own scatter is a lower
bound of its error, so that a rule that scatters more than the others is not called lower too easily. A rule
is lower if its mean distance from the highest exceeds

    q(K, (n - 1)(L - 1)) · max(error of the pair, pooled error, one held-out example / √n)

with K rules, n seeds, and q the 95 % quantile of the studentised range over √2. The error is pooled over the
L rules that are not lower yet and do not scatter far more than the others: a dead or wild rule does not widen
the intervals of good ones. For two rules, it is the paired t test. Claims and intervals agree: an
interval that reaches 0 belongs to a rule that may be best.

Source: Tukey, "The problem of multiple comparisons" (1953). ``python -m tests.benchmarks ranking`` measures
how often it claims a difference between equal rules, and how often it detects a true one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf
from statistics import fmean, stdev, variance

from explorer.training.ranking.digits import Unit, count_decimals
from explorer.training.ranking.quantiles import compute_quantile

Interval = tuple[float, float]
_Pair = tuple[str, str]

_WILD = 5  # a rule whose error is so many times the pooled one of the others leaves the pool


@dataclass(frozen=True)
class Comparison:
    """The result of comparing backward rules: which may be best, and how much lower the others are.

    Attributes:
        means: the mean score of each compared rule, highest first.
        best: the labels of the rules that may be best, highest mean first.
        lower: for each rule shown to be lower, the least and greatest difference from the highest, above 0.
        differences: for each rule except the highest, the least and greatest amount by which it may be lower.
            The least is negative if the rule may be better; both are infinite with too few shared seeds.
        started: number of seeds with which each rule was started.
        shared: smallest number of finite seeds that the highest and another rule have in common.
        diverged: the number of diverged seeds, for each label that has any. A rule that lost half of its
            seeds or more is not compared.
        alike: whether all rules score the same with every seed.
        example: the contribution of one held-out example to a score; 0 if that has no meaning.
        unit: "%" for fractions from 0 to 1, written in percent; "R²"; or "" for other scores.
        decimals: number of decimals of all means, see ``digits``.
    """

    means: Mapping[str, float]
    best: tuple[str, ...]
    lower: Mapping[str, Interval]
    differences: Mapping[str, Interval]
    started: int
    shared: int
    diverged: Mapping[str, int]
    alike: bool
    example: float
    unit: Unit
    decimals: int


def compare(scores: Mapping[str, Iterable[float]], example: float, unit: Unit) -> Comparison:
    """Return a comparison of the scores of backward rules. Arguments and errors are those of ``rank``."""
    by_label = {label: [float(value) for value in values] for label, values in scores.items()}
    started = {len(values) for values in by_label.values()}
    if len(started) != 1 or started == {0}:
        raise ValueError(
            f"rank needs the same number of scores for each rule, one per seed, not {sorted(started)}: "
            "give NaN for a seed that diverged"
        )
    (seeds,) = started
    compared = _select_finite(by_label)
    means = {label: fmean(values.values()) for label, values in compared.items()}
    order = sorted(means, key=lambda label: means[label], reverse=True)
    differences, shared = _compute_differences(compared, order, example)
    lower = {label: reach for label, reach in differences.items() if reach[0] > 0}
    return Comparison(
        means={label: means[label] for label in order},
        best=tuple(label for label in order if label not in lower),
        lower=lower,
        differences=differences,
        started=seeds,
        shared=shared,
        diverged={
            label: n_lost
            for label, values in by_label.items()
            if (n_lost := seeds - len(_map_finite(values)))
        },
        alike=len({tuple(values.items()) for values in compared.values()}) == 1 < len(order),
        example=example,
        unit=unit,
        decimals=count_decimals(by_label.values(), unit),
    )


def differences_from(
    scores: Mapping[str, Iterable[float]], reference: str, example: float = 0.0
) -> dict[str, Interval]:
    """Return a dict from each other label to an interval for how much lower its score is than the reference.

    An interval is a pair of the least and the greatest difference. ``scores`` and ``example`` are those of
    ``rank``, and the reference is one of the labels. The intervals hold together at 95 %. They are infinite
    with fewer than two seeds in common. Labels that lost half of their seeds or more are left out. If the
    reference did, the result is empty.
    """
    finite = _select_finite({label: [*map(float, values)] for label, values in scores.items()})
    if reference not in finite:
        return {}
    order = [reference, *(label for label in finite if label != reference)]
    return _compute_differences(finite, order, example)[0]


def _select_finite(scores: Mapping[str, Sequence[float]]) -> dict[str, dict[int, float]]:
    """Return finite scores by label and seed, without labels that have lost half of their scores or more."""
    return {
        label: finite
        for label, values in scores.items()
        if 2 * len(finite := _map_finite(values)) > len(values)
    }


def _map_finite(values: Sequence[float]) -> dict[int, float]:
    return {seed: value for seed, value in enumerate(values) if math.isfinite(value)}


def _compute_differences(
    scores: Mapping[str, Mapping[int, float]], order: Sequence[str], example: float
) -> tuple[dict[str, Interval], int]:
    """Compute an interval for how much lower each label's score is than that of the first label.

    Args:
        scores: a dict from labels to dicts from seeds to finite scores.
        order: the labels, of which the first is the reference.
        example: the contribution of one held-out example to a score.

    Returns:
        A dict from the other labels to their intervals, and the smallest number of seeds that one of them
            shares with the first.
    """
    if len(order) < 2:
        return {}, len(scores[order[0]]) if order else 0
    first, *rest = order
    pairs = {
        (left, other): [
            score - scores[other][seed] for seed, score in scores[left].items() if seed in scores[other]
        ]
        for left, other in combinations(order, 2)
    }
    shared = min(len(pairs[first, label]) for label in rest)
    if shared < 2:
        return dict.fromkeys(rest, (-inf, inf)), shared
    half = _compute_halves(pairs, order, shared, example)
    leads = {label: fmean(pairs[first, label]) for label in rest}
    return {label: (leads[label] - half[label], leads[label] + half[label]) for label in rest}, shared


def _compute_halves(
    pairs: Mapping[_Pair, Sequence[float]], order: Sequence[str], shared: int, example: float
) -> dict[str, float]:
    """Return a dict from each label but the first to half the width of its interval.

    The width follows from the label's own error or the pooled one, whichever is larger. Rules that are seen
    to differ from the first, or scatter far more than the others, leave the pool, until no further rule does.
    """
    first, *rest = order
    errors = {
        label: max(stdev(pairs[first, label]), example) / math.sqrt(len(pairs[first, label]))
        for label in rest
    }
    variances = {pair: variance(values) for pair, values in pairs.items() if len(values) > 1}

    def pool(labels: Sequence[str]) -> float:
        return math.sqrt(fmean(variances.get(pair, 0.0) for pair in combinations(labels, 2)) / shared)

    half: dict[str, float] = {}
    left = [*order]
    while True:
        wide, pooled = compute_quantile(len(order), (shared - 1) * (len(left) - 1)), pool(left)
        half |= {label: wide * max(errors[label], pooled) for label in left[1:]}
        stay = [label for label in left[1:] if abs(fmean(pairs[first, label])) <= half[label]]
        if len(stay) > 1:
            wildest = max(stay, key=errors.__getitem__)
            others = [label for label in stay if label != wildest]
            if errors[wildest] > _WILD * max(pool([first, *others]), example / math.sqrt(shared)):
                stay = others
        if not stay or len(stay) == len(left) - 1:
            return half
        left = [first, *stay]
