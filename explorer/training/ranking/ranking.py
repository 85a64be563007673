"""The ranking of backward rules by their scores."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import get_args

from explorer.training.ranking.comparison import Comparison, compare
from explorer.training.ranking.digits import Unit
from explorer.training.ranking.words import make_sentence


class Ranking(Comparison):
    """A comparison of backward rules, with its conclusion as a sentence."""

    @property
    def sentence(self) -> str:
        """The conclusion of the ranking as one sentence, including seeds that diverged."""
        return make_sentence(self)


def rank(scores: Mapping[str, Iterable[float]], example: float = 0.0, *, unit: Unit = "") -> Ranking:
    """Compare the scores of backward rules that were trained with the same seeds. Higher scores are better.

    A rule that lost half of its seeds or more is not compared.

    Args:
        scores: for each label, one score per seed, in the same order for all labels; NaN if a seed diverged.
        example: the contribution of one held-out example to a score, such as 1 / 360 for an accuracy. It is a
            lower bound of the scatter.
        unit: "%" if scores are fractions from 0 to 1, to be written in percent; "R²" if they are R².

    Raises:
        TypeError: if ``scores`` is not a mapping.
        ValueError: if there are no scores, rules have unequal numbers of seeds, or the unit is unknown.
    """
    if not isinstance(scores, Mapping):
        raise TypeError(f"rank takes a dict from each label to its scores, not {type(scores).__name__}")
    if unit not in (units := get_args(Unit)):
        raise ValueError(f"the unit of scores is one of {', '.join(map(repr, units))}, not {unit!r}")
    compared = compare(scores, example, unit)
    return Ranking(**{item.name: getattr(compared, item.name) for item in fields(compared)})
