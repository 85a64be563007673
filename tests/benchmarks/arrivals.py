"""How long a visitor waits for the first chart of the app, a Dash page and the site of plain files, in turns.

For the first time and when the browser's cache is warm; over a slow line, what came until then too.
"""

import gzip
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from pathlib import Path
from statistics import median
from typing import Any, BinaryIO

from playwright.sync_api import Browser, BrowserContext

from explorer.site import write
from explorer.ui.links.choice import Choice
from tests.benchmarks import Series
from tests.browser.files import Quiet, serve_files
from tests.browser.reading import CHART
from tests.browser.server import ROOT, free_port, run_server

_WHEN = ("new visitor", "comes again")
_LINE = {"latency": 150, "downloadThroughput": 3e6 / 8, "uploadThroughput": 3e6 / 8}  # ms, bytes a second
_DRAWN = f"""() => {{
    const chart = document.querySelector("{CHART}");
    const forward = chart?._fullData?.some(trace => trace.meta === "forward");
    return forward && chart.querySelector(".js-line") !== null;
}}"""
_STARTS = """() => [...document.querySelectorAll("button")].some(each =>
    each.textContent.trim() === "Start" && each.checkVisibility() && each.getBoundingClientRect().height)"""
_LESSONS = """() => document.querySelector(".contents a")?.checkVisibility() ?? false"""
_SCREENS = {"Explore": ("/", _DRAWN), "Train": ("/train", _STARTS), "Study": ("/study", _STARTS)}
_SCREENS |= {"Learn": ("/learn", _LESSONS)}


def measure(browser: Browser, app: str, dash: str, rounds: int) -> Series:
    """Named series in seconds, all in turns, and ratios of their medians."""
    series: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as scratch, _site(Path(scratch)) as site:
        pages = {"app": app, "Dash page": dash, "site": f"{site}/index.html"}
        for _ in range(rounds):
            for name, address in pages.items():
                with _visitor(browser) as visitor:
                    for when in _WHEN:
                        seconds = _visit(visitor, address, _DRAWN)[0]
                        series.setdefault(f"{name}, {when}, s", []).append(seconds)
    yield from series.items()
    for when in _WHEN:
        app_s, dash_s, site_s = (median(series[f"{name}, {when}, s"]) for name in pages)
        yield f"app / Dash page, {when}, medians", [app_s / dash_s]
        yield f"site / app, {when}, medians", [site_s / app_s]


def measure_slow(browser: Browser, app: str, dash: str, rounds: int) -> Series:
    """Named series, all in turns: seconds to what is to be seen first, and for Explore MB and requests.

    Over a slow line: the app, also without npm's Plotly, the Dash page and the site.
    """
    series: dict[str, list[float]] = {}
    with (
        tempfile.TemporaryDirectory() as scratch,
        _without_npm(Path(scratch) / "pip", Path(scratch) / "log.txt") as pip,
        _site(Path(scratch) / "web") as site,
    ):
        visits = {f"app, {name}": (app + path, seen) for name, (path, seen) in _SCREENS.items()}
        visits |= {f"app without npm, {name}": (pip + path, seen) for name, (path, seen) in _SCREENS.items()}
        visits |= {"Dash page": (dash, _DRAWN), "site, Explore": (f"{site}/index.html", _DRAWN)}
        for _ in range(rounds):
            for name, (address, seen) in visits.items():
                with _visitor(browser) as visitor:
                    seconds, came = _visit(visitor, address, seen, _LINE)
                series.setdefault(f"{name}, s", []).append(seconds)
                if seen == _DRAWN:
                    series.setdefault(f"{name}, MB until then", []).append(sum(came) / 1e6)
                    series.setdefault(f"{name}, requests until then", []).append(len(came))
    yield from series.items()


def _visitor(browser: Browser) -> BrowserContext:
    return browser.new_context(viewport={"width": 1366, "height": 768}, bypass_csp=True)


def _visit(
    visitor: BrowserContext, address: str, seen: str, line: dict[str, float] | None = None
) -> tuple[float, list[float]]:
    """Return the seconds until something is seen, and the bytes of each answer by then over a line."""
    page, came = visitor.new_page(), list[float]()
    if line:
        network = visitor.new_cdp_session(page)
        network.on("Network.loadingFinished", lambda event: came.append(event["encodedDataLength"]))
        network.send("Network.enable")
        network.send("Network.emulateNetworkConditions", {"offline": False, **line})
    begun = time.perf_counter()
    page.goto(address, wait_until="commit")
    page.wait_for_function(seen, timeout=120_000)
    seconds, until_then = time.perf_counter() - begun, [*came]
    page.wait_for_timeout(300)
    page.close()
    return seconds, until_then


@contextmanager
def _without_npm(folder: Path, log: Path) -> Iterator[str]:
    """The app where pip alone has been: Plotly is the package's own, as a whole."""
    for name in ("explorer", ".streamlit"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "app.py", folder)
    port = free_port()
    command = ["env", "-u", "PYTHONPATH", sys.executable, "-m", "streamlit", "run", "app.py"]
    flags = ["--server.headless=true", "--server.address=127.0.0.1", f"--server.port={port}"]
    with run_server([*command, *flags], port, "/_stcore/health", log, cwd=folder) as address:
        yield address


@contextmanager
def _site(folder: Path) -> Iterator[str]:
    """Explore's page of the site, from a host that compresses what it sends, as hosts do."""
    write(folder, ops=("round",), rules=Choice().rules, lessons=())
    with serve_files(folder, _Packing) as address:
        yield address


class _Packing(Quiet):
    """A web host that sends all files in gzip's format."""

    def send_head(self) -> BytesIO | BinaryIO | None:
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            return super().send_head()
        content = _pack(path)
        self.send_response(200)
        headers: dict[str, Any] = {"Content-Encoding": "gzip", "Content-Length": len(content)}
        for name, value in (headers | {"Content-Type": self.guess_type(path)}).items():
            self.send_header(name, str(value))
        self.end_headers()
        return BytesIO(content)


@cache
def _pack(path: Path) -> bytes:
    return gzip.compress(path.read_bytes())
