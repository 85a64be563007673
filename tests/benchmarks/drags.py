"""How often the curves are drawn anew while a parameter is dragged, at 30 pointer moves a second.

A move waits for the one before it: a page that takes longer over each gets fewer. Every value lies within
the view, so that each move must bend the forward curve: past it none would show.
"""

from __future__ import annotations

import time

from playwright.sync_api import Locator, Page

from tests.browser.reading import CHART

SIX = ("default", "masked", "masked_open", "published_clamp", "toward_range", "clamp_with_grad")
_VALUES = (-2.8, 0.8)
_MOVES = 120
_MOVES_A_SECOND = 30
# The forward curve, whose path every redraw writes anew: by Plotly or directly. One a frame is counted.
_COUNT = f"""() => {{
    const line = () => document.querySelector("{CHART} .scatterlayer .trace .js-line")?.getAttribute("d");
    const seen = window.seen = {{drawn: 0, running: true}};
    let last = line();
    const look = () => {{
        const now = line();
        if (now !== last) seen.drawn += 1;
        last = now;
        if (seen.running) requestAnimationFrame(look);
    }};
    requestAnimationFrame(look);
}}"""


def redraws(page: Page, handle: Locator, ends: tuple[float, float]) -> float:
    """Redraws a second while a slider between two ends is dragged to and fro for about four seconds."""
    from_share, to_share = ((value - ends[0]) / (ends[1] - ends[0]) for value in _VALUES)
    box = handle.bounding_box()
    assert box
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, middle)
    page.mouse.down()
    page.evaluate(_COUNT)
    begun = float(page.evaluate("performance.now()"))
    first = time.perf_counter()
    for number in range(_MOVES):
        share = abs((number % 60) - 30) / 30
        page.mouse.move(box["x"] + box["width"] * (from_share + (to_share - from_share) * share), middle)
        early_s = first + (number + 1) / _MOVES_A_SECOND - time.perf_counter()
        if early_s > 0:
            page.wait_for_timeout(1000 * early_s)
    drawn, ended = map(float, page.evaluate("[seen.drawn, performance.now()]"))
    page.evaluate("seen.running = false")
    page.mouse.up()
    return drawn / (ended - begun) * 1000
