"""The gradient of backward rules as a map over x and g, and the x at which it is not linear in g."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.catalogue import require_deterministic, to_finite
from explorer.catalogue.colours import GROUND, NEGATIVE, POSITIVE
from explorer.curves import Curves, sample_curves
from explorer.curves.sampled import Floats
from explorer.curves.user_functions.entries import OpLike, RuleLike
from explorer.curves.user_functions.linearity import mask_nonlinear
from explorer.formula import format_number, join_texts

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

COLUMNS, ROWS = 241, 121
_SCAN_POINTS, _SCAN_OFFSET = 601, 0.137  # the number of x to scan, and their offset in steps
_BISECTIONS = 50
_MAX_INTERVALS = 3
_COLOUR_LIMIT = 5  # multiple of the largest g; larger gradients have the last colour
_PER_ROW, _ROW_HEIGHT, _TOP_MARGIN = 3, 260, 60  # maps per row; heights in pixels


@dataclass(frozen=True, eq=False)
class RuleMap:
    """The result of ``rule_map``: gradients of backward rules on a grid of x and upstream gradients g.

    Attributes:
        curves: op and rules over the range, in float64, at g = 1.
        x: (columns,) ascending.
        g: (rows,) ascending.
        gradients: a dict from each rule's key to its gradient, (rows, columns).
    """

    curves: Curves
    x: Floats
    g: Floats
    gradients: Mapping[str, Floats]

    def __repr__(self) -> str:
        rules, span = ", ".join(self.gradients), f"{self.x[0]:g} to {self.x[-1]:g}"
        return f"RuleMap({self.curves.op.key} with {rules}, x from {span}, g to ±{self.g[-1]:g})"

    @property
    def frame(self) -> pd.DataFrame:
        """The gradients as a new DataFrame with the columns rule, x, g and gradient."""
        import pandas as pd

        g, x = np.meshgrid(self.g, self.x, indexing="ij")
        blocks = [
            pd.DataFrame({"rule": key, "x": x.ravel(), "g": g.ravel(), "gradient": gradients.ravel()})
            for key, gradients in self.gradients.items()
        ]
        return pd.concat(blocks, ignore_index=True)

    @cached_property
    def bent(self) -> Mapping[str, list[tuple[float, float]] | None]:
        """A dict from each rule's key to the intervals of x in which the rule is not linear in g.

        The list is empty for a linear rule. An interval that extends beyond the range ends at the range's
        end. The value is None for a rule without a finite value at g = 1.
        """
        return {rule.key: find_nonlinear_intervals(self.curves, rule.key) for rule in self.curves.rules}

    def describe(self) -> str:
        """Return sentences on which backward rules are linear in g, and at which x the others are not."""
        span = self.curves.start, self.curves.stop
        labels = self.curves.labels
        return " ".join(
            f"{labels[key]} is {describe_linearity(places, span)}." for key, places in self.bent.items()
        )

    def figure(self, **layout: Any) -> go.Figure:
        """Return a figure with one heat map per backward rule, all with the same colour scale.

        Args:
            **layout: keywords of Plotly's layout.
        """
        from plotly.subplots import make_subplots

        labels = self.curves.labels
        columns = min(len(labels), _PER_ROW)
        rows = -(-len(labels) // columns)
        figure = make_subplots(rows, columns, subplot_titles=[*labels.values()], shared_yaxes=True)
        limit = max(_find_largest(gradients, self.g[-1]) for gradients in self.gradients.values())
        scale = [[0, NEGATIVE], [0.5, GROUND], [1, POSITIVE]]
        figure.update_layout(coloraxis={"colorscale": scale, "cmin": -limit, "cmax": limit})
        for index, gradients in enumerate(self.gradients.values()):
            place = {"row": index // columns + 1, "col": index % columns + 1}
            figure.add_heatmap(x=self.x, y=self.g, z=gradients, coloraxis="coloraxis", **place)
        figure.update_xaxes(title_text="x").update_yaxes(title_text="g", col=1)
        size = {"height": _TOP_MARGIN + rows * _ROW_HEIGHT, "margin": {"t": _TOP_MARGIN}}
        return figure.update_layout(size | layout)


def rule_map(
    op: OpLike,
    rules: RuleLike | Sequence[RuleLike],
    *,
    start: float = -3.0,
    stop: float = 3.0,
    top: float = 2.0,
    **parameters: float,
) -> RuleMap:
    """Compute the gradient of backward rules on a grid of x and upstream gradients g.

    Args:
        op: the op, as for ``sample``.
        rules: the rules, as for ``sample``.
        start: lower end of x.
        stop: upper end of x.
        top: g ranges from −top to top.
        **parameters: values by name, or ``rule.name`` for one rule only.

    Returns:
        A ``RuleMap``: ``.frame``, ``.bent`` (intervals of x in which a rule is not linear in g),
        ``.describe()`` and ``.figure()``.

    Raises:
        ValueError: for an unknown key or parameter, or a number out of bounds.
    """
    if not to_finite("top", top) > 0:
        raise ValueError(f"top must be a number above 0, got {top:g}")
    settings: dict[str, Any] = {"start": start, "stop": stop, "dtype": "float64"}
    curves = sample_curves(op, rules, **(settings | parameters))
    require_deterministic("the rule map", curves.op, *curves.rules)
    x, g = np.linspace(curves.start, curves.stop, COLUMNS), np.linspace(-top, top, ROWS)
    rows = [replace(curves, g=float(each)) for each in g]
    gradients = {rule.key: np.stack([row.evaluate(rule.key, x) for row in rows]) for rule in curves.rules}
    return RuleMap(curves, x, g, gradients)


def find_nonlinear_intervals(curves: Curves, key: str) -> list[tuple[float, float]] | None:
    """Return the intervals of x in which a rule is not linear in g, or None if it is finite nowhere."""
    start, stop = curves.start, curves.stop
    step = (stop - start) / _SCAN_POINTS
    x = start + step * (np.arange(_SCAN_POINTS) + _SCAN_OFFSET)
    rows: dict[float, Curves] = {}

    def is_nonlinear(points: Floats) -> NDArray[np.bool_]:
        def compute_gradient(g: float) -> Tensor:
            return torch.from_numpy(rows.setdefault(g, replace(curves, g=g)).evaluate(key, points))

        mask: NDArray[np.bool_] = mask_nonlinear(compute_gradient).numpy()
        return mask

    if not np.isfinite(replace(curves, g=1.0).evaluate(key, x)).any():
        return None
    mask = is_nonlinear(x)
    edges = np.flatnonzero(mask[1:] != mask[:-1])
    low, high = x[edges].copy(), x[edges + 1].copy()
    for _ in range(_BISECTIONS if len(edges) else 0):
        middle = (low + high) / 2
        is_low_side = is_nonlinear(middle) == mask[edges]
        low, high = np.where(is_low_side, middle, low), np.where(is_low_side, high, middle)
    ends = [*([start] if mask[0] else []), *high.tolist(), *([stop] if mask[-1] else [])]
    return list(zip(ends[::2], ends[1::2], strict=True))


def describe_linearity(intervals: Sequence[tuple[float, float]] | None, span: tuple[float, float]) -> str:
    """Return a phrase on where a rule is not linear in g, or "linear in g"; ``intervals`` may be unknown."""
    if intervals is None:
        return "not known over g here"
    if not intervals:
        return "linear in g"
    if list(intervals) == [span]:
        return "not linear in g anywhere here"
    if len(intervals) > _MAX_INTERVALS:
        return f"not linear in g on {len(intervals)} stretches of x"
    return f"not linear in g where {join_texts(_describe_interval(*ends, span) for ends in intervals)}"


def _describe_interval(low: float, high: float, span: tuple[float, float]) -> str:
    start, end = (format_number(round(x, 9), 6) for x in (low, high))
    if low == span[0]:
        return f"x < {end}"
    return f"x > {start}" if high == span[1] else f"{start} < x < {end}"


def _find_largest(gradients: Floats, top: float) -> float:
    sizes = np.abs(gradients)
    return float(sizes[sizes <= _COLOUR_LIMIT * top].max(initial=0.0)) or float(top)
