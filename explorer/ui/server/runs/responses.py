"""Answers to requests about trainings: bodies read, errors turned into refusals, results compressed."""

import gzip
from collections.abc import Callable
from functools import partial
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from explorer.instrument.limits import LONGEST_QUERY
from explorer.training import EngineFull
from explorer.training.limits import MAX_BRANCHES, MAX_TABLE_BYTES
from explorer.ui.server.admission import limits, monitoring
from explorer.ui.server.admission.admission import RefusedError
from explorer.ui.server.admission.compute_slots import ComputeSlots
from explorer.ui.server.admission.request_body import LongBodyLimiter, parse_json, read_body
from explorer.ui.server.admission.visitors import adapt_advice, visitor_from_request

LONGEST_BODY = 4 * LONGEST_QUERY  # bytes
LONGEST_BRANCHES = 400 * MAX_BRANCHES  # bytes: each may have an own formula of 300 characters
LONGEST_START = LONGEST_BODY + LONGEST_BRANCHES + 2 * MAX_TABLE_BYTES  # JSON writes a line's end with two
NOT_KEPT = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_long_bodies = LongBodyLimiter()
READERS = ComputeSlots(limits.READ_SLOTS, limits.MAX_WAITING)  # apart: no curve waits for a table
_WORTH_PACKING = 4_096  # bytes
_LEVEL = 1  # of gzip: higher ones take twice as long for a twentieth less


async def answered(
    work: Callable[..., str],
    request: Request,
    *arguments: Any,
    longest: int = LONGEST_BODY,
    refusal: str = "This cannot be trained: {}.",
    seats: ComputeSlots | None = None,
) -> Response:
    """The result of the work for a body of so many bytes, as JSON. Raises Refused where it cannot be done.

    What is computed while its visitor waits takes one of the ``seats``; what the engine is asked needs none.
    """
    async with _long_bodies.reserve(request):
        text = await read_body(request, longest)
        return await responded(
            request, lambda: work(parse_json(text), *arguments), refusal=refusal, seats=seats
        )


async def responded(
    request: Request,
    work: Callable[..., str],
    *arguments: Any,
    refusal: str = "This cannot be measured: {}.",
    seats: ComputeSlots | None = None,
) -> Response:
    """The result of the work as JSON, compressed on request. Raises Refused where it cannot be done."""
    try:
        packed = partial(_packed, request, work, *arguments)
        taken = seats.compute(visitor_from_request(request), packed) if seats else run_in_threadpool(packed)
        content, headers = await taken
    except ValueError as error:
        raise RefusedError(400, refusal.format(error)) from None
    except EngineFull as full:
        monitoring.event_log.record("run refused")
        raise RefusedError(503, adapt_advice(str(full), full.share)) from None
    except RuntimeError as error:
        raise RefusedError(503, f"Training is not available just now: {error}.") from None
    return Response(content, media_type="application/json", headers=NOT_KEPT | headers)


def attached(content: str | bytes, name: str, media_type: str) -> Response:
    """A file of this name to keep."""
    headers = NOT_KEPT | {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media_type, headers=headers)


def _packed(request: Request, work: Callable[..., str], *arguments: Any) -> tuple[bytes, dict[str, str]]:
    """A result as it is sent, with the headers that say how: numbers in it take half as much compressed."""
    body = work(*arguments).encode()
    if len(body) < _WORTH_PACKING or "gzip" not in request.headers.get("accept-encoding", ""):
        return body, {}
    return gzip.compress(body, _LEVEL, mtime=0), {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
