"""How often the curves are drawn anew while a parameter is dragged, at 30 pointer moves a second.

A move waits for the one before it: a page that takes longer over each gets fewer. Every value lies within
the view, so that each move must bend the forward curve: past it none would show.
"""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from playwright.sync_api import FloatRect, Locator, Page

from tests.browser.reading import CHART, box_of

Shares = tuple[float, float]


class Dragged(NamedTuple):
    """A parameter's slider, and from one value to another it is dragged.

    Attributes:
        name: of the parameter.
        values: both ends of the way.
        start: the value that the Dash page starts with.
        dash: both ends of its slider.
        rules: the six that are shown.
        bounds: of the app's slider where it is even in the logarithm; without them its own.
        also: further links of the app, by what they show.
    """

    name: str
    values: tuple[float, float]
    start: float
    dash: tuple[float, float]
    rules: tuple[str, ...]
    bounds: tuple[float, ...] = ()
    also: Mapping[str, str] = {}

    def ours(self, slider: Locator) -> Shares:
        """The way as shares of the length of the app's slider."""
        if self.bounds:
            return _shares(*(tuple(map(math.log, each)) for each in (self.values, self.bounds)))
        return _shares(self.values, slider.evaluate("({min, max}) => [Number(min), Number(max)]"))

    def theirs(self) -> Shares:
        """The way as shares of the length of the Dash page's slider."""
        return _shares(self.values, self.dash)


def _shares(values: Sequence[float], ends: Sequence[float]) -> Shares:
    first, last = ((value - ends[0]) / (ends[1] - ends[0]) for value in values)
    return first, last


# By op. With FP8, s up to 2: all 252 jumps lie within ±1,000.
DRAGGED = {
    "clamp": Dragged(
        "lo",
        (-2.8, 0.8),
        -1,
        (-3, 1),
        ("default", "masked", "masked_open", "published_clamp", "toward_range", "clamp_with_grad"),
    ),
    "fp8_e4m3": Dragged(
        "s",
        (0.1, 2),
        1,
        (0.1, 2),
        ("default", "straight_through", "zero", "clipped", "guided", "seed_relu"),
        bounds=(0.001, 1000),
        also={"two rules, 252 jumps": "&range=-1000&range=1000"},
    ),
}
_MOVES = 120
_MOVES_A_SECOND = 30
# The forward curve, whose path every redraw writes anew: by Plotly or directly. One a frame is counted.
_COUNT = """selector => {
    const line = () => document.querySelector(selector)?.getAttribute("d");
    const seen = window.seen = {drawn: 0, running: true};
    let last = line();
    const look = () => {
        const now = line();
        if (now !== last) seen.drawn += 1;
        last = now;
        if (seen.running) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
}"""
FORWARD = f"{CHART} .scatterlayer .trace .js-line"


def redraws(page: Page, handle: Locator | FloatRect, shares: Shares, line: str = FORWARD) -> float:
    """Redraws of a line, by its selector, a second while a slider is dragged to and fro, for 4 s."""
    page.evaluate(_COUNT, line)
    drawn = dragged(page, handle, shares)
    page.evaluate("seen.running = false")
    return drawn


def dragged(page: Page, handle: Locator | FloatRect, shares: Shares) -> float:
    """The growth of ``seen.drawn`` a second while a slider goes between two shares of its length, for 4 s."""
    from_share, to_share = shares
    box = box_of(handle) if isinstance(handle, Locator) else handle
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, middle)
    page.mouse.down()
    before, begun = map(float, page.evaluate("[seen.drawn, performance.now()]"))
    first = time.perf_counter()
    for number in range(_MOVES):
        share = abs((number % 60) - 30) / 30
        page.mouse.move(box["x"] + box["width"] * (from_share + (to_share - from_share) * share), middle)
        early_s = first + (number + 1) / _MOVES_A_SECOND - time.perf_counter()
        if early_s > 0:
            page.wait_for_timeout(1000 * early_s)
    drawn, ended = map(float, page.evaluate("[seen.drawn, performance.now()]"))
    page.mouse.up()
    return (drawn - before) / (ended - begun) * 1000


_PANEL = f"""() => {{
    const {{_size: s, yaxis2: {{domain: d}}}} = document.querySelector("{CHART}")._fullLayout;
    return {{x: s.l, y: s.t + s.h * (1 - d[1]), width: s.w, height: s.h * (d[1] - d[0])}};
}}"""


def drawing(page: Page, slider: Locator, shares: Shares, rounds: int) -> Iterator[tuple[str, list[float]]]:
    """Redraws of a slider's curve and of a stroke of the pencil, in turns, and their ratio."""
    rates: list[tuple[float, float]] = []
    for _ in range(rounds):
        by_slider = redraws(page, slider, shares)
        page.keyboard.press("d")
        page.get_by_role("button", name="Start from three points").wait_for()
        page.wait_for_timeout(300)  # the axis gets room
        panel, place = page.evaluate(_PANEL), box_of(page.locator(".chart-place"))
        panel |= {"x": panel["x"] + place["x"], "y": panel["y"] + place["y"]}
        rates.append((by_slider, redraws(page, panel, (0.1, 0.9), ".chart-stroke")))
        page.keyboard.press("Escape")
        page.go_back()  # without what was drawn
        page.wait_for_timeout(500)
    yield "app, two rules, a slider, redraws/s", [slider_rate for slider_rate, _ in rates]
    yield "app, two rules, the pencil, redraws/s", [stroke_rate for _, stroke_rate in rates]
    yield "pencil / slider", [stroke_rate / slider_rate for slider_rate, stroke_rate in rates]
