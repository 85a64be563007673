"""The body of a request: one JSON object, which no form of another site can send."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Hashable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from starlette.requests import ClientDisconnect, Request

from explorer.ui.server.admission import limits
from explorer.ui.server.admission.admission import Refused
from explorer.ui.server.admission.ending import ServerEnds, ending
from explorer.ui.server.admission.visitors import Share, advised, asking

Json = dict[str, Any]

_TYPE = "application/json"  # a browser asks first whether another site may send it, and is not answered


_MANY = "{count} long texts are read for you already: try again in a moment."


class LongBodies:
    """Bounds how many long bodies of one visitor, and at one address, are read and answered together.

    One more waits unread: who is refused at once sends the next at once.
    """

    def __init__(self, share: Share = limits.LONG_BODIES_SHARE) -> None:
        self._share = share
        self._held: Counter[Hashable] = Counter()
        self._waiting: list[asyncio.Future[None]] = []

    @asynccontextmanager
    async def held(self, request: Request) -> AsyncIterator[None]:
        """Count a body that may be long, once it has its turn. Raises Refused where that takes too long."""
        length = request.headers.get("content-length", "")
        is_short = length.isdecimal() and len(length) < 10 and int(length) <= limits.LONG_BODY
        shares = {} if is_short else self._share.of(asking(request))
        await self._turn(shares)
        self._held.update(shares.keys())
        try:
            yield
        finally:
            self._held.subtract(shares.keys())
            self._held += Counter()  # forgets whoever is at 0
            for waiting in (each for each in self._waiting if not each.done()):
                waiting.set_result(None)
            self._waiting = []

    async def _turn(self, shares: Mapping[Hashable, int]) -> None:
        """Wait until each share has room for one more."""
        end = asyncio.get_running_loop().time() + limits.BODY_S
        while full := [share for share, most in shares.items() if self._held[share] >= most]:
            self._waiting.append(left := asyncio.get_running_loop().create_future())
            try:
                async with asyncio.timeout_at(end):
                    await left
            except TimeoutError:
                words = advised(_MANY.format(count=shares[full[0]]), full[0])
                raise Refused(429, words) from None


async def payload(request: Request, most: int) -> Json:
    """The JSON object a request holds. Raises Refused where there is none, or one of over ``most`` bytes."""
    return parsed(await body(request, most))


async def body(request: Request, most: int) -> bytes:
    """The JSON text a request holds. Raises Refused where it holds something else or over ``most`` bytes."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _TYPE:
        raise Refused(415, f"This is not understood: send JSON, as {_TYPE}.")
    return await _whole(request, most)


def parsed(text: bytes) -> Json:
    """The JSON object of a text. Raises Refused where there is none."""
    with suppress(ValueError, RecursionError):
        if isinstance(data := json.loads(text), dict):
            return data
    raise Refused(400, "This is not understood: send JSON.")


async def _whole(request: Request, most: int) -> bytes:
    """All bytes of a request, as long as the server serves."""
    try:
        return await asyncio.wait_for(ending.before(_read(request, most)), limits.BODY_S)
    except TimeoutError:
        raise Refused(408, f"This took longer than {limits.BODY_S:g} s to arrive: send it again.") from None
    except ClientDisconnect:
        raise Refused(400, "This broke off: send it again.") from None
    except ServerEnds:
        raise Refused(503, "The server ends just now: try again in about a minute.") from None


async def _read(request: Request, most: int) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise Refused(413, f"This is too long: at most {most} bytes.")
    return bytes(body)
