"""A Plotly figure of a study: its comparison with the best rule, and a heat map, below a sentence."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from explorer.catalogue.colours import ACCENT, CLEAR, GRID, GROUND, INK, NEUTRAL, blend
from explorer.formula import number_text
from explorer.study.figure.judgement import draw_judgement, escape
from explorer.study.outcomes import RuleOutcome, choose_score_decimals
from explorer.study.plan import Plan

_LINE, _LETTERS = 18, 120  # px and the maximum number of characters of a line of text
_LEGEND = 22  # px
_PLAIN = {"showgrid": False, "zeroline": False}
_FULL = 0.6  # the share of the accent in the best score's colour
_DIFFERENCES, _HEAT_MAP = [0.2, 0.6], [0.64, 1]  # fractions of the width


def make_study_figure(
    plan: Plan, rules: Sequence[RuleOutcome], cells: pd.DataFrame, sentence: str
) -> go.Figure:
    """Return a figure with each rule's difference from the best, and a heat map of rules and rates.

    The title is the ``sentence`` on the ranking, whose intervals are plotted. Each rule has one trace with
    differences, named by its label, with its key as ``meta``. ``cells`` is the table of the same name in
    ``Result``.
    """
    spec, rows = draw_judgement(plan, rules)
    layout, lines = spec["layout"], textwrap.wrap(sentence, _LETTERS, break_on_hyphens=False)
    head = 50 + _LINE * len(lines)
    height = layout["height"] + head + _LEGEND
    intervals = "one seed: no interval" if len(plan.judge_seeds) == 1 else "paired differences"
    title = {"text": "<br>".join(map(escape, lines)), "font": {"size": 13}, "x": 0.01, "yanchor": "top"}
    common = {
        "height": height,
        "margin": {"l": 16, "r": 16, "t": head, "b": layout["margin"]["b"] + _LEGEND},
        "title": title | {"yref": "container", "y": 1 - 10 / height},
        "annotations": [
            *(note for note in layout["annotations"] if note["name"] == "rule"),  # as hover text
            _make_title(f"{plan.title}, held-out {plan.metric}: {intervals}", _DIFFERENCES),
            _make_title("Validation, by which rates are chosen", _HEAT_MAP),
        ],
        "legend": {"orientation": "h", "yref": "container", "yanchor": "bottom", "y": 0, "x": 0},
        "xaxis3": {
            **_PLAIN,
            "domain": _HEAT_MAP,
            "anchor": "y3",
            "type": "category",
            "title": {"text": "lr"},
        },
        "yaxis3": {
            **_PLAIN,
            "anchor": "x3",
            "showticklabels": False,
            "range": [max(rows.values()) + 0.5, -0.5],
        },
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "font": {"color": NEUTRAL},
        "hoverlabel": {"namelength": -1},
    }
    narrower = {
        name: layout[name] | {"domain": _DIFFERENCES, "gridcolor": GRID}
        for name in ("xaxis", "xaxis2")
        if name in layout
    }
    heat_map = _draw_heat_map(plan, rules, rows, cells)
    return go.Figure({"data": [*spec["data"], *heat_map], "layout": layout | common | narrower})


def _make_title(text: str, domain: Sequence[float]) -> dict[str, Any]:
    place = {"xref": "paper", "yref": "paper", "x": sum(domain) / 2, "y": 1}
    return {"text": escape(text), "xanchor": "center", "yanchor": "bottom", **place}


def _draw_heat_map(
    plan: Plan, rules: Sequence[RuleOutcome], rows: Mapping[str, int], cells: pd.DataFrame
) -> list[dict[str, Any]]:
    """Return traces: the heat map, × where all seeds diverged, and a frame around each chosen rate."""
    by_cell = cells.set_index(["rule", "lr"])
    mean, diverged, tried = by_cell["validation"], by_cell["diverged"], by_cell["seeds"]
    digits, scale = choose_score_decimals(plan, rules), 100 if plan.metric == "accuracy" else 1
    keys = {row: key for key, row in rows.items()}  # the row between the rules and those far below has no key
    grid = [[(keys.get(row, ""), lr) for lr in plan.lrs] for row in range(1 + max(keys))]

    def format_score(cell: tuple[str, float]) -> str:
        if cell not in tried.index or diverged[cell] == tried[cell]:
            return ""
        return f"{mean[cell] * scale:.{digits}f}" + "*" * bool(diverged[cell])

    lost = cells[cells["diverged"] == cells["seeds"]]
    chosen = [each for each in rules if each.lr is not None]
    heat_map = {
        "type": "heatmap",
        "x": [number_text(lr) for lr in plan.lrs],
        "y": [*range(len(grid))],
        "z": [[mean.get(cell) for cell in row] for row in grid],
        "text": [[format_score(cell) for cell in row] for row in grid],
        "customdata": [[escape(plan.labels.get(rule, "")) for rule, _ in row] for row in grid],
        "texttemplate": "%{text}",
        "textfont": {"color": INK},
        "colorscale": [[0, GROUND], [1, blend(ACCENT, _FULL)]],  # colours light enough for dark digits
        "showscale": False,
        "xgap": 2,
        "ygap": 2,
        "hoverongaps": False,
        "hovertemplate": "%{customdata}, lr %{x}: %{text}<extra>validation; *: some seeds diverged</extra>",
    }
    crosses = {
        "x": [number_text(lr) for lr in lost["lr"]],
        "y": [rows[rule] for rule in lost["rule"]],
        "mode": "text",
        "text": ["×"] * len(lost),
        "textfont": {"size": 16, "color": NEUTRAL},
        "customdata": [escape(plan.labels[rule]) for rule in lost["rule"]],
        "hovertemplate": "%{customdata}, lr %{x}: diverged<extra></extra>",
        "showlegend": False,
    }
    frames = {
        "x": [number_text(each.lr) for each in chosen if each.lr is not None],
        "y": [rows[each.rule] for each in chosen],
        "mode": "markers",
        "marker": {"symbol": "square-open", "size": 28, "color": INK, "line": {"width": 2}},
        "name": "chosen rate",
        "showlegend": True,
        "hoverinfo": "skip",
    }
    return [{**trace, "xaxis": "x3", "yaxis": "y3"} for trace in (heat_map, crosses, frames)]
