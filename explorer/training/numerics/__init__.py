"""Losses, metrics and optimisers of many nets at once, and which of them may share one call of torch."""

from explorer.training.numerics.batching import (
    Product,
    aligned,
    batched,
    even,
    norms,
    one_by_one,
    padded,
    roomy,
    sums,
)
from explorer.training.numerics.losses import Loss, Value, cross_entropy, mean_squared_error, squared_error
from explorer.training.numerics.metrics import METRICS, Metric, metric_of
from explorer.training.numerics.optimisers import OPTIMISERS, Optimiser, Rates, Written

__all__ = [
    "METRICS", "OPTIMISERS", "Loss", "Metric", "Optimiser", "Product", "Rates", "Value", "Written",
    "aligned", "batched", "cross_entropy", "even", "mean_squared_error", "metric_of", "norms",
    "one_by_one", "padded", "roomy", "squared_error", "sums",
]  # fmt: skip
