"""The body of a request: one JSON object, which no form of another site can send."""

import asyncio
import json
from contextlib import suppress
from typing import Any

from starlette.requests import ClientDisconnect, Request

from explorer.ui.server.admission import limits
from explorer.ui.server.admission.admission import Refused
from explorer.ui.server.admission.ending import ServerEnds, ending

Json = dict[str, Any]

_TYPE = "application/json"  # a browser asks first whether another site may send it, and is not answered


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
