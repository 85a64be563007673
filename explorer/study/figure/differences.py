"""The panel of differences from the highest rule: intervals, and every seed as a faint point."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

import plotly.graph_objects as go

from explorer.catalogue.colours import NEUTRAL
from explorer.study.differences import Difference, Standing
from explorer.study.figure.drawn import Drawn
from explorer.training.ranking import text

_BELOW = 0.24  # a row: the seeds of a rule lie so far under its interval
_FAR = 0.1  # below the highest by at least so much, by the interval: an axis of its own
_STANDINGS: dict[Standing, str] = {
    "highest": "diamond",
    "level": "circle",
    "lower": "circle-open",
    "unknown": "circle",
}


def draw_differences(figure: go.Figure, study: Drawn, far: set[str]) -> None:
    """The differences on their axes, those of ``far`` on the first, and words for a rule that diverged."""
    near, labels = 2 if far else 1, study.labels
    for each in study.compared:
        figure.add_traces(_difference(study, each), rows=1, cols=1 if each.rule in far else near)
    for key, words in _lost(study).items():
        figure.add_trace(_words(study, key, words), row=1, col=near)
    figure.add_vline(x=0, line={"color": NEUTRAL, "width": 1.5}, row=1, col=near)
    best = f"{labels[study.compared[0].rule]}, the highest mean" if study.compared else "the highest mean"
    unit = "points" if study.plan.metric == "accuracy" else str(study.plan.metric)
    figure.update_xaxes(title_text=f"{unit} from {best}", row=1, col=near)


def far_below(compared: Sequence[Difference]) -> set[str]:
    """The rules and controls that would squeeze the axis of the others; none where nothing else is left."""
    away = {each.rule for each in compared if each.is_control or -each.high > _FAR}
    return away if len(compared) - len(away) > 1 else set()


def name_rows(figure: go.Figure, study: Drawn) -> None:
    """The rules from top to bottom as they rank, their names with their means at the left alone."""
    means, unit = {each.rule: each.mean for each in study.compared}, study.plan.unit

    def name(key: str) -> str:
        label = study.labels[key]
        return f"{label}  {text([means[key]], study.digits, unit)}" if key in means else label

    figure.update_yaxes(
        tickvals=[*study.rows.values()],
        ticktext=[name(key) for key in study.rows],
        range=[len(study.rows) - 0.4, -0.6],
        zeroline=False,
        showticklabels=False,
        row=1,
    )
    figure.update_yaxes(showticklabels=True, row=1, col=1)


def _difference(study: Drawn, each: Difference) -> list[go.Scatter]:
    """A rule's difference with its interval, and that of every seed as a faint point below."""
    scale, colour, row = study.scale, study.colours[each.rule], study.rows[each.rule]
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
        name=study.labels[each.rule],
        meta=each.rule,
        showlegend=False,
    )
    return [seeds, middle]


def _lost(study: Drawn) -> dict[str, str]:
    """Why there is no difference of a rule that has been judged."""
    known = {each.rule for each in study.compared}
    words = {}
    for each in study.rules:
        if each.rule not in known and each.lost:
            count = f"with {each.lost} of {len(each.seeds)} seeds" if each.seeds else "at every rate"
            words[each.rule] = f"diverged {count}"
    return words


def _words(study: Drawn, key: str, words: str) -> go.Scatter:
    """Words in the place of a difference, left of the line at 0."""
    said = {"mode": "text", "text": [words], "textposition": "middle left"}
    known = {"name": study.labels[key], "meta": key}
    return go.Scatter(x=[0], y=[study.rows[key]], hoverinfo="skip", showlegend=False, **known, **said)
