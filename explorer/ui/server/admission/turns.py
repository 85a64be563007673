"""Fair turns for requests by address, so that many requests from one address delay no other visitor."""

import asyncio
from functools import lru_cache

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from explorer.ui.server.admission import limits
from explorer.ui.server.admission.visitors import visitor_from_request


class FairTurnMiddleware:
    """Middleware that starts at most one request per address in each iteration of the event loop.

    Without it a hundred connections that request files without a pause would take a hundred turns of an
    iteration, while a page needs several iterations.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._locks = lru_cache(limits.MAX_TRACKED_VISITORS)(lambda _address: asyncio.Lock())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on when it is its address's turn."""
        if scope["type"] == "http":
            async with self._locks(visitor_from_request(HTTPConnection(scope)).address):
                await asyncio.sleep(0)
        await self.app(scope, receive, send)
