"""Which of several rules may be best: the one statistical statement of every page, notebook and script."""

from explorer.training.ranking.comparison import differences_from, shown_above
from explorer.training.ranking.digits import Unit, decimals, text, texts
from explorer.training.ranking.quantiles import MOST_RULES
from explorer.training.ranking.ranking import Ranking, rank
from explorer.training.ranking.words import lower_text

__all__ = [
    "MOST_RULES", "Ranking", "Unit", "decimals", "differences_from", "lower_text", "rank", "shown_above",
    "text", "texts",
]  # fmt: skip
