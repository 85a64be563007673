"""WebKitGTK, the engine of Safari, over WebDriver, in a window on a screen of its own."""

import base64
import json
import os
import re
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.browser.server import free_port
from tests.engines.page import Page

DRIVER = "WebKitWebDriver"
_ERROR = re.compile(r"^CONSOLE .*\bERROR\b.*", re.MULTILINE)
_STARTS_WITHIN_S = 20.0


@contextmanager
def opened(folder: Path, width: int, height: int) -> Iterator[Page]:
    """A window whose page has so many px; what the browser writes goes to a file in the folder."""
    log, port = folder / "log.txt", free_port()
    with _screen() as screen, log.open("wb") as output:
        environment = os.environ | {"DISPLAY": screen, "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1"}
        command = [DRIVER, f"--port={port}"]
        with subprocess.Popen(command, env=environment, stdout=output, stderr=output) as driver:
            try:
                yield (window := _Window(f"http://127.0.0.1:{port}/session", log, width, height))
                window._ask("DELETE", "")
            finally:
                driver.terminate()


@contextmanager
def _screen() -> Iterator[str]:
    """The name of a screen that nobody sees."""
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "1600x1200x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL) as server:
        os.close(write)
        try:
            with os.fdopen(read) as told:
                yield f":{told.readline().strip()}"
        finally:
            server.terminate()


class _Window(Page):
    def __init__(self, sessions: str, log: Path, width: int, height: int) -> None:
        self._log, self._read = log, 0
        arguments = ["--automation", "--enable-write-console-messages-to-stdout=true"]
        browser = next(Path("/usr/lib").glob("*/webkit2gtk-*/MiniBrowser"))  # which WebKitGTK brings
        options = {"binary": str(browser), "args": arguments}
        wanted = {"capabilities": {"alwaysMatch": {"webkitgtk:browserOptions": options}}}
        self._session = f"{sessions}/{_begun(sessions, wanted)['sessionId']}"
        bars = self.call("async () => [outerWidth - innerWidth, outerHeight - innerHeight]")
        self._ask("POST", "/window/rect", {"width": width + bars[0], "height": height + bars[1]})

    def visit(self, address: str) -> None:
        self._ask("POST", "/url", {"url": address})

    def call(self, function: str) -> Any:
        failed = "error => done({ failed: String(error) })"
        script = f"const done = arguments[0]; ({function})().then(done, {failed});"
        value = self._ask("POST", "/execute/async", {"script": script, "args": []})
        assert not (isinstance(value, dict) and "failed" in value), value
        return value

    def act(self, source: dict[str, Any]) -> None:
        self._ask("POST", "/actions", {"actions": [source]})

    def errors(self) -> list[str]:
        text = self._log.read_text(encoding="utf-8", errors="replace")
        new, self._read = text[self._read :], len(text)
        return _ERROR.findall(new)

    def screenshot(self, file: Path) -> None:
        file.write_bytes(base64.b64decode(self._ask("GET", "/screenshot")))

    def _ask(self, method: str, path: str, data: dict[str, Any] | None = None) -> Any:
        return _asked(method, self._session + path, data)


def _begun(sessions: str, wanted: dict[str, Any]) -> Any:
    until = time.monotonic() + _STARTS_WITHIN_S
    while True:
        try:
            return _asked("POST", sessions, wanted)
        except urllib.error.URLError as error:
            if isinstance(error, urllib.error.HTTPError) or time.monotonic() > until:
                raise
            time.sleep(0.1)


def _asked(method: str, address: str, data: dict[str, Any] | None) -> Any:
    body = None if data is None else json.dumps(data).encode()
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{method} {address}: {error.read().decode()}") from error
