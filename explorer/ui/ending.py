"""How the server ends: within seconds, whoever still watches a run or has not sent all of a request."""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable
from typing import Any, TypeVar

GRACE_S = 2  # for answers that are on their way; then who has not taken them is left
_LOOK_S = 0.1  # between two looks whether the server is to end

T = TypeVar("T")


class ServerEnds(Exception):  # noqa: N818  # a state of affairs, not a mistake
    """The server ends before what was waited for has come."""


class Ending:
    """Whether the server is ending, and what waits for something that may never come."""

    def __init__(self) -> None:
        self._waits: set[asyncio.Future[Any]] = set()
        self._has_begun = False

    def begin(self) -> None:
        """Let go of everything that waits."""
        self._has_begun = True
        for wait in self._waits:
            wait.cancel()

    async def before(self, work: Awaitable[T]) -> T:
        """What some work gives. Raises ServerEnds where the server ends first."""
        wait = asyncio.ensure_future(work)
        self._waits.add(wait)
        if self._has_begun:
            wait.cancel()
        try:
            return await wait
        except asyncio.CancelledError:
            if self._has_begun:
                raise ServerEnds from None
            raise
        finally:
            self._waits.discard(wait)

    async def until(self, stream: AsyncIterator[T]) -> AsyncIterator[T]:
        """What a stream gives, until the server ends."""
        try:
            while True:
                yield await self.before(anext(stream))
        except (StopAsyncIteration, ServerEnds):
            return


ending = Ending()


async def follow_server() -> None:
    """Begin the end when the server is told to stop, and bound how long it waits for those who do not go.

    Of itself uvicorn waits without an end, and tells no answer that it waits. Whoever is told of the
    signal is uvicorn's server; another server, or none, is left alone.
    """
    server: Any = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    if not hasattr(server, "should_exit"):
        return
    server.config.timeout_graceful_shutdown = server.config.timeout_graceful_shutdown or GRACE_S
    while not server.should_exit:
        await asyncio.sleep(_LOOK_S)
    ending.begin()
