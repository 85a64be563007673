"""The heat map of validation, rule by rate, with the rates that were chosen."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from explorer.catalogue.colours import NEUTRAL
from explorer.formula import number_text
from explorer.study.figure.drawn import Drawn


def draw_heat_map(figure: go.Figure, study: Drawn, cells: pd.DataFrame, column: int) -> None:
    """Validation at each rate in a column of the first row; ``cells``: as in ``Result``."""
    for trace in (_heat_map(study, cells), _crosses(study, cells), _chosen(study)):
        figure.add_trace(trace, row=1, col=column)
    figure.update_xaxes(title_text="lr", type="category", row=1, col=column)


def _heat_map(study: Drawn, cells: pd.DataFrame) -> go.Heatmap:
    """Mean validation of a rule at a rate."""
    by_cell = cells.set_index(["rule", "lr"])
    mean, lost, tried = by_cell["validation"], by_cell["diverged"], by_cell["seeds"]
    rows, lrs, digits = study.rows, study.plan.lrs, study.digits
    grid = [[(rule, lr) for lr in lrs] for rule in rows]

    def score(cell: tuple[str, float]) -> str:
        if cell not in tried.index or lost[cell] == tried[cell]:
            return ""
        return f"{mean[cell] * study.scale:.{digits}f}" + "*" * bool(lost[cell])

    return go.Heatmap(
        x=[number_text(lr) for lr in lrs],
        y=[*rows.values()],
        z=[[mean.get(cell) for cell in row] for row in grid],
        text=[[score(cell) for cell in row] for row in grid],
        customdata=[[study.labels[rule]] * len(lrs) for rule in rows],
        texttemplate="%{text}",
        textfont={"color": "#14181f"},
        colorscale=[[0, "#f6f0dc"], [1, "#4f9fdc"]],  # dark figures can be read on all of it
        showscale=False,
        xgap=2,
        ygap=2,
        hovertemplate="%{customdata}, lr %{x}: %{text}<extra>validation; *: some seeds diverged</extra>",
    )


def _crosses(study: Drawn, cells: pd.DataFrame) -> go.Scatter:
    """A × where a rule diverged with every seed."""
    gone = cells[cells["diverged"] == cells["seeds"]]
    return go.Scatter(
        x=[number_text(lr) for lr in gone["lr"]],
        y=[study.rows[rule] for rule in gone["rule"]],
        mode="text",
        text=["×"] * len(gone),
        textfont={"size": 16, "color": NEUTRAL},
        customdata=[study.labels[rule] for rule in gone["rule"]],
        hovertemplate="%{customdata}, lr %{x}: diverged<extra></extra>",
        showlegend=False,
    )


def _chosen(study: Drawn) -> go.Scatter:
    """A frame around the rate that was chosen for each rule."""
    known = [each for each in study.rules if each.lr is not None]
    marker = {"symbol": "square-open", "size": 28, "color": "#ff3dc7", "line": {"width": 2}}
    return go.Scatter(
        x=[number_text(each.lr) for each in known if each.lr is not None],
        y=[study.rows[each.rule] for each in known],
        mode="markers",
        marker=marker,
        name="chosen rate",
        hoverinfo="skip",
    )
