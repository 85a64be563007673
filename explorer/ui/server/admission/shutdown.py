"""Shutdown of the server, without waiting for open streams or incomplete requests."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from typing import Any, TypeVar

T = TypeVar("T")


class ServerShutdown(Exception):  # noqa: N818  # not an error
    """Raised if the server shuts down before an awaited result is available."""


class Shutdown:
    """The state of the server's shutdown, and the pending futures to cancel when it begins."""

    def __init__(self) -> None:
        self._pending: set[asyncio.Future[Any]] = set()
        self._has_begun = False

    def begin(self) -> None:
        """Begin the server's shutdown by cancelling all pending futures."""
        self._has_begun = True
        for future in self._pending:
            future.cancel()

    async def wait_for(self, work: Awaitable[T]) -> T:
        """Return the result of an awaitable. Raises ServerShutdown if the server shuts down first."""
        future = asyncio.ensure_future(work)
        self._pending.add(future)
        if self._has_begun:
            future.cancel()
        try:
            return await future
        except asyncio.CancelledError:
            if self._has_begun:
                raise ServerShutdown from None
            raise
        finally:
            self._pending.discard(future)

    async def iterate(self, stream: AsyncIterator[T]) -> AsyncIterator[T]:
        """Yield the items of a stream until it ends or the server shuts down."""
        try:
            while True:
                yield await self.wait_for(anext(stream))
        except (StopAsyncIteration, ServerShutdown):
            return


shutdown = Shutdown()
