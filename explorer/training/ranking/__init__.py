"""Which of several rules may be best: the one statistical statement of every page, notebook and script."""

from explorer.training.ranking.ranking import Ranking, rank

__all__ = ["Ranking", "rank"]
