"""Several servers behind one name: requests about a run, study or class go to the server that owns it."""

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

from explorer.training.scheduling import REPLICA, read_replica, replica_of
from explorer.ui.server.admission import monitoring
from explorer.ui.server.admission.admission import make_json_refusal
from explorer.ui.server.admission.shutdown import ServerShutdown, shutdown
from explorer.ui.server.admission.visitors import SECRET

COOKIE = "replica"  # cookie and query parameter by which the proxy chooses a server
_UNREACHABLE_MESSAGE = "This cannot be done just now: {away}. Try again in a moment."
_KINDS = ("job", "class")  # names of the path parameters that hold an id
_RETRY_S = 5.0  # a stream from the wrong server ends after this time, so that the page tries again


class WrongReplicaError(HTTPException):
    """A request about a run, study or class of another server."""

    def __init__(self, identity: str) -> None:
        super().__init__(307)
        self.identity = identity


def check_environment() -> None:
    """Raise ValueError if this is one of several servers but the shared secret is missing."""
    if read_replica() and not os.environ.get(SECRET):
        raise ValueError(f"{REPLICA} needs {SECRET}: the same long text for all servers behind one name")


def is_remote(identity: str) -> bool:
    """Return whether a run, study or class belongs to another server."""
    owner, this_replica = replica_of(identity), read_replica()
    return bool(owner and this_replica) and owner != this_replica


def require_local(identity: str) -> None:
    """Raise WrongReplicaError if a run, study or class belongs to another server."""
    if is_remote(identity):
        raise WrongReplicaError(identity)


def is_unreachable(request: HTTPConnection, identity: str) -> bool:
    """Return whether a request was already redirected to the owner of a run, but arrived here."""
    return is_remote(identity) and request.query_params.get(COOKIE) == replica_of(identity)


def describe_unreachable(identity: str) -> str:
    """Return a clause that explains why a run, study or class of another server is unavailable."""
    return f"it is on the server {replica_of(identity)}, which cannot be reached"


class ReplicaMiddleware:
    """Middleware that redirects requests about a run, study or class to the server that owns it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on if this server is the owner, or if an event stream can report the problem."""
        request = HTTPConnection(scope)
        path_params = request.path_params
        identity = next((path_params[kind] for kind in _KINDS if kind in path_params), "")
        is_unreachable_stream = scope["path"].endswith("/events") and is_unreachable(request, identity)
        must_redirect = is_remote(identity) and not is_unreachable_stream
        await (redirect_to_owner(request, identity) if must_redirect else self.app)(scope, receive, send)


def redirect_to_owner(request: HTTPConnection, identity: str) -> Response:
    """Redirect to the server that owns a run, or refuse if a redirect has led here.

    The address is relative: a proxy may have added a prefix to our paths.
    """
    name = replica_of(identity)
    monitoring.event_log.record("run of another replica")
    if is_unreachable(request, identity):
        return make_json_refusal(503, _UNREACHABLE_MESSAGE.format(away=describe_unreachable(identity)))
    other_params = [(key, value) for key, value in request.query_params.multi_items() if key != COOKIE]
    return RedirectResponse(
        f"?{urlencode([*other_params, (COOKIE, name)])}", 307, {"Cache-Control": "no-store"}
    )


async def handle_wrong_replica(request: Request, error: Exception) -> Response:
    """Convert a ``WrongReplicaError`` to a response: a redirect or a refusal."""
    assert isinstance(error, WrongReplicaError)
    return redirect_to_owner(request, error.identity)


async def stream_unreachable_event(event: str) -> AsyncIterator[str]:
    """Yield the only event of an unreachable run or study; the page reconnects when the stream ends."""
    yield f"data: {event}\n\n"
    with suppress(ServerShutdown):
        await shutdown.wait_for(asyncio.sleep(_RETRY_S))


def set_replica_cookie(request: Request, response: Response) -> Response:
    """Set the cookie that makes the proxy send this browser here again; return the response."""
    name = read_replica()
    if name and request.cookies.get(COOKIE) != name:
        secure = request.url.scheme == "https"
        response.set_cookie(COOKIE, name, httponly=True, samesite="lax", secure=secure)
    return response
