"""The chart on the pages: a figure specification into one element that is never rebuilt."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np
import plotly
import streamlit as st

_mount = st.components.v2.component(
    "gradient_chart",
    html='<div class="chart" role="img" style="width:100%"></div>',
    js=(Path(__file__).parent / "chart.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def chart(spec: dict[str, Any], *, key: str, words: str) -> None:
    """Draw a figure specification; ``words`` is its text for those who cannot see it.

    The element of a key stays: zoom, hover and hidden legend entries survive new data.
    """
    _mount(
        key=key,
        data={**encoded(spec), "words": words, "name": key, "version": plotly.__version__},
        width="stretch",
        height="content",
    )


def encoded(value: Any) -> Any:
    """A specification as JSON types: arrays as base64 of their own bytes, which plotly.js reads."""
    if isinstance(value, np.ndarray):
        # Plotly's names of dtypes are NumPy's without the byte order: f4, i1 …
        return {"dtype": value.dtype.str[1:], "bdata": base64.b64encode(value.tobytes()).decode("ascii")}
    if isinstance(value, dict):
        return {key: encoded(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [encoded(part) for part in value]
    return value
