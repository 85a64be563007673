"""Settings of uvicorn's server: it ends within seconds, and holds back nothing that it has written."""

import asyncio
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn

from explorer.ui.server.admission import uvicorn_server as module
from explorer.ui.server.admission.shutdown import ServerShutdown, Shutdown
from explorer.ui.server.admission.uvicorn_server import GRACE_S, follow_server, set_socket_options


def test_the_servers_signal_begins_the_end(monkeypatch: pytest.MonkeyPatch):
    """Of uvicorn's server what is used, whose method hears the signal."""

    class Server(SimpleNamespace):
        def handle_exit(self, *_: object) -> None:
            self.should_exit = True

    async def followed(grace: int | None) -> tuple[bool, int]:
        server = Server(
            should_exit=False, started=False, config=SimpleNamespace(timeout_graceful_shutdown=grace)
        )
        monkeypatch.setattr(signal, "getsignal", lambda _sign: server.handle_exit)
        monkeypatch.setattr(module, "shutdown", ending := Shutdown())
        following = asyncio.create_task(follow_server())
        wait = asyncio.create_task(ending.wait_for(asyncio.Event().wait()))
        await asyncio.sleep(0)
        before = wait.done()
        server.handle_exit()
        await following
        with pytest.raises(ServerShutdown):
            await wait
        return before, server.config.timeout_graceful_shutdown

    assert asyncio.run(followed(None)) == (False, GRACE_S)
    assert asyncio.run(followed(30)) == (False, 30)  # what was asked for on the command line
    monkeypatch.setattr(signal, "getsignal", lambda _sign: signal.SIG_DFL)
    asyncio.run(follow_server())  # another server, which has its own ways


def test_the_started_server_sends_without_delay(monkeypatch: pytest.MonkeyPatch):
    received = []

    class Server(SimpleNamespace):
        async def begin(self, *_: object) -> None:
            await asyncio.sleep(0)
            assert received == []
            self.started = True
            while not received:
                await asyncio.sleep(0)
            self.should_exit = True

    async def followed() -> None:
        config = SimpleNamespace(timeout_graceful_shutdown=None)
        server = Server(should_exit=False, started=False, config=config)
        monkeypatch.setattr(signal, "getsignal", lambda _sign: server.begin)
        monkeypatch.setattr(module, "_POLL_S", 0)
        monkeypatch.setattr(module, "shutdown", Shutdown())
        monkeypatch.setattr(module, "set_socket_options", received.append)
        await asyncio.gather(follow_server(), server.begin())
        assert received == [server]

    asyncio.run(followed())


@asynccontextmanager
async def running(app: Any, **config: Any) -> AsyncIterator[tuple[uvicorn.Server, int]]:
    """Yield a server of an app, and its port."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, **config))
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started:
            await asyncio.sleep(0.01)
        yield server, listener.getsockname()[1]
        server.should_exit = True
        await serving


@pytest.mark.parametrize("named", [False, True])
def test_a_forwarded_address_counts_from_a_named_proxy_alone(named: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "shutdown", Shutdown())
    monkeypatch.delenv(module.PROXIES_VARIABLE, raising=False)
    if named:
        monkeypatch.setenv(module.PROXIES_VARIABLE, "127.0.0.1")
    following: list[asyncio.Task[None]] = []

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await receive()
            following.append(asyncio.create_task(follow_server()))
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": scope["client"][0].encode()})

    async def served() -> str:
        async with running(answer) as (_, port):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            head = "Host: localhost\r\nX-Forwarded-For: 203.0.113.9\r\nConnection: close"
            writer.write(f"GET / HTTP/1.1\r\n{head}\r\n\r\n".encode())
            received = await reader.read()
            writer.close()
        await asyncio.gather(*following)
        return received.decode()

    assert ("203.0.113.9" if named else "127.0.0.1") in asyncio.run(served())


def test_a_body_does_not_wait_until_the_client_has_confirmed_the_head():
    """A listener that is made as Streamlit makes its own."""

    async def answer(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"here"})

    async def at_once(server: uvicorn.Server, port: int) -> bool:
        """Of a connection that is made now."""
        before = set(server.server_state.connections)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await reader.readline()
        (connection,) = set(server.server_state.connections) - before
        sock = connection.transport.get_extra_info("socket")
        writer.close()
        return bool(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    async def served() -> tuple[bool, bool]:
        async with running(answer, lifespan="off") as (server, port):
            before = await at_once(server, port)
            set_socket_options(server)
            return before, await at_once(server, port)

    assert asyncio.run(served()) == (False, True)
