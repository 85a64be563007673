"""Redraws a second of means over what is drawn, while a parameter is dragged at 30 pointer moves a second.

Each redraw takes the integrals anew, in the browser.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from playwright.sync_api import Browser, Page

from tests.benchmarks import drags
from tests.browser.reading import slider

Series = Iterator[tuple[str, list[float]]]


class _Dragged(NamedTuple):
    op: str
    parameter: str
    rules: tuple[str, ...]


# By ``tau`` all six change: it is the op's.
_SIX = ("default", "st_gumbel", "reinforce", "reinforce_baseline", "arm", "disarm")
_CASES = {
    "Gumbel-sigmoid, one rule": _Dragged("gumbel_sigmoid", "tau", _SIX[:1]),
    "Gumbel-sigmoid, six rules": _Dragged("gumbel_sigmoid", "tau", _SIX),
    "Round with noise, six rules": _Dragged(
        "noisy_round", "s", ("default", "straight_through", "clipped", "reinforce", "arm", "disarm")
    ),
}
_SHARES = (0.3, 0.7)  # of the slider's length


def measure(browser: Browser, app: str, rounds: int, opened: Callable[[Browser, str], Page]) -> Series:
    """Redraws a second of the mean of the op."""
    for name, (op, parameter, rules) in _CASES.items():
        query = "".join(f"&rule={rule}" for rule in rules)
        page = opened(browser, f"{app}/?op={op}&tools=all{query}")
        handle = slider(page, parameter).first
        yield f"{name}, redraws/s", [drags.redraws(page, handle, _SHARES) for _ in range(rounds)]
        page.close()
