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
Floats = NDArray[np.floating[Any]]

# Okabe and Ito's colour-blind safe palette, with its yellow and black exchanged for two that stand
# out on white and on dark ground alike. Colours repeat after eight rules, with another dash.
COLOURS = ("#3f8fd2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#a6761d", "#8f7ee5")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
NEUTRAL = "#8a8f98"
GRID = "rgba(138, 143, 152, 0.25)"

CLOSED, OPEN = 0, 100  # Plotly's numbers of the marker symbols circle and circle-open
_MARKER_SIZE = 8


def rule_line(order: int) -> dict[str, str]:
    """Colour and dash of a rule, from its order in the catalogue."""
    return {"color": COLOURS[order % len(COLOURS)], "dash": DASHES[order // len(COLOURS) % len(DASHES)]}


def curve_figure(frame: pd.DataFrame) -> go.Figure:
    """Forward curve above, the rules' gradients below, on one x axis.

    ``frame`` is what ``explorer.sample`` returns. One trace per rule, named by the rule's label,
    ``meta`` its key; the exact value at each kink is a filled circle, the limits of a jump are
    open ones, and no line crosses a jump.
    """
    return go.Figure(curve_spec(frame))


def curve_spec(frame: pd.DataFrame) -> Spec:
    """The specification of ``curve_figure``: {"data": [...], "layout": {...}}."""
    keys = list(dict.fromkeys(frame["rule"]))
    kinks = np.asarray(frame.attrs.get("kinks", ()), dtype=frame["x"].dtype)
    first = frame[frame["rule"] == keys[0]]
    name = _escaped(frame.attrs.get("op", "forward"))
    traces = [
        _trace(first["x"].to_numpy(), first["y"].to_numpy(), kinks)
        | {"name": name, "meta": "forward", "yaxis": "y", "legendrank": 1}
    ]
    traces[0]["line"] = {"color": NEUTRAL, "width": 2.5}
    for place, key in enumerate(keys):
        block = frame[frame["rule"] == key]
        line = rule_line(frame.attrs.get("orders", {}).get(key, place))
        # Earlier rules are drawn broader, so that curves that coincide can both be seen.
        line |= {"width": 2.5 + 1.5 * (len(keys) - 1 - place)}
        traces.append(
            _trace(block["x"].to_numpy(), block["gradient"].to_numpy(), kinks)
            | {"name": _escaped(frame.attrs.get("labels", {}).get(key, key)), "meta": key, "yaxis": "y2"}
            | {"line": line}
        )
    return {"data": traces, "layout": _curve_layout(frame, kinks)}


def _trace(x: Floats, y: Floats, kinks: Floats) -> Spec:
    """A line that breaks at jumps, with a marker exactly at each kink and at each limit of a jump."""
    group = _kink_groups(x, kinks)
    jump = np.zeros(len(x), dtype=bool)  # between a point and the next
    span = float(np.ptp(y[np.isfinite(y)])) if np.isfinite(y).any() else 0.0
    with np.errstate(invalid="ignore"):
        jump[:-1] = (group[:-1] & group[1:]) & (np.abs(np.diff(y)) > 1e-4 * span)
    limit = jump.copy()
    limit[1:] |= jump[:-1]
    exact = np.isin(x, kinks)
    size = np.where(exact | limit, _MARKER_SIZE, 0).astype(np.int8)
    symbol = np.where(limit & ~exact, OPEN, CLOSED).astype(np.int8)
    breaks = np.flatnonzero(jump) + 1
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": np.insert(x, breaks, x[breaks]),
        "y": np.insert(y, breaks, np.nan),
        "marker": {
            "size": np.insert(size, breaks, 0),
            "symbol": np.insert(symbol, breaks, 0),
            "line": {"width": 2},
            "opacity": 1,
        },
        "connectgaps": False,
        "hovertemplate": "%{y:.5g}",
    }


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


def _curve_layout(frame: pd.DataFrame, kinks: Floats) -> Spec:
    x = frame["x"].to_numpy()
    ends = [float(x.min()), float(x.max())]
    ordinary = ~_member_rows(x, kinks)
    op = _escaped(frame.attrs.get("op", "y"))
    axis = {"gridcolor": GRID, "zerolinecolor": GRID, "automargin": True}
    return {
        "xaxis": axis | {"title": {"text": "x"}, "range": ends, "anchor": "y2", "uirevision": str(ends)},
        "yaxis": axis
        | {"title": {"text": "forward y"}, "domain": [0.54, 1.0], "uirevision": f"{op} {ends}"}
        | _visible_range(frame["y"].to_numpy(), ordinary),
        "yaxis2": axis
        | {"title": {"text": "gradient"}, "domain": [0.0, 0.46], "uirevision": f"{op} {ends}"}
        | _visible_range(frame["gradient"].to_numpy(), ordinary),
        "hovermode": "x unified",
        "hoversubplots": "axis",
        "uirevision": "curves",
        "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.02, "xanchor": "left", "x": 0},
        "margin": {"l": 56, "r": 16, "t": 8, "b": 44},
        **_ground(),
    }


def _member_rows(x: Floats, kinks: Floats) -> NDArray[np.bool_]:
    ordered = np.sort(np.unique(x))
    return _kink_groups(ordered, kinks)[np.searchsorted(ordered, x)]


def _visible_range(values: Floats, ordinary: NDArray[np.bool_]) -> Spec:
    """An axis range that leaves out what shoots up only beside a kink, such as 1/x at the floats next to 0.

    Empty, for Plotly's own choice, where nothing does.
    """
    finite = np.isfinite(values)
    if not (finite & ordinary).any():
        return {}
    low, high = float(values[finite & ordinary].min()), float(values[finite & ordinary].max())
    room = 10 * max(high - low, abs(high), abs(low), 1e-30)
    if values[finite].max() <= high + room and values[finite].min() >= low - room:
        return {}
    pad = 0.06 * (high - low or 1.0)
    return {"range": [low - pad, high + pad]}


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
