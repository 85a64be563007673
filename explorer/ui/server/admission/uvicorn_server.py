"""Options of uvicorn's server, which runs the app, beside Streamlit's settings."""

import asyncio
import os
import signal
import socket
import sys
from typing import Any

from explorer.ui.server.admission import limits
from explorer.ui.server.admission.ending import ending

PROXIES = "FORWARDED_ALLOW_IPS"  # uvicorn's environment variable: addresses of proxies, with commas
GRACE_S = 2  # for answers that are on their way; then who has not taken them is left
_LOOK_S = 0.1  # between two looks whether the server has begun, or is to end


async def follow_server() -> None:
    """Have the server believe named proxies alone and send at once; begin the end when it is told to stop.

    Of itself uvicorn waits without an end for those who do not go, and tells no answer that it waits: here
    it is bounded. Whoever is told of the signal is uvicorn's server; another server, or none, is left alone.
    """
    server: Any = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    if not hasattr(server, "should_exit"):
        return
    believe_named_proxies(server)
    server.config.timeout_graceful_shutdown = server.config.timeout_graceful_shutdown or GRACE_S
    while not (server.started or server.should_exit):
        await asyncio.sleep(_LOOK_S)
    if server.started:
        send_at_once(server)
    while not server.should_exit:
        await asyncio.sleep(_LOOK_S)
    ending.begin()


def believe_named_proxies(server: Any) -> None:
    """Have a server of uvicorn's believe nobody for whom a request is, where the environment names no proxy.

    Of itself uvicorn believes whoever asks from this machine.
    """
    forwarding: Any = getattr(server.config, "loaded_app", None)
    if PROXIES not in os.environ and hasattr(forwarding, "trusted_hosts"):
        server.config.loaded_app = forwarding.app


def send_at_once(server: Any) -> None:
    """Have a server of uvicorn's send what it writes at once, whether or not the client has what came before.

    uvicorn writes the head of an answer and its body apart, and a client may take 40 ms to confirm the head,
    for which the body would wait. asyncio prevents that (TCP_NODELAY) only where a socket names TCP as its
    protocol, which the one that Streamlit makes does not: https://github.com/Kludex/uvicorn/issues/3149.
    Connections have what their listener had when they came: on Linux also a bound on the time in which a
    client takes nothing, and one on the bytes that the system keeps unsent, which may be megabytes.
    """
    for listener in (listener for one in server.servers for listener in one.sockets):
        if listener.family in (socket.AF_INET, socket.AF_INET6):
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if sys.platform == "linux":
                unread_ms = int(1000 * limits.UNREAD_S)
                listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, unread_ms)
                listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, limits.UNSENT)
