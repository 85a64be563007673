"""Debian's Firefox, over WebDriver BiDi, which it speaks itself."""

import base64
import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from tests.engines.page import Page

NAMES = ("firefox-esr", "firefox")
_LISTENS = "WebDriver BiDi listening on "


@contextmanager
def opened(folder: Path, width: int, height: int) -> Iterator[Page]:
    """A window of so many px of a new profile in a folder."""
    binary = next(filter(None, map(shutil.which, NAMES)))
    flags = ["--headless", "--no-remote", "--profile", str(folder), "--remote-debugging-port=0"]
    pipe = subprocess.PIPE
    with subprocess.Popen([binary, *flags], stdout=pipe, stderr=subprocess.STDOUT, text=True) as process:
        try:
            said = next(line for line in process.stdout if _LISTENS in line)
            address = said.partition(_LISTENS)[2].strip()
            with connect(f"{address}/session", max_size=None) as socket:
                yield _Window(socket, width, height)
        finally:
            process.terminate()


class _Window(Page):
    def __init__(self, socket: ClientConnection, width: int, height: int) -> None:
        self._socket, self._sent = socket, 0
        self._logged: list[str] = []
        self._ask("session.new", capabilities={})
        self._ask("session.subscribe", events=["log.entryAdded"])
        self._page = self._ask("browsingContext.getTree")["contexts"][0]["context"]
        size = {"width": width, "height": height}
        self._ask("browsingContext.setViewport", context=self._page, viewport=size)

    def visit(self, address: str) -> None:
        self._ask("browsingContext.navigate", context=self._page, url=address, wait="complete")

    def call(self, function: str) -> Any:
        text = f"async () => JSON.stringify(await ({function})()) ?? 'null'"
        given = {"functionDeclaration": text, "target": {"context": self._page}, "awaitPromise": True}
        answer = self._ask("script.callFunction", **given)
        assert answer["type"] == "success", answer["exceptionDetails"]["text"]
        return json.loads(answer["result"]["value"])

    def act(self, source: dict[str, Any]) -> None:
        self._ask("input.performActions", context=self._page, actions=[source])

    def errors(self) -> list[str]:
        self._ask("session.status")  # what was logged before comes before its answer
        logged, self._logged = self._logged, []
        return logged

    def screenshot(self, file: Path) -> None:
        picture = self._ask("browsingContext.captureScreenshot", context=self._page)
        file.write_bytes(base64.b64decode(picture["data"]))

    def _ask(self, method: str, **parameters: Any) -> Any:
        self._sent += 1
        self._socket.send(json.dumps({"id": self._sent, "method": method, "params": parameters}))
        while (said := json.loads(self._socket.recv())).get("id") != self._sent:
            if said.get("method") == "log.entryAdded" and said["params"]["level"] == "error":
                self._logged.append(str(said["params"]["text"]))
        assert said["type"] == "success", said
        return said["result"]
