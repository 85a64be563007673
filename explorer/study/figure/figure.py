"""All panels of a study in one figure, below the sentence of its ranking."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer.catalogue.colours import NEUTRAL
from explorer.study.figure.differences import draw_differences, far_below, name_rows
from explorer.study.figure.drawn import Drawn
from explorer.study.figure.heat_map import draw_heat_map
from explorer.study.judged import Judged
from explorer.study.plan import Plan

_GRID, _CLEAR = "rgba(138, 143, 152, 0.25)", "rgba(0, 0, 0, 0)"
_ROW, _LINE = 34, 18  # pixels, of a rule, of a line of the sentence
_LETTERS = 120  # of a line of the sentence
_WIDTHS = {2: [0.55, 0.45], 3: [0.14, 0.44, 0.42]}  # of the columns, with and without one for what is far
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


def study_figure(plan: Plan, rules: Sequence[Judged], cells: pd.DataFrame, sentence: str) -> go.Figure:
    """Differences from the highest rule beside the heat map rule × lr.

    The ranking's ``sentence`` stands above: its intervals are those that are drawn. Controls, and rules that
    are far below, have an axis of their own. One trace a rule in each panel, named by its label, ``meta``
    its key. ``cells``: as in ``Result``.
    """
    study = Drawn(plan, rules)
    far = far_below(study.compared)
    heat = 3 if far else 2
    figure = _panels(plan, bool(far))
    draw_differences(figure, study, far)
    draw_heat_map(figure, study, cells, heat)
    name_rows(figure, study)
    _lay_out(figure, max(190, 90 + _ROW * len(plan.rules)), sentence)
    figure.update_xaxes(showgrid=False, row=1, col=heat)
    figure.update_yaxes(showgrid=False, row=1, col=heat)
    return figure


def _panels(plan: Plan, has_far: bool) -> go.Figure:
    """The empty panels with their titles: the far axis, where there is one, the near one, the heat map."""
    columns = 3 if has_far else 2
    return make_subplots(
        cols=columns,
        column_widths=_WIDTHS[columns],
        horizontal_spacing=0.03,
        subplot_titles=[
            *(["far below"] if has_far else []),
            _title(plan),
            "Validation, by which rates are chosen",
        ],
    )


def _lay_out(figure: go.Figure, height: int, sentence: str) -> None:
    """Sizes, grids, and the sentence above all panels."""
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


def _title(plan: Plan) -> str:
    held = f"{plan.title}, held-out {plan.metric}"
    return f"{held} (one seed: no interval)" if len(plan.judge_seeds) == 1 else f"{held}: paired differences"
