"""Measure the app; prints tables: ``python -m tests.benchmarks [SECTION …] [--rounds N]``.

Each figure that is compared is a ratio of two that were measured in turns in one run.
"""

import argparse
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, sync_playwright

from tests.benchmarks import Series, arrivals, clicks, drags, peer, training
from tests.browser.chromium import launch
from tests.browser.server import ROOT, serve

# How often each is measured: modules that take no page, and sections of the app's pages beside the Dash page.
ALONE = {
    "ensemble": 5, "calling": 40, "model": 60, "study": 3, "classes": 3, "lesson": 1,
    "ranking": 2_000,
}  # fmt: skip


ON_PAGES: dict[str, tuple[Callable[[Browser, str, str, int], Series], int]] = {
    "clicks": (clicks.measure, 40), "drags": (drags.measure, 3), "rulemap": (drags.measure_maps, 5),
    "means": (drags.measure_means, 5), "arrivals": (arrivals.measure, 7),
    "training": (training.measure, 5),
}  # fmt: skip


def main() -> None:
    """Run the sections that are asked for, all of them by default."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument(
        "section", nargs="*", choices=[*ON_PAGES, *ALONE, []], help="what to measure (everything)"
    )
    options.add_argument("--rounds", type=int, help="rounds of each section (its own number)")
    options.add_argument("--slow", action="store_true", help="arrivals over a line of 3 Mbit/s and 150 ms")
    asked = options.parse_args()
    for name in asked.section or [*ON_PAGES, *ALONE]:
        if name in ALONE:
            show(name, import_module(f"tests.benchmarks.{name}").measure(asked.rounds or ALONE[name]))
            continue
        measure, rounds = ON_PAGES[name]
        measure = arrivals.measure_slow if asked.slow and name == "arrivals" else measure
        with (
            tempfile.TemporaryDirectory() as scratch,
            sync_playwright() as playwright,
            launch(playwright) as browser,
            serve(ROOT / "app.py", Path(scratch) / "app.txt") as app,
            peer.serve(Path(scratch) / "dash.txt") as dash,
        ):
            show(name, measure(browser, app, dash, asked.rounds or rounds))


def show(title: str, rows: Series) -> None:
    print(f"\n{title:46}{'median':>10}{'5 %':>10}{'95 %':>10}{'n':>6}", flush=True)
    for name, values in rows:
        low, middle, high = np.percentile(values, (5, 50, 95))
        print(f"{name:46}{middle:10.3g}{low:10.3g}{high:10.3g}{len(values):6}", flush=True)


if __name__ == "__main__":
    main()
