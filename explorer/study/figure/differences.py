"""Draw how far each rule of a study is below the best: an interval, and a faint point for each seed."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

import plotly.graph_objects as go

from explorer.catalogue.colours import NEUTRAL
from explorer.study.differences import Difference, Standing
from explorer.study.figure.view import StudyView
from explorer.training.ranking import format_score

_BELOW = 0.24  # distance of the points of single seeds from the rule's interval, in rows
_FAR = 0.1  # rules whose interval ends lower than this below the others are drawn on a separate axis
_STANDINGS: dict[Standing, str] = {
    "highest": "diamond",
    "level": "circle",
    "lower": "circle-open",
    "unknown": "circle",
}


def draw_differences(figure: go.Figure, study: StudyView, far: set[str]) -> None:
    """Plot each rule's difference from the best rule, with a note for each rule that diverged.

    Rules in ``far`` are plotted on a separate first axis.
    """
    near, labels = 2 if far else 1, study.labels
    for difference in study.compared:
        figure.add_traces(_make_traces(study, difference), rows=1, cols=1 if difference.rule in far else near)
    for key, words in _explain_missing(study).items():
        figure.add_trace(_make_text_trace(study, key, words), row=1, col=near)
    figure.add_vline(x=0, line={"color": NEUTRAL, "width": 1.5}, row=1, col=near)
    best = f"{labels[study.compared[0].rule]}, the highest mean" if study.compared else "the highest mean"
    unit = "points" if study.plan.metric == "accuracy" else str(study.plan.metric)
    figure.update_xaxes(title_text=f"{unit} from {best}", row=1, col=near)


def find_far_below(compared: Sequence[Difference]) -> set[str]:
    """Return the rules that are so far below the best that they need an axis of their own.

    Controls count too. The set is empty unless at least two rules are left.
    """
    far = {each.rule for each in compared if each.is_control or -each.high > _FAR}
    return far if len(compared) - len(far) > 1 else set()


def name_rows(figure: go.Figure, study: StudyView) -> None:
    """Label the rows of the figure with the rules and their mean scores, best rule first."""
    means, unit = {each.rule: each.mean for each in study.compared}, study.plan.unit

    def name(key: str) -> str:
        label = study.labels[key]
        return f"{label}  {format_score([means[key]], study.digits, unit)}" if key in means else label

    figure.update_yaxes(
        tickvals=[*study.rows.values()],
        ticktext=[name(key) for key in study.rows],
        range=[len(study.rows) - 0.4, -0.6],
        zeroline=False,
        showticklabels=False,
        row=1,
    )
    figure.update_yaxes(showticklabels=True, row=1, col=1)


def _make_traces(study: StudyView, difference: Difference) -> list[go.Scatter]:
    """Return the traces of one rule: its mean difference with an interval, and a faint point per seed."""
    scale, colour, row = study.scale, study.colours[difference.rule], study.rows[difference.rule]
    seeds = go.Scatter(
        x=[scale * value for value in difference.seeds.values()],
        y=[row + _BELOW] * len(difference.seeds),
        mode="markers",
        marker={"color": colour, "opacity": 0.45, "size": 5},
        text=[f"seed {seed}" for seed in difference.seeds],
        hovertemplate="%{text}: %{x:.2f}<extra></extra>",
        showlegend=False,
    )
    has_interval = not math.isnan(difference.low) and difference.standing != "highest"
    middle = go.Scatter(
        x=[scale * difference.middle],
        y=[row],
        mode="markers",
        marker={"color": colour, "size": 11, "symbol": _STANDINGS[difference.standing], "line": {"width": 2}},
        error_x={
            "type": "data",
            "array": [scale * (difference.high - difference.middle) if has_interval else None],
            "color": colour,
            "thickness": 2.5,
            "width": 6,
        },
        hovertemplate=html.escape(difference.words, quote=False),
        name=study.labels[difference.rule],
        meta=difference.rule,
        showlegend=False,
    )
    return [seeds, middle]


def _explain_missing(study: StudyView) -> dict[str, str]:
    """Return a dict from rules that cannot be compared to the reason, such as "diverged at every rate"."""
    compared = {each.rule for each in study.compared}
    words = {}
    for outcome in study.rules:
        if outcome.rule not in compared and outcome.n_diverged:
            count = (
                f"with {outcome.n_diverged} of {len(outcome.seeds)} seeds"
                if outcome.seeds
                else "at every rate"
            )
            words[outcome.rule] = f"diverged {count}"
    return words


def _make_text_trace(study: StudyView, key: str, words: str) -> go.Scatter:
    """Return a trace with text for a rule that cannot be compared with the best one."""
    style = {"mode": "text", "text": [words], "textposition": "middle left"}
    identity = {"name": study.labels[key], "meta": key}
    return go.Scatter(x=[0], y=[study.rows[key]], hoverinfo="skip", showlegend=False, **identity, **style)
