"""Admission and its rates: a class shares one server, and nobody can take it from the others."""

import asyncio
import errno
import html
import logging
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from explorer.ui.server.admission import limits, operation
from explorer.ui.server.admission.paths import PAGES, page_path
from explorer.ui.server.admission.visitors import Share, Visitor, advised, arriving, asking

if sys.platform != "win32":
    import resource

_PATHS = frozenset(page.path for page in PAGES)
_ALL = "all"
_GOING_AWAY = 1013  # a websocket's "try again later"
_TOO_BIG = 1009  # a websocket's "message too big"
_SILENT = 1008  # a websocket's "policy violation"
_FULL = "The explorer is full: {pages} pages are open. Try again in about a minute."
_HURRIED = "These are more than {rate} requests a second: wait a moment."
_MANY = "{pages} pages are open from your network: close one of them and reload this one."

_AGAIN_S = 15  # until a page that was refused is asked for once more, by itself
_PAGE = """<!doctype html>
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
    <p>This page asks again by itself every {seconds} seconds. <a href="">Ask now</a></p>
</main>
</html>
"""
_SAID_EVERY_S = 60.0  # that no file is left
_IDLE_S = 10.0  # between two looks at threads that rest
_log = logging.getLogger(__name__)


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
        wait_s = self.wait()
        if not wait_s:
            self._rested = max(self._rested, self._clock()) + 1 / self.rate
        return wait_s

    def wait(self) -> float:
        """The seconds until a turn is free, without taking it."""
        late_s = self._rested + 1 / self.rate - self._clock() - 1
        return late_s if late_s > 1e-9 else 0.0


class Paces:
    """The rate of requests of each visitor, and of all at one address together."""

    def __init__(
        self,
        each: float = limits.REQUESTS,
        address: float = limits.ADDRESS_REQUESTS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._each = lru_cache(limits.VISITORS)(lambda _visitor: Pace(each, clock))
        self._address = lru_cache(limits.VISITORS)(lambda _address: Pace(address, clock))

    def of(self, visitor: Visitor) -> list[Pace]:
        """The paces that hold for a visitor: who has no name shares the address's only."""
        shared = self._address(visitor.address)
        return [self._each(visitor.name), shared] if visitor.name else [shared]


class Paced:
    """Answers a visitor who asks too often with 429 and a sentence."""

    def __init__(self, app: ASGIApp, paces: Paces) -> None:
        self.app = app
        self._paces = paces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, unless it comes too early."""
        paces = self._paces.of(asking(HTTPConnection(scope)))
        hurried = next((pace for pace in paces if pace.take()), None)
        respond = refusal_page if page_path(scope["path"]) in _PATHS else refusal
        app = respond(429, _HURRIED.format(rate=hurried.rate)) if hurried else self.app
        if hurried:
            await asyncio.sleep(limits.REFUSED_S)
        await app(scope, receive, send)


class Pages:
    """Bounds how many pages are open, of all and of one visitor, and how often each has its script run."""

    def __init__(
        self,
        app: ASGIApp,
        pages: int = limits.PAGES,
        share: Share = limits.PAGES_SHARE,
        reruns: float = limits.RERUNS,
        patience_s: float = limits.FIRST_MESSAGE_S,
    ) -> None:
        self.app = app
        self._pages, self._share, self._reruns, self._patience_s = pages, share, reruns, patience_s
        self._open: Counter[Hashable] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; a page more than there is room for is told so."""
        is_page = scope["type"] == "http" and page_path(scope["path"]) in _PATHS
        if not is_page and scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        visitor = (arriving if is_page else asking)(HTTPConnection(scope))
        if words := self._refusal(visitor):
            operation.journal.note("page refused", pages=self._open[_ALL])
            answer = refusal_page(503, words) if is_page else WebSocketClose(_GOING_AWAY, words)
            await asyncio.sleep(limits.REFUSED_S)
            await answer(scope, receive, send)
        elif is_page:
            await self.app(scope, receive, send)
        else:
            await self._page(visitor, scope, receive, send)

    def _refusal(self, visitor: Visitor) -> str:
        """Why a visitor cannot have one more page, or ""."""
        if self._open[_ALL] >= min(self._pages, _open_files()[0] // limits.FILES_A_PAGE):
            return _FULL.format(pages=self._open[_ALL])
        shares = self._share.of(visitor)
        used_up = (share for share, most in shares.items() if self._open[share] >= most)
        return next((advised(_MANY.format(pages=shares[share]), share) for share in used_up), "")

    async def _page(self, visitor: Visitor, scope: Scope, receive: Receive, send: Send) -> None:
        mine = [_ALL, *self._share.of(visitor)]
        self._open.update(mine)
        operation.pages.inc()
        try:
            await self.app(scope, _slowed(receive, Pace(self._reruns), self._patience_s), send)
        finally:
            self._open.subtract(mine)
            self._open += Counter()  # forgets whoever is at 0
            operation.pages.dec()


def _slowed(receive: Receive, pace: Pace, patience_s: float = limits.FIRST_MESSAGE_S) -> Receive:
    """Messages at a pace: who sends more waits, and the network holds what has not been read.

    One that is longer than any of our pages sends ends the connection, before it is parsed; so does silence,
    where the first message of a page should come.
    """
    spoken = False

    async def received() -> Message:
        nonlocal spoken
        try:
            message = await asyncio.wait_for(receive(), None if spoken else patience_s)
        except TimeoutError:
            return {"type": "websocket.disconnect", "code": _SILENT}
        spoken = message["type"] == "websocket.receive"
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


def refusal_page(code: int, words: str) -> Response:
    """A refusal of a page: the words, and the same address once more by itself."""
    operation.refusals.labels(str(code)).inc()
    headers = {"Retry-After": str(_AGAIN_S), "Refresh": str(_AGAIN_S), "Cache-Control": "no-store"}
    return HTMLResponse(_PAGE.format(words=html.escape(words), seconds=_AGAIN_S), code, headers)


async def refused(_request: Request, error: Exception) -> Response:
    """The handler of ``Refused``."""
    assert isinstance(error, Refused)
    if error.status_code == 429:
        await asyncio.sleep(limits.REFUSED_S)
    return refusal(error.status_code, error.detail)


def raise_open_files() -> None:
    """Let the server open as many files as a full house needs, where the system allows it."""
    soft, hard = _open_files()
    most = min(hard, limits.OPEN_FILES)
    if sys.platform != "win32" and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def _open_files() -> tuple[int, int]:
    """Return how many files this process may open, now and at most; on Windows there is no such limit."""
    if sys.platform == "win32":
        return sys.maxsize, sys.maxsize
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    return (sys.maxsize if soft == unlimited else soft, sys.maxsize if hard == unlimited else hard)


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
