"""Plotly figures drawn as PNG images, for notebooks without scripts: on GitHub, untrusted, as a PDF."""

import io
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from explorer.description.figures import OPEN

_WIDTH, _HEIGHT, _FINE = 720, 400, 3  # px, and the factor by which the image is drawn larger before scaling
_LEFT, _RIGHT, _TOP, _BOTTOM = 50, 14, 46, 40
_INK, _GRID, _GROUND = (60, 66, 75), (226, 229, 233), (255, 255, 255)
_DASH = 7.0 * _FINE

Spec = Mapping[str, Any]


def draw_png(spec: Spec) -> bytes:
    """Return a PNG image of a Plotly figure with a white background.

    The image is b"" if Pillow is not installed. Otherwise it has at most 15 kB. ``spec`` is a figure of
    ``description.figures.make_curve_spec``, with panels below one another.
    """
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        return b""
    k = _FINE
    image = Image.new("RGB", (_WIDTH * k, _HEIGHT * k), _GROUND)
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(12 * k)
    layout, inner = spec["layout"], _HEIGHT - _TOP - _BOTTOM
    x_range, left, right = layout["xaxis"]["range"], _LEFT * k, (_WIDTH - _RIGHT) * k
    to_x = _scale(x_range, (left, right))
    for name in sorted(name for name in layout if name.startswith("yaxis")):
        axis = layout[name]
        bottom, top = ((_TOP + (1 - part) * inner) * k for part in axis.get("domain", (0, 1)))
        traces = [trace for trace in spec["data"] if trace.get("yaxis", "y") == name.replace("axis", "")]
        y_range = axis.get("range") or _find_range(traces, axis.get("autorangeoptions", {}))
        to_y = _scale(y_range, (bottom, top))
        for tick in _find_ticks(y_range, 5):
            pen.line([(left, to_y(tick)), (right, to_y(tick))], _GRID, k)
            pen.text((left - 6 * k, to_y(tick)), f"{tick:g}", _INK, font, anchor="rm")
        for tick in _find_ticks(x_range, 8):
            pen.line([(to_x(tick), top), (to_x(tick), bottom)], _GRID, k)
            pen.text((to_x(tick), (_HEIGHT - _BOTTOM + 6) * k), f"{tick:g}", _INK, font, anchor="mt")
        pen.text((left, top - 5 * k), axis["title"]["text"], _INK, font, anchor="lb")
        panel = image.copy()
        for trace in traces:
            _draw_trace(ImageDraw.Draw(panel, "RGBA"), trace, to_x, to_y)
        box = (left, int(top) - 4 * k, right, int(bottom) + 4 * k)
        image.paste(panel.crop(box), box[:2])
    title = layout["xaxis"].get("title", {}).get("text", "x")
    pen.text(((left + right) / 2, (_HEIGHT - 4) * k), title, _INK, font, anchor="mb")
    for trace in spec["data"]:
        if trace["mode"] == "lines" and trace.get("showlegend", True) and left < right - 60 * k:
            pen.line([(left, 12 * k), (left + 18 * k, 12 * k)], trace["line"]["color"], 3 * k)
            pen.text((left + 23 * k, 12 * k), trace["name"], _INK, font, anchor="lm")
            left += 39 * k + int(pen.textlength(trace["name"], font))
    file = io.BytesIO()
    small = image.resize((_WIDTH, _HEIGHT), Image.Resampling.LANCZOS)
    small.quantize(64, method=Image.Quantize.FASTOCTREE).save(file, "PNG", optimize=True)
    return file.getvalue()


def _draw_trace(pen: Any, trace: Spec, to_x: Any, to_y: Any) -> None:
    with np.errstate(all="ignore"):
        x, y = to_x(trace["x"]), np.clip(to_y(trace["y"]), -9999, 9999 * _FINE)
    is_finite = np.isfinite(x + y)
    if trace["mode"] == "markers":
        colour = trace["marker"]["color"]
        symbols = np.broadcast_to(trace["marker"].get("symbol"), x.shape)
        for px, py, symbol in zip(x[is_finite], y[is_finite], symbols[is_finite], strict=True):
            pen.circle((px, py), 4 * _FINE, _GROUND if symbol == OPEN else colour, colour, 2 * _FINE)
        return
    for piece in np.split(np.arange(len(x)), np.flatnonzero(~is_finite)):
        points = [(x[i], y[i]) for i in piece if is_finite[i]]
        if len(points) < 2:
            continue
        if fill := trace.get("fillcolor"):
            red, green, blue, share = map(float, fill[5:-1].split(","))  # rgba(…)
            pen.polygon(points, (int(red), int(green), int(blue), int(255 * share)))
            continue
        is_solid = trace["line"].get("dash", "solid") == "solid"
        for line in [points] if is_solid else _cut_dashes(points):
            width = int(max(1.8, 0.7 * trace["line"]["width"]) * _FINE)
            pen.line(line, trace["line"]["color"], width, joint="curve")


def _cut_dashes(points: Sequence[tuple[float, float]]) -> list[list[tuple[float, float]]]:
    along = np.concatenate([[0.0], np.cumsum([math.dist(a, b) for a, b in pairwise(points)])])
    cuts = np.arange(0.0, along[-1], _DASH)
    x, y = (np.interp(cuts, along, values) for values in zip(*points, strict=True))
    return [[(x[i], y[i]), (x[i + 1], y[i + 1])] for i in range(0, len(cuts) - 1, 2)]


def _scale(values: Sequence[float], pixels: Sequence[float]) -> Any:
    (low, high), (first, last) = values, pixels
    return lambda some: first + (np.asarray(some, float) - low) / (high - low) * (last - first)


def _find_range(traces: Sequence[Spec], options: Spec) -> tuple[float, float]:
    """Return the ends of an axis that shows all finite values, with a margin."""
    values = np.concatenate([np.zeros(0), *(np.asarray(trace["y"], float).ravel() for trace in traces)])
    shown = np.clip(values[np.isfinite(values)], options.get("clipmin"), options.get("clipmax"))
    ends = [*(shown if len(shown) else [0.0]), options.get("include", shown[0] if len(shown) else 0.0)]
    margin = 0.06 * (max(ends) - min(ends)) or 1.0
    return min(ends) - margin, max(ends) + margin


def _find_ticks(ends: Sequence[float], most: int) -> list[float]:
    """Return at most ``most`` round numbers in a range (``ends``), for the ticks of an axis."""
    low, high = ends
    size = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(size * factor for factor in (1, 2, 5, 10) if (high - low) / (size * factor) <= most)
    return [round(step * n, 12) for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
