"""Curves to Plotly figures, for notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from explorer.catalogue.colours import NEUTRAL, RULE_COLOURS_LIGHT
from explorer.curves import Curves
from explorer.curves.bisection import MAX_KINKS
from explorer.curves.levels import choose_level_ticks, find_levels
from explorer.curves.sampled import EVEN, FORWARD, Floats, Mask, to_part_key
from explorer.curves.tables import to_curves

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

Spec = dict[str, Any]

_GRID, _CLEAR = "rgba(138, 143, 152, 0.25)", "rgba(0, 0, 0, 0)"
CLOSED, OPEN = 0, 100  # Plotly's numbers of the marker symbols circle and circle-open
_CLOSED_SIZE, _OPEN_SIZE = 8, 11  # an open circle stays visible around a filled one
_WIDTH = 2.5
# A curve that lies on earlier ones lets each of them be seen in its gaps.
_DASHES = ("solid", "12px,12px", "6px,18px", "3px,9px", "2px,12px", "1px,12px")
# Of the height: where the panels lie, the highest first.
_TWO = [[0.54, 1.0], [0.0, 0.46]]
_LABELS, _MARKS = 9, 60  # of a panel at most
_THREE = [[0.72, 1.0], [0.38, 0.66], [0.0, 0.32]]
_CIRCLES = {CLOSED: "value at a jump", OPEN: "limit of a jump"}
_BAND = 0.16  # of a colour
_DOTS = "3px,4px"  # of the exact gradient: what coincides with it shows between them
_MEAN, _EXACT = "band: mean ± sd", "exact"  # in the legend of what draws


def curve_figure(shown: Curves | pd.DataFrame, **layout: Any) -> go.Figure:
    """Forward curve above, the rules' gradients below, on one x axis.

    Where a parameter learns a third panel has what one element contributes to its gradient under each rule.
    Curves of what draws are means, each in a band of one standard deviation; the exact gradient, which an
    unbiased rule returns on average, is dotted over those of the rules.
    ``shown``: Curves, what ``explorer.sample`` returns, or any table with its columns: filtered, joined, or
    read back from CSV; what such a table does not say, such as the op, is left out. One curve per rule,
    named by the rule's label, ``meta`` its key, coloured by its position. Where a curve jumps, its exact
    value at the kink is a filled circle, the limits are open ones, and no line crosses. Circles, bands and
    the exact gradient are traces without ``meta``. ``layout``: Plotly's layout keywords, such as
    ``height=400`` or ``title_text="Round"``. Raises ValueError for a table without these columns, and for a
    keyword that Plotly's layout does not have.
    """
    import plotly.graph_objects as go

    figure = go.Figure(curve_spec(shown))
    try:
        return figure.update_layout(**layout)
    except ValueError as error:
        first = str(error).strip().splitlines()[0]
        raise ValueError(f"figure takes Plotly's layout keywords: {first}") from None


def curve_spec(shown: Curves | pd.DataFrame) -> Spec:
    """The figure of ``curve_figure`` as a dict of traces and layout whose arrays are NumPy's."""
    groups = to_curves(shown)
    several = len(groups) > 1
    traces: list[Spec] = []
    for curves in groups:
        named = {"name": _escaped(curves.op.label), "meta": FORWARD}
        forward = _curve(curves, FORWARD, {"color": NEUTRAL, "width": _WIDTH}, named)
        traces += _grouped(forward, curves.op.label) if several else forward
    drawn = [(curves, key, label) for curves in groups for key, label in curves.labels.items()]
    lines = [*_lines(groups)]
    for (curves, key, label), line in zip(drawn, lines, strict=True):
        traces += _curve(curves, key, line, {"name": _escaped(label), "meta": key, "yaxis": "y2"})
    for (curves, key, label), line in zip(drawn, lines, strict=True):
        if key in curves.parts:
            third: Spec = {"name": _escaped(label), "yaxis": "y3", "showlegend": False}
            traces += _curve(curves, to_part_key(key), line, third)
    bands = _bands(groups, iter([line["color"] for line in lines]))
    data = [*bands, *traces, *_exact_lines(groups), *_circle_key(traces)]
    return {"data": data, "layout": _layout(groups)}


def _bands(groups: Sequence[Curves], colours: Iterator[str]) -> list[Spec]:
    """Areas of a standard deviation on both sides of the means of what draws, under all curves.

    ``colours``: those of the rules of all groups.
    """
    bands: list[Spec] = []
    for curves in groups:
        forward = curves.op.label if len(groups) > 1 else FORWARD
        placed = [(FORWARD, NEUTRAL, {"legendgroup": forward})]
        placed += [(key, next(colours), {"legendgroup": key, "yaxis": "y2"}) for key in curves.gradients]
        for key, colour, named in placed:
            if key in curves.spreads:
                look = {"line": {"width": 0}, "fill": "toself", "fillcolor": _faint(colour)} | named
                silent = {"type": "scatter", "mode": "lines", "showlegend": False, "hoverinfo": "skip"}
                bands.append(silent | _outline(curves, key) | look)
    square = {"color": _faint(NEUTRAL), "size": 14, "symbol": "square"}
    return [*bands, _key(_MEAN, square)] if bands else []


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {_BAND})"


def _outline(curves: Curves, key: str) -> Spec:
    """Rings around a band, one for each stretch without a jump: there on its upper end, back on its lower."""
    mean, spread = curves.columns[key], curves.spreads[key]
    order = _drawing_order(*_jumps(curves, key, mean))
    low, high = mean - spread, mean + spread
    rings: list[NDArray[np.int64]] = []
    for stretch in np.split(order, np.flatnonzero((order < 0) | ~np.isfinite(high[order]))):
        on = stretch[(stretch >= 0) & np.isfinite(high[stretch])]
        rings += [on] if len(on) > 1 else []
    blank = np.full(1, np.nan, dtype=mean.dtype)
    x = [each for on in rings for each in (curves.x[on], curves.x[on[::-1]], blank)]
    y = [each for on in rings for each in (high[on], low[on[::-1]], blank)]
    return {"x": np.concatenate([blank, *x]), "y": np.concatenate([blank, *y])}


def _exact_lines(groups: Sequence[Curves]) -> list[Spec]:
    """The gradients without bias, over all curves."""
    traces = []
    for curves in groups:
        if curves.unbiased is not None and np.isfinite(curves.unbiased).any():
            name = f"{_EXACT}, {_escaped(curves.op.label)}" if len(groups) > 1 else _EXACT
            exact, jump = _jumps(curves, FORWARD, curves.unbiased)
            line = {"color": NEUTRAL, "width": _WIDTH, "dash": _DOTS}
            order = _drawing_order(exact, jump)
            traces.append(_line(curves, curves.unbiased, order, line) | {"name": name, "yaxis": "y2"})
    return traces


def _grouped(traces: list[Spec], group: str) -> list[Spec]:
    return [trace | {"legendgroup": group} for trace in traces]


def _lines(groups: Sequence[Curves]) -> Iterator[Spec]:
    """The line of each rule, by its position: earlier ones are broader, so that all can be seen.

    Later ones are dashed where they coincide with earlier ones on the same x.
    """
    widths = iter(range(sum(len(curves.rules) for curves in groups))[::-1])
    colours = cycle(RULE_COLOURS_LIGHT)
    for curves in groups:
        values = list(curves.gradients.values())
        for position, own in enumerate(values):
            alike = sum(np.mean(own == other) > 0.02 for other in values[:position])
            dash = _DASHES[min(alike, len(_DASHES) - 1)]
            yield {"color": next(colours), "width": _WIDTH + 0.8 * next(widths), "dash": dash}


def _curve(curves: Curves, key: str, line: Spec, named: Spec) -> list[Spec]:
    """A line that breaks at jumps; and, where it jumps, exact values and limits as markers.

    The markers are a trace of their own, since Plotly draws an element for every point of one that
    has any; the pointer passes over it to the line, which holds the same points.
    """
    x, y = curves.x, curves.columns[key]
    exact, jump = _jumps(curves, key, y)
    curve = _line(curves, y, _drawing_order(exact, jump), line) | {"legendgroup": key}
    beside = jump.copy()
    beside[1:] |= jump[:-1]
    kink = exact & (beside | np.append(beside[1:], False) | np.append(False, beside[:-1]))
    marked = np.concatenate([np.flatnonzero(beside & ~exact), np.flatnonzero(kink)])
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


def _line(curves: Curves, y: Floats, order: NDArray[np.int64], line: Spec) -> Spec:
    """Values at the points of curves, in the order in which they are drawn."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": curves.x[np.abs(order)],
        "y": np.where(order < 0, np.asarray(np.nan, dtype=y.dtype), y[order]),
        "line": line,
        "connectgaps": False,
        "hovertemplate": "%{y:.5g}",
    }


def _jumps(curves: Curves, key: str, y: Floats) -> tuple[Mask, Mask]:
    """Masks of the points that are kinks of a curve, and of those before a jump of y there; (n,) each.

    A jump is judged by the size of the curve away from kinks; beside a pole it may be huge. Between two kinks
    with no point of the grid between them nothing jumps.
    """
    near = curves.mask_near_kinks(key)
    kinks = np.sort(np.asarray(curves.kinks[key] or (), dtype=np.float64))
    nearest = np.searchsorted((kinks[1:] + kinks[:-1]) / 2, curves.x)
    usual = y[np.isfinite(y) & ~near].astype(np.float64)
    jump = np.zeros(len(y), dtype=bool)
    with np.errstate(invalid="ignore", over="ignore"):
        least = 1e-4 * np.ptp(usual) + 1e-6 * np.abs(usual).max() if len(usual) else 0.0
        jump[:-1] = near[:-1] & near[1:] & (np.diff(nearest) == 0) & (np.abs(np.diff(y)) > least)
    return np.isin(curves.x, kinks.astype(y.dtype)), jump


def _drawing_order(exact: Mask, jump: Mask) -> NDArray[np.int64]:
    """Indices of points in the order they are drawn; -1 leaves a gap.

    The line comes first, broken at jumps; then the exact values at kinks, each alone. The last point drawn
    lies on top, and hovering finds it among points that fall on one pixel.
    """
    line = np.flatnonzero(~exact)
    jumps = np.concatenate([[0], np.cumsum(jump)])
    breaks = np.flatnonzero(np.diff(jumps[line])) + 1
    alone = np.flatnonzero(exact)
    pairs = np.column_stack([np.full(len(alone), -1), alone]).ravel()
    return np.concatenate([np.insert(line, breaks, -1), pairs]).astype(np.int64)


def _circle_key(traces: list[Spec]) -> list[Spec]:
    """Legend entries for the kinds of circles in the figure."""
    symbols = {symbol for trace in traces if "marker" in trace for symbol in trace["marker"]["symbol"]}
    marker = {"color": NEUTRAL, "size": _CLOSED_SIZE}
    return [
        _key(words, marker | {"symbol": symbol}) for symbol, words in _CIRCLES.items() if symbol in symbols
    ]


def _key(words: str, marker: Spec) -> Spec:
    """An entry of the legend that is no curve."""
    empty = {"type": "scatter", "mode": "markers", "x": np.full(1, np.nan), "y": np.full(1, np.nan)}
    return empty | {"name": words, "marker": marker, "hoverinfo": "skip"}


_CUT: Spec = {
    "text": f"more than {MAX_KINKS} kinks: drawn as a line", "showarrow": False,
    "xref": "paper", "yref": "paper", "x": 1, "y": 1, "xanchor": "right", "yanchor": "bottom",
}  # fmt: skip


class _Panel(NamedTuple):
    """A panel: its title, all its values, and which of them are at a kink or beside one."""

    title: str
    values: Floats
    beside: Mask


def _panels(groups: Sequence[Curves]) -> Iterator[_Panel]:
    """The panels that there is something to draw in."""
    learns = groups[0].learns
    kinds = (
        ("forward y", [{FORWARD: curves.y} for curves in groups]),
        ("gradient", [curves.gradients for curves in groups]),
        (f"part for {_escaped(learns)}" if learns else "part", [curves.parts for curves in groups]),
    )
    for title, columns in kinds:
        some = [
            (values, curves.marks != EVEN)
            for curves, named in zip(groups, columns, strict=True)
            for values in named.values()
        ]
        if some:
            values, beside = zip(*some, strict=True)
            yield _Panel(title, np.concatenate(values), np.concatenate(beside))


def _layout(groups: Sequence[Curves]) -> Spec:
    """The panels one below the other on one x axis, all but the first with 0.

    Grounds and font stand on light and dark pages alike.
    """
    panels = [*_panels(groups)]
    ends = [min(float(curves.x[0]) for curves in groups), max(float(curves.x[-1]) for curves in groups)]
    axes: Spec = {}
    for index, (panel, domain) in enumerate(zip(panels, _THREE if len(panels) == 3 else _TWO, strict=True)):
        fitted = ({"include": 0} if index else {}) | _clipped(panel.values, panel.beside)
        name = f"yaxis{index + 1}" if index else "yaxis"
        axes[name] = _axis(panel.title) | {"domain": domain, "autorangeoptions": fitted}
    axes["yaxis"] |= _format_ticks(groups)
    cut = any(kinks is None for curves in groups for kinks in curves.kinks.values())
    return axes | {
        "annotations": [_CUT] if cut else [],
        "xaxis": _axis("x") | {"range": ends, "anchor": f"y{len(panels)}"},
        "hovermode": "x unified",
        "hoversubplots": "axis",
        "hoverlabel": {"namelength": -1},
        "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.02, "xanchor": "left", "x": 0},
        "margin": {"l": 64, "r": 16, "t": 8, "b": 48},
        "paper_bgcolor": _CLEAR,
        "plot_bgcolor": _CLEAR,
        "font": {"color": NEUTRAL},
    }


def _format_ticks(groups: Sequence[Curves]) -> Spec:
    """Ticks at the values of an op that rounds to a number format, where it is the only op."""
    levels = find_levels(groups[0]) if len(groups) == 1 else []
    if not levels:
        return {}
    height = levels[-1] - levels[0]
    values, texts, marks = choose_level_ticks(levels, height / _LABELS, height / _MARKS)
    minor = {"tickmode": "array", "tickvals": marks, "ticks": "inside", "ticklen": 6, "tickcolor": NEUTRAL}
    return {"minor": minor} | ({"tickvals": values, "ticktext": texts} if values else {})


def _axis(title: str) -> Spec:
    return {"title": {"text": title}, "gridcolor": _GRID, "zerolinecolor": _GRID}


def _clipped(values: Floats, beside: Mask) -> Spec:
    """Bounds for Plotly's choice of a range where a curve grows without bound beside a kink, such as 1/x.

    ``beside``: mask of kinks and the floats next to them. The bounds leave the larger part of the curve in
    sight. Empty where nothing grows like that.
    """
    values = np.abs(values.astype(np.float64))
    finite = values[~beside & np.isfinite(values)]
    close = values[beside & ~np.isnan(values)]
    if not len(finite) or not len(close) or close.max() <= 100 * finite.max():
        return {}
    bound = 4 * float(np.quantile(finite, 0.9)) or 1.0
    return {"clipmin": -bound, "clipmax": bound}


def _escaped(text: str) -> str:
    """Text as it stands: Plotly would read a small HTML dialect in names and titles."""
    return html.escape(text, quote=False)
