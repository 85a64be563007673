"""Plotly figures: a site with its inputs and gradients, and the model as a chain of modules."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch
from torch import Tensor

from explorer.catalogue.colours import NEUTRAL, RULE_COLOURS_LIGHT
from explorer.model.observing.listener import Listener
from explorer.model.observing.rows import Row

Run = Callable[[Tensor], Any]
_GRID, _CLEAR = "rgba(138, 143, 152, 0.25)", "rgba(0, 0, 0, 0)"
_BINS, _GRID_POINTS, _MEASURED = 60, 801, 1_500
_MARGIN = 0.1  # of the range of x on each side


def draw_site(name: str, row: Row) -> go.Figure:
    """Return the histogram of x, and the gradient over x for an upstream gradient of 1.

    The curve is computed by the model's own call; if that takes no single numbers, the measured
    gradients of single elements are drawn. Raises ValueError if nothing is known of x.
    """
    x, g, gradient = row.points
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
    figure.add_trace(_get_gradients(x, g, gradient, row.run))
    figure.update_layout(
        title_text=html.escape(f"{name}: {row.op}", quote=False),
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


def _get_gradients(x: Tensor, g: Tensor, gradient: Tensor, run: Run | None) -> go.Scatter:
    line = {"color": RULE_COLOURS_LIGHT[0], "width": 2.5}
    low, high = float(x.min()), float(x.max())
    wide = (high - low or 1.0) * _MARGIN
    grid = torch.linspace(low - wide, high + wide, _GRID_POINTS)
    curve = None if run is None else _compute_curve(run, grid)
    if curve is not None:
        return go.Scatter(x=grid.numpy(), y=curve.numpy(), mode="lines", line=line, name="gradient")
    has_gradient = g != 0
    x, slope = x[has_gradient], gradient[has_gradient] / g[has_gradient]
    step = max(1, len(x) // _MEASURED)
    return go.Scatter(
        x=x[::step].numpy(),
        y=slope[::step].numpy(),
        mode="markers",
        marker={"color": line["color"], "size": 4},
        name="gradient, as measured",
    )


def _compute_curve(run: Run, grid: Tensor) -> Tensor | None:
    """Return the gradient that a call gives over a grid; None if it takes no such x."""
    leaf = grid.clone().requires_grad_()
    try:
        with torch.enable_grad():
            y = run(leaf)
            (gradient,) = torch.autograd.grad(y, leaf, torch.ones_like(y))
    except Exception:  # a user's Function: whatever it raises, the measured points are drawn
        return None
    return gradient if gradient.shape == grid.shape else None


_COLOURS = {"arrives": "#2a7f62", "stops": "#c0392b", "nothing": "#8a8f98"}
_LEGEND = {
    "arrives": "gradient arrives", "stops": "the gradient stops here", "nothing": "no gradient arrives",
}  # fmt: skip


def draw_chain(
    listener: Listener, named: Mapping[str, Row], parameters: Sequence[Mapping[str, Any]]
) -> go.Figure:
    """Return the modules and sites of a model in the order of their first calls, from the input down to the
    output.

    Raises ValueError where the model has not been called.
    """
    links = _list_links(listener, named, parameters)
    if not links:
        raise ValueError("there is no picture of a model that has not been called inside the block")
    figure = go.Figure()
    figure.add_scatter(
        x=[0] * len(links), y=[*range(len(links))], mode="lines", line={"color": _GRID, "width": 3},
        hoverinfo="skip", showlegend=False,
    )  # fmt: skip
    for state, colour in _COLOURS.items():
        at = [number for number, (_, state_here) in enumerate(links) if state_here == state]
        texts = [html.escape(links[number][0], quote=False) for number in at]
        figure.add_scatter(
            x=[0] * len(at), y=at, text=texts, mode="markers+text", textposition="middle right",
            marker={"color": colour, "size": 14, "symbol": "x" if state == "stops" else "circle"},
            name=_LEGEND[state], hoverinfo="text",
        )  # fmt: skip
    figure.update_layout(
        xaxis={"visible": False, "range": [-0.2, 3]},
        yaxis={"visible": False, "autorange": "reversed"},
        paper_bgcolor=_CLEAR, plot_bgcolor=_CLEAR, font={"color": NEUTRAL},
        legend={"orientation": "h"}, height=80 + 28 * len(links), margin={"l": 16, "r": 16, "t": 16, "b": 16},
    )  # fmt: skip
    return figure


def _list_links(
    listener: Listener, named: Mapping[str, Row], parameters: Sequence[Mapping[str, Any]]
) -> list[tuple[str, str]]:
    """Return name and state of each module without children and of each site, in order of first calls."""
    culprits = {row["site"] for row in parameters if row["site"]}
    inner = {path.rpartition(".")[0] for path in listener.modules if path}
    sites: dict[str, list[tuple[str, str]]] = {}
    for name, row in named.items():
        sites.setdefault(row.site.module, []).append((f"{name}: {row.op}", _state(name, row, culprits)))
    links: list[tuple[str, str]] = []
    for path, reached in listener.modules.items():
        state_here = sites.pop(path, [])
        if path and path not in inner and path not in named:
            links.append((path, "arrives" if reached else "nothing"))
        links += state_here
    return links


def _state(name: str, row: Row, culprits: set[Any]) -> str:
    if name in culprits or (row.known and not row.got and row.blocked):
        return "stops"
    return "arrives" if row.got else "stops" if row.kind == "cut" else "nothing"
