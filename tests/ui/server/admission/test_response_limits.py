"""Responses in slices, few large ones at a time, and connections that end where nothing is taken."""

import asyncio
import socket
import sys
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.responses import Response

from explorer.ui.server.admission import limits
from explorer.ui.server.admission.response_limits import ResponseLimitMiddleware
from explorer.ui.server.admission.uvicorn_server import set_socket_options
from explorer.ui.server.admission.visitors import VisitorQuota
from tests.ui.visitors import scope_of

BODY = bytes(range(256)) * 1000
FOR_ONE = {"Cache-Control": "no-store"}
SHARED = {"Cache-Control": "public, max-age=31536000"}


async def _sent(app: Any, before: Any = None) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        messages.append(message)
        if before:
            await before()

    await app(scope_of(), None, send)
    return messages


def test_a_long_body_is_sent_in_slices():
    start, *parts = asyncio.run(_sent(ResponseLimitMiddleware(Response(BODY))))
    assert start["status"] == 200
    assert b"".join(part["body"] for part in parts) == BODY
    assert max(len(part["body"]) for part in parts) == limits.SLICE_BYTES
    assert [part["more_body"] for part in parts] == [True] * (len(parts) - 1) + [False]


@pytest.mark.parametrize(("headers", "third"), [(FOR_ONE, 429), (SHARED, 200)])
def test_only_so_many_large_responses_for_one_client_are_sent_to_one_address(headers, third: int):
    async def asked() -> list[int]:
        quota = VisitorQuota(visitor=2, anonymous=2, address=2)
        app = ResponseLimitMiddleware(Response(BODY, headers=headers), quota, large_bytes=1000)
        taken = asyncio.Event()
        slow = [asyncio.create_task(_sent(app, taken.wait)) for _ in range(2)]
        await asyncio.sleep(0)
        refused = await _sent(app)
        taken.set()
        return [each[0]["status"] for each in (*await asyncio.gather(*slow), refused, await _sent(app))]

    assert asyncio.run(asked()) == [200, 200, third, 200]


def found_out(work: Any) -> Any:
    """Return what a coroutine finds out about the connection of a client that takes nothing."""

    async def served() -> Any:
        loop = asyncio.get_running_loop()
        found = loop.create_future()

        async def serve(_reader: Any, writer: Any) -> None:
            found.set_result(await work(writer))
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        set_socket_options(SimpleNamespace(servers=[server]))
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.setblocking(False)
            await loop.sock_connect(client, server.sockets[0].getsockname())
            result = await asyncio.wait_for(found, 60)
        server.close()
        await server.wait_closed()
        return result

    return asyncio.run(served())


linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such bound")


@linux
def test_a_connection_on_which_nothing_is_taken_is_closed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(limits, "UNREAD_TIMEOUT_S", 0.2)

    async def write(writer: Any) -> bool:
        with suppress(OSError):
            while True:
                writer.write(BODY)
                await writer.drain()
        return True

    assert found_out(write)


@linux
def test_the_system_keeps_little_of_what_a_client_does_not_take():
    """Without a bound it keeps megabytes of each connection, which no quota of ours counts."""

    async def fill(writer: Any) -> int:
        connection, sent = writer.get_extra_info("socket"), 0
        with suppress(BlockingIOError):
            while sent < 50 * len(BODY):
                sent += socket.socket.send(connection._sock, BODY)
        return sent

    assert found_out(fill) < 4 * limits.MAX_UNSENT_BYTES + len(BODY)
