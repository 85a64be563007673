"""Phones, the dark theme, and how plotly.js reaches the browser."""

from __future__ import annotations

import gzip
import re
import urllib.error
import urllib.request
from email.message import Message

import plotly
import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Open
from tests.browser.reading import CHART, settle

PHONE = {"width": 390, "height": 844}
PAGES = ("/", "/train")
PLOTLY = f"/assets/plotly-{plotly.__version__}.min.js"

# Text in the chart and the ground it stands on, as [red, green, blue] each.
COLOURS = f"""() => {{
    const rgb = colour => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
    const ground = rgb(getComputedStyle(document.querySelector('[data-testid="stApp"]')).backgroundColor);
    const texts = [...document.querySelectorAll("{CHART} text")].filter(text => text.textContent.trim());
    return [ground, texts.map(text => rgb(getComputedStyle(text).fill))];
}}"""


@pytest.mark.parametrize("path", PAGES)
def test_a_phone_shows_the_chart_without_scrolling_sideways(new_page: Open, path: str) -> None:
    page = new_page(viewport=PHONE, has_touch=True, is_mobile=True)
    page.goto(path)
    settle(page)
    for part in ("html", '[data-testid="stApp"]', '[data-testid="stMain"]'):
        width = page.locator(part).evaluate("element => [element.scrollWidth, element.clientWidth]")
        assert width[0] <= width[1] == PHONE["width"]
    chart = page.locator(CHART).bounding_box()
    assert chart
    assert chart["x"] >= 0
    assert 300 <= chart["width"] <= PHONE["width"] - chart["x"]
    drawn = page.locator(f"{CHART} .main-svg").first.bounding_box()
    assert drawn
    assert drawn["width"] == pytest.approx(chart["width"], abs=1)


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_chart_can_be_read_in_both_themes(new_page: Open, path: str, scheme: str) -> None:
    page = new_page(color_scheme=scheme)
    page.goto(path)
    settle(page)
    page.locator(f"{CHART} text").first.wait_for()
    ground, texts = page.evaluate(COLOURS)
    assert (luminance(ground) < 0.2) == (scheme == "dark")
    assert len(texts) > 5
    assert min(contrast(text, ground) for text in texts) >= 4.5


def luminance(colour: list[float]) -> float:
    """Relative luminance, 0 to 1, of sRGB values from 0 to 255 (WCAG 2.2)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: list[float], other: list[float]) -> float:
    """Contrast ratio, 1 to 21 (WCAG 2.2)."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_plotly_js_is_sent_compressed_once_and_then_kept(address: str) -> None:
    status, headers, body = fetch(address + PLOTLY, {"Accept-Encoding": "gzip"})
    assert (status, headers["Content-Encoding"]) == (200, "gzip")
    assert len(body) < 2_000_000 < len(gzip.decompress(body))
    assert "immutable" in headers["Cache-Control"]
    age = re.search(r"max-age=(\d+)", headers["Cache-Control"])
    assert age
    assert int(age[1]) >= 86_400
    status, _, plain = fetch(address + PLOTLY, {})
    assert plain == gzip.decompress(body)
    status, _, nothing = fetch(address + PLOTLY, {"If-None-Match": headers["ETag"]})
    assert (status, nothing) == (304, b"")


def fetch(url: str, headers: dict[str, str]) -> tuple[int, Message, bytes]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=20) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read()


@pytest.mark.parametrize("path", PAGES)
def test_a_second_visit_does_not_fetch_plotly_js_again(new_page: Open, path: str) -> None:
    page = new_page(viewport={"width": 1280, "height": 900})
    page.goto(path)
    settle(page)
    assert sent_bytes(page) > 1_000_000
    page.reload()
    settle(page)
    assert sent_bytes(page) == 0


def sent_bytes(page: Page) -> int:
    """What came over the wire for plotly.js since the page was opened."""
    return int(
        page.evaluate(f'performance.getEntriesByName(new URL("{PLOTLY}", location).href)[0].transferSize')
    )
