"""Pages run without a browser, and what is drawn on them."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from urllib.parse import parse_qs

import numpy as np
import streamlit as st
from streamlit.testing.v1 import AppTest

MAIN = Path(__file__).parents[2] / "explorer" / "ui" / "main.py"


def opened(query: str = "", page: str | None = None) -> AppTest:
    """A visitor who comes by a link. Raises AssertionError if the page failed."""
    test = AppTest.from_file(str(MAIN), default_timeout=30)
    if page:
        test.switch_page(f"views/{page}.py")
    for key, values in parse_qs(query, keep_blank_values=True).items():
        test.query_params[key] = values
    return sound(test.run())


def sound(test: AppTest) -> AppTest:
    """The page, after making sure that its script did not fail."""
    st.config.set_option("client.showErrorDetails", "full")  # only a run reads the file that says "none"
    assert not test.exception, test.exception[0].message or "failed: run this test alone for the reason"
    return test


def labelled(widgets, label: str):
    """The one widget of a kind with a label."""
    (found,) = [widget for widget in widgets if widget.label == label]
    return found


def press(test: AppTest, label: str) -> AppTest:
    """The page after a button was pressed."""
    labelled(test.button, label).click()
    return sound(test.run())


def metric(test: AppTest, label: str) -> str:
    """What a metric says."""
    return labelled(test.metric, label).value


def section(test: AppTest, name: str) -> AppTest:
    """The Explore page with a section opened."""
    labelled(test.button_group, "Section").set_value(name)
    return sound(test.run())


def chart_of(test: AppTest) -> dict:
    """The specification of the page's first chart, arrays as NumPy arrays."""
    return _decoded(json.loads(test.get("bidi_component")[0].proto.json))


def curves_of(test: AppTest) -> dict[str, dict[float, float]]:
    """What is drawn: for each curve, by its key, the finite points as value by x."""
    return {
        trace["meta"]: {
            x: y for x, y in zip(trace["x"].tolist(), trace["y"].tolist(), strict=True) if np.isfinite(y)
        }
        for trace in chart_of(test)["data"]
        if "meta" in trace
    }


def words_of(test: AppTest) -> str:
    """All plain text on the page."""
    return "\n".join([*(text.value for text in test.text), *(caption.value for caption in test.caption)])


def address_of(test: AppTest) -> dict[str, list[str]]:
    """The query in the address bar."""
    return {key: [v] if isinstance(v, str) else list(v) for key, v in test.query_params.items()}


def _decoded(value):
    if isinstance(value, dict):
        if set(value) == {"dtype", "bdata"}:
            return np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"])
        return {key: _decoded(part) for key, part in value.items()}
    return [_decoded(part) for part in value] if isinstance(value, list) else value
