"""How fast the app trains while a browser watches, against the bare loop in a process of its own."""

import subprocess
import sys

import numpy as np
from playwright.sync_api import Browser, Page

from tests.benchmarks import Series, divide
from tests.browser.reading import forget
from tests.browser.server import ROOT

_STEPS = 5_000
_QUERY = f"/train?op=relu&rule=seed_relu&steps={_STEPS}&pace=full"

# Notes when the page shows another step, and when the loss is drawn with another last point.
_WATCH = """() => {
    const value = [...document.querySelectorAll(".metric")].find(node => /^Step /.test(node.textContent));
    const seen = window.seen = {steps: [], charts: []};
    new MutationObserver(() => {
        const step = parseInt(value.textContent.replace(/^Step /, ""));
        if (seen.steps.at(-1)?.[1] !== step) seen.steps.push([performance.now(), step]);
    }).observe(value, {subtree: true, childList: true, characterData: true});
    const chart = document.querySelector(".curves .js-plotly-plot");
    new MutationObserver(() => {
        const last = chart.data.find(trace => trace.meta === "seed_relu")?.x.at(-1) ?? 0;
        if (seen.charts.at(-1)?.[1] !== last) seen.charts.push([performance.now(), last]);
    }).observe(chart, {subtree: true, childList: true, attributes: true, attributeFilter: ["d"]});
}"""


def measure(browser: Browser, app: str, _dash: str, rounds: int) -> Series:
    """Named series with one value for each round: the two speeds take turns."""
    page, bare, watched, charts = browser.new_page(bypass_csp=True), [], [], []
    for _ in range(rounds):
        bare.append(bare_loop())
        steps_per_second, charts_per_second = watch(page, app)
        watched.append(steps_per_second)
        charts.append(charts_per_second)
    yield "bare loop, steps/s", bare
    yield "app with one browser watching, steps/s", watched
    yield "chart updates/s meanwhile", charts
    yield "app / bare loop", divide(watched, bare)


def bare_loop() -> float:
    command = [sys.executable, "-m", "tests.benchmarks.bare_loop", str(_STEPS)]
    return float(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)


def watch(page: Page, address: str) -> tuple[float, float]:
    """Steps and chart updates per second, from the first step the page shows to the last."""
    page.goto(address + _QUERY)
    page.locator(".curves .js-plotly-plot .cartesianlayer").wait_for(state="attached", timeout=60_000)
    page.evaluate(_WATCH)
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_function(f"() => seen.steps.at(-1)?.[1] === {_STEPS}", timeout=60_000)
    seen = page.evaluate("seen")
    forget(page)  # else the next round finds this run
    # The first point holds the start-up; the last one appears when the run has been over for a while.
    steps = np.array(seen["steps"])[1:-1]
    drawn = np.array(seen["charts"])
    drawn = drawn[(drawn[:, 0] >= steps[0, 0]) & (drawn[:, 0] <= steps[-1, 0])]
    seconds = np.diff(steps[[0, -1], 0])[0] / 1000
    return float(np.diff(steps[[0, -1], 1])[0] / seconds), float(len(drawn) / seconds)
