"""The end of the server, which whoever watches a run or has not sent all of a request does not hold up."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from typing import Any, TypeVar

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
        """The result of some work. Raises ServerEnds where the server ends first."""
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
        """The items of a stream, until the server ends."""
        try:
            while True:
                yield await self.before(anext(stream))
        except (StopAsyncIteration, ServerEnds):
            return


ending = Ending()
