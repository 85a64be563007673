"""Sending of responses in slices, and a limit on each visitor's unfinished large responses."""

from collections.abc import Hashable, Mapping

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.ui.server.admission import limits
from explorer.ui.server.admission.admission import make_json_refusal
from explorer.ui.server.admission.visitors import GroupCounter, VisitorQuota, visitor_from_request

_TOO_MANY_MESSAGE = "{count} large answers are already on their way to you: try again when one has arrived."


class ResponseLimitMiddleware:
    """ASGI middleware that sends responses in slices, so that slow connections buffer little.

    A response marked "no-store" is made for one client. If it is large, it counts towards the visitor's quota
    until it is sent; above the quota, status 429 is sent instead. Connections whose client reads nothing are
    closed by ``set_socket_options``.
    """

    def __init__(
        self,
        app: ASGIApp,
        quota: VisitorQuota = limits.RESPONSES_QUOTA,
        large_bytes: int = limits.LARGE_RESPONSE_BYTES,
    ) -> None:
        self.app = app
        self._quota, self._large_bytes = quota, large_bytes
        self._counts = GroupCounter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and send the response in slices."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start: Message | None = None
        reserved: Mapping[Hashable, int] = {}
        refusal_text = ""

        async def send_sliced(message: Message) -> None:
            nonlocal start, reserved, refusal_text
            # All responses made for one client only are marked "no-store".
            is_for_one = (b"cache-control", b"no-store") in message.get("headers", ())
            if message["type"] == "http.response.start" and is_for_one:
                start = message  # sent once the size of the body is known
                return
            if start is not None:
                first, start = start, None
                if len(message.get("body", b"")) > self._large_bytes:
                    group_limits = self._quota.get_limits(visitor_from_request(HTTPConnection(scope)))
                    if refusal_text := self._counts.explain_full(group_limits, _TOO_MANY_MESSAGE):
                        return
                    reserved = group_limits
                    self._counts.update(reserved.keys())
                await send(first)
            if not refusal_text:
                await _send_slices(message, send)

        try:
            await self.app(scope, receive, send_sliced)
        finally:
            self._counts.release(reserved)
        if refusal_text:
            await make_json_refusal(429, refusal_text)(scope, receive, send)


async def _send_slices(message: Message, send: Send) -> None:
    body = message.get("body", b"")
    if message["type"] != "http.response.body" or len(body) <= limits.SLICE_BYTES:
        await send(message)
        return
    content, has_more = memoryview(body), message.get("more_body", False)
    for begin in range(0, len(body), limits.SLICE_BYTES):
        has_rest = begin + limits.SLICE_BYTES < len(body)
        chunk = bytes(content[begin : begin + limits.SLICE_BYTES])
        await send({"type": "http.response.body", "body": chunk, "more_body": has_rest or has_more})
