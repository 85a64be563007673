"""Responses to requests about training runs: parsing, error handling and compression."""

import gzip
from collections.abc import Callable
from functools import partial
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from explorer.instrument.limits import MAX_QUERY
from explorer.training import EngineFull
from explorer.training.limits import MAX_BRANCHES, MAX_TABLE_BYTES
from explorer.ui.server.admission import limits, monitoring
from explorer.ui.server.admission.admission import RefusedError
from explorer.ui.server.admission.compute_slots import ComputeSlots
from explorer.ui.server.admission.request_body import Json, LongBodyLimiter, parse_json, read_body
from explorer.ui.server.admission.visitors import adapt_advice, visitor_from_request

MAX_BODY_BYTES = 4 * MAX_QUERY
MAX_BRANCHES_BYTES = 400 * MAX_BRANCHES  # a branch point may contain a formula of 300 characters
MAX_START_BYTES = MAX_BODY_BYTES + MAX_BRANCHES_BYTES + 2 * MAX_TABLE_BYTES  # JSON escapes a line end as two
NO_STORE = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_long_bodies = LongBodyLimiter()
READER_SLOTS = ComputeSlots(limits.READ_SLOTS, limits.MAX_WAITING)  # so that curves do not wait
_MIN_COMPRESSED_BYTES = 4_096
_LEVEL = 1  # gzip's fastest level; higher levels take twice as long for files that are 5 % smaller


async def answer_request(
    work: Callable[..., str],
    request: Request,
    *arguments: Any,
    max_bytes: int = MAX_BODY_BYTES,
    refusal: str = "This cannot be trained: {}.",
    slots: ComputeSlots | None = None,
) -> Response:
    """Call a function in a thread with a request's parsed body, and return its JSON result.

    Raises RefusedError if the body is invalid or the function fails.

    Args:
        work: the function, called in a thread with the body and ``arguments``. It returns JSON.
        request: the request.
        arguments: further arguments of ``work``.
        max_bytes: the maximum length of the body.
        refusal: the message for a ValueError, with a placeholder for its text.
        slots: the slots to wait for if ``work`` is a computation; calls of the engine need none.
    """
    async with _long_bodies.reserve(request):
        text = await read_body(request, max_bytes)
        return await respond(
            request, lambda: work(parse_json(text), *arguments), refusal=refusal, slots=slots
        )


def make_route(path: str, work: Callable[[Json], str], **options: Any) -> Route:
    """Return a route that answers POST requests by calling ``answer_request`` with these options."""

    async def answer(request: Request) -> Response:
        return await answer_request(work, request, **options)

    return Route(path, answer, methods=["POST"])


async def respond(
    request: Request,
    work: Callable[..., str],
    *arguments: Any,
    refusal: str = "This cannot be measured: {}.",
    slots: ComputeSlots | None = None,
) -> Response:
    """Call a function in a thread and return its JSON result, compressed if the client accepts it.

    ``refusal`` and ``slots`` are as in ``answer_request``. Raises RefusedError if the function fails.
    """
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
    """Create a response that the browser saves as a file with this name."""
    headers = NO_STORE | {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media_type, headers=headers)


def _compute_compressed(
    request: Request, work: Callable[..., str], *arguments: Any
) -> tuple[bytes, dict[str, str]]:
    """Call ``work`` and return its text as bytes with HTTP headers, compressed if the client accepts it.

    Compression halves the size of numbers.
    """
    body = work(*arguments).encode()
    if len(body) < _MIN_COMPRESSED_BYTES or "gzip" not in request.headers.get("accept-encoding", ""):
        return body, {}
    return gzip.compress(body, _LEVEL, mtime=0), {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
