"""Plotly figures drawn as PNG images, for notebooks without scripts: on GitHub, untrusted, as a PDF."""

import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.catalogue.colours import GROUND, INK, NEUTRAL, blend
from explorer.description.figures import OPEN

_WIDTH, _HEIGHT, _FINE = 720, 400, 3  # px, and the factor by which the image is drawn larger before scaling
_LEFT, _RIGHT, _TOP, _BOTTOM = 50, 706, 46, 360  # edges of the panels in px
_GRID = blend(NEUTRAL, 0.25)
_DASH = 8  # points of a curve in a dash, and in the gap after it

Spec = Mapping[str, Any]
Floats = NDArray[np.float64]


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
    image = Image.new("RGB", (_WIDTH * k, _HEIGHT * k), GROUND)
    pen, font = ImageDraw.Draw(image, "RGBA"), ImageFont.load_default(12 * k)
    layout, left, right = spec["layout"], _LEFT * k, _RIGHT * k
    x_range = layout["xaxis"]["range"]
    to_x = _scale(x_range, left, right)
    for name in sorted(name for name in layout if name.startswith("yaxis")):
        axis = layout[name]
        bottom, top = (int(_BOTTOM * k - part * (_BOTTOM - _TOP) * k) for part in axis.get("domain", (0, 1)))
        traces = [trace for trace in spec["data"] if trace.get("yaxis", "y") == name.replace("axis", "")]
        y_range = axis.get("range") or _find_range(traces, axis.get("autorangeoptions", {}))
        to_y = _scale(y_range, bottom, top)
        for y in _find_ticks(y_range, 5):
            pen.line([(left, to_y(y)), (right, to_y(y))], _GRID, k)
            pen.text((left - 6 * k, to_y(y)), f"{y:g}", INK, font, anchor="rm")
        for x in _find_ticks(x_range, 8):
            pen.line([(to_x(x), top), (to_x(x), bottom)], _GRID, k)
            pen.text((to_x(x), (_BOTTOM + 6) * k), f"{x:g}", INK, font, anchor="mt")
        pen.text((left, top - 5 * k), axis["title"]["text"], INK, font, anchor="lb")
        for trace in traces:
            _draw_trace(pen, trace, to_x(trace["x"]), to_y(trace["y"]), (top - 4 * k, bottom + 4 * k))
    title = layout["xaxis"]["title"]["text"]
    pen.text(((left + right) / 2, (_HEIGHT - 4) * k), title, INK, font, anchor="mb")
    for trace in spec["data"]:
        if trace["mode"] == "lines" and trace.get("showlegend", True) and left < right - 60 * k:
            pen.line([(left, 12 * k), (left + 18 * k, 12 * k)], trace["line"]["color"], 3 * k)
            pen.text((left + 23 * k, 12 * k), trace["name"], INK, font, anchor="lm")
            left += 39 * k + int(pen.textlength(trace["name"], font))
    file = io.BytesIO()
    small = image.resize((_WIDTH, _HEIGHT), Image.Resampling.LANCZOS)
    small.quantize(64, method=Image.Quantize.FASTOCTREE).save(file, "PNG", optimize=True)
    return file.getvalue()


def _draw_trace(pen: Any, trace: Spec, x: Floats, y: Floats, ends: tuple[int, int]) -> None:
    """Draw a trace between two heights of the image, ``ends``. The x and y of its points are in pixels."""
    if fill := trace.get("fillcolor"):
        red, green, blue, share = map(float, fill[5:-1].split(","))  # rgba(…)
        for line in _list_lines(x, np.clip(y, *ends)):
            pen.polygon(line, (int(red), int(green), int(blue), int(255 * share)))
        return
    y = np.where((y < ends[0]) | (y > ends[1]), np.nan, y)
    if trace["mode"] == "markers":
        colour, symbols = trace["marker"]["color"], np.broadcast_to(trace["marker"].get("symbol"), y.shape)
        for px, py, symbol in zip(x, y, symbols, strict=True):
            if math.isfinite(px + py):
                pen.circle((px, py), 4 * _FINE, GROUND if symbol == OPEN else colour, colour, 2 * _FINE)
        return
    colour, width = trace["line"]["color"], int(max(1.8, 0.7 * trace["line"]["width"]) * _FINE)
    for line in _list_lines(x, y):
        dash, gap = (len(line), 0) if trace["line"].get("dash", "solid") == "solid" else (_DASH, _DASH)
        for at in range(0, len(line), dash + gap):
            pen.line(line[at : at + dash], colour, width, "curve")


def _list_lines(x: Floats, y: Floats) -> list[list[tuple[float, float]]]:
    pieces = np.split(np.column_stack([x, y]), np.flatnonzero(~np.isfinite(x + y)))
    lines = ([(px, py) for px, py in piece if math.isfinite(px + py)] for piece in pieces)
    return [line for line in lines if len(line) > 1]


def _scale(ends: Sequence[float], first: float, last: float) -> Any:
    low, high = ends
    return lambda values: first + (np.asarray(values, float) - low) / (high - low) * (last - first)


def _find_range(traces: Sequence[Spec], options: Spec) -> tuple[float, float]:
    values = np.concatenate([np.zeros(0), *(np.asarray(trace["y"], float).ravel() for trace in traces)])
    shown = np.clip(values[np.isfinite(values)], options.get("clipmin"), options.get("clipmax"))
    ends = [*shown, options["include"]] if "include" in options else [*shown] or [0.0]
    margin = 0.06 * (max(ends) - min(ends)) or 1.0
    return min(ends) - margin, max(ends) + margin


def _find_ticks(ends: Sequence[float], most: int) -> list[float]:
    low, high = ends
    size = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(size * factor for factor in (1, 2, 5, 10) if (high - low) / (size * factor) <= most)
    return [round(step * n, 12) for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
