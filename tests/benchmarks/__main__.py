"""Measure the app against what a reader would write without it; prints a table. Takes some minutes."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from tests.benchmarks import clicks, training
from tests.browser.chromium import launch
from tests.browser.reading import CHART
from tests.browser.server import ROOT, serve

Series = Iterable[tuple[str, list[float]]]


def main() -> None:
    """Run what is asked for."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--trainings", type=int, default=7, help="trainings of 5,000 steps (7)")
    options.add_argument("--clicks", type=int, default=40, help="clicks on another rule (40)")
    asked = options.parse_args()
    with (
        tempfile.TemporaryDirectory() as scratch,
        sync_playwright() as playwright,
        launch(playwright) as browser,
        serve(ROOT / "app.py", Path(scratch) / "app.txt") as app,
    ):
        if asked.trainings:
            show("Training, the documents' net", training.measure(browser.new_page(), app, asked.trainings))
        if asked.clicks:
            # In an empty folder, where no configuration of ours is found.
            naive_page = Path(__file__).with_name("naive_page.py")
            with serve(naive_page, Path(scratch) / "naive.txt", cwd=Path(scratch)) as naive:
                pages = opened(browser, f"{app}/?op=relu&rule=default"), opened(browser, naive)
                series = list(clicks.measure(*pages, asked.clicks))
                ratio = [float(np.median(series[0][1]) / np.median(series[1][1]))]
                show("A click on another rule", [*series, ("app / naive page, medians", ratio)])


def opened(browser: Browser, address: str) -> Page:
    """A page whose chart has been drawn."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(address)
    page.locator(f"{CHART} .cartesianlayer").wait_for(timeout=60_000)
    page.wait_for_timeout(2_000)
    return page


def show(title: str, rows: Series) -> None:
    """Print one table."""
    print(f"\n{title:42}{'median':>10}{'5 %':>10}{'95 %':>10}{'n':>6}")
    for name, values in rows:
        low, middle, high = np.percentile(values, (5, 50, 95))
        print(f"{name:42}{middle:10.3g}{low:10.3g}{high:10.3g}{len(values):6}")


if __name__ == "__main__":
    main()
