"""The end of a server by the signal, whoever holds on to it.

Thorough. Faster: ``test_uvicorn_server`` and ``test_shutdown`` in ``ui/server/admission``.
"""

import asyncio
import json
import os
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from explorer.instrument.assets import PLOTLY
from tests.browser.server import ROOT, serve, server_at
from tests.load.http import Connection
from tests.load.machine import children, ended
from tests.load.visitor import Visitor

ENDS_WITHIN_S = 5.0
RUN = json.dumps({"query": "op=relu&rule=default&pace=5", "owner": "me"}).encode()
# Half a body, half a head, and the largest file, of which little is taken.
SENT = (
    b"POST /runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
    b"GET / HTTP/1.1\r\nHost: loc",
    f"GET /assets/{PLOTLY} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode(),
)


@pytest.mark.thorough
def test_a_server_ends_whoever_holds_on_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EXPLORER_PROFILE", "hosted")  # its limits as they are

    async def end(address: str, pid: int) -> bool:
        watching, visitor = Connection(address), Visitor(address, "", "")
        await watching.get("/")
        run = json.loads(await watching.post("/runs", RUN))["id"]
        assert b"data: " in await anext(watching.lines(f"/runs/{run}/events"))
        await visitor.open()
        processes = [pid, *children(pid)]
        assert len(processes) == 2  # pages and training
        os.kill(pid, signal.SIGTERM)
        is_over = await asyncio.to_thread(ended, processes, ENDS_WITHIN_S)
        watching.close()
        await visitor.close()
        return is_over

    with serve(ROOT / "app.py", log := tmp_path / "log.txt") as address, ExitStack() as held:
        port = urlsplit(address).port or 80
        for text in SENT:
            connection = held.enter_context(socket.socket())
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(("127.0.0.1", port))
            connection.sendall(text)
        # A browser test may keep an event loop running in this thread.
        with ThreadPoolExecutor(1) as thread:
            assert thread.submit(asyncio.run, end(address, server_at(port))).result()
    assert "Traceback" not in log.read_text("utf-8")
