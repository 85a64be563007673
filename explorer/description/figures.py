"""Plotly figures of curves, for notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from explorer.catalogue.colours import CLEAR, GRID, NEUTRAL, RULE_COLOURS_LIGHT, fade
from explorer.curves import Curves
from explorer.curves.bisection import MAX_KINKS
from explorer.curves.levels import choose_level_ticks, find_levels
from explorer.curves.sampled import EVEN, FORWARD, Floats, Mask, to_contribution_key
from explorer.curves.tables import to_curves

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

Spec = dict[str, Any]

CLOSED, OPEN = 0, 100  # Plotly's numbers of the marker symbols circle and circle-open
_CLOSED_SIZE, _OPEN_SIZE = 8, 11  # marker sizes; an open circle stays visible around a filled one
_WIDTH = 2.5
# Curves that coincide all show: a later one has gaps in which the earlier ones are visible.
_DASHES = ("solid", "12px,12px", "6px,18px", "3px,9px", "2px,12px", "1px,12px")
# Vertical extent of the panels as fractions of the height, from top to bottom.
_TWO_PANELS = [[0.54, 1.0], [0.0, 0.46]]
_MAX_LABELS, _MAX_MARKS = 9, 60  # of tick labels and of tick marks per panel
_THREE_PANELS = [[0.72, 1.0], [0.38, 0.66], [0.0, 0.32]]
_CIRCLES = {CLOSED: "value at a jump", OPEN: "limit of a jump"}
_BAND = 0.16  # opacity of a band
_DOTS = "3px,4px"  # the exact gradient is dotted, so that a coinciding curve shows between the dots
_MEAN, _EXACT = "band: mean ± sd", "exact"  # legend entries for stochastic ops and rules


def curve_figure(shown: Curves | pd.DataFrame, **layout: Any) -> go.Figure:
    """Draw the forward curve above and the rules' gradients below, on one x axis.

    If a parameter learns, a third panel shows one element's contribution to its gradient under each rule.
    Curves of a stochastic op or rule are means, each with a band of one standard deviation. A dotted line
    over the gradients is the exact gradient, which an unbiased rule returns on average.

    Each rule has one curve, named by the rule's label, with the rule's key as ``meta`` and a colour by its
    position. At a jump, a filled circle marks the exact value and open circles mark the limits; no line
    connects them. Circles, bands and the exact gradient are traces without ``meta``.

    Args:
        shown: Curves, the result of ``explorer.sample``, or any table with its columns: filtered, joined, or
            read back from CSV. Information that the table lacks, such as the op, is left out.
        **layout: keywords of Plotly's layout, such as ``height=400`` or ``title_text="Round"``.

    Raises:
        ValueError: if the table lacks these columns, or if Plotly's layout has no such keyword.
    """
    import plotly.graph_objects as go

    figure = go.Figure(make_curve_spec(shown))
    try:
        return figure.update_layout(**layout)
    except ValueError as error:
        first = str(error).strip().splitlines()[0]
        raise ValueError(f"figure takes Plotly's layout keywords: {first}") from None


def make_curve_spec(shown: Curves | pd.DataFrame) -> Spec:
    """Return a figure of curves as a dict of Plotly traces and layout, with NumPy arrays."""
    groups = to_curves(shown)
    is_grouped = len(groups) > 1
    traces: list[Spec] = []
    for curves in groups:
        named = {"name": _escape(curves.op.label), "meta": FORWARD}
        forward = _draw_curve(curves, FORWARD, {"color": NEUTRAL, "width": _WIDTH}, named)
        traces += [trace | {"legendgroup": curves.op.label} if is_grouped else trace for trace in forward]
    plotted = [(curves, key, label) for curves in groups for key, label in curves.labels.items()]
    lines = [*_style_lines(groups)]
    for (curves, key, label), line in zip(plotted, lines, strict=True):
        traces += _draw_curve(curves, key, line, {"name": _escape(label), "meta": key, "yaxis": "y2"})
    for (curves, key, label), line in zip(plotted, lines, strict=True):
        if key in curves.parts:
            third: Spec = {"name": _escape(label), "yaxis": "y3", "showlegend": False}
            traces += _draw_curve(curves, to_contribution_key(key), line, third)
    bands = _draw_bands(groups, iter([line["color"] for line in lines]))
    data = [*bands, *traces, *_draw_exact(groups), *_explain_circles(traces)]
    return {"data": data, "layout": _make_layout(groups)}


def _draw_bands(groups: Sequence[Curves], colours: Iterator[str]) -> list[Spec]:
    """Return bands of one standard deviation around the means of stochastic curves, as Plotly traces.

    The bands are drawn under all curves. ``colours`` yields one colour for each rule of all groups.
    """
    bands: list[Spec] = []
    for curves in groups:
        forward = curves.op.label if len(groups) > 1 else FORWARD
        placed = [(FORWARD, NEUTRAL, {"legendgroup": forward})]
        placed += [(key, next(colours), {"legendgroup": key, "yaxis": "y2"}) for key in curves.gradients]
        for key, colour, named in placed:
            if key in curves.spreads:
                look = {"line": {"width": 0}, "fill": "toself", "fillcolor": fade(colour, _BAND)} | named
                silent = {"type": "scatter", "mode": "lines", "showlegend": False, "hoverinfo": "skip"}
                bands.append(silent | _trace_bands(curves, key) | look)
    square = {"color": fade(NEUTRAL, _BAND), "size": 14, "symbol": "square"}
    return [*bands, _make_legend_entry(_MEAN, square)] if bands else []


def _trace_bands(curves: Curves, key: str) -> Spec:
    mean, spread = curves.columns[key], curves.spreads[key]
    order = _order_points(*_find_jumps(curves, key, mean))
    low, high = mean - spread, mean + spread
    rings: list[NDArray[np.int64]] = []
    for stretch in np.split(order, np.flatnonzero((order < 0) | ~np.isfinite(high[order]))):
        ring = stretch[(stretch >= 0) & np.isfinite(high[stretch])]
        rings += [ring] if len(ring) > 1 else []
    blank = np.full(1, np.nan, dtype=mean.dtype)
    x = [each for on in rings for each in (curves.x[on], curves.x[on[::-1]], blank)]
    y = [each for on in rings for each in (high[on], low[on[::-1]], blank)]
    return {"x": np.concatenate([blank, *x]), "y": np.concatenate([blank, *y])}


def _draw_exact(groups: Sequence[Curves]) -> list[Spec]:
    traces = []
    for curves in groups:
        if curves.unbiased is not None and np.isfinite(curves.unbiased).any():
            name = f"{_EXACT}, {_escape(curves.op.label)}" if len(groups) > 1 else _EXACT
            exact, jump = _find_jumps(curves, FORWARD, curves.unbiased)
            line = {"color": NEUTRAL, "width": _WIDTH, "dash": _DOTS}
            order = _order_points(exact, jump)
            traces.append(_draw_line(curves, curves.unbiased, order, line) | {"name": name, "yaxis": "y2"})
    return traces


def _style_lines(groups: Sequence[Curves]) -> Iterator[Spec]:
    """Yield the line style of each rule. Earlier rules have wider lines, so that all stay visible.

    A curve is dashed if it coincides with earlier ones on the same x.
    """
    widths = iter(range(sum(len(curves.rules) for curves in groups))[::-1])
    colours = cycle(RULE_COLOURS_LIGHT)
    for curves in groups:
        values = list(curves.gradients.values())
        for position, current in enumerate(values):
            alike = sum(np.mean(current == earlier) > 0.02 for earlier in values[:position])
            dash = _DASHES[min(alike, len(_DASHES) - 1)]
            yield {"color": next(colours), "width": _WIDTH + 0.8 * next(widths), "dash": dash}


def _draw_curve(curves: Curves, key: str, line: Spec, named: Spec) -> list[Spec]:
    """Return Plotly traces of a curve: a line with gaps at jumps, and markers for exact values and limits.

    The markers are a separate trace, because Plotly draws an element for every point of a trace with markers.
    The markers ignore the pointer, because the line has the same points. A curve without jumps has none.
    """
    x, y = curves.x, curves.columns[key]
    exact, jump = _find_jumps(curves, key, y)
    curve = _draw_line(curves, y, _order_points(exact, jump), line) | {"legendgroup": key}
    at_jumps = jump.copy()
    at_jumps[1:] |= jump[:-1]
    kink = exact & (at_jumps | np.append(at_jumps[1:], False) | np.append(False, at_jumps[:-1]))
    marked = np.concatenate([np.flatnonzero(at_jumps & ~exact), np.flatnonzero(kink)])
    if not len(marked):
        return [curve | named]
    marker = {
        "size": np.where(exact[marked], _CLOSED_SIZE, _OPEN_SIZE).astype(np.int8),
        "symbol": np.where(exact[marked], CLOSED, OPEN).astype(np.int8),
        "color": line["color"],
        "line": {"color": line["color"], "width": 2},
        "opacity": 1,
    }
    marks = {"mode": "markers", "x": x[marked], "y": y[marked], "marker": marker, "hoverinfo": "skip"}
    axis = {name: value for name, value in named.items() if name == "yaxis"}
    return [curve | named, {"type": "scatter", "legendgroup": key, "showlegend": False} | marks | axis]


def _draw_line(curves: Curves, y: Floats, order: NDArray[np.int64], line: Spec) -> Spec:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": curves.x[np.abs(order)],
        "y": np.where(order < 0, np.asarray(np.nan, dtype=y.dtype), y[order]),
        "line": line,
        "connectgaps": False,
        "hovertemplate": "%{y:.5g}",
    }


def _find_jumps(curves: Curves, key: str, y: Floats) -> tuple[Mask, Mask]:
    """Return a mask of the points at kinks of a curve, and a mask of the points before a jump.

    A jump is compared with the size of the curve away from kinks, since next to a pole it may be huge.
    Between two kinks without a grid point between them there is no jump.
    """
    near = curves.mask_near_kinks(key)
    kinks = np.sort(np.asarray(curves.kinks[key] or (), dtype=np.float64))
    nearest = np.searchsorted((kinks[1:] + kinks[:-1]) / 2, curves.x)
    regular = y[np.isfinite(y) & ~near].astype(np.float64)
    jump = np.zeros(len(y), dtype=bool)
    with np.errstate(invalid="ignore", over="ignore"):
        least = 1e-4 * np.ptp(regular) + 1e-6 * np.abs(regular).max() if len(regular) else 0.0
        jump[:-1] = near[:-1] & near[1:] & (np.diff(nearest) == 0) & (np.abs(np.diff(y)) > least)
    return np.isin(curves.x, kinks.astype(y.dtype)), jump


def _order_points(exact: Mask, jump: Mask) -> NDArray[np.int64]:
    """Return the order in which the points of a curve are drawn, as indices with −1 for a gap.

    The line comes first, with gaps at jumps, followed by each exact value at a kink. The last point drawn is
    on top, and hovering finds it among points in the same pixel.
    """
    line = np.flatnonzero(~exact)
    jumps = np.concatenate([[0], np.cumsum(jump)])
    breaks = np.flatnonzero(np.diff(jumps[line])) + 1
    kinks = np.flatnonzero(exact)
    pairs = np.column_stack([np.full(len(kinks), -1), kinks]).ravel()
    return np.concatenate([np.insert(line, breaks, -1), pairs]).astype(np.int64)


def _explain_circles(traces: list[Spec]) -> list[Spec]:
    symbols = {symbol for trace in traces if "marker" in trace for symbol in trace["marker"]["symbol"]}
    marker = {"color": NEUTRAL, "size": _CLOSED_SIZE}
    return [
        _make_legend_entry(words, marker | {"symbol": symbol})
        for symbol, words in _CIRCLES.items()
        if symbol in symbols
    ]


def _make_legend_entry(words: str, marker: Spec) -> Spec:
    empty = {"type": "scatter", "mode": "markers", "x": np.full(1, np.nan), "y": np.full(1, np.nan)}
    return empty | {"name": words, "marker": marker, "hoverinfo": "skip"}


_CUT_NOTE: Spec = {
    "text": f"more than {MAX_KINKS} kinks: drawn as a line", "showarrow": False,
    "xref": "paper", "yref": "paper", "x": 1, "y": 1, "xanchor": "right", "yanchor": "bottom",
}  # fmt: skip


def _list_panels(groups: Sequence[Curves]) -> Iterator[tuple[str, Floats, Mask]]:
    """Yield the title of each panel, all values plotted in it, and a mask of the values at kinks."""
    learns = groups[0].learns
    kinds = (
        ("forward y", [{FORWARD: curves.y} for curves in groups]),
        ("gradient", [curves.gradients for curves in groups]),
        (f"part for {_escape(learns)}" if learns else "part", [curves.parts for curves in groups]),
    )
    for title, columns in kinds:
        series = [
            (values, curves.marks != EVEN)
            for curves, named in zip(groups, columns, strict=True)
            for values in named.values()
        ]
        if series:
            values, at_kinks = zip(*series, strict=True)
            yield title, np.concatenate(values), np.concatenate(at_kinks)


def _make_layout(groups: Sequence[Curves]) -> Spec:
    """Return Plotly's layout: panels one below the other, on a common x axis.

    All panels but the first include 0. Backgrounds and font suit light and dark pages alike.
    """
    panels = [*_list_panels(groups)]
    ends = [min(float(curves.x[0]) for curves in groups), max(float(curves.x[-1]) for curves in groups)]
    axes: Spec = {}
    domains = _THREE_PANELS if len(panels) == 3 else _TWO_PANELS
    for index, ((title, values, at_kinks), domain) in enumerate(zip(panels, domains, strict=True)):
        fitted = ({"include": 0} if index else {}) | _clip_range(values, at_kinks)
        name = f"yaxis{index + 1}" if index else "yaxis"
        axes[name] = _make_axis(title) | {"domain": domain, "autorangeoptions": fitted}
    axes["yaxis"] |= _format_ticks(groups)
    cut = any(kinks is None for curves in groups for kinks in curves.kinks.values())
    return axes | {
        "annotations": [_CUT_NOTE] if cut else [],
        "xaxis": _make_axis("x") | {"range": ends, "anchor": f"y{len(panels)}"},
        "hovermode": "x unified",
        "hoversubplots": "axis",
        "hoverlabel": {"namelength": -1},
        "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.02, "xanchor": "left", "x": 0},
        "margin": {"l": 64, "r": 16, "t": 8, "b": 48},
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "font": {"color": NEUTRAL},
    }


def _format_ticks(groups: Sequence[Curves]) -> Spec:
    levels = find_levels(groups[0]) if len(groups) == 1 else []
    if not levels:
        return {}
    height = levels[-1] - levels[0]
    values, texts, marks = choose_level_ticks(levels, height / _MAX_LABELS, height / _MAX_MARKS)
    minor = {"tickmode": "array", "tickvals": marks, "ticks": "inside", "ticklen": 6, "tickcolor": NEUTRAL}
    return {"minor": minor} | ({"tickvals": values, "ticktext": texts} if values else {})


def _make_axis(title: str) -> Spec:
    return {"title": {"text": title}, "gridcolor": GRID, "zerolinecolor": GRID}


def _clip_range(values: Floats, at_kinks: Mask) -> Spec:
    """Return limits for Plotly's automatic y range if a curve such as 1/x is unbounded near a kink.

    ``at_kinks`` is a mask of kinks and the floats next to them. The limits keep the larger part of the curve
    visible. The result is empty if no curve is unbounded.
    """
    values = np.abs(values.astype(np.float64))
    finite = values[~at_kinks & np.isfinite(values)]
    close = values[at_kinks & ~np.isnan(values)]
    if not len(finite) or not len(close) or close.max() <= 100 * finite.max():
        return {}
    bound = 4 * float(np.quantile(finite, 0.9)) or 1.0
    return {"clipmin": -bound, "clipmax": bound}


def _escape(text: str) -> str:
    """Return text with HTML escaped, because Plotly interprets some HTML in names and titles."""
    return html.escape(text, quote=False)
