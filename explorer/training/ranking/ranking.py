"""The public face of a ranking: scores in, what they show out."""

from collections.abc import Iterable, Mapping
from dataclasses import fields

from explorer.training.ranking.comparison import Comparison, compare
from explorer.training.ranking.digits import Unit
from explorer.training.ranking.words import sentence


class Ranking(Comparison):
    """A comparison of rules that can be said."""

    @property
    def sentence(self) -> str:
        """The ranking in words, with its uncertainty and with seeds that diverged; plain text."""
        return sentence(self)


def rank(scores: Mapping[str, Iterable[float]], example: float = 0.0, *, unit: Unit = "") -> Ranking:
    """Compare scores of rules that were trained with the same seeds, higher being better.

    ``scores``: label -> one score a seed, in the same order for all, NaN where a seed diverged. ``example``:
    what one held-out example is worth in the same unit, such as 1 / 360 of an accuracy; no scatter is taken
    to be smaller. ``unit``: "%" where scores are shares from 0 to 1 that are to be written in percent, "R²"
    where they are such. A rule that lost half of its seeds or more is not compared. Raises ValueError where
    nothing is given, or where rules have unequal numbers of seeds.
    """
    compared = compare(scores, example, unit)
    return Ranking(**{each.name: getattr(compared, each.name) for each in fields(compared)})
