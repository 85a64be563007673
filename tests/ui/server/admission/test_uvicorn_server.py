"""Settings of uvicorn's server: it ends within seconds, and holds back nothing that it has written."""

import asyncio
import signal
import socket
from unittest.mock import Mock

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from explorer.ui.server.admission import uvicorn_server as module
from explorer.ui.server.admission.shutdown import ServerShutdown, Shutdown
from explorer.ui.server.admission.uvicorn_server import GRACE_S, follow_server


def is_at_once(connection: socket.socket) -> bool:
    return bool(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))


async def tell_address(request: Request) -> Response:
    return PlainTextResponse(request.client.host)


@pytest.mark.parametrize(("named", "grace"), [(False, None), (True, 30)])
def test_a_running_server_is_configured_and_its_end_followed(named: bool, grace, monkeypatch):
    """A forwarded address counts from a named proxy alone; what the command line asks for stays."""
    monkeypatch.setattr(module, "_POLL_S", 0)
    monkeypatch.setattr(module, "shutdown", ending := Shutdown())
    monkeypatch.delenv(module.PROXIES_VARIABLE, raising=False)
    if named:
        monkeypatch.setenv(module.PROXIES_VARIABLE, "127.0.0.1")

    async def served() -> str:
        """Return the answer to one request, whose body does not wait until the head is confirmed."""
        with socket.socket() as listener:  # made as Streamlit makes its own
            listener.bind(("127.0.0.1", 0))
            app = Starlette(routes=[Route("/", tell_address)])
            server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=grace))
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            while signal.getsignal(signal.SIGTERM) != server.handle_exit:
                await asyncio.sleep(0)
            following = asyncio.create_task(follow_server())
            held = asyncio.create_task(ending.wait_for(asyncio.Event().wait()))
            while not is_at_once(listener):
                await asyncio.sleep(0)
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            head = "Host: localhost\r\nX-Forwarded-For: 203.0.113.9"
            writer.write(f"GET / HTTP/1.1\r\n{head}\r\n\r\n".encode())
            await reader.readuntil(b"\r\n\r\n")
            received = await reader.read(20)
            (connection,) = server.server_state.connections
            assert is_at_once(connection.transport.get_extra_info("socket"))
            writer.close()
            assert (server.config.timeout_graceful_shutdown, held.done()) == (grace or GRACE_S, False)
            server.should_exit = True
            await following
            with pytest.raises(ServerShutdown):
                await held
            await serving
        return received.decode()

    assert ("203.0.113.9" if named else "127.0.0.1") in asyncio.run(served())


def test_a_server_that_ends_before_it_began_is_followed_and_another_kind_left_alone(monkeypatch):
    monkeypatch.setattr(module, "shutdown", ending := Mock())
    monkeypatch.setattr(signal, "getsignal", lambda _sign: signal.SIG_DFL)
    asyncio.run(follow_server())
    ending.begin.assert_not_called()
    server = Mock(should_exit=True, started=False, servers=None)
    monkeypatch.setattr(signal, "getsignal", lambda _sign: Mock(__self__=server))
    asyncio.run(follow_server())
    ending.begin.assert_called_once_with()
