"""Requests take turns by address, so that a crowd at one address holds nobody else up."""

import asyncio
from functools import lru_cache

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from explorer.ui.server.admission import limits
from explorer.ui.server.admission.visitors import asking


class Turns:
    """Begins one request of each address in a round of the event loop; its next one waits for another round.

    Otherwise a hundred connections on which files are asked for without a pause take a hundred turns of a
    round, and a page needs several rounds.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._locks = lru_cache(limits.VISITORS)(lambda _address: asyncio.Lock())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on when it is its turn."""
        if scope["type"] == "http":
            async with self._locks(asking(HTTPConnection(scope)).address):
                await asyncio.sleep(0)
        await self.app(scope, receive, send)
