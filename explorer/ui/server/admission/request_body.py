"""Parsing of JSON request bodies, with limits on size, time and concurrency.

Only the content type of JSON is accepted, which forms of other sites cannot send.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Hashable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from starlette.requests import ClientDisconnect, Request

from explorer.ui.server.admission import limits
from explorer.ui.server.admission.admission import RefusedError
from explorer.ui.server.admission.shutdown import ServerShutdown, shutdown
from explorer.ui.server.admission.visitors import GroupCounter, VisitorQuota, visitor_from_request

Json = dict[str, Any]

_JSON_TYPE = "application/json"  # for this, other sites need a CORS preflight, which is never granted


_TOO_MANY_MESSAGE = "{count} of your long texts are still being read: try again in a moment."


class LongBodyLimiter:
    """A limit on the number of long request bodies processed at a time, per visitor and per IP address.

    Further bodies wait unread: if they were refused, the client would immediately send them again.
    """

    def __init__(self, quota: VisitorQuota = limits.LONG_BODIES_QUOTA) -> None:
        self._quota = quota
        self._counts = GroupCounter()
        self._waiting: list[asyncio.Future[None]] = []

    @asynccontextmanager
    async def reserve(self, request: Request) -> AsyncIterator[None]:
        """Wait until a long request body may be processed, and reserve its place while the context is open.

        Short bodies do not wait; a body without a stated length counts as long. Raises RefusedError if the
        wait takes too long.
        """
        length = request.headers.get("content-length", "")
        is_short = length.isdecimal() and len(length) < 10 and int(length) <= limits.LONG_BODY_BYTES
        group_limits = {} if is_short else self._quota.get_limits(visitor_from_request(request))
        await self._wait_for_room(group_limits)
        try:
            with self._counts.count(group_limits):
                yield
        finally:
            for future in (pending for pending in self._waiting if not pending.done()):
                future.set_result(None)
            self._waiting = []

    async def _wait_for_room(self, group_limits: Mapping[Hashable, int]) -> None:
        """Wait until every group is below its limit. Raises RefusedError after a timeout."""
        deadline = asyncio.get_running_loop().time() + limits.BODY_TIMEOUT_S
        while message := self._counts.explain_full(group_limits, _TOO_MANY_MESSAGE):
            self._waiting.append(future := asyncio.get_running_loop().create_future())
            try:
                async with asyncio.timeout_at(deadline):
                    await future
            except TimeoutError:
                raise RefusedError(429, message) from None


async def read_json(request: Request, max_bytes: int) -> Json:
    """Return the JSON object in a request's body.

    Raises RefusedError if the body is not a JSON object, and for the reasons given at ``read_body``.
    """
    return parse_json(await read_body(request, max_bytes))


async def read_body(request: Request, max_bytes: int) -> bytes:
    """Return the raw body of a JSON request.

    Raises RefusedError if the content type is not JSON, if the body is longer than ``max_bytes`` or late, and
    if the client disconnects or the server shuts down.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _JSON_TYPE:
        raise RefusedError(415, f"The request is not JSON: send it as {_JSON_TYPE}.")
    try:
        return await asyncio.wait_for(
            shutdown.wait_for(_read_stream(request, max_bytes)), limits.BODY_TIMEOUT_S
        )
    except TimeoutError:
        raise RefusedError(
            408, f"The request took longer than {limits.BODY_TIMEOUT_S:g} s to arrive: send it again."
        ) from None
    except ClientDisconnect:
        raise RefusedError(400, "The request broke off: send it again.") from None
    except ServerShutdown:
        raise RefusedError(503, "The server is shutting down: try again in about a minute.") from None


def parse_json(text: bytes) -> Json:
    """Parse a JSON object. Raises RefusedError for any other text."""
    with suppress(ValueError, RecursionError):
        if isinstance(data := json.loads(text), dict):
            return data
    raise RefusedError(400, "The request is not a JSON object: send JSON.")


async def _read_stream(request: Request, max_bytes: int) -> bytes:
    """Return a request's body. Raises RefusedError as soon as it exceeds ``max_bytes``."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > max_bytes:
            raise RefusedError(413, f"The request is too long: at most {max_bytes} bytes.")
    return bytes(body)
