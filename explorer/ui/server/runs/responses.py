"""Responses to requests about runs: read bodies, turn errors into refusals, compress results."""

import gzip
from collections.abc import Callable
from functools import partial
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from explorer.instrument.limits import MAX_QUERY
from explorer.training import EngineFull
from explorer.training.limits import MAX_BRANCHES, MAX_TABLE_BYTES
from explorer.ui.server.admission import limits, monitoring
from explorer.ui.server.admission.admission import RefusedError
from explorer.ui.server.admission.compute_slots import ComputeSlots
from explorer.ui.server.admission.request_body import LongBodyLimiter, parse_json, read_body
from explorer.ui.server.admission.visitors import adapt_advice, visitor_from_request

MAX_BODY_BYTES = 4 * MAX_QUERY
MAX_BRANCHES_BYTES = 400 * MAX_BRANCHES  # each may have a custom formula of 300 characters
MAX_START_BYTES = MAX_BODY_BYTES + MAX_BRANCHES_BYTES + 2 * MAX_TABLE_BYTES  # JSON escapes a line end as two
NO_STORE = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_long_bodies = LongBodyLimiter()
READER_SLOTS = ComputeSlots(limits.READ_SLOTS, limits.MAX_WAITING)  # separate: no curve waits for a table
_MIN_COMPRESSED_BYTES = 4_096
_LEVEL = 1  # of gzip: higher levels take twice as long and save a twentieth


async def answer_request(
    work: Callable[..., str],
    request: Request,
    *arguments: Any,
    max_bytes: int = MAX_BODY_BYTES,
    refusal: str = "This cannot be trained: {}.",
    slots: ComputeSlots | None = None,
) -> Response:
    """Return the JSON result of ``work`` on a request's body. Raises RefusedError if it fails.

    Args:
        work: is called with the parsed body and ``arguments``, in a thread; returns JSON.
        request: the request.
        arguments: further arguments of ``work``.
        max_bytes: the maximum length of the body.
        refusal: the message for a ValueError, with a place for its text.
        slots: slots for work that computes; calls of the engine need none.
    """
    async with _long_bodies.reserve(request):
        text = await read_body(request, max_bytes)
        return await respond(
            request, lambda: work(parse_json(text), *arguments), refusal=refusal, slots=slots
        )


async def respond(
    request: Request,
    work: Callable[..., str],
    *arguments: Any,
    refusal: str = "This cannot be measured: {}.",
    slots: ComputeSlots | None = None,
) -> Response:
    """Return the JSON result of ``work``, compressed on request. Raises RefusedError if ``work`` fails."""
    try:
        compress = partial(_compute_compressed, request, work, *arguments)
        result = (
            slots.compute(visitor_from_request(request), compress) if slots else run_in_threadpool(compress)
        )
        content, headers = await result
    except ValueError as error:
        raise RefusedError(400, refusal.format(error)) from None
    except EngineFull as full:
        monitoring.event_log.record("run refused")
        raise RefusedError(503, adapt_advice(str(full), full.share)) from None
    except RuntimeError as error:
        raise RefusedError(503, f"Training is unavailable: {error}.") from None
    return Response(content, media_type="application/json", headers=NO_STORE | headers)


def make_download(content: str | bytes, name: str, media_type: str) -> Response:
    """Return a response that the browser saves as a file of this name."""
    headers = NO_STORE | {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media_type, headers=headers)


def _compute_compressed(
    request: Request, work: Callable[..., str], *arguments: Any
) -> tuple[bytes, dict[str, str]]:
    """Return the result of ``work`` as bytes with its headers, compressed if the client accepts that.

    Compression halves the size of numbers.
    """
    body = work(*arguments).encode()
    if len(body) < _MIN_COMPRESSED_BYTES or "gzip" not in request.headers.get("accept-encoding", ""):
        return body, {}
    return gzip.compress(body, _LEVEL, mtime=0), {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
