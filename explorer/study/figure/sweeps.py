"""A panel for each swept parameter: held-out scores by its value, a line a rule."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from explorer.catalogue.colours import NEUTRAL
from explorer.formula import number_text
from explorer.study.figure.drawn import Drawn
from explorer.study.judged import Judged, State, states
from explorer.study.plan import Plan
from explorer.study.words import percent_of

_SYMBOLS: dict[State | None, str] = {
    "good": "circle",
    "dead": "x",
    "mismatch": "diamond-open",
    None: "circle",
}
MEANINGS: dict[State, str] = {
    "good": "good: may be the best",
    "dead": "dead: lower, too little gradient passes",
    "mismatch": "mismatch: lower, gradient passes where the op is flat",
}


def draw_sweep(figure: go.Figure, study: Drawn, name: str, row: int, *, with_key: bool) -> None:
    """The scores by a parameter's value in a row of their own; ``with_key``: with what the symbols mean."""
    values = dict(study.plan.swept)[name]
    figure.add_traces(_sweep(study, name, with_key), rows=row, cols=1)
    scale = {
        "type": _scale(study.plan, name),
        "tickvals": values,
        "ticktext": [number_text(v) for v in values],
    }
    figure.update_xaxes(title_text=name, row=row, col=1, **scale)
    figure.update_yaxes(tickformat=".0%" if study.plan.metric == "accuracy" else ".2f", row=row, col=1)


def _sweep(study: Drawn, name: str, with_key: bool) -> list[go.Scatter]:
    """Score by a parameter's value, one line a rule: the highest of those that share the value."""
    traces = []
    for rule in study.plan.keys:
        own = [
            each for each in study.variants if each.rule == rule and each.scores and name in dict(each.values)
        ]
        visible = [_highest(own, name, value) for value in sorted({dict(each.values)[name] for each in own})]
        if visible:
            traces.append(_line(study, visible, name))
    return traces + (_key() if with_key else [])


def _highest(own: Sequence[Judged], name: str, value: float) -> Judged:
    return max((each for each in own if dict(each.values)[name] == value), key=lambda each: each.validation)


def _line(study: Drawn, visible: Sequence[Judged], name: str) -> go.Scatter:
    rule, compared = visible[0].rule, states(study.plan, visible)
    colour = study.colours[rule]
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
        name=study.labels[rule],
        meta=rule,
    )


def _half(each: Judged) -> float | None:
    return None if math.isnan(each.half) else each.half


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
        for each, words in MEANINGS.items()
    ]


def _scale(plan: Plan, name: str) -> str:
    """A logarithmic axis if all values are above 0 and differ by a factor of ten."""
    values = dict(plan.swept)[name]
    return "log" if values[0] > 0 and values[-1] >= 10 * values[0] else "linear"
