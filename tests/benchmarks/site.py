"""How long a visitor waits for the first chart of the site of plain files, beside the app, in turns."""

import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser

from explorer.site import write
from explorer.ui.links.choice import Choice
from tests.benchmarks.arrivals import WHEN, first_chart
from tests.browser.files import serve_files


def measure(browser: Browser, app: str, rounds: int) -> list[tuple[str, list[float]]]:
    """Named series in seconds, for a new visitor and one who comes again, and the ratio of the medians."""
    series: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "site", ops=("round",), rules=Choice().rules, lessons=())
        with serve_files(Path(folder)) as address:
            addresses = {
                "app": app,
                "site": f"{address}/site/index.html",
                "site from the disk": (Path(folder) / "site" / "index.html").as_uri(),
            }
            for _ in range(rounds):
                for name, at in addresses.items():
                    with browser.new_context(
                        viewport={"width": 1366, "height": 768}, bypass_csp=True
                    ) as visitor:
                        for when in WHEN:
                            taken = first_chart(visitor, at)
                            series.setdefault(f"{name}, {when}, s", []).append(taken)
    for when in WHEN:
        app_s = float(np.median(series[f"app, {when}, s"]))
        for name in ("site", "site from the disk"):
            series[f"{name} / app, {when}, medians"] = [
                float(np.median(series[f"{name}, {when}, s"])) / app_s
            ]
    return list(series.items())
