"""Rate limits, limits on open pages, and refusals, so that no visitor can monopolise the server."""

import asyncio
import errno
import html
import logging
import math
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from explorer.ui.server.admission import limits, monitoring, visitors
from explorer.ui.server.admission.paths import PAGES, strip_prefix
from explorer.ui.server.admission.visitors import GroupCounter, Visitor, VisitorQuota, visitor_from_request

if sys.platform != "win32":
    import resource

_PAGE_PATHS = frozenset(page.path for page in PAGES)
_TOTAL = "all"
_TRY_AGAIN_LATER = 1013  # the code with which a websocket is closed if the server is full
_MESSAGE_TOO_BIG = 1009
_POLICY_VIOLATION = 1008
_SERVER_FULL_MESSAGE = "The explorer is full: {pages} pages are open. Try again in about a minute."
_RATE_MESSAGE = "These are more than {rate} requests a second: wait a moment."
_TOO_MANY_PAGES_MESSAGE = "Your network has {count} pages open: close one of them and reload this one."

_RETRY_S = 15  # time after which a refused page reloads itself
_REFUSAL_HTML = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>One moment: Gradient explorer</title>
<style>
    body {{ font: 1.1rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 15vh auto; padding: 0 1.5rem }}
</style>
<main>
    <h1>One moment</h1>
    <p>{words}</p>
    <p>This page retries every {seconds} seconds. <a href="">Ask now</a></p>
</main>
</html>
"""
_LOG_INTERVAL_S = 60.0  # minimum time between two warnings about open files
_IDLE_CHECK_S = 10.0
_logger = logging.getLogger(__name__)


class RefusedError(HTTPException):
    """Raised to refuse a request with an HTTP status and a message for the user."""


class RateLimiter:
    """A token bucket that refills at a constant rate and holds the tokens of at most one second.

    Args:
        rate: tokens per second, at least 1.
        clock: a monotonic clock in seconds.
    """

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self._clock = clock
        self._full_at = clock()  # when the bucket will be full again

    def acquire(self) -> float:
        """Take a token and return 0, or return the number of seconds until a token is available."""
        delay_s = self.get_delay()
        if not delay_s:
            self._full_at = max(self._full_at, self._clock()) + 1 / self.rate
        return delay_s

    def get_delay(self) -> float:
        """Return the number of seconds until a token is available, without taking it."""
        delay_s = self._full_at + 1 / self.rate - self._clock() - 1
        return delay_s if delay_s > 1e-9 else 0.0


class VisitorRateLimiters:
    """The rate limiters of all recent visitors and IP addresses.

    Args:
        visitor_rate, address_rate: the limits of one visitor and of one IP address, in requests per second.
        clock: a monotonic clock in seconds.
    """

    def __init__(
        self,
        visitor_rate: float = limits.REQUESTS_PER_S,
        address_rate: float = limits.ADDRESS_REQUESTS_PER_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._by_visitor = lru_cache(limits.MAX_TRACKED_VISITORS)(
            lambda _visitor: RateLimiter(visitor_rate, clock)
        )
        self._by_address = lru_cache(limits.MAX_TRACKED_VISITORS)(
            lambda _address: RateLimiter(address_rate, clock)
        )

    def get_limiters(self, visitor: Visitor) -> list[RateLimiter]:
        """Return the rate limiters that apply to a visitor.

        These are the visitor's own limiter, unless the visitor is anonymous, and the IP address's limiter.
        """
        address_limiter = self._by_address(visitor.address)
        return [self._by_visitor(visitor.name), address_limiter] if visitor.name else [address_limiter]


class RateLimitMiddleware:
    """ASGI middleware that answers requests above the visitor's rate limit with status 429."""

    def __init__(self, app: ASGIApp, limiters: VisitorRateLimiters) -> None:
        self.app = app
        self._limiters = limiters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it if it exceeds a rate limit."""
        limiters = self._limiters.get_limiters(visitor_from_request(HTTPConnection(scope)))
        exceeded = next((limiter for limiter in limiters if limiter.acquire()), None)
        make_refusal = make_html_refusal if strip_prefix(scope["path"]) in _PAGE_PATHS else make_json_refusal
        app = make_refusal(429, _RATE_MESSAGE.format(rate=exceeded.rate)) if exceeded else self.app
        if exceeded:
            await asyncio.sleep(limits.REFUSAL_DELAY_S)
        await app(scope, receive, send)


class PageLimitMiddleware:
    """ASGI middleware that limits open pages, per visitor and in total, and the script reruns per page."""

    def __init__(
        self,
        app: ASGIApp,
        max_pages: int = limits.MAX_PAGES,
        quota: VisitorQuota = limits.PAGES_QUOTA,
        reruns_per_s: float = limits.RERUNS_PER_S,
        first_message_timeout_s: float = limits.FIRST_MESSAGE_TIMEOUT_S,
    ) -> None:
        self.app = app
        self._max_pages, self._quota = max_pages, quota
        self._reruns_per_s, self._first_message_timeout_s = reruns_per_s, first_message_timeout_s
        self._open_pages = GroupCounter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse to open a page if the visitor or the server has too many."""
        is_page = scope["type"] == "http" and strip_prefix(scope["path"]) in _PAGE_PATHS
        if not is_page and scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        visitor = (visitors.visitor_from_page_request if is_page else visitor_from_request)(
            HTTPConnection(scope)
        )
        if message := self._explain_refusal(visitor):
            monitoring.event_log.record("page refused", pages=self._open_pages[_TOTAL])
            refusal = (
                make_html_refusal(503, message) if is_page else WebSocketClose(_TRY_AGAIN_LATER, message)
            )
            await asyncio.sleep(limits.REFUSAL_DELAY_S)
            await refusal(scope, receive, send)
        elif is_page:
            await self.app(scope, receive, send)
        else:
            await self._serve_page(visitor, scope, receive, send)

    def _explain_refusal(self, visitor: Visitor) -> str:
        if self._open_pages[_TOTAL] >= min(self._max_pages, _get_file_limits()[0] // limits.FILES_PER_PAGE):
            return _SERVER_FULL_MESSAGE.format(pages=self._open_pages[_TOTAL])
        return self._open_pages.explain_full(self._quota.get_limits(visitor), _TOO_MANY_PAGES_MESSAGE)

    async def _serve_page(self, visitor: Visitor, scope: Scope, receive: Receive, send: Send) -> None:
        limiter = RateLimiter(self._reruns_per_s)
        throttled = _throttle_messages(receive, limiter, self._first_message_timeout_s)
        groups = [_TOTAL, *self._quota.get_limits(visitor)]
        with self._open_pages.count(groups), monitoring.pages.track_inprogress():
            await self.app(scope, throttled, send)


def _throttle_messages(
    receive: Receive, limiter: RateLimiter, first_message_timeout_s: float = limits.FIRST_MESSAGE_TIMEOUT_S
) -> Receive:
    """Return an ASGI ``receive`` callable that delays websocket messages above a rate limit.

    Delayed messages stay in network buffers. The client is disconnected if its first message is late, or if a
    message is longer than our pages send; such a message is not parsed.
    """
    has_first_message = False

    async def receive_throttled() -> Message:
        nonlocal has_first_message
        try:
            message = await asyncio.wait_for(
                receive(), None if has_first_message else first_message_timeout_s
            )
        except TimeoutError:
            return {"type": "websocket.disconnect", "code": _POLICY_VIOLATION}
        has_first_message = message["type"] == "websocket.receive"
        if len(message.get("bytes") or b"") > limits.MAX_MESSAGE_BYTES:
            return {"type": "websocket.disconnect", "code": _MESSAGE_TOO_BIG}
        while message["type"] == "websocket.receive" and (delay_s := limiter.acquire()):
            await asyncio.sleep(delay_s)
        return message

    return receive_throttled


def make_json_refusal(code: int, message: str) -> Response:
    """Create a JSON response with an error status and a message."""
    monitoring.refusals.labels(str(code)).inc()
    retry_header = {"Retry-After": "1"} if code in (429, 503) else {}
    return JSONResponse({"message": message}, code, headers=retry_header | {"Cache-Control": "no-store"})


def make_html_refusal(code: int, message: str) -> Response:
    """Create an HTML error page that shows a message and reloads itself every few seconds."""
    monitoring.refusals.labels(str(code)).inc()
    headers = {"Retry-After": str(_RETRY_S), "Refresh": str(_RETRY_S), "Cache-Control": "no-store"}
    return HTMLResponse(_REFUSAL_HTML.format(words=html.escape(message), seconds=_RETRY_S), code, headers)


async def handle_refused(_request: Request, error: Exception) -> Response:
    """Return a ``RefusedError`` as a JSON response. Responses with status 429 are delayed."""
    assert isinstance(error, RefusedError)
    if error.status_code == 429:
        await asyncio.sleep(limits.REFUSAL_DELAY_S)
    return make_json_refusal(error.status_code, error.detail)


def raise_file_limit() -> None:
    """Raise this process's limit on open files to what a full server needs, if the system allows it."""
    soft, hard = _get_file_limits()
    target = min(hard, limits.MAX_OPEN_FILES)
    if sys.platform != "win32" and soft < target:
        resource.setrlimit(resource.RLIMIT_NOFILE, (target, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def _get_file_limits() -> tuple[int, int]:
    """Return this process's soft and hard limits on open files. Windows has no such limits."""
    if sys.platform == "win32":
        return sys.maxsize, sys.maxsize
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    return (sys.maxsize if soft == unlimited else soft, sys.maxsize if hard == unlimited else hard)


def throttle_file_errors(loop: asyncio.AbstractEventLoop) -> None:
    """Make an event loop log at most once a minute that no further file can be opened.

    By default asyncio retries 2,048 times a second and logs each failure with a traceback.
    """
    logged_s = -math.inf

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal logged_s
        if getattr(context.get("exception"), "errno", None) not in (errno.EMFILE, errno.ENFILE):
            loop.default_exception_handler(context)
        elif loop.time() - logged_s >= _LOG_INTERVAL_S:
            logged_s = loop.time()
            _logger.warning("No further file can be opened: new connections wait until others have left.")

    loop.set_exception_handler(handle)


async def end_idle_threads() -> None:
    """Give the thread pool an empty task every ten seconds, forever: idle threads end only at new work."""
    while True:
        await asyncio.sleep(_IDLE_CHECK_S)
        await run_in_threadpool(lambda: None)
