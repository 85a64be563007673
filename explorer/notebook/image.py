"""A PNG of a Plotly figure, for notebooks in which no script runs: GitHub, an untrusted copy, a PDF."""

import html
import io
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from explorer.description.figures import OPEN

Spec = Mapping[str, Any]

_INK = "#3c424b"
_STYLE = {
    "axes.edgecolor": "none", "axes.grid": True, "axes.labelcolor": _INK, "font.size": 9,
    "grid.color": "#e2e5e9", "legend.frameon": False, "lines.scale_dashes": False, "text.color": _INK,
    "text.parse_math": False, "xtick.color": _INK, "xtick.major.size": 0, "ytick.color": _INK,
    "ytick.major.size": 0,
}  # fmt: skip
_AREA = {"left": 0.085, "right": 0.985, "bottom": 0.1, "hspace": 0.12}  # of the panels
_WIDTH_FACTOR = 0.6  # pt of a line by px of a line on the page


def draw_png(spec: Spec) -> bytes:
    """Return a PNG of 720 × 400 px in 64 colours, or b"" without matplotlib.

    ``spec`` is a figure as of ``explorer.description.figures.make_curve_spec``: one panel below another.
    """
    try:
        from matplotlib import style
        from matplotlib.figure import Figure
        from PIL import Image
    except ImportError:
        return b""
    layout, image, small = spec["layout"], io.BytesIO(), io.BytesIO()
    names = sorted(name for name in layout if name.startswith("yaxis"))
    with style.context(["default", _STYLE]):
        figure = Figure((7.2, 4), dpi=100)
        axes = figure.subplots(len(names), sharex=True, squeeze=False, gridspec_kw=_AREA)[:, 0]
        panels = {name.replace("axis", ""): panel for name, panel in zip(names, axes, strict=True)}
        handles = [_draw_trace(panels[trace.get("yaxis", "y")], trace) for trace in spec["data"]]
        for panel, name in zip(axes, names, strict=True):
            _set_ranges(panel, layout["xaxis"]["range"], layout[name])
        axes[-1].set_xlabel(layout["xaxis"]["title"]["text"])
        figure.align_ylabels()
        named = [handle for handle in handles if not handle.get_label().startswith("_")]
        rows = 1 + len(named) // 6
        figure.subplots_adjust(top=0.96 - 0.05 * rows)
        figure.legend(handles=named, loc="upper left", ncols=-(-len(named) // rows), columnspacing=1.2)
        figure.savefig(image)
    Image.open(image).convert("RGB").quantize(64).save(small, "PNG", optimize=True)
    return small.getvalue()


def _draw_trace(panel: Any, trace: Spec) -> Any:
    """Draw lines, markers or an area; return the matplotlib artist, labelled if it belongs in the legend."""
    x, y = trace["x"], trace["y"]
    name = trace.get("name") if trace.get("showlegend", True) else ""
    label = html.unescape(name or "_")
    if trace["mode"] == "markers":
        color, symbols = (
            _to_rgba(trace["marker"]["color"]),
            np.broadcast_to(trace["marker"]["symbol"], len(x)),
        )
        for symbol in np.unique(symbols):
            at, face = symbols == symbol, "white" if symbol == OPEN else color
            shape = "s" if symbol == "square" else "o"
            (artist,) = panel.plot(x[at], y[at], shape, ms=5, mec=color, mfc=face, label=label)
    elif "fillcolor" in trace:
        (artist,) = panel.fill(x, y, color=_to_rgba(trace["fillcolor"]), lw=0, label=label)
    else:
        line = trace["line"]
        lengths = [float(px) for px in re.findall(r"[\d.]+", line.get("dash", ""))]
        dash = (0, lengths) if lengths else line.get("dash", "solid")  # or "dotted"
        width = _WIDTH_FACTOR * line["width"]
        (artist,) = panel.plot(x, y, color=line["color"], lw=width, ls=dash, label=label)
    return artist


def _set_ranges(panel: Any, x_range: Any, axis: Spec) -> None:
    """Set the ranges of a panel; by default that of y holds all values within the bounds of Plotly's axis."""
    options = axis.get("autorangeoptions", {})
    if "include" in options:
        panel.update_datalim([(x_range[0], options["include"])])
        panel.autoscale_view()
    y_range = np.clip(panel.get_ylim(), options.get("clipmin"), options.get("clipmax"))
    panel.set(xlim=x_range, ylim=axis.get("range") or y_range, ylabel=html.unescape(axis["title"]["text"]))


def _to_rgba(color: str) -> Any:
    """Return a colour of Plotly's, "#rrggbb" or "rgba(…)", as one of matplotlib's."""
    *rgb, alpha = [float(part) for part in re.findall(r"[\d.]+", color)] if color[0] != "#" else [0.0]
    return (*(part / 255 for part in rgb), alpha) if rgb else color
