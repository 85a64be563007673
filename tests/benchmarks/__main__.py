"""Measure the app; prints tables: ``python -m tests.benchmarks [SECTION …] [--rounds N]``.

Each figure that is compared is a ratio of two that were measured in turns in one run.
"""

import argparse
import re
import tempfile
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from tests.benchmarks import (
    arrivals,
    beside,
    calling,
    clicks,
    convolutions,
    drags,
    ensemble,
    formats,
    lesson,
    means,
    model,
    peer,
    ranking,
    rulemap,
    site,
    slow,
    study,
    together,
    training,
)
from tests.browser.chromium import launch
from tests.browser.reading import CHART
from tests.browser.server import ROOT, serve

Series = Iterable[tuple[str, list[float]]]
_FORMAT = "fp8_e4m3"
Section = Callable[[Browser, str, str, int], Series]


def main() -> None:
    """Run the sections that are asked for, all of them by default."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("section", nargs="*", choices=[*SECTIONS, []], help="what to measure (everything)")
    options.add_argument("--rounds", type=int, help="rounds of each section (its own number)")
    options.add_argument("--slow", action="store_true", help="arrivals over a line of 3 Mbit/s and 150 ms")
    asked = options.parse_args()
    sections = SECTIONS | ({"arrivals": (slow.measure, 5, True)} if asked.slow else {})
    with (
        tempfile.TemporaryDirectory() as scratch,
        sync_playwright() as playwright,
        launch(playwright) as browser,
        ExitStack() as peers,
    ):
        dash = ""
        for name in asked.section or SECTIONS:
            measure, rounds, is_beside_peer = sections[name]
            if is_beside_peer and not dash:
                dash = peers.enter_context(peer.serve(Path(scratch) / "dash.txt"))
            # A run or a page that goes on would slow down what is measured next.
            with serve(ROOT / "app.py", Path(scratch) / f"{name}.txt") as app:
                show(name, measure(browser, app, dash, asked.rounds or rounds))
            for context in browser.contexts:
                context.close()


def _clicks(browser: Browser, app: str, dash: str, rounds: int, op: str = "clamp") -> Series:
    pages = opened(browser, f"{app}/?op={op}&rule=default&tools=all"), opened(browser, dash)
    ours, theirs, *plots = clicks.measure(*pages, rounds)
    yield from (ours, theirs, *plots)
    middle = float(np.median(theirs[1]))
    yield "median / median of the Dash page", [float(np.median(ours[1])) / middle]
    yield "95 % / median of the Dash page", [float(np.percentile(ours[1], 95)) / middle]


def _drags(browser: Browser, app: str, dash: str, rounds: int, op: str = "clamp") -> Series:
    dragged = drags.DRAGGED[op]
    six = "".join(f"&rule={rule}" for rule in dragged.rules)
    two = "".join(f"&rule={rule}" for rule in dragged.rules[:2])
    shown = {"two rules": two, "six rules": six, **{name: two + more for name, more in dragged.also.items()}}
    for name, query in shown.items():
        ours = opened(browser, f"{app}/?op={op}&tools=all{query}")
        slider = ours.get_by_role("slider", name=re.compile(rf"^{dragged.name}\b")).first
        shares = dragged.ours(slider)
        yield f"app, {name}, redraws/s", [drags.redraws(ours, slider, shares) for _ in range(rounds)]
        ours.close()
    if op == "clamp":
        page = opened(browser, f"{app}/?op={op}&tools=all{two}")
        slider = page.get_by_role("slider", name=re.compile(rf"^{dragged.name}\b")).first
        yield from drags.drawing(page, slider, dragged.ours(slider), rounds)
        page.close()
    page = opened(browser, dash)
    theirs = page.locator("#dragged .dash-slider-track, #dragged [role=slider]").first
    yield (
        "Dash page, one rule, redraws/s",
        [drags.redraws(page, theirs, dragged.theirs()) for _ in range(rounds)],
    )


def _arrivals(browser: Browser, app: str, dash: str, rounds: int) -> Series:
    series = dict(arrivals.measure(browser, app, dash, rounds))
    yield from series.items()
    for when in arrivals.WHEN:
        ours, theirs = (float(np.median(series[f"{page}, {when}, s"])) for page in ("app", "Dash page"))
        yield f"app / Dash page, {when}, medians", [ours / theirs]


def _rulemap(browser: Browser, app: str, _dash: str, rounds: int) -> Series:
    return rulemap.measure(browser, app, rounds, opened)


def _means(browser: Browser, app: str, _dash: str, rounds: int) -> Series:
    return means.measure(browser, app, rounds, opened)


def _site(browser: Browser, app: str, _dash: str, rounds: int) -> Series:
    return site.measure(browser, app, rounds)


def _training(browser: Browser, app: str, _dash: str, rounds: int) -> Series:
    return training.measure(browser.new_page(bypass_csp=True), app, rounds)


def _pages(browser: Browser, app: str, _dash: str, rounds: int) -> Series:
    """Click, drag and first chart of a number format, beside a Dash page of it."""
    with tempfile.TemporaryDirectory() as scratch, peer.serve(Path(scratch) / "dash.txt", _FORMAT) as dash:
        yield from _clicks(browser, app, dash, 10 * rounds, _FORMAT)
        yield from _drags(browser, app, dash, rounds, _FORMAT)
        yield from _arrivals(browser, f"{app}/?op={_FORMAT}&rule=default", dash, 2 * rounds)


def _alone(measure: Callable[[int], Series]) -> Section:
    """Return the section of a measurement that takes no page."""
    return lambda _browser, _app, _dash, rounds: measure(rounds)


# How each is measured, how often, and whether beside the Dash page.
SECTIONS: dict[str, tuple[Section, int, bool]] = {
    "clicks": (_clicks, 40, True), "drags": (_drags, 3, True), "rulemap": (_rulemap, 5, False),
    "means": (_means, 5, False), "arrivals": (_arrivals, 7, True), "site": (_site, 9, False),
    "ensemble": (_alone(ensemble.measure), 5, False), "calling": (_alone(calling.measure), 40, False),
    "formats": (_alone(formats.measure), 40, False), "formatpages": (_pages, 3, False),
    "model": (_alone(model.measure), 60, False), "study": (_alone(study.measure), 3, False),
    "beside": (_alone(beside.measure), 5, False), "together": (_alone(together.measure), 3, False),
    "training": (_training, 5, False), "lesson": (_alone(lesson.measure), 1, False),
    "ranking": (_alone(ranking.measure), 2_000, False),
    "convolutions": (_alone(convolutions.measure), 1, False),
}  # fmt: skip


def opened(browser: Browser, address: str) -> Page:
    """A page whose chart has been drawn."""
    page = browser.new_page(viewport={"width": 1366, "height": 768}, bypass_csp=True)
    page.goto(address)
    page.locator(f"{CHART} .cartesianlayer").first.wait_for(timeout=60_000)
    page.wait_for_timeout(2_000)
    return page


def show(title: str, rows: Series) -> None:
    """Print one table."""
    print(f"\n{title:46}{'median':>10}{'5 %':>10}{'95 %':>10}{'n':>6}", flush=True)
    for name, values in rows:
        low, middle, high = np.percentile(values, (5, 50, 95))
        print(f"{name:46}{middle:10.3g}{low:10.3g}{high:10.3g}{len(values):6}", flush=True)


if __name__ == "__main__":
    main()
