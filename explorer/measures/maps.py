"""The gradient of rules over x and g, and where it is not linear in g."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.catalogue import finite, require_fixed
from explorer.catalogue.colours import NEGATIVE, POSITIVE
from explorer.curves import Curves, sample_curves
from explorer.curves.foreign import GivenOp, GivenRule, departs
from explorer.curves.sampled import Floats
from explorer.formula import listed, with_minus

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

COLUMNS, ROWS = 241, 121
_SCAN, _OFF = 601, 0.137  # x that are looked at, and how far beside round numbers, as a part of a step
_HALVINGS = 50
_MOST_PLACES = 3
_LARGEST = 5  # times the greatest g: what lies beyond has the last colour
_IN_A_ROW, _HEIGHT, _ABOVE = 3, 260, 60  # of a figure: maps, and px of a row and above all


@dataclass(frozen=True, eq=False)
class RuleMap:
    """The gradient of rules over x and g.

    Attributes:
        curves: op and rules over the range, in float64, at g = 1.
        x: (columns,) ascending; ``g``: (rows,) ascending.
        gradients: by rule key, (rows, columns).
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
        """A new tidy table: rule, x, g, gradient."""
        import pandas as pd

        g, x = np.meshgrid(self.g, self.x, indexing="ij")
        blocks = [
            pd.DataFrame({"rule": key, "x": x.ravel(), "g": g.ravel(), "gradient": gradients.ravel()})
            for key, gradients in self.gradients.items()
        ]
        return pd.concat(blocks, ignore_index=True)

    @cached_property
    def bent(self) -> Mapping[str, list[tuple[float, float]] | None]:
        """By rule key: the stretches of x, from the lowest on, where it is not linear in g; none for [].

        One that goes on beyond the range ends where the range does. None where it has no number at g = 1.
        """
        return {rule.key: bent(self.curves, rule.key) for rule in self.curves.rules}

    def describe(self) -> str:
        """Which rules are linear in g, and where the others are not."""
        span = self.curves.start, self.curves.stop
        labels = self.curves.labels
        return " ".join(f"{labels[key]} is {bent_words(places, span)}." for key, places in self.bent.items())

    def figure(self, **layout: Any) -> go.Figure:
        """A heat map a rule, all in the same colours. ``layout``: Plotly's layout keywords."""
        from plotly.subplots import make_subplots

        labels = self.curves.labels
        columns = min(len(labels), _IN_A_ROW)
        rows = -(-len(labels) // columns)
        figure = make_subplots(rows, columns, subplot_titles=[*labels.values()], shared_yaxes=True)
        most = max(_largest(gradients, self.g[-1]) for gradients in self.gradients.values())
        scale = [[0, NEGATIVE], [0.5, "#ffffff"], [1, POSITIVE]]
        figure.update_layout(coloraxis={"colorscale": scale, "cmin": -most, "cmax": most})
        for index, gradients in enumerate(self.gradients.values()):
            place = {"row": index // columns + 1, "col": index % columns + 1}
            figure.add_heatmap(x=self.x, y=self.g, z=gradients, coloraxis="coloraxis", **place)
        figure.update_xaxes(title_text="x").update_yaxes(title_text="g", col=1)
        size = {"height": _ABOVE + rows * _HEIGHT, "margin": {"t": _ABOVE}}
        return figure.update_layout(size | layout)


def rule_map(
    op: GivenOp,
    rules: GivenRule | Sequence[GivenRule],
    *,
    start: float = -3.0,
    stop: float = 3.0,
    top: float = 2.0,
    **parameters: float,
) -> RuleMap:
    """The gradient of rules over x and the upstream gradient g.

    Args:
        op, rules, start, stop: as for ``sample``.
        top: g goes from −top to top.
        **parameters: values by name, or ``rule.name`` for one rule only.

    Returns:
        A ``RuleMap``: ``.frame``, ``.bent`` (where a rule is not linear in g), ``.describe()`` and
        ``.figure()``.

    Raises:
        ValueError: an unknown key or parameter, or a number out of bounds.
    """
    if not finite("top", top) > 0:
        raise ValueError(f"top must be a number above 0, not {top:g}")
    chosen: dict[str, Any] = {"start": start, "stop": stop, "dtype": "float64"}
    curves = sample_curves(op, rules, **(chosen | parameters))
    require_fixed("the rule map", curves.op, *curves.rules)
    x, g = np.linspace(curves.start, curves.stop, COLUMNS), np.linspace(-top, top, ROWS)
    rows = [replace(curves, g=float(each)) for each in g]
    gradients = {rule.key: np.stack([row.at(rule.key, x) for row in rows]) for rule in curves.rules}
    return RuleMap(curves, x, g, gradients)


def bent(curves: Curves, key: str) -> list[tuple[float, float]] | None:
    """The stretches of x where a rule is not linear in g, by halving; None without numbers."""
    start, stop = curves.start, curves.stop
    step = (stop - start) / _SCAN
    x = start + step * (np.arange(_SCAN) + _OFF)
    rows: dict[float, Curves] = {}

    def is_bent(at: Floats) -> NDArray[np.bool_]:
        def gradient(g: float) -> Tensor:
            row = rows.setdefault(g, replace(curves, g=g))
            return torch.from_numpy(row.at(key, at))

        mask: NDArray[np.bool_] = departs(gradient).numpy()
        return mask

    if not np.isfinite(replace(curves, g=1.0).at(key, x)).any():
        return None
    mask = is_bent(x)
    edges = np.flatnonzero(mask[1:] != mask[:-1])
    low, high = x[edges].copy(), x[edges + 1].copy()
    for _ in range(_HALVINGS if len(edges) else 0):
        middle = (low + high) / 2
        same = is_bent(middle) == mask[edges]
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    ends = [*([start] if mask[0] else []), *high.tolist(), *([stop] if mask[-1] else [])]
    return list(zip(ends[::2], ends[1::2], strict=True))


def bent_words(stretches: Sequence[tuple[float, float]] | None, span: tuple[float, float]) -> str:
    """What a rule is, as to g."""
    if stretches is None:
        return "not known over g here"
    if not stretches:
        return "linear in g"
    if list(stretches) == [span]:
        return "not linear in g anywhere here"
    if len(stretches) > _MOST_PLACES:
        return f"not linear in g on {len(stretches)} stretches of x"
    return f"not linear in g where {listed(_place(*ends, span) for ends in stretches)}"


def _place(low: float, high: float, span: tuple[float, float]) -> str:
    if low == span[0]:
        return f"x < {_number(high)}"
    return f"x > {_number(low)}" if high == span[1] else f"{_number(low)} < x < {_number(high)}"


def _number(value: float) -> str:
    return with_minus(f"{round(value, 9) + 0.0:.6g}")


def _largest(gradients: Floats, top: float) -> float:
    """The largest size that is no pole's; ``top`` where all are 0 or none is a number."""
    sizes = np.abs(gradients)
    return float(sizes[sizes <= _LARGEST * top].max(initial=0.0)) or float(top)
