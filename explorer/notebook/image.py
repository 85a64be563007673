"""A Plotly figure's lines as a PNG, for notebooks where no script runs: GitHub, an untrusted copy, a PDF."""

import io
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from explorer.description.figures import OPEN

_WIDTH, _HEIGHT, _FINE = 720, 400, 3  # px; drawn three times as large, then made smaller
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 14, 34, 40
_INK, _GRID, _GROUND = (60, 66, 75), (226, 229, 233), (255, 255, 255)
_DASH = 7.0 * _FINE

Spec = Mapping[str, Any]


def draw_png(spec: Spec) -> bytes:
    """Return lines, markers and areas of a figure on white, at most 15 kB; b"" where Pillow is not installed.

    ``spec`` is a figure of ``description.figures.make_curve_spec``: its panels lie below one another.
    """
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        return b""
    k = _FINE
    image = Image.new("RGB", (_WIDTH * k, _HEIGHT * k), _GROUND)
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(12 * k)
    layout = spec["layout"]
    low, high = layout["xaxis"]["range"]
    inner = _HEIGHT - _TOP - _BOTTOM
    edges = [_LEFT * k, (_WIDTH - _RIGHT) * k]
    for name in sorted(name for name in layout if name.startswith("yaxis")):
        axis = layout[name]
        bottom, top = ((_TOP + (1 - part) * inner) * k for part in axis.get("domain", (0, 1)))
        traces = [trace for trace in spec["data"] if trace.get("yaxis", "y") == name.replace("axis", "")]
        least, most = axis.get("range") or _span(traces, axis.get("autorangeoptions", {}))
        to_x = _scale((low, high), edges)
        to_y = _scale((least, most), [bottom, top])
        for tick in _ticks(least, most, 5):
            pen.line([(edges[0], to_y(tick)), (edges[1], to_y(tick))], _GRID, k)
            pen.text((edges[0] - 6 * k, to_y(tick)), f"{tick:g}", _INK, font, anchor="rm")
        for tick in _ticks(low, high, 8):
            pen.line([(to_x(tick), top), (to_x(tick), bottom)], _GRID, k)
            if round(bottom) == (_HEIGHT - _BOTTOM) * k:
                pen.text((to_x(tick), bottom + 6 * k), f"{tick:g}", _INK, font, anchor="mt")
        panel = Image.new("RGBA", image.size, (0, 0, 0, 0))
        for trace in traces:
            _draw(ImageDraw.Draw(panel), trace, to_x, to_y)
        box = (edges[0], int(top) - 4 * k, edges[1], int(bottom) + 4 * k)
        image.paste(panel.crop(box), box[:2], panel.crop(box))
        title = Image.new("RGB", (int(bottom - top), 16 * k), _GROUND)
        ImageDraw.Draw(title).text((title.width / 2, 8 * k), axis["title"]["text"], _INK, font, anchor="mm")
        image.paste(title.rotate(90, expand=True), (2 * k, int(top)))
    words = layout["xaxis"].get("title", {}).get("text", "x")
    pen.text((sum(edges) / 2, (_HEIGHT - 4) * k), words, _INK, font, anchor="mb")
    at = float(edges[0])
    for trace in spec["data"]:
        if trace.get("showlegend", True) and trace.get("name") and at < edges[1] - 60 * k:
            pen.line([(at, 16 * k), (at + 18 * k, 16 * k)], _colour(trace), 3 * k)
            pen.text((at + 23 * k, 16 * k), trace["name"], _INK, font, anchor="lm")
            at += 39 * k + pen.textlength(trace["name"], font)
    file = io.BytesIO()
    small = image.resize((_WIDTH, _HEIGHT), Image.Resampling.LANCZOS)
    small.quantize(64, method=Image.Quantize.FASTOCTREE).save(file, "PNG", optimize=True)
    return file.getvalue()


def _colour(trace: Spec) -> Any:
    color = trace.get("line", {}).get("color") or trace.get("marker", {}).get("color", "#000")
    return _GRID if color.startswith("rgba") else color  # of the legend's square for bands


def _draw(pen: Any, trace: Spec, to_x: Any, to_y: Any) -> None:
    with np.errstate(all="ignore"):
        x, y = to_x(trace["x"]), np.clip(to_y(trace["y"]), -9999, 9999 * _FINE)
    if trace["mode"] == "markers":
        symbols = trace["marker"].get("symbol")
        for px, py, symbol in zip(x, y, symbols if np.ndim(symbols) else [], strict=False):
            if math.isfinite(px + py):
                r, fill = 4 * _FINE, _GROUND if symbol == OPEN else _colour(trace)
                pen.ellipse((px - r, py - r, px + r, py + r), fill, _colour(trace), 2 * _FINE)
        return
    for piece in np.split(np.arange(len(x)), np.flatnonzero(~np.isfinite(x + y))):
        points = [(x[i], y[i]) for i in piece if math.isfinite(x[i] + y[i])]
        if len(points) < 2:
            continue
        if fill := trace.get("fillcolor"):
            red, green, blue, share = fill[5:-1].split(",")  # rgba(…)
            pen.polygon(points, (int(red), int(green), int(blue), int(255 * float(share))))
            continue
        solid = trace["line"].get("dash", "solid") == "solid"
        for line in [points] if solid else _dashes(points):
            pen.line(line, _colour(trace), int(max(1.8, 0.7 * trace["line"]["width"]) * _FINE), joint="curve")


def _dashes(points: Sequence[tuple[float, float]]) -> list[list[tuple[float, float]]]:
    """Return stretches of a line, every other one."""
    along = np.concatenate([[0.0], np.cumsum([math.dist(a, b) for a, b in pairwise(points)])])
    cuts = np.arange(0.0, along[-1], _DASH)
    x, y = (np.interp(cuts, along, [point[axis] for point in points]) for axis in (0, 1))
    return [[(x[i], y[i]), (x[i + 1], y[i + 1])] for i in range(0, len(cuts) - 1, 2)]


def _scale(values: Sequence[float], pixels: Sequence[float]) -> Any:
    (low, high), (first, last) = values, pixels
    return lambda some: first + (np.asarray(some, float) - low) / (high - low) * (last - first)


def _span(traces: Sequence[Spec], options: Spec) -> tuple[float, float]:
    """Return the ends of an axis that holds all finite values, with a margin."""
    values = np.concatenate([np.zeros(0), *(np.asarray(trace["y"], float).ravel() for trace in traces)])
    shown = np.clip(values[np.isfinite(values)], options.get("clipmin"), options.get("clipmax"))
    ends = [*(shown if len(shown) else [0.0]), *([options["include"]] if "include" in options else [])]
    margin = 0.06 * (max(ends) - min(ends)) or 1.0
    return min(ends) - margin, max(ends) + margin


def _ticks(low: float, high: float, most: int) -> list[float]:
    """Return round numbers between two ends, at most so many."""
    size = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(size * factor for factor in (1, 2, 5, 10) if (high - low) / (size * factor) <= most)
    return [round(step * n, 12) for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
