"""Which of several rules may be best: the one statistical statement of every page, notebook and script."""

from explorer.training.ranking.comparison import shown_above
from explorer.training.ranking.digits import Unit, decimals, text, texts
from explorer.training.ranking.quantiles import MOST_RULES
from explorer.training.ranking.ranking import Ranking, rank

__all__ = ["MOST_RULES", "Ranking", "Unit", "decimals", "rank", "shown_above", "text", "texts"]
