"""The mean and standard deviation of stochastic ops and backward rules over their random numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.catalogue import Loss, Op, Rule
from explorer.curves.expectation import (
    Moments,
    NoMeanError,
    StochasticPair,
    compute_unbiased_gradient,
    find_corners,
)
from explorer.curves.sampled import FORWARD, KINK, CurveValues, Floats
from explorer.formula import Formula
from explorer.formula.reference import REFERENCE_POINTS, make_even_points


@dataclass(frozen=True, eq=False)
class StochasticEvaluator:
    """An evaluator of a stochastic op or stochastic backward rules, averaged over their random numbers.

    ``g`` multiplies the loss. Reductions such as ``mean(…)`` are taken over the range ``mean_range``.
    """

    op: Op
    loss: Loss
    settings: Mapping[str, float]
    g: float
    mean_range: tuple[float, float]

    def evaluate(self, rule: Rule, x: Floats) -> tuple[Floats, Floats]:
        """Return the means over random numbers of the op's output and of a rule's gradient at each x."""
        pair, x64 = self._make_pair(rule), _to_float64(x)
        return _cast(pair.forward(x64).mean, x.dtype), _cast(_evaluate_gradient(pair, x64).mean, x.dtype)

    def evaluate_contribution(self, rule: Rule, formula: Formula, x: Floats) -> Floats:
        """Return the mean of ``formula``, an element's contribution to a parameter's gradient. Shape (n,)."""
        return _cast(self._make_pair(rule).compute_contribution(_to_float64(x), formula).mean, x.dtype)

    def evaluate_curves(
        self, rules: Sequence[Rule], x: Floats, marks: NDArray[np.int8] | None
    ) -> CurveValues:
        """Return the means and standard deviations of op and gradients at x, and the unbiased gradient.

        ``marks`` identifies the x that are kinks, or is None if the op has too many kinks to list.
        """
        pairs, x64 = {rule.key: self._make_pair(rule) for rule in rules}, _to_float64(x)
        any_pair = pairs[rules[0].key]
        moments = {FORWARD: any_pair.forward(x64)} | {
            key: _evaluate_gradient(pair, x64) for key, pair in pairs.items()
        }
        means = {key: _cast(moment.mean, x.dtype) for key, moment in moments.items()}
        spreads = {key: _cast(moment.spread, x.dtype) for key, moment in moments.items()}
        try:
            corners = find_corners(any_pair, x64) if marks is None else x64[torch.from_numpy(marks == KINK)]
            unbiased = _cast(compute_unbiased_gradient(any_pair, x64, corners), x.dtype)
        except NoMeanError:
            unbiased = np.full_like(x, np.nan)
        return CurveValues(means.pop(FORWARD), means, spreads, unbiased)

    def _make_pair(self, rule: Rule) -> StochasticPair:
        mean_points = make_even_points(*self.mean_range, REFERENCE_POINTS)
        return StochasticPair(self.op, rule, self.loss, self.settings, self.g, mean_points)


def _evaluate_gradient(pair: StochasticPair, x: Tensor) -> Moments:
    try:
        return pair.gradient(x)
    except NoMeanError:
        return Moments(torch.full_like(x, torch.nan), torch.full_like(x, torch.nan))


def _cast(values: Tensor, dtype: np.dtype[Any]) -> Floats:
    """Return a tensor as a NumPy array of the given dtype; values that overflow become infinite."""
    with np.errstate(over="ignore"):
        return values.numpy().astype(dtype)


def _to_float64(x: Floats) -> Tensor:
    return torch.from_numpy(x.astype(np.float64))
