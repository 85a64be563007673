"""A site as a Plotly figure: its inputs, and the gradient that its rule gives them."""

from __future__ import annotations

import html

import numpy as np
import plotly.graph_objects as go
import torch
from torch import Tensor

from explorer.catalogue.colours import NEUTRAL, RULE_COLOURS_LIGHT
from explorer.model.observing.statistics import Statistics
from explorer.model.watching import Run

_GRID, _CLEAR = "rgba(138, 143, 152, 0.25)", "rgba(0, 0, 0, 0)"
_BINS, _GRID_POINTS, _MEASURED = 60, 801, 1_500
_BEYOND = 0.1  # of the range of x on each side


def site_figure(name: str, op: str, total: Statistics, run: Run | None) -> go.Figure:
    """The histogram of x, and the gradient over x for an upstream gradient of 1.

    The curve is computed by the model's own call; where that takes no single numbers, what was measured of
    single elements stands in its place. Raises ValueError where nothing is known of x.
    """
    x, g, gradient = total.sampled
    if not len(x):
        raise ValueError(f"of {name} no gradient is known, so that there is no picture of it")
    figure = go.Figure()
    counts, edges = np.histogram(x.numpy(), bins=_BINS)
    figure.add_bar(
        x=(edges[1:] + edges[:-1]) / 2,
        y=counts / counts.sum(),
        width=np.diff(edges),
        name="x",
        marker={"color": NEUTRAL, "opacity": 0.35, "line": {"width": 0}},
        hovertemplate="x near %{x:.3g}: %{y:.1%}<extra></extra>",
        yaxis="y2",
    )
    figure.add_trace(_gradients(x, g, gradient, run))
    figure.update_layout(
        title_text=html.escape(f"{name}: {op}", quote=False),
        xaxis={"title_text": "x", "gridcolor": _GRID, "zerolinecolor": _GRID},
        yaxis={
            "title_text": "gradient at g = 1",
            "gridcolor": _GRID,
            "zerolinecolor": _GRID,
            "overlaying": "y2",
        },
        yaxis2={"title_text": "share of x", "side": "right", "showgrid": False, "tickformat": ".0%"},
        paper_bgcolor=_CLEAR,
        plot_bgcolor=_CLEAR,
        font={"color": NEUTRAL},
        margin={"l": 16, "r": 16, "t": 40, "b": 48},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "xanchor": "right", "x": 1},
        height=360,
    )
    return figure


def _gradients(x: Tensor, g: Tensor, gradient: Tensor, run: Run | None) -> go.Scatter:
    line = {"color": RULE_COLOURS_LIGHT[0], "width": 2.5}
    low, high = float(x.min()), float(x.max())
    wide = (high - low or 1.0) * _BEYOND
    grid = torch.linspace(low - wide, high + wide, _GRID_POINTS)
    curve = None if run is None else _curve(run, grid)
    if curve is not None:
        return go.Scatter(x=grid.numpy(), y=curve.numpy(), mode="lines", line=line, name="gradient")
    met = g != 0
    x, slope = x[met], gradient[met] / g[met]
    every = max(1, len(x) // _MEASURED)
    return go.Scatter(
        x=x[::every].numpy(),
        y=slope[::every].numpy(),
        mode="markers",
        marker={"color": line["color"], "size": 4},
        name="gradient, as measured",
    )


def _curve(run: Run, grid: Tensor) -> Tensor | None:
    """The gradient that a call gives over a grid; None where it takes no such x."""
    leaf = grid.clone().requires_grad_()
    try:
        with torch.enable_grad():
            y = run(leaf)
            (gradient,) = torch.autograd.grad(y, leaf, torch.ones_like(y))
    except Exception:  # anybody's Function: whatever it raises, what was measured is drawn
        return None
    return gradient if gradient.shape == grid.shape else None
