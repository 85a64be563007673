"""How often pictures are drawn anew while a parameter is dragged, at 30 pointer moves a second.

A move waits for the one before it: a page that takes longer over each gets fewer. Every value lies within
the view, so that each move must bend the forward curve: past it none would show. A redraw of a rule's map is
a new picture on its canvas; one of means over what is drawn takes the integrals anew, in the browser.
"""

import time
from collections.abc import Mapping
from typing import NamedTuple

from playwright.sync_api import Browser, FloatRect, Locator, Page

from tests.benchmarks import Series, divide
from tests.browser.reading import CHART, box_of, card, slider

Shares = tuple[float, float]  # of a slider's length: the ends of the way


class Dragged(NamedTuple):
    """A link of Explore, and a slider there that is dragged to and fro."""

    op: str
    rules: tuple[str, ...]
    parameter: str
    shares: Shares


_SIX = ("default", "masked", "masked_open", "published_clamp", "toward_range", "clamp_with_grad")
_SOFT = ("default", "st_gumbel", "reinforce", "reinforce_baseline", "arm", "disarm")  # tau is the op's
_NOISY = ("default", "straight_through", "clipped", "reinforce", "arm", "disarm")
_LO = (0.36, 0.54)  # from −2.8 to 0.8
_CURVES = {"two rules": Dragged("clamp", _SIX[:2], "lo", _LO), "six rules": Dragged("clamp", _SIX, "lo", _LO)}
_MEANS = {
    "Gumbel-sigmoid, one rule": Dragged("gumbel_sigmoid", _SOFT[:1], "tau", (0.3, 0.7)),
    "Gumbel-sigmoid, six rules": Dragged("gumbel_sigmoid", _SOFT, "tau", (0.3, 0.7)),
    "Round with noise, six rules": Dragged("noisy_round", _NOISY, "s", (0.3, 0.7)),
}
_FIVE = ("published_clamp", "toward_range", "guided", "clip_value", "ewgs")
_MAPS = {
    "one map": Dragged("round", ("clip_value",), "c", (0.2, 0.8)),
    "five maps": Dragged("round", _FIVE, "c", (0.2, 0.8)),
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
_COUNT_MAP = """at => {
    const of = document.querySelectorAll(".map canvas")[at];
    const seen = (window.seen = { drawn: 0 });
    const paint = CanvasRenderingContext2D.prototype.putImageData;
    CanvasRenderingContext2D.prototype.putImageData = function (...image) {
        if (this.canvas === of) seen.drawn += 1;
        return paint.apply(this, image);
    };
}"""
_PANEL = f"""() => {{
    const {{_size: s, yaxis2: {{domain: d}}}} = document.querySelector("{CHART}")._fullLayout;
    return {{x: s.l, y: s.t + s.h * (1 - d[1]), width: s.w, height: s.h * (d[1] - d[0])}};
}}"""
FORWARD = f"{CHART} .scatterlayer .trace .js-line"


def measure(browser: Browser, app: str, dash: str, rounds: int) -> Series:
    """Redraws a second of curves, of a stroke of the pencil beside them, and of a Dash page's curves."""
    yield from _drag(browser, app, _CURVES, rounds)
    page = open_page(browser, _link(app, _CURVES["two rules"]))
    yield from _draw(page, slider(page, "lo").first, rounds)
    page.close()
    page = open_page(browser, dash)
    handle = page.locator("#dragged .dash-slider-track, #dragged [role=slider]").first
    yield "Dash page, one rule, redraws/s", [redraws(page, handle, (0.05, 0.95)) for _ in range(rounds)]


def measure_means(browser: Browser, app: str, _dash: str, rounds: int) -> Series:
    return _drag(browser, app, _MEANS, rounds)


def measure_maps(browser: Browser, app: str, _dash: str, rounds: int) -> Series:
    """Redraws a second of the map whose rule is dragged, alone and beside four others."""
    for name, case in _MAPS.items():
        page = open_page(browser, _link(app, case) + "&section=map")
        page.evaluate(_COUNT_MAP, case.rules.index("clip_value"))
        handle = slider(card(page, "Clip the gradient"), case.parameter)
        handle.scroll_into_view_if_needed()
        yield f"{name}, redraws/s", [dragged(page, handle, case.shares) for _ in range(rounds)]
        page.close()


def _drag(browser: Browser, app: str, cases: Mapping[str, Dragged], rounds: int) -> Series:
    for name, case in cases.items():
        page = open_page(browser, _link(app, case))
        handle = slider(page, case.parameter).first
        yield f"app, {name}, redraws/s", [redraws(page, handle, case.shares) for _ in range(rounds)]
        page.close()


def open_page(browser: Browser, address: str) -> Page:
    """Return a page whose chart has been drawn."""
    page = browser.new_page(viewport={"width": 1366, "height": 768}, bypass_csp=True)
    page.goto(address)
    page.locator(f"{CHART} .cartesianlayer").first.wait_for(timeout=60_000)
    page.wait_for_timeout(2_000)
    return page


def _link(app: str, case: Dragged) -> str:
    rules = "".join(f"&rule={rule}" for rule in case.rules)
    return f"{app}/?op={case.op}&tools=all{rules}"


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


def _draw(page: Page, handle: Locator, rounds: int) -> Series:
    """Redraws of a stroke of the pencil beside those of a slider's curve, in turns."""
    sliders, strokes = [], []
    for _ in range(rounds):
        sliders.append(redraws(page, handle, _LO))
        page.keyboard.press("d")
        page.get_by_role("button", name="Start from three points").wait_for()
        page.wait_for_timeout(300)  # the axis gets room
        panel, place = page.evaluate(_PANEL), box_of(page.locator(".chart-place"))
        panel |= {"x": panel["x"] + place["x"], "y": panel["y"] + place["y"]}
        strokes.append(redraws(page, panel, (0.1, 0.9), ".chart-stroke"))
        page.keyboard.press("Escape")
        page.go_back()  # without what was drawn
        page.wait_for_timeout(500)
    yield "app, two rules, the pencil, redraws/s", strokes
    yield "pencil / slider", divide(strokes, sliders)
