"""Responses on their way: sent in slices, and few large ones to one address at the same time."""

from collections import Counter
from collections.abc import Hashable, Mapping

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.ui.server.admission import limits
from explorer.ui.server.admission.admission import refusal
from explorer.ui.server.admission.visitors import Share, advised, asking

_MANY = "{count} large answers are sent to you already: try again when one has come."


class Sending:
    """Sends bodies in slices, so that a slow client has no copy of a whole one in a buffer of its connection.

    Of large responses that are made for one client only a share is sent at the same time; all others are one
    copy that every client shares. The server closes connections on which nothing is taken (``send_at_once``).
    """

    def __init__(
        self, app: ASGIApp, share: Share = limits.ANSWERS_SHARE, large: int = limits.LARGE_ANSWER
    ) -> None:
        self.app = app
        self._share, self._large = share, large
        self._held: Counter[Hashable] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its answer in slices."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start: Message | None = None
        taken: Mapping[Hashable, int] = {}
        refused = ""

        async def sliced(message: Message) -> None:
            nonlocal start, taken, refused
            if message["type"] == "http.response.start" and _is_for_one(message):
                start = message  # held until the size of the body is known
                return
            if start is not None:
                first, start = start, None
                if len(message.get("body", b"")) > self._large:
                    wanted = self._share.of(asking(HTTPConnection(scope)))
                    full = [share for share, most in wanted.items() if self._held[share] >= most]
                    if full:
                        refused = advised(_MANY.format(count=wanted[full[0]]), full[0])
                        return
                    taken = wanted
                    self._held.update(taken.keys())
                await send(first)
            if not refused:
                await _send_slices(message, send)

        try:
            await self.app(scope, receive, sliced)
        finally:
            self._held.subtract(taken.keys())
            self._held += Counter()  # forgets whoever is at 0
        if refused:
            await refusal(429, refused)(scope, receive, send)


def _is_for_one(start: Message) -> bool:
    """Return whether the body of a response is made for one client: no browser may store it."""
    return (b"cache-control", b"no-store") in start.get("headers", ())


async def _send_slices(message: Message, send: Send) -> None:
    """Send a message, a long body in slices: each waits until the one before has left."""
    body = message.get("body", b"")
    if message["type"] != "http.response.body" or len(body) <= limits.SLICE:
        await send(message)
        return
    whole, more = memoryview(body), message.get("more_body", False)
    for begin in range(0, len(body), limits.SLICE):
        rest = begin + limits.SLICE < len(body)
        part = bytes(whole[begin : begin + limits.SLICE])
        await send({"type": "http.response.body", "body": part, "more_body": rest or more})
