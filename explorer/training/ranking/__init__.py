"""Rankings: which of several backward rules may be best, by their scores with several random seeds."""

from explorer.training.ranking.comparison import differences_from
from explorer.training.ranking.digits import Unit, count_decimals, format_score, format_scores
from explorer.training.ranking.quantiles import MAX_RULES, compute_quantile
from explorer.training.ranking.ranking import Ranking, rank
from explorer.training.ranking.words import ONE_SEED_ADVICE, bound_reach, describe_lower, format_interval
