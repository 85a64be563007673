"""How often a rule's map is drawn anew while a parameter of it is dragged, at 30 pointer moves a second.

A redraw is a new picture on the canvas of the map that the parameter belongs to, in a frame of its own.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from playwright.sync_api import Browser, Page

from tests.benchmarks import drags
from tests.browser.reading import card, slider

Series = Iterator[tuple[str, list[float]]]

_FIVE = ("published_clamp", "toward_range", "guided", "clip_value", "ewgs")


class _Dragged(NamedTuple):
    rules: tuple[str, ...]
    rule: str
    label: str
    parameter: str
    shares: tuple[float, float]  # of the slider's length


_CASES = {
    "one map": _Dragged(("clip_value",), "clip_value", "Clip the gradient", "c", (0.2, 0.8)),
    "five maps": _Dragged(_FIVE, "clip_value", "Clip the gradient", "c", (0.2, 0.8)),
    "five maps, two of them change": _Dragged(
        _FIVE, "toward_range", "Masked, unless towards the range", "lo", (0.2, 0.45)
    ),
}
_COUNT = """at => {
    const of = document.querySelectorAll(".map canvas")[at];
    const seen = (window.seen = { drawn: 0 });
    const paint = CanvasRenderingContext2D.prototype.putImageData;
    CanvasRenderingContext2D.prototype.putImageData = function (...image) {
        if (this.canvas === of) seen.drawn += 1;
        return paint.apply(this, image);
    };
}"""


def measure(
    browser: Browser, app: str, rounds: int, opened: Callable[[Browser, str], Page], op: str = "round"
) -> Series:
    """Redraws a second of the map whose rule is dragged, alone and beside four others."""
    for name, (rules, rule, label, parameter, shares) in _CASES.items():
        query = "".join(f"&rule={key}" for key in rules)
        page = opened(browser, f"{app}/?op={op}&tools=all&section=map{query}")
        page.evaluate(_COUNT, rules.index(rule))
        handle = slider(card(page, label), parameter)
        handle.scroll_into_view_if_needed()
        yield f"{name}, redraws/s", [drags.dragged(page, handle, shares) for _ in range(rounds)]
        page.close()
