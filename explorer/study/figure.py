"""A study as a Plotly figure, for notebooks and pages."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer.catalogue.colours import NEUTRAL, RULE_COLOURS_LIGHT
from explorer.formula import number_text
from explorer.study.judged import Judged, State, by_rule, states
from explorer.study.plan import Plan
from explorer.study.words import percent_of
from explorer.training import TASKS

_GRID, _CLEAR = "rgba(138, 143, 152, 0.25)", "rgba(0, 0, 0, 0)"
_ROW, _PANEL = 34, 320  # pixels, of a rule and of the panel of a sweep
_SYMBOLS: dict[State | None, str] = {
    "good": "circle",
    "dead": "x",
    "mismatch": "diamond-open",
    None: "circle",
}
_MEANINGS: dict[State, str] = {
    "good": "good: may be the best",
    "dead": "dead: lower, too little gradient passes",
    "mismatch": "mismatch: lower, gradient passes where the op is flat",
}


def study_figure(plan: Plan, variants: Sequence[Judged], cells: pd.DataFrame) -> go.Figure:
    """Held-out scores with intervals beside the heat map rule × lr; below it a panel a swept parameter.

    One trace a rule in each panel of scores, named by its label, ``meta`` its key. ``cells``: as in
    ``Result``.
    """
    sweeps = [name for name in plan.columns if any(dict(each.values).get(name) for each in variants)]
    specs: list[list[Any]] = [[{}, {}], *([{"colspan": 2}, None] for _ in sweeps)]
    top = max(220, 120 + _ROW * len(plan.rules))
    heights = [top, *(_PANEL for _ in sweeps)]
    titles = [
        _title(plan),
        "Validation, by which rates are chosen",
        *(f"Held-out, by {name}" for name in sweeps),
    ]
    figure = make_subplots(
        rows=len(heights),
        cols=2,
        specs=specs,
        row_heights=heights,
        horizontal_spacing=0.04,
        vertical_spacing=80 / sum(heights) if sweeps else 0,
        subplot_titles=titles,
    )
    labels = {key: html.escape(label, quote=False) for key, label in plan.labels.items()}
    colours = {key: _colour(plan, key) for key in plan.keys}
    for each in by_rule(plan, variants):
        figure.add_traces(_scores(each, labels, colours), rows=1, cols=1)
    figure.add_trace(_heat_map(plan, cells, labels), row=1, col=2)
    figure.add_trace(_crosses(cells, labels), row=1, col=2)
    figure.add_trace(_chosen(plan, variants, labels), row=1, col=2)
    for number, name in enumerate(sweeps):
        figure.add_traces(_sweep(plan, variants, name, labels, colours, not number), rows=number + 2, cols=1)
        figure.update_xaxes(title_text=name, row=number + 2, col=1, type=_scale(plan, name))
        figure.update_yaxes(tickformat=_format(plan), row=number + 2, col=1)
    order = [labels[key] for key in reversed(plan.keys)]
    figure.update_yaxes(categoryorder="array", categoryarray=order, row=1)
    figure.update_yaxes(showticklabels=False, row=1, col=2)
    figure.update_xaxes(tickformat=_format(plan), row=1, col=1)
    figure.update_xaxes(title_text="lr", type="category", row=1, col=2)
    figure.update_layout(height=sum(heights) + 60, **_LAYOUT)
    figure.update_xaxes(gridcolor=_GRID, zerolinecolor=_GRID)
    figure.update_yaxes(gridcolor=_GRID, zerolinecolor=_GRID)
    figure.update_xaxes(showgrid=False, row=1, col=2)
    figure.update_yaxes(showgrid=False, row=1, col=2)
    return figure


_LAYOUT = {
    "margin": {"l": 16, "r": 16, "t": 40, "b": 48},
    "paper_bgcolor": _CLEAR,
    "plot_bgcolor": _CLEAR,
    "font": {"color": NEUTRAL},
    "legend": {"orientation": "h", "yanchor": "top", "y": -0.08, "xanchor": "left", "x": 0},
    "hoverlabel": {"namelength": -1},
}


def _title(plan: Plan) -> str:
    judged = "one seed: no interval" if len(plan.judge_seeds) == 1 else "mean, its own 95 % interval, seeds"
    return f"{TASKS[plan.task].label}, held-out {plan.metric} ({judged})"


def _format(plan: Plan) -> str:
    return ".0%" if plan.metric == "accuracy" else ".2f"


def _colour(plan: Plan, key: str) -> str:
    """The colour of a rule by its index; controls share one."""
    if key in plan.controls:
        return NEUTRAL
    return RULE_COLOURS_LIGHT[plan.keys.index(key) % len(RULE_COLOURS_LIGHT)]


def _scores(each: Judged, labels: dict[str, str], colours: dict[str, str]) -> list[go.Scatter]:
    """A rule's mean with its interval, and every seed as a faint point; a word where all diverged."""
    label, colour = labels[each.rule], colours[each.rule]
    named = {"name": label, "meta": each.rule, "showlegend": False}
    if each.lr is None and each.lost:
        words = {"mode": "text", "text": ["diverged at every rate"], "textposition": "middle right"}
        return [go.Scatter(x=[0], y=[label], hoverinfo="skip", **words, **named)]
    seeds = go.Scatter(
        x=list(each.scores.values()),
        y=[label] * len(each.scores),
        mode="markers",
        marker={"color": colour, "opacity": 0.35, "size": 6},
        text=[f"seed {seed}" for seed in each.scores],
        hovertemplate="%{text}: %{x}<extra></extra>",
        showlegend=False,
    )
    mean = go.Scatter(
        x=[each.mean],
        y=[label],
        mode="markers",
        marker={"color": colour, "size": 11, "symbol": "line-ns", "line": {"width": 3, "color": colour}},
        error_x={"type": "data", "array": [_half(each)], "color": colour, "thickness": 2.5, "width": 6},
        hovertemplate=f"%{{x}}{_rate(each)}",
        **named,
    )
    return [seeds, mean]


def _half(each: Judged) -> float | None:
    return None if math.isnan(each.half) else each.half


def _rate(each: Judged) -> str:
    values = "".join(f", {name} = {number_text(value)}" for name, value in each.values)
    return "" if each.lr is None else f" at lr {number_text(each.lr)}{values}"


def _heat_map(plan: Plan, cells: pd.DataFrame, labels: dict[str, str]) -> go.Heatmap:
    """Mean validation of a rule at a rate, with the swept values that do best there."""
    highest = cells.groupby(["rule", "lr"])["validation"].max()
    lost = cells.groupby(["rule", "lr"])["diverged"].sum()
    tried = cells.groupby(["rule", "lr"])["seeds"].sum()
    grid = [[(rule, lr) for lr in plan.lrs] for rule in plan.keys]
    scale, digits = (100, 0) if plan.metric == "accuracy" else (1, 2)

    def text(cell: tuple[str, float]) -> str:
        if cell not in tried.index or lost[cell] == tried[cell]:
            return ""
        return f"{highest[cell] * scale:.{digits}f}" + "*" * bool(lost[cell])

    return go.Heatmap(
        x=[number_text(lr) for lr in plan.lrs],
        y=[labels[rule] for rule in plan.keys],
        z=[[highest.get(cell) for cell in row] for row in grid],
        text=[[text(cell) for cell in row] for row in grid],
        texttemplate="%{text}",
        textfont={"color": "#14181f"},
        colorscale=[[0, "#f6f0dc"], [1, "#4f9fdc"]],  # dark figures can be read on all of it
        showscale=False,
        xgap=2,
        ygap=2,
        hovertemplate="%{y}, lr %{x}: %{z:.3f}<extra>validation; *: some seeds diverged</extra>",
    )


def _crosses(cells: pd.DataFrame, labels: dict[str, str]) -> go.Scatter:
    """A × where a rule diverged with every seed and value."""
    sums = cells.groupby(["rule", "lr"])[["diverged", "seeds"]].sum().reset_index()
    gone = sums[sums["diverged"] == sums["seeds"]]
    return go.Scatter(
        x=[number_text(lr) for lr in gone["lr"]],
        y=[labels[rule] for rule in gone["rule"]],
        mode="text",
        text=["×"] * len(gone),
        textfont={"size": 16, "color": NEUTRAL},
        hovertemplate="%{y}, lr %{x}: diverged<extra></extra>",
        showlegend=False,
    )


def _chosen(plan: Plan, variants: Sequence[Judged], labels: dict[str, str]) -> go.Scatter:
    """A frame around the rate that was chosen for each rule."""
    known = [each for each in by_rule(plan, variants) if each.lr is not None]
    marker = {"symbol": "square-open", "size": 24, "color": "#ff3dc7", "line": {"width": 2}}
    return go.Scatter(
        x=[number_text(each.lr) for each in known if each.lr is not None],
        y=[labels[each.rule] for each in known],
        mode="markers",
        marker=marker,
        name="chosen rate",
        hoverinfo="skip",
    )


def _sweep(
    plan: Plan,
    variants: Sequence[Judged],
    name: str,
    labels: dict[str, str],
    colours: dict[str, str],
    with_key: bool,
) -> list[go.Scatter]:
    """Score by a parameter's value, one line a rule: the highest of those that share the value."""
    traces = []
    for rule in plan.keys:
        own = [each for each in variants if each.rule == rule and each.scores and name in dict(each.values)]
        visible = [_highest(own, name, value) for value in sorted({dict(each.values)[name] for each in own})]
        if visible:
            traces.append(_line(plan, visible, name, labels[rule], colours[rule]))
    return traces + (_key() if with_key else [])


def _highest(own: Sequence[Judged], name: str, value: float) -> Judged:
    return max((each for each in own if dict(each.values)[name] == value), key=lambda each: each.validation)


def _line(plan: Plan, visible: Sequence[Judged], name: str, label: str, colour: str) -> go.Scatter:
    found = states(plan, visible)
    return go.Scatter(
        x=[dict(each.values)[name] for each in visible],
        y=[each.mean for each in visible],
        error_y={"type": "data", "array": [_half(each) for each in visible], "color": colour, "width": 4},
        mode="lines+markers",
        line={"color": colour, "width": 2},
        marker={"size": 10, "color": colour, "symbol": [_SYMBOLS[each] for each in found]},
        customdata=[
            ("" if math.isnan(each.passed) else f"; {percent_of(each.passed)} of the gradient passes")
            + (f"; {where}" if where else "")
            for each, where in zip(visible, found, strict=True)
        ],
        hovertemplate="%{x}: %{y}%{customdata}",
        name=label,
        meta=visible[0].rule,
    )


def _key() -> list[go.Scatter]:
    """The legend of a sweep's marks."""
    return [
        go.Scatter(
            x=[None],
            y=[None],
            mode="markers",
            marker={"symbol": _SYMBOLS[each], "color": NEUTRAL, "size": 10},
            name=words,
            hoverinfo="skip",
        )
        for each, words in _MEANINGS.items()
    ]


def _scale(plan: Plan, name: str) -> str:
    """A logarithmic axis if all values are above 0 and differ by a factor of ten."""
    values = dict(plan.swept)[name]
    return "log" if values[0] > 0 and values[-1] >= 10 * values[0] else "linear"
