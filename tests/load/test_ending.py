"""One server: whether it is ready, and its end by the signal.

Thorough. Faster: ``ui/server/admission/test_monitoring`` for the probes,
``ui/server/admission/test_uvicorn_server`` and ``test_ending`` there for the end.
"""

import asyncio
import json
import os
import signal
import socket
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from explorer.instrument.assets import PLOTLY
from tests.browser.server import ROOT, serve, server_at
from tests.load.http import Connection
from tests.load.machine import children, ended
from tests.load.visitor import Visitor

ENDS_WITHIN_S = 5.0
READY_WITHIN_S = 20.0
pytestmark = pytest.mark.thorough

RUN = {"query": "op=relu&rule=default&pace=5", "owner": "me"}
HALF_A_BODY = (
    b"POST /runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
)
HALF_A_HEAD = b"GET / HTTP/1.1\r\nHost: loc"
LARGEST_FILE = f"GET /assets/{PLOTLY} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ending") / "log.txt"


@pytest.fixture(scope="module")
def address(log: Path) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EXPLORER_PROFILE", "hosted")  # its limits as they are
        with serve(ROOT / "app.py", log) as address:
            yield address


def in_thread(work):
    """The result of a coroutine: a browser test may keep an event loop running in this thread."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


@contextmanager
def said(address: str, text: bytes) -> Iterator[socket.socket]:
    """A connection on which so much has been said, by one who takes little of what is answered."""
    place = urlsplit(address)
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect((place.hostname, place.port))
        connection.sendall(text)
        yield connection


@asynccontextmanager
async def watched(address: str) -> AsyncIterator[None]:
    """A run that goes on, with one who watches it."""
    connection = Connection(address)
    await connection.get("/")
    run = json.loads(await connection.post("/runs", json.dumps(RUN).encode()))["id"]
    assert b"data: " in await anext(connection.lines(f"/runs/{run}/events"))
    yield
    connection.close()


@asynccontextmanager
async def visited(address: str) -> AsyncIterator[None]:
    """A page that is open."""
    visitor = Visitor(address, "", "")
    await visitor.open()
    yield
    await visitor.close()


def test_a_server_is_ready_only_while_its_trainer_answers(address: str):
    (trainer,) = children(server_at(urlsplit(address).port or 80))

    async def statuses() -> list[int]:
        connection, seen = Connection(address), []
        for path in ("/readyz", "/healthz"):
            with suppress(ConnectionError):
                await connection.get(path)
            seen.append(connection.status)
        connection.close()
        return seen

    assert in_thread(statuses()) == [200, 200]
    os.kill(trainer, signal.SIGSTOP)
    try:
        assert in_thread(statuses()) == [503, 200]
    finally:
        os.kill(trainer, signal.SIGCONT)
    end = time.monotonic() + READY_WITHIN_S
    while in_thread(statuses()) != [200, 200]:
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_server_ends_whoever_holds_on_to_it(address: str, log: Path):
    """The last test of this file: afterwards it is gone."""
    pid = server_at(urlsplit(address).port or 80)
    processes = [pid, *children(pid)]

    async def told() -> bool:
        async with watched(address), visited(address):
            os.kill(pid, signal.SIGTERM)
            return await asyncio.to_thread(ended, processes, ENDS_WITHIN_S)

    with ExitStack() as held:
        for text in (HALF_A_BODY, HALF_A_HEAD, LARGEST_FILE):
            held.enter_context(said(address, text))
        assert in_thread(told())
    assert len(processes) == 2  # pages and training
    assert "Traceback" not in log.read_text("utf-8")
