"""A study as a Plotly figure, for notebooks and pages."""

from __future__ import annotations

import html
import math
import textwrap
from collections.abc import Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer.catalogue.colours import NEUTRAL, RULE_COLOURS_LIGHT
from explorer.formula import number_text
from explorer.study.differences import Difference, Standing, differences
from explorer.study.judged import Judged, State, by_rule, decimals_of, states
from explorer.study.plan import Plan
from explorer.study.words import percent_of
from explorer.training.ranking import text

_GRID, _CLEAR = "rgba(138, 143, 152, 0.25)", "rgba(0, 0, 0, 0)"
_ROW, _PANEL, _LINE = 34, 320, 18  # pixels, of a rule, of the panel of a sweep, of a line of the sentence
_LETTERS = 120  # of a line of the sentence
_WIDTHS = {2: [0.55, 0.45], 3: [0.14, 0.44, 0.42]}  # of the columns, with and without one for what is far
_BELOW = 0.24  # a row: the seeds of a rule lie so far under its interval
_FAR = 0.1  # below the highest by at least so much, by the interval: an axis of its own
_STANDINGS: dict[Standing, str] = {
    "highest": "diamond",
    "level": "circle",
    "lower": "circle-open",
    "unknown": "circle",
}
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


def study_figure(plan: Plan, variants: Sequence[Judged], cells: pd.DataFrame, sentence: str) -> go.Figure:
    """Differences from the highest rule beside the heat map rule × lr; below it a panel a swept parameter.

    The ranking's ``sentence`` stands above: its intervals are those that are drawn. Controls, and rules that
    are far below, have an axis of their own. One trace a rule in each panel, named by its label, ``meta``
    its key. ``cells``: as in ``Result``.
    """
    compared = differences(plan, variants)
    far = _far(compared)
    sweeps = [name for name in plan.columns if any(dict(each.values).get(name) for each in variants)]
    heights = [max(190, 90 + _ROW * len(plan.rules)), *(_PANEL for _ in sweeps)]
    figure = _panels(plan, sweeps, heights, bool(far))
    labels = {key: html.escape(label, quote=False) for key, label in plan.labels.items()}
    colours = {key: _colour(plan, key) for key in plan.keys}
    rows, heat = _rows(plan, compared), 3 if far else 2
    _draw_differences(figure, plan, variants, compared, far, labels, colours, rows)
    for trace in (
        _heat_map(plan, variants, cells, labels, rows),
        _crosses(cells, labels, rows),
        _chosen(plan, variants, rows),
    ):
        figure.add_trace(trace, row=1, col=heat)
    for number, name in enumerate(sweeps):
        values = dict(plan.swept)[name]
        figure.add_traces(_sweep(plan, variants, name, labels, colours, not number), rows=number + 2, cols=1)
        scale = {"type": _scale(plan, name), "tickvals": values, "ticktext": [number_text(v) for v in values]}
        figure.update_xaxes(title_text=name, row=number + 2, col=1, **scale)
        figure.update_yaxes(tickformat=_format(plan), row=number + 2, col=1)
    _name_rows(figure, plan, variants, compared, labels, rows)
    figure.update_xaxes(title_text="lr", type="category", row=1, col=heat)
    _lay_out(figure, sum(heights), sentence, sweeps)
    figure.update_xaxes(showgrid=False, row=1, col=heat)
    figure.update_yaxes(showgrid=False, row=1, col=heat)
    return figure


def _panels(plan: Plan, sweeps: Sequence[str], heights: Sequence[int], has_far: bool) -> go.Figure:
    """The empty panels with their titles: the far axis, where there is one, the near one, the heat map."""
    columns = 3 if has_far else 2
    wide = [{"colspan": columns}, *[None] * (columns - 1)]
    return make_subplots(
        rows=len(heights),
        cols=columns,
        specs=[[{} for _ in range(columns)], *(wide for _ in sweeps)],
        row_heights=[*heights],
        column_widths=_WIDTHS[columns],
        horizontal_spacing=0.03,
        vertical_spacing=110 / sum(heights) if sweeps else 0,
        subplot_titles=[
            *(["far below"] if has_far else []),
            _title(plan),
            "Validation, by which rates are chosen",
            *(f"Held-out {plan.metric}, by {name}" for name in sweeps),
        ],
    )


def _lay_out(figure: go.Figure, height: int, sentence: str, sweeps: Sequence[str]) -> None:
    """Sizes, grids, and the sentence above all panels."""
    lines = [
        html.escape(line, quote=False) for line in textwrap.wrap(sentence, _LETTERS, break_on_hyphens=False)
    ]
    head, foot = 50 + _LINE * len(lines), 60 + _LINE * len(sweeps and _MEANINGS)
    title = {"text": "<br>".join(lines), "font": {"size": 13}, "x": 0.01, "yanchor": "top"}
    figure.update_layout(
        height=height + head + foot,
        title={**title, "yref": "container", "y": 1 - 10 / (height + head + foot)},
        margin={"l": 16, "r": 16, "t": head, "b": foot},
        **_LAYOUT,
    )
    figure.update_xaxes(gridcolor=_GRID, zerolinecolor=_GRID)
    figure.update_yaxes(gridcolor=_GRID, zerolinecolor=_GRID)


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


def _title(plan: Plan) -> str:
    held = f"{plan.title}, held-out {plan.metric}"
    return f"{held} (one seed: no interval)" if len(plan.judge_seeds) == 1 else f"{held}: paired differences"


def _format(plan: Plan) -> str:
    return ".0%" if plan.metric == "accuracy" else ".2f"


def _colour(plan: Plan, key: str) -> str:
    """The colour of a rule by its index; controls share one."""
    if key in plan.controls:
        return NEUTRAL
    return RULE_COLOURS_LIGHT[plan.keys.index(key) % len(RULE_COLOURS_LIGHT)]


def _draw_differences(
    figure: go.Figure,
    plan: Plan,
    variants: Sequence[Judged],
    compared: Sequence[Difference],
    far: set[str],
    labels: dict[str, str],
    colours: dict[str, str],
    rows: dict[str, int],
) -> None:
    """The differences on their axes, and words for a rule that diverged."""
    near = 2 if far else 1
    for each in compared:
        traces = _difference(plan, each, labels[each.rule], colours[each.rule], rows[each.rule])
        figure.add_traces(traces, rows=1, cols=1 if each.rule in far else near)
    for key, words in _lost(plan, variants, compared).items():
        figure.add_trace(_words(key, labels[key], words, rows[key]), row=1, col=near)
    figure.add_vline(x=0, line={"color": NEUTRAL, "width": 1.5}, row=1, col=near)
    best = f"{labels[compared[0].rule]}, the highest mean" if compared else "the highest mean"
    unit = "points" if plan.metric == "accuracy" else str(plan.metric)
    figure.update_xaxes(title_text=f"{unit} from {best}", row=1, col=near)


def _far(compared: Sequence[Difference]) -> set[str]:
    """The rules and controls that would squeeze the axis of the others; none where nothing else is left."""
    away = {each.rule for each in compared if each.is_control or -each.high > _FAR}
    return away if len(compared) - len(away) > 1 else set()


def _name_rows(
    figure: go.Figure,
    plan: Plan,
    variants: Sequence[Judged],
    compared: Sequence[Difference],
    labels: dict[str, str],
    rows: dict[str, int],
) -> None:
    """The rules from top to bottom as they rank, their names with their means at the left alone."""
    digits, means = decimals_of(plan, variants), {each.rule: each.mean for each in compared}

    def name(key: str) -> str:
        return f"{labels[key]}  {text([means[key]], digits, plan.unit)}" if key in means else labels[key]

    figure.update_yaxes(
        tickvals=[*rows.values()],
        ticktext=[name(key) for key in rows],
        range=[len(rows) - 0.4, -0.6],
        zeroline=False,
        showticklabels=False,
        row=1,
    )
    figure.update_yaxes(showticklabels=True, row=1, col=1)


def _rows(plan: Plan, compared: Sequence[Difference]) -> dict[str, int]:
    """The row of each rule, from the top: as they rank, and then those that have no rank."""
    ranked = [each.rule for each in compared]
    order = [*ranked, *(key for key in plan.keys if key not in ranked)]
    return {key: row for row, key in enumerate(order)}


def _difference(plan: Plan, each: Difference, label: str, colour: str, row: int) -> list[go.Scatter]:
    """A rule's difference with its interval, and that of every seed as a faint point below."""
    scale = 100 if plan.metric == "accuracy" else 1
    seeds = go.Scatter(
        x=[scale * difference for difference in each.seeds.values()],
        y=[row + _BELOW] * len(each.seeds),
        mode="markers",
        marker={"color": colour, "opacity": 0.45, "size": 5},
        text=[f"seed {seed}" for seed in each.seeds],
        hovertemplate="%{text}: %{x:.2f}<extra></extra>",
        showlegend=False,
    )
    known = not math.isnan(each.low) and each.standing != "highest"
    middle = go.Scatter(
        x=[scale * each.middle],
        y=[row],
        mode="markers",
        marker={"color": colour, "size": 11, "symbol": _STANDINGS[each.standing], "line": {"width": 2}},
        error_x={
            "type": "data",
            "array": [scale * (each.high - each.middle) if known else None],
            "color": colour,
            "thickness": 2.5,
            "width": 6,
        },
        hovertemplate=html.escape(each.words, quote=False),
        name=label,
        meta=each.rule,
        showlegend=False,
    )
    return [seeds, middle]


def _lost(plan: Plan, variants: Sequence[Judged], compared: Sequence[Difference]) -> dict[str, str]:
    """Why there is no difference of a rule that has been judged."""
    known = {each.rule for each in compared}
    words = {}
    for each in by_rule(plan, variants):
        if each.rule not in known and each.lost:
            count = f"with {each.lost} of {len(each.seeds)} seeds" if each.seeds else "at every rate"
            words[each.rule] = f"diverged {count}"
    return words


def _words(key: str, label: str, words: str, row: int) -> go.Scatter:
    """Words in the place of a difference, left of the line at 0."""
    said = {"mode": "text", "text": [words], "textposition": "middle left"}
    return go.Scatter(x=[0], y=[row], hoverinfo="skip", name=label, meta=key, showlegend=False, **said)


def _half(each: Judged) -> float | None:
    return None if math.isnan(each.half) else each.half


def _heat_map(
    plan: Plan, variants: Sequence[Judged], cells: pd.DataFrame, labels: dict[str, str], rows: dict[str, int]
) -> go.Heatmap:
    """Mean validation of a rule at a rate, with the swept values that do best there."""
    highest = cells.groupby(["rule", "lr"])["validation"].max()
    lost = cells.groupby(["rule", "lr"])["diverged"].sum()
    tried = cells.groupby(["rule", "lr"])["seeds"].sum()
    grid = [[(rule, lr) for lr in plan.lrs] for rule in rows]
    scale, digits = 100 if plan.metric == "accuracy" else 1, decimals_of(plan, variants)

    def score(cell: tuple[str, float]) -> str:
        if cell not in tried.index or lost[cell] == tried[cell]:
            return ""
        return f"{highest[cell] * scale:.{digits}f}" + "*" * bool(lost[cell])

    return go.Heatmap(
        x=[number_text(lr) for lr in plan.lrs],
        y=[*rows.values()],
        z=[[highest.get(cell) for cell in row] for row in grid],
        text=[[score(cell) for cell in row] for row in grid],
        customdata=[[labels[rule]] * len(plan.lrs) for rule in rows],
        texttemplate="%{text}",
        textfont={"color": "#14181f"},
        colorscale=[[0, "#f6f0dc"], [1, "#4f9fdc"]],  # dark figures can be read on all of it
        showscale=False,
        xgap=2,
        ygap=2,
        hovertemplate="%{customdata}, lr %{x}: %{text}<extra>validation; *: some seeds diverged</extra>",
    )


def _crosses(cells: pd.DataFrame, labels: dict[str, str], rows: dict[str, int]) -> go.Scatter:
    """A × where a rule diverged with every seed and value."""
    sums = cells.groupby(["rule", "lr"])[["diverged", "seeds"]].sum().reset_index()
    gone = sums[sums["diverged"] == sums["seeds"]]
    return go.Scatter(
        x=[number_text(lr) for lr in gone["lr"]],
        y=[rows[rule] for rule in gone["rule"]],
        mode="text",
        text=["×"] * len(gone),
        textfont={"size": 16, "color": NEUTRAL},
        customdata=[labels[rule] for rule in gone["rule"]],
        hovertemplate="%{customdata}, lr %{x}: diverged<extra></extra>",
        showlegend=False,
    )


def _chosen(plan: Plan, variants: Sequence[Judged], rows: dict[str, int]) -> go.Scatter:
    """A frame around the rate that was chosen for each rule."""
    known = [each for each in by_rule(plan, variants) if each.lr is not None]
    marker = {"symbol": "square-open", "size": 28, "color": "#ff3dc7", "line": {"width": 2}}
    return go.Scatter(
        x=[number_text(each.lr) for each in known if each.lr is not None],
        y=[rows[each.rule] for each in known],
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
    compared = states(plan, visible)
    return go.Scatter(
        x=[dict(each.values)[name] for each in visible],
        y=[each.mean for each in visible],
        error_y={"type": "data", "array": [_half(each) for each in visible], "color": colour, "width": 4},
        mode="lines+markers",
        line={"color": colour, "width": 2},
        marker={"size": 10, "color": colour, "symbol": [_SYMBOLS[each] for each in compared]},
        customdata=[
            ("" if math.isnan(each.passed) else f"; {percent_of(each.passed)} of the gradient passes")
            + (f"; {where}" if where else "")
            for each, where in zip(visible, compared, strict=True)
        ],
        hovertemplate="%{x}: %{y}%{customdata}",
        name=label,
        meta=visible[0].rule,
    )


def _key() -> list[go.Scatter]:
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
