"""The table of a pair that draws: means, spread and the exact gradient at given x."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from explorer.catalogue import SQUARE, Op, Rule, checked, find_loss, find_op, find_rule, finite
from explorer.curves.expectation.corners import corners_among, slopes
from explorer.curves.expectation.pair import DrawnPair

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ("x", "forward", "mean", "sd", "exact")


def expected(
    op: str | Op,
    rule: str | Rule,
    x: Tensor | ArrayLike,
    f: str = SQUARE,
    g: float = 1.0,
    **parameters: float,
) -> pd.DataFrame:
    """The mean and the spread of what an op and a rule return where something is drawn.

    Args:
        op, rule: keys, or own formulas that draw by ``u()`` and ``normal()``; of a pair that draws nothing
            the spread is 0.
        x: numbers, any shape; one row each. A ``mean(…)`` is over them.
        f: the loss, a formula of y; the upstream gradient is its derivative. Its parameters are given by
            name.
        g: a factor on the loss.
        **parameters: as for ``sample``.

    Returns:
        A table in float64: x; forward, the mean of y; mean and sd, the mean and the standard deviation of
        what the rule returns; exact, the slope of the mean loss in x. The bias of the rule is mean − exact.
        sd is NaN where it has no bound.
        Integrals over u are exact up to 1e-6, mostly 1e-9. Where the mean loss has a corner, exact is the
        middle of its two slopes.

    Raises:
        ValueError: an unknown key or parameter, a number that is not finite, a mean that does not exist or is
            too large; FormulaError for a formula that cannot be read.
    """
    import pandas as pd

    op, rule, loss = find_op(op), find_rule(rule), find_loss(f)
    chosen = checked(op, (rule,), parameters, (), loss)
    at = _numbers(x)
    pair = DrawnPair(op, rule, loss, chosen, finite("g", g), over=at)
    columns = _columns(pair, at) if len(at) else dict.fromkeys(_COLUMNS, at)
    return pd.DataFrame({name: column.numpy() for name, column in columns.items()})


def _numbers(x: Tensor | ArrayLike) -> Tensor:
    """x as (n,) float64; ValueError for what are no finite real numbers."""
    try:
        given = x.detach().cpu() if isinstance(x, Tensor) else torch.from_numpy(np.array(x))
    except (TypeError, ValueError):
        raise ValueError("x must be numbers") from None
    if given.is_complex() or not bool(given.isfinite().all()):
        raise ValueError("x must be finite numbers")
    return given.to(torch.float64).ravel()


def _columns(pair: DrawnPair, at: Tensor) -> dict[str, Tensor]:
    mean, spread = pair.gradient(at)
    exact = slopes(pair, at, corners_among(pair, at))
    return dict(zip(_COLUMNS, (at, pair.forward(at).mean, mean, spread, exact), strict=True))
