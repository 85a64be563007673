"""Draw validation scores as a heat map of rules and learning rates, with the chosen rates marked."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from explorer.catalogue.colours import NEUTRAL
from explorer.formula import number_text
from explorer.study.figure.view import StudyView


def draw_heat_map(figure: go.Figure, study: StudyView, cells: pd.DataFrame, column: int) -> None:
    """Draw the validation score of each rule at each learning rate in one column of the figure.

    ``cells`` is the table of the same name in ``Result``.
    """
    for trace in (_make_heat_map(study, cells), _make_crosses(study, cells), _make_frames(study)):
        figure.add_trace(trace, row=1, col=column)
    figure.update_xaxes(title_text="lr", type="category", row=1, col=column)


def _make_heat_map(study: StudyView, cells: pd.DataFrame) -> go.Heatmap:
    """Return the heat map of each rule's mean validation score at each learning rate."""
    by_cell = cells.set_index(["rule", "lr"])
    mean, diverged, tried = by_cell["validation"], by_cell["diverged"], by_cell["seeds"]
    rows, lrs, digits = study.rows, study.plan.lrs, study.digits
    grid = [[(rule, lr) for lr in lrs] for rule in rows]

    def format_score(cell: tuple[str, float]) -> str:
        if cell not in tried.index or diverged[cell] == tried[cell]:
            return ""
        return f"{mean[cell] * study.scale:.{digits}f}" + "*" * bool(diverged[cell])

    return go.Heatmap(
        x=[number_text(lr) for lr in lrs],
        y=[*rows.values()],
        z=[[mean.get(cell) for cell in row] for row in grid],
        text=[[format_score(cell) for cell in row] for row in grid],
        customdata=[[study.labels[rule]] * len(lrs) for rule in rows],
        texttemplate="%{text}",
        textfont={"color": "#14181f"},
        colorscale=[[0, "#f6f0dc"], [1, "#4f9fdc"]],  # light enough for dark digits everywhere
        showscale=False,
        xgap=2,
        ygap=2,
        hovertemplate="%{customdata}, lr %{x}: %{text}<extra>validation; *: some seeds diverged</extra>",
    )


def _make_crosses(study: StudyView, cells: pd.DataFrame) -> go.Scatter:
    """Return a trace with a × for each rule and learning rate at which every seed diverged."""
    diverged = cells[cells["diverged"] == cells["seeds"]]
    return go.Scatter(
        x=[number_text(lr) for lr in diverged["lr"]],
        y=[study.rows[rule] for rule in diverged["rule"]],
        mode="text",
        text=["×"] * len(diverged),
        textfont={"size": 16, "color": NEUTRAL},
        customdata=[study.labels[rule] for rule in diverged["rule"]],
        hovertemplate="%{customdata}, lr %{x}: diverged<extra></extra>",
        showlegend=False,
    )


def _make_frames(study: StudyView) -> go.Scatter:
    """Return a trace with a frame around each rule's chosen learning rate."""
    rules = [each for each in study.rules if each.lr is not None]
    marker = {"symbol": "square-open", "size": 28, "color": "#ff3dc7", "line": {"width": 2}}
    return go.Scatter(
        x=[number_text(each.lr) for each in rules if each.lr is not None],
        y=[study.rows[each.rule] for each in rules],
        mode="markers",
        marker=marker,
        name="chosen rate",
        hoverinfo="skip",
    )
