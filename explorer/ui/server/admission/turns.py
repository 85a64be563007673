"""Fair turns between IP addresses, so that many requests from one address do not delay others."""

import asyncio
from functools import lru_cache

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from explorer.ui.server.admission import limits
from explorer.ui.server.admission.visitors import visitor_from_request


class FairTurnMiddleware:
    """ASGI middleware that starts at most one request per IP address in each event loop iteration.

    Otherwise a hundred connections that constantly request files would all run in every iteration, and a
    page, which needs several iterations, would have to wait for them each time.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._locks = lru_cache(limits.MAX_TRACKED_VISITORS)(lambda _address: asyncio.Lock())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on when its IP address has its turn."""
        if scope["type"] == "http":
            async with self._locks(visitor_from_request(HTTPConnection(scope)).address):
                await asyncio.sleep(0)
        await self.app(scope, receive, send)
