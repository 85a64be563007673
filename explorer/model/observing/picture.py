"""Plotly figures of a site with its inputs and gradients, and of a model as a chain of modules."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch
from torch import Tensor

from explorer.catalogue.colours import CLEAR, GRID, NEUTRAL, RIGHT, RULE_COLOURS_LIGHT, WRONG
from explorer.model.observing.rows import Row

_PLAIN = {"paper_bgcolor": CLEAR, "plot_bgcolor": CLEAR, "font": {"color": NEUTRAL}}
_LINE = RULE_COLOURS_LIGHT[0]
_BINS, _GRID_POINTS, _MEASURED = 60, 801, 1_500
_MARGIN = 0.1  # fraction of the range of x, on each side
_STATES = {  # name in the legend, colour, symbol
    "arrives": ("gradient arrives", RIGHT, "circle"),
    "stops": ("the gradient stops here", WRONG, "x"),
    "nothing": ("no gradient arrives", NEUTRAL, "circle"),
}


def draw_site(name: str, row: Row) -> go.Figure:
    """Return a figure of the histogram of x, and of the gradient over x for an upstream gradient of 1.

    The model's own call computes the curve. If that call does not accept a grid of numbers, the measured
    gradients of single elements are drawn. Raises ValueError if no gradient is known.
    """
    x, g, gradient = row.points
    if not len(x):
        raise ValueError(f"no gradient at {name} is known, so there is nothing to draw")
    counts, edges = np.histogram(x.numpy(), bins=_BINS)
    figure = go.Figure()
    figure.add_bar(
        x=(edges[1:] + edges[:-1]) / 2, y=counts / counts.sum(), width=np.diff(edges), name="x", yaxis="y2",
        marker={"color": NEUTRAL, "opacity": 0.35, "line": {"width": 0}},
        hovertemplate="x near %{x:.3g}: %{y:.1%}<extra></extra>",
    )  # fmt: skip
    low, high = float(x.min()), float(x.max())
    margin = (high - low or 1.0) * _MARGIN
    grid = torch.linspace(low - margin, high + margin, _GRID_POINTS)
    if (curve := _compute_curve(row, grid)) is not None:
        line = {"color": _LINE, "width": 2.5}
        figure.add_scatter(x=grid.numpy(), y=curve.numpy(), mode="lines", line=line, name="gradient")
    else:
        kept = torch.nonzero(g)[:: max(1, len(g) // _MEASURED), 0]
        figure.add_scatter(
            x=x[kept].numpy(), y=(gradient[kept] / g[kept]).numpy(), mode="markers",
            marker={"color": _LINE, "size": 4}, name="gradient, as measured",
        )  # fmt: skip
    axis = {"gridcolor": GRID, "zerolinecolor": GRID}
    figure.update_layout(
        title_text=html.escape(f"{name}: {row.op}", quote=False),
        xaxis={"title_text": "x", **axis},
        yaxis={"title_text": "gradient at g = 1", "overlaying": "y2", **axis},
        yaxis2={"title_text": "share of x", "side": "right", "showgrid": False, "tickformat": ".0%"},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "xanchor": "right", "x": 1},
        height=360, margin={"l": 16, "r": 16, "t": 40, "b": 48}, **_PLAIN,
    )  # fmt: skip
    return figure


def _compute_curve(row: Row, grid: Tensor) -> Tensor | None:
    """Return a site's gradient on a grid of x by its last call, or None if that accepts no grid."""
    leaf = grid.clone().requires_grad_()
    try:
        with torch.enable_grad():
            y = row.run(leaf)  # type: ignore[misc]  # None is no function, which is caught
            (gradient,) = torch.autograd.grad(y, leaf, torch.ones_like(y))
    except Exception:  # a user's Function may raise anything; the measured points are drawn then
        return None
    return gradient if gradient.shape == grid.shape else None


def draw_chain(
    modules: Iterable[str], named: Mapping[str, Row], parameters: Sequence[Mapping[str, Any]]
) -> go.Figure:
    """Return a figure of a model's sites, and its modules with parameters, in order of their first calls.

    The input is on top. Raises ValueError if the model has not been called.
    """
    links = _list_links(modules, named, parameters)
    if not links:
        raise ValueError("there is no picture of a model that has not been called inside the block")
    figure = go.Figure()
    figure.add_scatter(
        x=[0] * len(links), y=[*range(len(links))], mode="lines", line={"color": GRID, "width": 3},
        hoverinfo="skip", showlegend=False,
    )  # fmt: skip
    for state, (legend, colour, symbol) in _STATES.items():
        at = [number for number, link in enumerate(links) if link[1] == state]
        figure.add_scatter(
            x=[0] * len(at), y=at, text=[html.escape(links[number][0], quote=False) for number in at],
            mode="markers+text", textposition="middle right", name=legend, hoverinfo="text",
            marker={"color": colour, "size": 14, "symbol": symbol},
        )  # fmt: skip
    figure.update_layout(
        xaxis={"visible": False, "range": [-0.2, 3]}, yaxis={"visible": False, "autorange": "reversed"},
        legend={"orientation": "h"}, height=80 + 28 * len(links), margin={"l": 16, "r": 16, "t": 16, "b": 16},
        **_PLAIN,
    )  # fmt: skip
    return figure


def _list_links(
    modules: Iterable[str], named: Mapping[str, Row], parameters: Sequence[Mapping[str, Any]]
) -> list[tuple[str, str]]:
    """Return the name and the state of each site, and of each module with trainable parameters."""
    culprits = {row["site"] for row in parameters if row["site"] and row["gradient"] != "not finite"}
    arrived: dict[str, bool] = {}
    for row in parameters:
        if row["gradient"] != "frozen":
            path = row["parameter"].rpartition(".")[0]
            arrived[path] = arrived.get(path, False) or row["gradient"] in ("arrives", "not finite")
    links: list[tuple[str, str]] = []
    for path in modules:
        if path in arrived and path not in named:
            links.append((path or "the model", "arrives" if arrived[path] else "nothing"))
        for name, site in named.items():
            if site.site.module == path:
                is_blocking = name in culprits or (site.known and not site.got and site.blocked)
                is_blocking = is_blocking or (not site.got and site.kind == "cut")
                state = "stops" if is_blocking else "arrives" if site.got else "nothing"
                links.append((f"{name}: {site.op}", state))
    return links
