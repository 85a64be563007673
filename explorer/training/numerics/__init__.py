"""Losses, metrics and optimisers that handle many nets in one call."""

from explorer.training.numerics.batching import (
    Product,
    compute_norms,
    is_aligned,
    is_step_aligned,
    make_aligned,
    multiply_members,
    multiply_singly,
    pad_count,
    sum_members,
)
from explorer.training.numerics.losses import Loss, Value, cross_entropy, mean_squared_error, squared_error
from explorer.training.numerics.metrics import METRICS, Metric, get_metric
from explorer.training.numerics.optimisers import OPTIMISERS, Optimiser, PlainDescent, Rates
