"""Pictures of an instrument's measurements as data. The page draws their blocks and knows no instrument.

A picture is a dict: ``words`` describe it for screen readers, ``blocks`` are drawn one below the other. Each
block is a dict with its ``kind``; the page's painter, ``frontend/train/panels/picture.js``, lists the kinds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.formula import format_short

Block = dict[str, Any]
Picture = dict[str, Any]
_MAX_LABEL_SHARE = 0.06  # margin above and below the lines of a chart, as a fraction of their range


@dataclass(frozen=True)
class Legend:
    """An entry of a panel's legend: its text, the class of its swatch in the style sheet, and a request.

    An entry with ``numbers`` is a button. It sends these arguments to the instrument that the panel asks.
    """

    text: str
    swatch: str
    numbers: Mapping[str, int] | None = None


@dataclass(frozen=True)
class Pick:
    """A press on an image that sets the argument ``name`` of the instrument ``panel``, as ``hint`` says."""

    panel: str
    name: str
    hint: str


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A panel of the section "Why" on the page Train, which shows the pictures of one instrument.

    Attributes:
        order: its place: panels are in ascending order of this number.
        rows: the height of a picture in rem.
        opens: whether it is open at first.
        layered: whether it shows one layer with the op; the instrument then has a picture for each.
        scrolls: whether a picture may be higher than ``rows``.
        when: "learns" if it exists only while a parameter learns, "draws" if only with a random op or rule.
        legend: entries next to the title.
        asks: the key of the instrument that answers the legend's buttons.
        picks: the effect of a press on an image.
    """

    order: int
    rows: float
    opens: bool = True
    layered: bool = False
    scrolls: bool = False
    when: Literal["", "learns", "draws"] = ""
    legend: tuple[Legend, ...] = ()
    asks: str = ""
    picks: Pick | None = None


def draw_note(text: str) -> Block:
    """Return a block of a picture with a line of text."""
    return {"kind": "note", "text": text}


def draw_log_bars(
    numbers: Iterable[float], low: int, high: int, text_of: Callable[[float], str] = format_short
) -> Block:
    """Return a block of a picture with a bar for each layer of weights, on a logarithmic scale.

    A bar is empty at ``10 ** low`` and below or for NaN, and full at ``10 ** high`` and above. ``text_of``
    returns the text of a bar from its number.
    """
    bars = []
    for number, value in enumerate(map(float, numbers), 1):
        length = min(max((math.log10(value) - low) / (high - low), 0.0), 1.0) if value > 0 else 0.0
        bars.append([f"w{number}", text_of(value), round(length, 4)])
    return {"kind": "bars", "bars": bars}


def describe_bars(block: Block) -> str:
    """Return the names and texts of all bars in a block as one text, for screen readers."""
    return ", ".join(f"{name} {text}" for name, text, _ in block["bars"])


def draw_image(image: NDArray[np.uint8], width: int, caption: str = "", **options: Any) -> Block:
    """Return a block of a picture with an image of bytes, row by row.

    Args:
        image: bytes from 0 for transparent to 255 for opaque, unless there is a palette. Shape (pixels,).
        width: the number of pixels in a row; 0 with the option ``side``.
        caption: the text below the image.
        options: ``palette``: "signed" for weights around 128, or "classes COUNT LEVELS". ``side``: the side
            of square images that follow each other in ``image`` and are put in a grid, with ``across`` images
            in a row, by default about as many as rows, and ``zoom`` pixels on a side of each number.
    """
    return {"kind": "image", "image": image, "width": width, "caption": caption} | options


def draw_example(record: Mapping[str, Any]) -> Block:
    """Return a block with a record's square ``image``, class ``label`` and predicted class ``read``."""
    is_right = record["label"] == record["read"]
    note = f"{record['label']} read as {record['read']}: {'right' if is_right else 'wrong'}"
    return draw_image(record["image"], math.isqrt(len(record["image"]))) | {"kind": "example", "text": note}


def draw_histogram(counts: NDArray[Any], highest: int, edges: NDArray[Any], **options: Any) -> Block:
    """Return a block of a picture with a histogram.

    Args:
        counts: integers, stacked on those of the parts before. Shape (parts · bins,).
        highest: the count of a bar that fills the height.
        edges: the edges of the bins at equal distances, of which only the first and the last are used. Shape
            (bins + 1,).
        options: ``curve``: whether the rule's curve is drawn over the histogram. ``strong``: whether it has
            the rule's colour. ``ticks``: texts below it. To show the data on Explore: ``means``, float32 of
            shape (bins,), and ``outside``, a sentence on the values beyond the edges.
    """
    ends = [float(edges[0]), float(edges[-1])]
    return {
        "kind": "histogram",
        "counts": counts.astype(np.int32),
        "bins": len(edges) - 1,
        "highest": int(highest),
        "ends": ends,
        "ticks": [format_short(end) for end in ends],
    } | options


def draw_lines(
    lines: Sequence[NDArray[Any]], bands: Sequence[Sequence[NDArray[Any]]] = (), *, name: str, height: float
) -> Block:
    """Return a block with a small chart over the steps, which has a line for each layer.

    Values that are not finite do not affect the vertical axis.

    Args:
        lines: the values of each layer. Shape (points,) each.
        bands: the lower and the upper ends of a band for each layer, of the same shape; () for no bands.
        name: the text before the highest value. With a name, the vertical axis includes 0.
        height: the height of the chart in rem.
    """
    all_values = np.concatenate([*lines, *(end for band in bands for end in band), [0.0] if name else []])
    finite = all_values[np.isfinite(all_values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    margin = _MAX_LABEL_SHARE * (high - low) or _MAX_LABEL_SHARE * abs(high) or 1.0
    return {
        "kind": "lines",
        "lines": list(lines),
        "bands": list(bands),
        "ends": [low - margin, high + margin],
        "most": f"{name} {format_short(high)}".strip(),
        "least": format_short(low),
        "height": height,
    }
