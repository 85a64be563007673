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

BODY = bytes(range(256)) * 1000
FOR_ONE = {"Cache-Control": "no-store"}
SHARED = {"Cache-Control": "public, max-age=31536000"}
SCOPE = {"type": "http", "method": "GET", "path": "/ask/curves", "headers": [], "client": ("192.0.2.1", 1)}


async def _sent(app: Any, before: Any = None) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        messages.append(message)
        if before:
            await before()

    await app(SCOPE, None, send)
    return messages


def test_a_long_body_is_sent_in_slices():
    start, *parts = asyncio.run(_sent(ResponseLimitMiddleware(Response(BODY))))
    assert start["status"] == 200
    assert b"".join(part["body"] for part in parts) == BODY
    assert max(len(part["body"]) for part in parts) == limits.SLICE_BYTES
    assert [part["more_body"] for part in parts] == [True] * (len(parts) - 1) + [False]


@pytest.mark.parametrize(("headers", "statuses"), [(FOR_ONE, [200, 200, 429]), (SHARED, [200, 200, 200])])
def test_only_so_many_large_responses_for_one_client_are_sent_to_one_address(
    headers: dict[str, str], statuses: list[int]
):
    async def asked() -> tuple[list[int], int]:
        app = ResponseLimitMiddleware(
            Response(BODY, headers=headers), VisitorQuota(visitor=2, anonymous=2, address=2), large_bytes=1000
        )
        taken = asyncio.Event()
        slow = [asyncio.create_task(_sent(app, taken.wait)) for _ in range(2)]
        await asyncio.sleep(0)
        third = await _sent(app)
        taken.set()
        both = await asyncio.gather(*slow)
        return [each[0]["status"] for each in (*both, third)], (await _sent(app))[0]["status"]

    assert asyncio.run(asked()) == (statuses, 200)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such bound")
def test_a_connection_on_which_nothing_is_taken_is_closed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(limits, "UNREAD_TIMEOUT_S", 0.2)

    async def closed() -> bool:
        ended: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        async def serve(_reader: Any, writer: Any) -> None:
            try:
                while True:
                    writer.write(BODY)
                    await writer.drain()
            except OSError:
                ended.set_result(True)
            finally:
                writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        set_socket_options(SimpleNamespace(servers=[server]))
        with socket.create_connection(server.sockets[0].getsockname()):
            over = await asyncio.wait_for(ended, 60)
        server.close()
        await server.wait_closed()
        return over

    assert asyncio.run(closed())


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such bound")
def test_the_system_keeps_little_of_what_a_client_does_not_take():
    """Without a bound it keeps megabytes of each connection, which no quota of ours counts."""

    async def written() -> int:
        count: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def serve(_reader: Any, writer: Any) -> None:
            connection = writer.get_extra_info("socket")
            sent = 0
            with suppress(BlockingIOError):
                while sent < 50 * len(BODY):
                    sent += socket.socket.send(connection._sock, BODY)
            count.set_result(sent)
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        set_socket_options(SimpleNamespace(servers=[server]))
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.setblocking(False)
            await asyncio.get_running_loop().sock_connect(client, server.sockets[0].getsockname())
            sent = await asyncio.wait_for(count, 60)
        server.close()
        await server.wait_closed()
        return sent

    assert asyncio.run(written()) < 4 * limits.MAX_UNSENT_BYTES + len(BODY)
