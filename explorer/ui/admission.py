"""Who comes in, and how fast: a class shares one server, and nobody can take it from the others."""

import asyncio
import errno
import logging
import math
import resource
import secrets
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any, ParamSpec, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.ui import limits, operation
from explorer.ui.pages import PAGES, page_path

_PATHS = frozenset(page.path for page in PAGES)
VISITOR = "visitor"  # the cookie that tells those apart who share an address
_GOING_AWAY = 1013  # a websocket's "try again later"
_TOO_BIG = 1009  # a websocket's "message too big"
_FULL = "The explorer is full: {pages} pages are open. Try again in about a minute."
_HURRIED = "These are more than {rate} requests a second: wait a moment."
_BUSY = "The server is busy: {waiting} requests wait. Try again in a moment."

_SAID_EVERY_S = 60.0  # that no file is left
_IDLE_S = 10.0  # between two looks at threads that rest
_log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")


class Refused(HTTPException):
    """A request that is not done, with its status and a sentence for the screen."""


class Pace:
    """``rate`` turns a second, and as many at once after a rest.

    Args:
        rate: turns a second, 1 or more.
        clock: seconds, monotonic.
    """

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self._clock = clock
        self._rested = clock()  # when all turns will be free again

    def take(self) -> float:
        """Take a turn and return 0, or the seconds until one is free."""
        now = self._clock()
        rested = max(self._rested, now) + 1 / self.rate
        if rested > now + 1 + 1e-9:
            return rested - now - 1
        self._rested = rested
        return 0.0


class Seats:
    """Lets few computations run at the same time, in the order they came, and a bounded number wait."""

    def __init__(self, computing: int, waiting: int) -> None:
        self._free = asyncio.Semaphore(computing)
        self._computing, self._waiting = computing, waiting
        self._present = 0

    async def compute(self, work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
        """What ``work`` returns, computed in a thread. Raises Refused when too many wait."""
        if self._present >= self._computing + self._waiting:
            operation.journal.note("computation refused", waiting=self._waiting)
            raise Refused(429, _BUSY.format(waiting=self._waiting))
        self._present += 1
        operation.computing.inc()
        try:
            async with self._free:
                return await run_in_threadpool(work, *given, **named)
        finally:
            self._present -= 1
            operation.computing.dec()


class Visitors:
    """How fast each visitor asks: by cookie, or by address where there is none."""

    def __init__(self, each: float = limits.REQUESTS, shared: float = limits.SHARED_REQUESTS) -> None:
        self._named = lru_cache(limits.VISITORS)(lambda _name: Pace(each))
        self._unnamed = lru_cache(limits.VISITORS)(lambda _address: Pace(shared))

    def pace(self, connection: HTTPConnection) -> Pace:
        """The pace of a visitor."""
        if name := connection.cookies.get(VISITOR):
            return self._named(name)
        return self._unnamed(connection.client.host if connection.client else "")


class Paced:
    """Answers a visitor who asks too often with 429 and a sentence."""

    def __init__(self, app: ASGIApp, visitors: Visitors) -> None:
        self.app = app
        self._visitors = visitors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, unless it comes too early."""
        pace = self._visitors.pace(HTTPConnection(scope))
        app = self.app if not pace.take() else refusal(429, _HURRIED.format(rate=pace.rate))
        await app(scope, receive, send)


class Pages:
    """Bounds how many pages are open, and how often each has its script run."""

    def __init__(self, app: ASGIApp, pages: int = limits.PAGES, reruns: float = limits.RERUNS) -> None:
        self.app = app
        self._pages, self._reruns = pages, reruns
        self._open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; a page more than there is room for is told so."""
        if scope["type"] == "websocket":
            await self._page(scope, receive, send)
        elif scope["type"] == "http" and page_path(scope["path"]) in _PATHS and self._is_full:
            operation.journal.note("page refused", pages=self._open)
            await PlainTextResponse(_FULL.format(pages=self._open), 503)(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    @property
    def _is_full(self) -> bool:
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return self._open >= min(self._pages, files // limits.FILES_A_PAGE)

    async def _page(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._is_full:
            operation.journal.note("page refused", pages=self._open)
            words = _FULL.format(pages=self._open)
            await send({"type": "websocket.close", "code": _GOING_AWAY, "reason": words})
            return
        self._open += 1
        operation.pages.inc()
        try:
            await self.app(scope, _slowed(receive, Pace(self._reruns)), send)
        finally:
            self._open -= 1
            operation.pages.dec()


def _slowed(receive: Receive, pace: Pace) -> Receive:
    """Messages at a pace: who sends more waits, and the network holds what has not been read.

    One that is longer than any of our pages sends ends the connection, before it is parsed.
    """

    async def received() -> Message:
        message = await receive()
        if len(message.get("bytes") or b"") > limits.MESSAGE:
            return {"type": "websocket.disconnect", "code": _TOO_BIG}
        while message["type"] == "websocket.receive" and (wait_s := pace.take()):
            await asyncio.sleep(wait_s)
        return message

    return received


def refusal(code: int, words: str) -> Response:
    """A refusal as the browser's modules take it."""
    operation.refusals.labels(str(code)).inc()
    later = {"Retry-After": "1"} if code in (429, 503) else {}
    return JSONResponse({"message": words}, code, headers=later | {"Cache-Control": "no-store"})


async def refused(_request: Request, error: Exception) -> Response:
    """The handler of ``Refused``."""
    assert isinstance(error, Refused)
    return refusal(error.status_code, error.detail)


def named(request: Request, response: Response) -> Response:
    """The response, with a name for a visitor who has none yet."""
    if VISITOR not in request.cookies:
        secure = request.url.scheme == "https"
        response.set_cookie(VISITOR, secrets.token_urlsafe(12), httponly=True, samesite="lax", secure=secure)
    return response


def raise_open_files() -> None:
    """Let the server open as many files as a full house needs, where the system allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = limits.OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, limits.OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def say_rarely(loop: asyncio.AbstractEventLoop) -> None:
    """Log once a minute that no file is left for another connection.

    Of itself asyncio tries 2,048 times a second then, and logs each with a traceback.
    """
    said_s = -math.inf

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal said_s
        if getattr(context.get("exception"), "errno", None) not in (errno.EMFILE, errno.ENFILE):
            loop.default_exception_handler(context)
        elif loop.time() - said_s >= _SAID_EVERY_S:
            said_s = loop.time()
            _log.warning("No further file can be opened: new connections wait until others have left.")

    loop.set_exception_handler(handle)


async def end_idle_threads() -> None:
    """Let threads go that nobody needs: they end only when another is asked for something."""
    while True:
        await asyncio.sleep(_IDLE_S)
        await run_in_threadpool(lambda: None)
