"""Configuration of the uvicorn server for which Streamlit has no options."""

import asyncio
import os
import signal
import socket
import sys
from typing import Any

from explorer.ui.server.admission import limits
from explorer.ui.server.admission.shutdown import shutdown

PROXIES_VARIABLE = "FORWARDED_ALLOW_IPS"  # read by uvicorn: addresses of trusted proxies, comma-separated
GRACE_S = 2  # responses in progress get this much time before connections are dropped
_POLL_S = 0.1


async def follow_server() -> None:
    """Configure the running uvicorn server, then begin our shutdown when uvicorn is asked to exit.

    By default uvicorn waits for open connections forever and does not tell responses of a shutdown. The
    server is found as the handler of SIGTERM. Any other handler is left alone.
    """
    server: Any = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    if not hasattr(server, "should_exit"):
        return
    ignore_unnamed_proxies(server)
    server.config.timeout_graceful_shutdown = server.config.timeout_graceful_shutdown or GRACE_S
    while not (server.started or server.should_exit):
        await asyncio.sleep(_POLL_S)
    if server.started:
        set_socket_options(server)
    while not server.should_exit:
        await asyncio.sleep(_POLL_S)
    shutdown.begin()


def ignore_unnamed_proxies(server: Any) -> None:
    """Make uvicorn ignore forwarding headers unless the environment names trusted proxies.

    By default it trusts every client on this machine.
    """
    proxy_headers: Any = getattr(server.config, "loaded_app", None)
    if PROXIES_VARIABLE not in os.environ and hasattr(proxy_headers, "trusted_hosts"):
        server.config.loaded_app = proxy_headers.app


def set_socket_options(server: Any) -> None:
    """Set TCP options on the listening sockets, which accepted connections inherit.

    TCP_NODELAY: uvicorn writes the head and the body of a response separately. Without the option, the body
    waits up to 40 ms until the client acknowledges the head. asyncio sets it only on sockets whose protocol
    is TCP, which the protocol of Streamlit's socket is not: https://github.com/Kludex/uvicorn/issues/3149. On
    Linux, it also sets a timeout for clients that acknowledge nothing, and limits the bytes buffered by the
    kernel, which may otherwise be megabytes.
    """
    for listener in (listener for uvicorn_server in server.servers for listener in uvicorn_server.sockets):
        if listener.family in (socket.AF_INET, socket.AF_INET6):
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if sys.platform == "linux":
                unread_ms = int(1000 * limits.UNREAD_TIMEOUT_S)
                listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, unread_ms)
                listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, limits.MAX_UNSENT_BYTES)
