"""Tabulate the mean, standard deviation and unbiased gradient of a stochastic op with a backward rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from explorer.catalogue import SQUARE, Op, Rule, check_values, find_loss, find_op, find_rule, to_finite
from explorer.curves.expectation.corners import compute_unbiased_gradient, find_corners
from explorer.curves.expectation.pair import StochasticPair
from explorer.formula import quote

if TYPE_CHECKING:
    import pandas as pd


def expected(
    op: str | Op,
    rule: str | Rule,
    x: Tensor | ArrayLike,
    f: str = SQUARE,
    g: float = 1.0,
    **parameters: float,
) -> pd.DataFrame:
    """Tabulate the mean and standard deviation of a stochastic op and backward rule over random numbers.

    Args:
        op: a key, or a custom formula, which may use the random numbers ``u()`` and ``normal()``. If neither
            op nor rule is random, the standard deviation is 0.
        rule: a key or custom formula, as for ``op``.
        x: numbers of any shape, one row each. Reductions such as ``mean(…)`` are taken over them.
        f: the loss, a formula of y; the upstream gradient is its derivative. Its parameters are given by
            name.
        g: a factor on the loss.
        **parameters: as for ``sample``.

    Returns:
        A float64 table with the columns x; forward, the mean of y; mean and sd, the mean and the standard
        deviation of the rule's gradient; exact, the slope of the mean loss in x. The rule's bias is mean −
        exact. An unbounded sd is NaN. Integrals over u are accurate to 1e-6, mostly to 1e-9. At a corner of
        the mean loss, exact is the mean of the two slopes.

    Raises:
        ValueError: for an unknown key or parameter, a number that is not finite, or a mean that does not
            exist or is too large; a FormulaError for a formula that cannot be parsed.
    """
    import pandas as pd

    op, rule, loss = find_op(op), find_rule(rule), find_loss(f)
    settings = check_values(op, (rule,), parameters, (), loss)
    x64 = _parse_x(x)
    pair = StochasticPair(op, rule, loss, settings, to_finite("g", g), mean_points=x64)
    columns = dict.fromkeys(("x", "forward", "mean", "sd", "exact"), x64)
    if len(x64):
        columns["forward"] = pair.forward(x64).mean
        columns["mean"], columns["sd"] = pair.gradient(x64)
        columns["exact"] = compute_unbiased_gradient(pair, x64, find_corners(pair, x64))
    return pd.DataFrame({name: column.numpy() for name, column in columns.items()})


def _parse_x(x: Tensor | ArrayLike) -> Tensor:
    """Return x as a flat float64 tensor. Raises ValueError unless it consists of finite real numbers."""
    try:
        values = x.detach().cpu() if isinstance(x, Tensor) else torch.from_numpy(np.array(x))
    except (TypeError, ValueError):
        raise ValueError(f"x must be numbers, got {quote(x)}") from None
    if values.is_complex() or not bool(values.isfinite().all()):
        raise ValueError(
            "x must be finite real numbers, but some are NaN, infinite or complex: leave those out"
        )
    return values.to(torch.float64).ravel()
