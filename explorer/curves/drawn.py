"""Curves of what draws: means over it, spreads, and the gradient that has no bias."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.catalogue import Loss, Op, Rule
from explorer.curves.expectation import DrawnPair, Moments, NoMeanError, corners_among, slopes
from explorer.curves.sampled import FORWARD, KINK, Floats
from explorer.curves.values import CurveValues
from explorer.formula import Formula
from explorer.formula.reference import REFERENCE_POINTS, even_points


@dataclass(frozen=True, eq=False)
class Drawing:
    """An op whose output, or whose rules, draw; g is a factor on the loss, ``span`` the range of means."""

    op: Op
    loss: Loss
    settings: Mapping[str, float]
    g: float
    span: tuple[float, float]

    def values(self, rule: Rule, x: Floats) -> tuple[Floats, Floats]:
        """The means of y and of what a rule returns at x (n,); both (n,) of its dtype."""
        pair, wide = self._pair(rule), _doubled(x)
        return _typed(pair.forward(wide).mean, x.dtype), _typed(_gradient(pair, wide).mean, x.dtype)

    def part(self, rule: Rule, formula: Formula, x: Floats) -> Floats:
        """The mean of what one element contributes to a parameter's gradient; (n,) of x's dtype."""
        return _typed(self._pair(rule).part(_doubled(x), formula).mean, x.dtype)

    def curves(self, rules: Sequence[Rule], x: Floats, marks: NDArray[np.int8] | None) -> CurveValues:
        """All curves at x (n,), whose ``marks`` say where kinks are; None where they are too many to tell."""
        pairs, wide = {rule.key: self._pair(rule) for rule in rules}, _doubled(x)
        first = pairs[rules[0].key]
        moments = {FORWARD: first.forward(wide)} | {key: _gradient(pair, wide) for key, pair in pairs.items()}
        curves = {key: _typed(found.mean, x.dtype) for key, found in moments.items()}
        spreads = {key: _typed(found.spread, x.dtype) for key, found in moments.items()}
        try:
            corners = corners_among(first, wide) if marks is None else wide[torch.from_numpy(marks == KINK)]
            unbiased = _typed(slopes(first, wide, corners), x.dtype)
        except NoMeanError:
            unbiased = np.full_like(x, np.nan)
        return CurveValues(curves.pop(FORWARD), curves, spreads, unbiased)

    def _pair(self, rule: Rule) -> DrawnPair:
        over = even_points(*self.span, REFERENCE_POINTS)
        return DrawnPair(self.op, rule, self.loss, self.settings, self.g, over)


def _gradient(pair: DrawnPair, x: Tensor) -> Moments:
    """Mean and spread of what a rule returns; NaN for one that has no mean anywhere."""
    try:
        return pair.gradient(x)
    except NoMeanError:
        return Moments(torch.full_like(x, torch.nan), torch.full_like(x, torch.nan))


def _typed(numbers: Tensor, dtype: np.dtype[Any]) -> Floats:
    """Numbers of a dtype; infinite where they are too large for it."""
    with np.errstate(over="ignore"):
        return numbers.numpy().astype(dtype)


def _doubled(x: Floats) -> Tensor:
    return torch.from_numpy(x.astype(np.float64))
