"""Several servers behind one name: a run or class lives on one of them; who asks another is sent there."""

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

from explorer.training.scheduling import REPLICA, replica, replica_of
from explorer.ui.server.admission import operation
from explorer.ui.server.admission.admission import refusal
from explorer.ui.server.admission.ending import ServerEnds, ending
from explorer.ui.server.admission.visitors import SECRET

COOKIE = "replica"  # of the browser, and a word of a query: the proxy sends who shows it to that server
_REFUSED = "This cannot be done just now: {away}. Try again in a moment."
_KINDS = ("job", "class")  # of what lives on one server, as paths of routes name it
_AGAIN_S = 5.0  # after which a page that watches from the wrong server is let go, to try again


class Elsewhere(HTTPException):
    """A request about a run, study or class that lives on another server."""

    def __init__(self, identity: str) -> None:
        super().__init__(307)
        self.identity = identity


def check() -> None:
    """Raise ValueError where the environment cannot be that of one among several servers."""
    if replica() and not os.environ.get(SECRET):
        raise ValueError(f"{REPLICA} needs {SECRET}: the same long text for all servers behind one name")


def is_elsewhere(identity: str) -> bool:
    """Whether a run, study or class lives on another server than this one."""
    owner, ours = replica_of(identity), replica()
    return bool(owner and ours) and owner != ours


def require_here(identity: str) -> None:
    """Raise Elsewhere for a run, study or class of another server."""
    if is_elsewhere(identity):
        raise Elsewhere(identity)


def is_unreachable(request: HTTPConnection, identity: str) -> bool:
    """Whether who asks about a run of another server was sent to that one already, and came here."""
    return is_elsewhere(identity) and request.query_params.get(COOKIE) == replica_of(identity)


def away(identity: str) -> str:
    """Why a run, study or class of another server is not to be had, as a clause."""
    return f"it is on the server {replica_of(identity)}, which cannot be reached"


class Housed:
    """Sends requests about a run, study or class, as the route's path names it, to the server it lives on."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request that is at its place, or that watches: who watches is told in an event."""
        request = HTTPConnection(scope)
        path = request.path_params
        identity = next((path[kind] for kind in _KINDS if kind in path), "")
        watches = scope["path"].endswith("/events") and is_unreachable(request, identity)
        away = is_elsewhere(identity) and not watches
        await (sent_there(request, identity) if away else self.app)(scope, receive, send)


def sent_there(request: HTTPConnection, identity: str) -> Response:
    """The way to the server a run lives on, or a sentence where that has led here.

    The address is relative: a proxy may have put something before our paths.
    """
    name = replica_of(identity)
    operation.journal.note("run of another replica")
    if is_unreachable(request, identity):
        return refusal(503, _REFUSED.format(away=away(identity)))
    others = [(key, value) for key, value in request.query_params.multi_items() if key != COOKIE]
    return RedirectResponse(f"?{urlencode([*others, (COOKIE, name)])}", 307, {"Cache-Control": "no-store"})


async def elsewhere(request: Request, error: Exception) -> Response:
    """The handler of ``Elsewhere``."""
    assert isinstance(error, Elsewhere)
    return sent_there(request, error.identity)


async def told_away(event: str) -> AsyncIterator[str]:
    """The one event of a run or study that cannot be reached; the page asks again when it ends."""
    yield f"data: {event}\n\n"
    with suppress(ServerEnds):
        await ending.before(asyncio.sleep(_AGAIN_S))


def kept_here(request: Request, response: Response) -> Response:
    """The response, with what makes the proxy send this browser here again."""
    name = replica()
    if name and request.cookies.get(COOKIE) != name:
        secure = request.url.scheme == "https"
        response.set_cookie(COOKIE, name, httponly=True, samesite="lax", secure=secure)
    return response
