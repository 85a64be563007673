"""Tables to Plotly figures.

Each figure exists as a plain specification (a dict whose arrays are NumPy arrays, cheap to build and
to send) and as a ``plotly.graph_objects.Figure`` for notebooks.
"""

from __future__ import annotations

import html
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

Spec = dict[str, Any]
Floats = NDArray[Any]

# Okabe and Ito's colour-blind safe palette, with its yellow and black exchanged for two that stand
# out on white and on dark ground alike. Colours repeat after eight rules, with another dash.
COLOURS = ("#3f8fd2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#8a5a30", "#7c4fc4")
# The catalogue's rules use the named dashes, own formulas the other three.
_OWN_DASHES = ("14px,3px,3px,3px", "6px,2px", "14px,3px,3px,3px,3px,3px")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", *_OWN_DASHES)
NEUTRAL = "#8a8f98"
GRID = "rgba(138, 143, 152, 0.25)"

CLOSED, OPEN = 0, 100  # Plotly's numbers of the marker symbols circle and circle-open
_CLOSED_SIZE, _OPEN_SIZE = 8, 11  # an open circle stays visible around a filled one
_WIDTH = 2.5


def rule_line(order: int) -> dict[str, str]:
    """Colour and dash of a rule, from its order in the catalogue."""
    return {"color": COLOURS[order % len(COLOURS)], "dash": DASHES[order // len(COLOURS) % len(DASHES)]}


def curve_figure(frame: pd.DataFrame) -> go.Figure:
    """Forward curve above, the rules' gradients below, on one x axis.

    ``frame`` is what ``explorer.sample`` returns. One curve per rule, named by the rule's label,
    ``meta`` its key; the exact value at each kink is a filled circle, the limits of a jump are
    open ones, and no line crosses a jump. The circles are traces without a name and ``meta``.
    """
    return go.Figure(curve_spec(frame))


def curve_spec(frame: pd.DataFrame) -> Spec:
    """The specification of ``curve_figure``: {"data": [...], "layout": {...}}."""
    keys = list(dict.fromkeys(frame["rule"]))
    forward = {"name": _escaped(frame.attrs.get("op", "forward")), "meta": "forward"}
    line: Spec = {"color": NEUTRAL, "width": _WIDTH}
    traces = _curve(frame[frame["rule"] == keys[0]], "y", _kinks(frame, "forward"), line, forward)
    for place, key in enumerate(keys):
        # Earlier rules are drawn broader, so that curves that coincide can both be seen.
        line = _line(frame, key, place) | {"width": _WIDTH + 0.8 * (len(keys) - 1 - place)}
        named = {"name": _label(frame, key), "meta": key}
        drawn = _curve(frame[frame["rule"] == key], "gradient", _kinks(frame, key), line, named)
        traces += [trace | {"yaxis": "y2"} for trace in drawn]
    return {"data": traces, "layout": _curve_layout(frame)}


def _kinks(frame: pd.DataFrame, key: str) -> Floats:
    return np.asarray(frame.attrs.get("kinks", {}).get(key, ()), dtype=frame["x"].to_numpy().dtype)


def _label(frame: pd.DataFrame, key: str) -> str:
    return _escaped(frame.attrs.get("labels", {}).get(key, key))


def _line(frame: pd.DataFrame, key: str, place: int) -> Spec:
    return dict(rule_line(frame.attrs.get("orders", {}).get(key, place)))


def loss_figure(frame: pd.DataFrame) -> go.Figure:
    """Loss over steps on a log axis, one trace per rule in the rule's own colour.

    ``frame`` has the columns rule, step, loss; ``attrs`` may hold labels and orders by rule and
    ``steps``, the right end of the axis. A loss of 0 or below, and one that is not finite, has no
    place on a log axis and leaves a gap.
    """
    return go.Figure(loss_spec(frame))


def loss_spec(frame: pd.DataFrame) -> Spec:
    """The specification of ``loss_figure``."""
    traces = []
    for place, key in enumerate(dict.fromkeys(frame["rule"])):
        block = frame[frame["rule"] == key]
        loss = block["loss"].to_numpy(np.float32)
        line = _line(frame, key, place)
        traces.append(
            {
                "type": "scatter",
                "mode": "lines" if len(block) > 1 else "markers",
                "x": block["step"].to_numpy(np.int32),
                "y": np.where(np.isfinite(loss) & (loss > 0), loss, np.float32(np.nan)),
                "name": _label(frame, key),
                "meta": key,
                "line": line | {"width": _WIDTH},
                "marker": {"color": line["color"]},
                "hovertemplate": "%{y:.4g}",
            }
        )
    steps = max(1, int(frame.attrs.get("steps", frame["step"].max() if len(frame) else 1)))
    axis = {"gridcolor": GRID, "zerolinecolor": GRID}
    layout = {
        "xaxis": axis | {"title": {"text": "step"}, "range": [0, steps], "uirevision": str(steps)},
        "yaxis": axis
        | {"title": {"text": "loss"}, "type": "log", "exponentformat": "power"}
        | _loss_range(traces),
        "hovermode": "x unified",
        "showlegend": True,
        "meta": {"wide": 400, "narrow": 300},
        "uirevision": "loss",
        "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.02, "xanchor": "left", "x": 0},
        "margin": {"l": 64, "r": 16, "t": 8, "b": 48},
        **_ground(),
    }
    return {"data": traces, "layout": layout}


def _loss_range(traces: list[Spec]) -> Spec:
    """Bounds that keep a rule which diverges from flattening the others: a thousand times the first loss."""
    first = [trace["y"][0] for trace in traces if len(trace["y"]) and np.isfinite(trace["y"][0])]
    return {"autorangeoptions": {"clipmax": 1000 * float(max(first))}} if first else {}


def _curve(block: pd.DataFrame, column: str, kinks: Floats, line: Spec, named: Spec) -> list[Spec]:
    """A line that breaks at jumps; and, where there are kinks, their exact values and limits as markers.

    The markers are a trace of their own, since Plotly draws an element for every point of one that
    has any; the pointer passes over it to the line, which holds the same points.
    """
    x, y = block["x"].to_numpy(), block[column].to_numpy()
    group = _kink_groups(x, kinks)
    jump = np.zeros(len(x), dtype=bool)  # between a point and the next
    with np.errstate(invalid="ignore", over="ignore"):
        jump[:-1] = (group[:-1] & group[1:]) & (np.abs(np.diff(y)) > _smallest_jump(y, ~group))
    limit = jump.copy()
    limit[1:] |= jump[:-1]
    exact = np.isin(x, kinks)
    order = _drawing_order(exact, jump)
    curve = {
        "type": "scatter",
        "mode": "lines",
        "x": x[np.abs(order)],
        "y": np.where(order < 0, np.asarray(np.nan, dtype=y.dtype), y[order]),
        "line": line,
        "connectgaps": False,
        "hovertemplate": "%{y:.5g}",
        "legendgroup": named["meta"],
        **named,
    }
    shown = np.concatenate([np.flatnonzero(limit & ~exact), np.flatnonzero(exact)])
    if not len(shown):
        return [curve]
    marker = {
        "size": np.where(exact[shown], _CLOSED_SIZE, _OPEN_SIZE).astype(np.int8),
        "symbol": np.where(exact[shown], CLOSED, OPEN).astype(np.int8),
        "color": line["color"],
        "line": {"color": line["color"], "width": 2},
        "opacity": 1,
    }
    marks = {"type": "scatter", "mode": "markers", "x": x[shown], "y": y[shown], "marker": marker}
    return [curve, marks | {"legendgroup": named["meta"], "showlegend": False, "hoverinfo": "skip"}]


def _drawing_order(exact: NDArray[np.bool_], jump: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Indices of points in the order they are drawn; -1 leaves a gap.

    The line first, broken at jumps; then the exact values at kinks, each alone. What is drawn last
    lies on top, and of points that fall on one pixel it is the one that hovering finds.
    """
    line = np.flatnonzero(~exact)
    jumps = np.concatenate([[0], np.cumsum(jump)])
    breaks = np.flatnonzero(np.diff(jumps[line])) + 1
    alone = np.flatnonzero(exact)
    pairs = np.column_stack([np.full(len(alone), -1), alone]).ravel()
    return np.concatenate([np.insert(line, breaks, -1), pairs]).astype(np.int64)


def _smallest_jump(y: Floats, ordinary: NDArray[np.bool_]) -> float:
    """What is seen as a jump, by the size of the curve away from kinks; beside a pole it may be huge."""
    seen = y[np.isfinite(y) & ordinary].astype(np.float64)
    return float(1e-4 * np.ptp(seen) + 1e-6 * np.abs(seen).max()) if len(seen) else 0.0


def _kink_groups(x: Floats, kinks: Floats) -> NDArray[np.bool_]:
    """Which points belong to a kink: itself and the few floats beside it that were sampled too."""
    member = np.zeros(len(x), dtype=bool)
    if len(kinks):
        reach = 8 * np.maximum(np.spacing(np.abs(kinks)), np.finfo(x.dtype).smallest_subnormal)
        for low, high in zip(
            np.searchsorted(x, kinks - reach, "left"), np.searchsorted(x, kinks + reach, "right"), strict=True
        ):
            member[low:high] = True
    return member


def _curve_layout(frame: pd.DataFrame) -> Spec:
    x = frame["x"].to_numpy()
    ends = [float(x.min()), float(x.max())]
    kinks = np.unique(np.concatenate([_kinks(frame, key) for key in ("forward", *frame["rule"].unique())]))
    beside = _member_rows(x, kinks)
    op = _escaped(frame.attrs.get("op", "y"))
    axis = {"gridcolor": GRID, "zerolinecolor": GRID}
    # No range is set, so that Plotly keeps what a reader has zoomed into when curves change.
    y_axis = axis | {"uirevision": f"{op} {ends}"}
    forward = {"title": {"text": "forward y"}, "domain": [0.54, 1.0]}
    gradient = {"title": {"text": "gradient"}, "domain": [0.0, 0.46]}
    return {
        "xaxis": axis | {"title": {"text": "x"}, "range": ends, "anchor": "y2", "uirevision": str(ends)},
        "yaxis": y_axis | forward | {"autorangeoptions": _clipped(frame["y"].to_numpy(), beside)},
        "yaxis2": y_axis
        | gradient
        | {"autorangeoptions": {"include": 0} | _clipped(frame["gradient"].to_numpy(), beside)},
        "hovermode": "x unified",
        "hoversubplots": "axis",
        "uirevision": "curves",
        "meta": {"wide": 520, "narrow": 400},
        "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.02, "xanchor": "left", "x": 0},
        "margin": {"l": 64, "r": 16, "t": 8, "b": 48},
        **_ground(),
    }


def _member_rows(x: Floats, kinks: Floats) -> NDArray[np.bool_]:
    ordered = np.sort(np.unique(x))
    return _kink_groups(ordered, kinks)[np.searchsorted(ordered, x)]


def _clipped(values: Floats, beside: NDArray[np.bool_]) -> Spec:
    """Bounds for Plotly's choice of a range where a curve grows without bound beside a kink, such as 1/x.

    ``beside``: which points are a kink or one of the floats next to it. The bounds leave the larger
    part of the curve in sight. Empty where nothing grows like that.
    """
    values = np.abs(values.astype(np.float64))
    seen = values[~beside & np.isfinite(values)]
    close = values[beside & ~np.isnan(values)]
    if not len(seen) or not len(close) or close.max() <= 100 * seen.max():
        return {}
    bound = 4 * float(np.quantile(seen, 0.9)) or 1.0
    return {"clipmin": -bound, "clipmax": bound}


def _ground() -> Spec:
    """Grounds and font that stand on light and dark pages alike; the app's chart refines the font."""
    clear = "rgba(0, 0, 0, 0)"
    return {
        "paper_bgcolor": clear,
        "plot_bgcolor": clear,
        "font": {"color": NEUTRAL},
        "hoverlabel": {"namelength": -1},
    }


def _escaped(text: str) -> str:
    """Text as it stands: Plotly would read a small HTML dialect in names and titles."""
    return html.escape(str(text), quote=False)
