"""The conclusion of a ranking of backward rules, as one sentence."""

from __future__ import annotations

import math
from collections.abc import Iterable

from explorer.formula import join_texts, with_minus
from explorer.training.ranking.comparison import Comparison
from explorer.training.ranking.digits import count_min_decimals, scale_score, with_unit

ADVISED_SEEDS = 5  # about nine of ten studies with so many seeds detect a difference of two points
ONE_SEED_ADVICE = f"One seed proves little: run {ADVISED_SEEDS} seeds."
_MAX_BOUND_DECIMALS = 12  # enough decimals so that no claimed bound is written as 0


def make_sentence(ranking: Comparison) -> str:
    """Return a sentence on a comparison of backward rules that claims no more than the scores show."""
    return " ".join([*_describe_means(ranking), *_describe_diverged(ranking)])


def describe_lower(ranking: Comparison, reach: tuple[float, float]) -> str:
    """Return words for how much lower a score is than the highest, such as "lower by 0.6 to 3.2 points".

    ``reach`` is the least and the greatest amount by which a rule is lower, such as one of
    ``ranking.differences``. The numbers have as many digits as in the ranking's sentence.
    """
    return _Formatter(ranking).describe_reach(reach)


def format_interval(ranking: Comparison, reach: tuple[float, float]) -> str:
    """Return the bounds of a reach, such as "−0.6 to 3.2": below 0 the rule is higher."""
    return " to ".join(
        with_minus(_Formatter(ranking).format_number(each)) for each in bound_reach(ranking, reach)
    )


def bound_reach(ranking: Comparison, reach: tuple[float, float]) -> tuple[float, float]:
    """Return a reach limited to what is possible: with it, an accuracy is from 0 to 1."""
    best = max(ranking.means.values(), default=math.nan)
    lowest, highest = (min(max(end, best - 1), best) for end in reach)
    return (lowest, highest) if ranking.unit == "%" else reach


class _Formatter:
    """A formatter of the numbers of one ranking, which all get the same number of decimals."""

    def __init__(self, ranking: Comparison) -> None:
        self._ranking, unit = ranking, ranking.unit
        bounds = [least for least, _ in ranking.lower.values()]
        # No bound of a claimed difference may be written as 0.
        self._digits = max(
            ranking.decimals, count_min_decimals(bounds, unit, max_decimals=_MAX_BOUND_DECIMALS)
        )

    def format_mean(self, label: str) -> str:
        unit = self._ranking.unit
        mean = scale_score(self._ranking.means[label], unit)
        return with_unit(with_minus(f"{mean:.{self._ranking.decimals}f}"), unit)

    def list_means(self, labels: Iterable[str]) -> str:
        return join_texts([f"{label} ({self.format_mean(label)})" for label in labels])

    def describe_reach(self, reach: tuple[float, float]) -> str:
        lowest, highest = bound_reach(self._ranking, reach)
        if lowest > 0:
            return f"lower by {self.format_number(lowest)} to {self.format_difference(highest)}"
        if highest < 0:
            return f"higher by {self.format_number(-highest)} to {self.format_difference(-lowest)}"
        return f"between {self.format_difference(-lowest)} higher and {self.format_number(highest)} lower"

    def format_difference(self, value: float) -> str:
        return self.format_number(value) + (" points" if self._ranking.unit == "%" else "")

    def format_number(self, value: float) -> str:
        return f"{scale_score(value, self._ranking.unit) + 0.0:.{self._digits}f}"  # no -0.0


def _describe_means(ranking: Comparison) -> list[str]:
    order, text = [*ranking.means], _Formatter(ranking)
    if not order:
        return []
    place = "on held-out data, by R²" if ranking.unit == "R²" else "on held-out data"
    if ranking.unit == "R²" and min(ranking.means.values()) < 0:
        place += " (below 0 is worse than always predicting the mean)"
    if ranking.unit == "%" and ranking.example:
        place = f"on the {1 / ranking.example:,.0f} held-out examples"
    best = order[0]
    basis = f"means of {ranking.started} seeds; 95 % interval{'s valid for all at once' * (len(order) > 2)}"
    caution = ["Two seeds reveal only large differences."] if ranking.shared == 2 else []
    if len(order) == 1:
        basis_text = f"mean of {ranking.started} seeds" if ranking.started > 1 else "one seed"
        return [f"{best} is at {text.format_mean(best)} {place} ({basis_text})."]
    if ranking.started == 1:
        return [f"One seed: {text.list_means(order)} {place}.", ONE_SEED_ADVICE]
    if ranking.shared < 2:
        return [f"Too few seeds are finite with every rule: {text.list_means(order)} {place}."]
    if ranking.alike:
        return [f"{join_texts(order)} score the same on each seed; mean {text.format_mean(best)} {place}."]
    if not ranking.lower:
        reaches = [bound_reach(ranking, reach) for reach in ranking.differences.values()]
        largest = text.format_difference(max(most for _, most in reaches))
        hidden_text = f"a true difference of up to {largest} cannot be ruled out"
        means = text.list_means(order)
        main = f"{ranking.started} seeds do not show which is best {place}: {means}; {hidden_text}"
        return [f"{main} ({basis}).", *caution]
    below = join_texts(
        [
            f"{label} ({text.format_mean(label)}) is {text.describe_reach(ranking.lower[label])}"
            for label in ranking.lower
        ]
    )
    if len(ranking.best) == 1:
        return [f"{best} is best {place}, at {text.format_mean(best)}; {below} ({basis}).", *caution]
    last = ranking.best[-1]
    higher = [label for label in ranking.lower if ranking.means[label] > ranking.means[last]]
    if higher:
        scatter = f"the differences of {join_texts(higher)} from {best} scatter less than those of {last}"
        caution = [f"Seed by seed, {scatter}.", *caution]
    return [
        f"{text.list_means(ranking.best)} may each be best {place}; {below} than {best} ({basis}).",
        *caution,
    ]


def _describe_diverged(ranking: Comparison) -> list[str]:
    excluded = {label: count for label, count in ranking.diverged.items() if label not in ranking.means}
    included = {label: count for label, count in ranking.diverged.items() if label in ranking.means}
    sentences = [
        f"{count} of {ranking.started} seeds of {label} diverged and are left out, which flatters the mean."
        for label, count in included.items()
    ]
    all_diverged = [label for label, count in excluded.items() if count == ranking.started]
    if all_diverged:
        sentences.append(f"{join_texts(all_diverged)} diverged and cannot be compared.")
    return sentences + [
        f"{label} diverged with {count} of {ranking.started} seeds and is not compared."
        for label, count in excluded.items()
        if count < ranking.started
    ]
