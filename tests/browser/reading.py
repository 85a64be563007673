"""What a visitor does with the page, and what a test reads from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import Locator, Page, expect

CHART = ".js-plotly-plot"
# What plotly.js draws; its ``data`` still is the base64 text that was sent.
TRACES = (
    f'[...document.querySelectorAll("{CHART}")].flatMap(chart => chart._fullData ?? [])'
    ".filter(trace => trace.meta)"
)


@dataclass(frozen=True)
class Trace:
    """A curve as the browser holds it: ``meta`` is the rule's key, ``kind`` the class of its arrays."""

    name: str
    meta: str
    kind: str
    x: NDArray[np.float32]
    y: NDArray[np.float32]


def link(path: str, query: Mapping[str, object]) -> str:
    """An address; a list gives its key several times."""
    return f"{path}?{urlencode(query, doseq=True)}"


def visit(page: Page, address: str, *, shows: Sequence[str] | None = None) -> None:
    """Go to an address, and wait for the page; ``shows`` as in ``settle``."""
    page.goto(address)
    settle(page, shows=shows)


def settle(page: Page, *, shows: Sequence[str] | None = None) -> None:
    """Wait until the script rests and the chart is drawn, with these rules if any are named."""
    app = page.get_by_test_id("stApp")
    expect(app).to_have_attribute("data-test-script-state", "notRunning", timeout=30_000)
    page.locator(f"{CHART} .cartesianlayer").first.wait_for()
    if shows is not None:
        keys = ["forward", *shows]
        page.wait_for_function(
            f"keys => JSON.stringify({TRACES}.map(t => t.meta)) === JSON.stringify(keys)", arg=keys
        )


def traces(page: Page) -> dict[str, Trace]:
    """The curves of the chart by their key."""
    rows = page.evaluate(f"{TRACES}.map(({{name, meta, x, y}}) => [name, meta, x, y, y.constructor.name])")
    return {
        meta: Trace(name, meta, kind, np.array(x, np.float32), np.array(y, np.float32))
        for name, meta, x, y, kind in rows
    }


def layout(page: Page, path: str) -> Any:
    """A value of the drawn layout, such as "xaxis.range"."""
    return page.evaluate(f'document.querySelector("{CHART}")._fullLayout.{path}')


def shown(page: Page, labels: Sequence[str]) -> list[str]:
    """What the fields with these accessible names hold."""
    return [page.get_by_label(label, exact=True).input_value() for label in labels]


def choose(page: Page, label: str, text: str) -> None:
    """Pick from a list by typing the beginning of an option."""
    field = page.get_by_label(label, exact=True)
    field.click()
    field.fill(text)
    page.get_by_role("option").filter(has_text=text).first.click()
    page.keyboard.press("Escape")


def enter(page: Page, label: str, text: str) -> None:
    """Type a value into a field."""
    field = page.get_by_label(label, exact=True)
    field.fill(text)
    field.press("Enter")


def metric(page: Page, label: str) -> Locator:
    """The value of a metric."""
    card = page.get_by_test_id("stMetric").filter(has=page.get_by_text(label, exact=True))
    return card.get_by_test_id("stMetricValue")
