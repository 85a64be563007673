"""Routing between several servers behind one host name.

Requests about a training run, study or class are redirected to the server that owns it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import suppress
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from explorer.training.scheduling import REPLICA, parse_replica, read_replica
from explorer.ui.server.admission import monitoring
from explorer.ui.server.admission.admission import make_json_refusal
from explorer.ui.server.admission.shutdown import ServerShutdown, shutdown
from explorer.ui.server.admission.visitors import SECRET

COOKIE = "replica"  # cookie and query parameter by which the proxy chooses a server
_UNREACHABLE_MESSAGE = "This cannot be done just now: {away}. Try again in a moment."
_KINDS = ("job", "class")  # names of the path parameters that hold an id
_RETRY_S = 5.0  # time after which a stream from the wrong server ends, so that the page reconnects


class WrongReplicaError(HTTPException):
    """Raised for a request about a training run, study or class that another server owns."""

    def __init__(self, identity: str) -> None:
        super().__init__(307)
        self.identity = identity


def check_environment() -> None:
    """Raise ValueError if this server is one of several but has no shared secret."""
    if read_replica() and not os.environ.get(SECRET):
        raise ValueError(f"{REPLICA} needs {SECRET}: the same long text for all servers behind one name")


def is_remote(identity: str) -> bool:
    """Return whether another server owns the training run, study or class with this id."""
    owner, this_replica = parse_replica(identity), read_replica()
    return bool(owner and this_replica) and owner != this_replica


def require_local(identity: str) -> None:
    """Raise WrongReplicaError if another server owns the training run, study or class with this id."""
    if is_remote(identity):
        raise WrongReplicaError(identity)


def is_unreachable(request: HTTPConnection, identity: str) -> bool:
    """Return whether a request arrived here although it was redirected to the server that owns the run."""
    return is_remote(identity) and request.query_params.get(COOKIE) == parse_replica(identity)


def describe_unreachable(identity: str) -> str:
    """Return a clause that says that the server that owns a run, study or class cannot be reached."""
    return f"it is on the server {parse_replica(identity)}, which cannot be reached"


class ReplicaMiddleware:
    """ASGI middleware that redirects requests about a run, study or class to the server that owns it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on if this server owns its run, study or class; redirect it otherwise.

        An event stream whose owner is unreachable is passed on, because it can report the problem.
        """
        request = HTTPConnection(scope)
        path_params = request.path_params
        identity = next((path_params[kind] for kind in _KINDS if kind in path_params), "")
        is_unreachable_stream = scope["path"].endswith("/events") and is_unreachable(request, identity)
        must_redirect = is_remote(identity) and not is_unreachable_stream
        await (redirect_to_owner(request, identity) if must_redirect else self.app)(scope, receive, send)


def redirect_to_owner(request: HTTPConnection, identity: str) -> Response:
    """Return a redirect to the server that owns a run, study or class, or a refusal if that was tried.

    The address is relative, because a proxy may have added a prefix to our paths. The refusal has status 503.
    """
    name = parse_replica(identity)
    monitoring.event_log.record("run of another replica")
    if is_unreachable(request, identity):
        return make_json_refusal(503, _UNREACHABLE_MESSAGE.format(away=describe_unreachable(identity)))
    other_params = [(key, value) for key, value in request.query_params.multi_items() if key != COOKIE]
    return RedirectResponse(
        f"?{urlencode([*other_params, (COOKIE, name)])}", 307, {"Cache-Control": "no-store"}
    )


async def handle_wrong_replica(request: Request, error: Exception) -> Response:
    """Return a redirect to the server that owns the run, study or class of a ``WrongReplicaError``."""
    assert isinstance(error, WrongReplicaError)
    return redirect_to_owner(request, error.identity)


async def stream_unreachable_event(event: str) -> AsyncIterator[str]:
    """Yield one event about an unreachable run or study, then wait a few seconds.

    The page reconnects when the stream ends.
    """
    yield f"data: {event}\n\n"
    with suppress(ServerShutdown):
        await shutdown.wait_for(asyncio.sleep(_RETRY_S))


def set_replica_cookie(request: Request, response: Response) -> Response:
    """Set the cookie that makes the proxy send this browser to the same server again; return the response."""
    name = read_replica()
    if name and request.cookies.get(COOKIE) != name:
        secure = request.url.scheme == "https"
        response.set_cookie(COOKIE, name, httponly=True, samesite="lax", secure=secure)
    return response
