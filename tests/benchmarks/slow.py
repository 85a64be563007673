"""How long a first visitor waits over a slow line: app, with npm's Plotly and without, Dash, site."""

import gzip
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from playwright.sync_api import Browser

from explorer.site import write
from explorer.ui.links.choice import Choice
from tests.benchmarks.arrivals import DRAWN
from tests.browser.files import Quiet, serve_files
from tests.browser.server import ROOT, free_port, run_server

LINE = {"latency": 150, "downloadThroughput": 3e6 / 8, "uploadThroughput": 3e6 / 8}  # ms, bytes a second
_STARTS = """() => [...document.querySelectorAll("button")].some(each =>
    each.textContent.trim() === "Start" && each.checkVisibility() && each.getBoundingClientRect().height)"""
_LESSONS = """() => document.querySelector(".contents a")?.checkVisibility() ?? false"""
SCREENS = {"Explore": ("/", DRAWN), "Train": ("/train", _STARTS), "Study": ("/study", _STARTS)}
SCREENS |= {"Learn": ("/learn", _LESSONS)}


def measure(browser: Browser, app: str, dash: str, rounds: int) -> list[tuple[str, list[float]]]:
    """Named series, all in turns: seconds to what is to be seen first, and for Explore MB and requests."""
    series: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as servers:
        folder = Path(scratch)
        pip = servers.enter_context(_without_npm(folder / "pip", folder / "log.txt"))
        site = servers.enter_context(_site(folder / "web"))
        visits = {f"app, {name}": (app + path, seen) for name, (path, seen) in SCREENS.items()}
        visits |= {f"app without npm, {name}": (pip + path, seen) for name, (path, seen) in SCREENS.items()}
        visits |= {"Dash page": (dash, DRAWN), "site, Explore": (f"{site}/index.html", DRAWN)}
        for _ in range(rounds):
            for name, visit in visits.items():
                seconds, megabytes, requests = _visit(browser, *visit)
                series.setdefault(f"{name}, s", []).append(seconds)
                if visit[1] == DRAWN:
                    series.setdefault(f"{name}, MB until then", []).append(megabytes)
                    series.setdefault(f"{name}, requests until then", []).append(requests)
    return list(series.items())


def _visit(browser: Browser, address: str, seen: str) -> tuple[float, float, int]:
    """Seconds until something is seen, and the megabytes and answers that had come whole by then."""
    with browser.new_context(viewport={"width": 1366, "height": 768}, bypass_csp=True) as visitor:
        page = visitor.new_page()
        line = visitor.new_cdp_session(page)
        came: list[float] = []
        line.on("Network.loadingFinished", lambda event: came.append(event["encodedDataLength"]))
        line.send("Network.enable")
        line.send("Network.emulateNetworkConditions", {"offline": False, **LINE})
        begun = time.perf_counter()
        page.goto(address, wait_until="commit")
        page.wait_for_function(seen, timeout=120_000)
        return time.perf_counter() - begun, sum(came) / 1e6, len(came)


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
        content = _packed(path)
        self.send_response(200)
        headers: dict[str, Any] = {"Content-Encoding": "gzip", "Content-Length": len(content)}
        for name, value in (headers | {"Content-Type": self.guess_type(path)}).items():
            self.send_header(name, str(value))
        self.end_headers()
        return BytesIO(content)


@cache
def _packed(path: Path) -> bytes:
    return gzip.compress(path.read_bytes())
