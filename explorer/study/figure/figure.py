"""Combine all panels of a study in one figure, below the sentence on its ranking."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer.catalogue.colours import NEUTRAL
from explorer.study.figure.differences import draw_differences, find_far_below, name_rows
from explorer.study.figure.heat_map import draw_heat_map
from explorer.study.figure.view import StudyView
from explorer.study.outcomes import RuleOutcome
from explorer.study.plan import Plan

_GRID, _CLEAR = "rgba(138, 143, 152, 0.25)", "rgba(0, 0, 0, 0)"
_ROW, _LINE = 34, 18  # the height of a rule's row and of a line of text, in pixels
_LETTERS = 120  # the maximum number of characters in a line of text
_WIDTHS = {2: [0.55, 0.45], 3: [0.14, 0.44, 0.42]}  # by number of columns; the third is for distant rules
_LAYOUT: dict[str, Any] = {
    "paper_bgcolor": _CLEAR,
    "plot_bgcolor": _CLEAR,
    "font": {"color": NEUTRAL},
    "legend": {
        "orientation": "h",
        "yref": "container",
        "yanchor": "bottom",
        "y": 0,
        "xanchor": "left",
        "x": 0,
    },
    "hoverlabel": {"namelength": -1},
}


def make_study_figure(
    plan: Plan, rules: Sequence[RuleOutcome], cells: pd.DataFrame, sentence: str
) -> go.Figure:
    """Plot each rule's difference from the best rule, next to a heat map of rules and learning rates.

    The title is the ``sentence`` on the ranking, whose intervals are plotted. Controls, and rules that are
    far below, have a separate axis. Each panel has one trace per rule, named by its label, with its key as
    ``meta``. ``cells`` is the table of the same name in ``Result``.
    """
    study = StudyView(plan, rules)
    far = find_far_below(study.compared)
    heat = 3 if far else 2
    figure = _make_panels(plan, bool(far))
    draw_differences(figure, study, far)
    draw_heat_map(figure, study, cells, heat)
    name_rows(figure, study)
    _lay_out(figure, max(190, 90 + _ROW * len(plan.rules)), sentence)
    figure.update_xaxes(showgrid=False, row=1, col=heat)
    figure.update_yaxes(showgrid=False, row=1, col=heat)
    return figure


def _make_panels(plan: Plan, has_far: bool) -> go.Figure:
    """Return an empty figure with titled panels: differences far below, near differences, heat map.

    The panel of those far below is optional.
    """
    columns = 3 if has_far else 2
    return make_subplots(
        cols=columns,
        column_widths=_WIDTHS[columns],
        horizontal_spacing=0.03,
        subplot_titles=[
            *(["far below"] if has_far else []),
            _make_title(plan),
            "Validation, by which rates are chosen",
        ],
    )


def _lay_out(figure: go.Figure, height: int, sentence: str) -> None:
    """Set the figure's size and grid lines, and write the sentence above all panels."""
    lines = [
        html.escape(line, quote=False) for line in textwrap.wrap(sentence, _LETTERS, break_on_hyphens=False)
    ]
    head, foot = 50 + _LINE * len(lines), 60
    title = {"text": "<br>".join(lines), "font": {"size": 13}, "x": 0.01, "yanchor": "top"}
    figure.update_layout(
        height=height + head + foot,
        title={**title, "yref": "container", "y": 1 - 10 / (height + head + foot)},
        margin={"l": 16, "r": 16, "t": head, "b": foot},
        **_LAYOUT,
    )
    figure.update_xaxes(gridcolor=_GRID, zerolinecolor=_GRID)
    figure.update_yaxes(gridcolor=_GRID, zerolinecolor=_GRID)


def _make_title(plan: Plan) -> str:
    subject = f"{plan.title}, held-out {plan.metric}"
    return (
        f"{subject} (one seed: no interval)"
        if len(plan.judge_seeds) == 1
        else f"{subject}: paired differences"
    )
