"""A ranking in one sentence, and what seeds that diverged do to it."""

from __future__ import annotations

from collections.abc import Iterable

from explorer.formula import join_texts
from explorer.training.ranking.comparison import Comparison
from explorer.training.ranking.digits import least_decimals, scaled, with_unit

ADVISED = 5  # seeds: from there on differences of two points in a hundred are seen nearly always
_MOST_OF_BOUNDS = 12  # decimals, for no bound that is claimed may read 0


def sentence(ranking: Comparison) -> str:
    """The sentence of a comparison, which claims no more than the scores show."""
    return " ".join([*_shown(ranking), *_lost(ranking)])


def lower_text(ranking: Comparison, reach: tuple[float, float]) -> str:
    """A difference from the highest in words: "lower by 0.6 to 3.2 points", "0.3 higher to 1.2 points lower".

    ``reach``: the least and the most by which something is lower, such as one of ``ranking.differences``; its
    numbers are written with the digits of the ranking's sentence.
    """
    return _Text(ranking).reach(reach)


class _Text:
    """The numbers of one ranking, all with the same digits."""

    def __init__(self, ranking: Comparison) -> None:
        self._ranking, unit = ranking, ranking.unit
        bounds = [least for least, _ in ranking.lower.values()]
        # No bound of a difference that is claimed may be written as 0.
        self._digits = max(ranking.decimals, least_decimals(bounds, unit, most=_MOST_OF_BOUNDS))

    def mean(self, label: str) -> str:
        unit = self._ranking.unit
        mean = scaled(self._ranking.means[label], unit)
        return with_unit(f"{mean:.{self._ranking.decimals}f}", unit)

    def named(self, labels: Iterable[str]) -> str:
        return join_texts([f"{label} ({self.mean(label)})" for label in labels])

    def below(self, label: str) -> str:
        return f"{label} ({self.mean(label)}) {self.reach(self._ranking.lower[label])}"

    def reach(self, reach: tuple[float, float]) -> str:
        least, most = reach
        if least > 0:
            return f"lower by {self._number(least)} to {self._number(most)}{self._points()}"
        if most < 0:
            return f"higher by {self._number(-most)} to {self._number(-least)}{self._points()}"
        return f"{self._number(-least)}{self._points()} higher to {self._number(most)} lower"

    def hidden(self) -> str:
        return self._number(max(most for _, most in self._ranking.differences.values())) + self._points()

    def _number(self, value: float) -> str:
        return f"{scaled(value, self._ranking.unit):.{self._digits}f}"

    def _points(self) -> str:
        return " points" if self._ranking.unit == "%" else ""


def _shown(ranking: Comparison) -> list[str]:
    order, text, where = [*ranking.means], _Text(ranking), _where(ranking)
    if not order:
        return []
    best = order[0]
    basis = f"means of {ranking.started} seeds; intervals hold together at 95 %"
    few = ["Two seeds show large differences only."] if ranking.shared == 2 else []
    if len(order) == 1:
        of = f"mean of {ranking.started} seeds" if ranking.started > 1 else "one seed"
        return [f"{best} is at {text.mean(best)} {where} ({of})."]
    if ranking.started == 1:
        unknown = f"How far another seed would change that is unknown: take {ADVISED}."
        return [f"One seed: {text.named(order)} {where}.", unknown]
    if ranking.shared < 2:
        return [f"Too few seeds are left that all rules share: {text.named(order)} {where}."]
    if ranking.alike:
        return [f"{join_texts(order)} score alike with every seed, at {text.mean(best)} {where}."]
    if not ranking.lower:
        hidden = f"a true difference of up to {text.hidden()} may be hidden"
        main = f"{ranking.started} seeds do not show which is best {where}: {text.named(order)}; {hidden}"
        return [f"{main} ({basis}).", *few]
    below = join_texts([text.below(label) for label in ranking.lower])
    if len(ranking.best) == 1:
        return [f"{best} is best {where}, at {text.mean(best)}; {below} ({basis}).", *few]
    return [f"{text.named(ranking.best)} may each be best {where}; {below} than {best} ({basis}).", *few]


def _where(ranking: Comparison) -> str:
    if ranking.unit == "%" and ranking.example:
        return f"on the {1 / ranking.example:,.0f} held-out examples"
    return "on held-out data, by R²" if ranking.unit == "R²" else "on held-out data"


def _lost(ranking: Comparison) -> list[str]:
    gone = {label: count for label, count in ranking.diverged.items() if label not in ranking.means}
    kept = {label: count for label, count in ranking.diverged.items() if label in ranking.means}
    said = [
        f"{count} of {ranking.started} seeds of {label} diverged and are left out, which flatters it."
        for label, count in kept.items()
    ]
    whole = [label for label, count in gone.items() if count == ranking.started]
    if whole:
        said.append(f"{join_texts(whole)} diverged and cannot be compared.")
    return said + [
        f"{label} diverged with {count} of {ranking.started} seeds and is not compared."
        for label, count in gone.items()
        if count < ranking.started
    ]
