"""The chart of how far each rule of a study is from the best one, as plain data for Plotly."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

from explorer.catalogue.colours import CLEAR, NEUTRAL, RULE_COLOURS_LIGHT
from explorer.formula import number_text
from explorer.study.differences import Difference, find_differences
from explorer.study.outcomes import RuleOutcome, choose_score_decimals
from explorer.study.plan import Plan
from explorer.training.ranking import format_score

Spec = dict[str, Any]

_ROW, _FOOT = 40, 44  # px: height of a row, and of the axis below the last one
_FAR = 0.1  # rules whose interval ends this far below the best are on a separate axis
_LETTERS = 27  # the maximum number of letters of a rule's name
_DOMAIN, _WORDS = [0.26, 0.76], 0.78  # fractions of the width: the plotted part, and the start of the words
_DIAMOND, _CIRCLE, _OPEN = 2, 0, 100  # Plotly's numbers of marker symbols
_TEMPLATE = {  # properties common to all traces, and to all annotations
    "data": {
        "scatter": [
            {
                "mode": "markers",
                "marker": {"size": 11, "opacity": 1, "line": {"width": 2, "color": CLEAR}},
                "error_x": {"symmetric": False, "thickness": 2, "width": 5},
                "hovertemplate": "%{hovertext}<extra></extra>",
                "cliponaxis": False,
                "showlegend": False,
            }
        ]
    },
    "layout": {
        "annotationdefaults": {"xref": "paper", "xanchor": "left", "align": "left", "showarrow": False}
    },
}
_ROWS = {"showticklabels": False, "showgrid": False, "zeroline": False}
_AXIS = {"domain": _DOMAIN, "rangemode": "tozero", "zerolinecolor": NEUTRAL, "zerolinewidth": 2}


def draw_judgement(plan: Plan, rules: Sequence[RuleOutcome]) -> tuple[Spec, dict[str, int]]:
    """Return a chart of each rule's difference from the best rule, seed by seed, with its interval.

    Controls, and rules that are far below, have an axis of their own.

    Returns:
        Plotly's ``data`` and ``layout``, and the row of each rule, counted from the top, best rule first. One
        row is free above the rules that are far below. Each rule has one trace, in the order of the plan,
        named by its label, with its key as ``meta``: its mean with an interval, then a ring for each seed.
        The first ``hovertext`` is a sentence on the rule. The trace of a rule that cannot be compared is
        empty, and its sentence says why. Annotations named "rule" and "words" describe the rows.
    """
    compared = {each.rule: each for each in find_differences(plan, rules)}
    # Rules far below the best get a separate axis, unless fewer than two rules would be left.
    far = [key for key, each in compared.items() if each.is_control or -each.high > _FAR]
    far = far if len(compared) - len(far) > 1 else []
    near = [*(key for key in compared if key not in far), *(key for key in plan.keys if key not in compared)]
    rows = {key: row for row, key in enumerate([*near, "", *far]) if key}
    outcomes, labels = {each.rule: each for each in rules}, {}
    for key in rows:
        label = plan.labels[key]
        labels[key] = escape(label if len(label) <= _LETTERS else label[: _LETTERS - 1] + "…")
    digits, traces, annotations = choose_score_decimals(plan, rules), {}, []
    for key, row in rows.items():
        score, interval = _describe_outcome(plan, outcomes[key], digits, key in compared)
        words = compared[key].words if key in compared else ""
        control = " (control)" if key in plan.controls else ""
        sentence = f"{plan.labels[key]}{control}: {'; '.join(filter(None, (score + interval, words)))}"
        place = {"yref": "y2" if key in far else "y", "y": row}
        annotations += [
            {"name": "rule", "text": f"<b>{labels[key]}{control}</b><br>{score}", "x": 0, **place},
            {"name": "words", "text": words, "x": _WORDS, **place},
        ]
        axes = {"xaxis": "x2", "yaxis": "y2"} if key in far else {}
        traces[key] = _make_trace(plan, key, row, compared.get(key), sentence) | axes
    unit = "points of accuracy" if plan.metric == "accuracy" else plan.metric
    best = labels[near[0]] if compared else "the best rule"
    is_shared = all(-compared[key].high <= _FAR for key in far)
    layout = _lay_out(len(near), len(far), is_shared, f"{unit} from {best}: ○ a seed, ◆ the mean")
    spec = {"data": [traces[key] for key in plan.keys], "layout": layout | {"annotations": annotations}}
    return spec, rows


def _describe_outcome(plan: Plan, outcome: RuleOutcome, digits: int, is_compared: bool) -> tuple[str, str]:
    if outcome.n_diverged and not is_compared:
        seeds = (
            f"with {outcome.n_diverged} of {len(outcome.seeds)} seeds" if outcome.seeds else "at every rate"
        )
        return f"diverged {seeds}", ""
    if not outcome.scores:
        return "not judged yet", ""
    rate = "" if outcome.lr is None else f" at lr {number_text(outcome.lr)}"
    score, half = format_score([outcome.mean], digits, plan.unit) + rate, outcome.half_width
    if math.isnan(half):
        return score, ""
    bounds = (0.0, 1.0) if plan.metric == "accuracy" else (-math.inf, math.inf)
    ends = (sorted((*bounds, outcome.mean + sign * half))[1] for sign in (-1, 1))
    low, high = (format_score([end], digits, plan.unit) for end in ends)
    return score, f", 95 % interval {low.removesuffix(' %')} to {high}"


def _make_trace(plan: Plan, key: str, row: int, difference: Difference | None, sentence: str) -> Spec:
    scale = 100 if plan.metric == "accuracy" else 1
    seeds = difference.seeds if difference else {}
    values = [difference.middle, *seeds.values()] if difference else []
    has_interval = difference and difference.standing != "highest" and not math.isnan(difference.low)
    ends = (difference.high, difference.low) if difference and has_interval else ()
    reaches = [abs(end - values[0]) for end in ends]
    is_lower = bool(difference and difference.standing == "lower")
    colour = RULE_COLOURS_LIGHT[plan.keys.index(key) % len(RULE_COLOURS_LIGHT)]
    return {
        "name": escape(plan.labels[key]),
        "meta": key,
        "x": [round(scale * value, 6) if math.isfinite(value) else None for value in values],
        "y": [row] * len(values),
        "error_x": {
            side: [round(scale * reach, 6)]
            for side, reach in zip(("array", "arrayminus"), reaches, strict=False)
        },
        "marker": {
            "color": NEUTRAL if key in plan.controls else colour,
            "symbol": [_DIAMOND + is_lower * _OPEN, *[_CIRCLE + _OPEN] * len(seeds)],
        },
        "hovertext": [escape(sentence), *(f"seed {seed}" for seed in seeds)],
    }


def _lay_out(near: int, far: int, is_shared: bool, title: str) -> Spec:
    """Return Plotly's layout for ``near`` rows, and ``far`` rows below them, on an equal axis or another."""
    total = near + (far and far + 1)
    axes = {
        "xaxis": {**_AXIS, "anchor": "y", "title": {"text": title, "standoff": 4}},
        "yaxis": {**_ROWS, "domain": [1 - near / total, 1], "range": [near - 0.5, -0.5]},
    }
    if far:
        title = "the same, the controls" if is_shared else "the same, on another scale"
        axes["xaxis2"] = {**_AXIS, "anchor": "y2", "title": {"text": title, "standoff": 4}}
        axes["xaxis2"] |= {"matches": "x"} if is_shared else {}
        axes["yaxis2"] = {**_ROWS, "domain": [0, far / total], "range": [total - 0.5, near + 0.5]}
    return {
        "height": _ROW * total + _FOOT,
        "margin": {"l": 0, "r": 0, "t": 4, "b": _FOOT - 4},
        "template": _TEMPLATE,
        **axes,
    }


def escape(text: str) -> str:
    """Return text escaped for Plotly, which interprets some HTML."""
    return html.escape(text, quote=False)
