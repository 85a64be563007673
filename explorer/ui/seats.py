"""Seats for what is computed while somebody waits for it: visitors take turns, by the time they have used."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable
from typing import ParamSpec, TypeVar

from starlette.concurrency import run_in_threadpool

from explorer.ui import operation
from explorer.ui.admission import Refused

_BUSY = "The server is busy: {waiting} requests wait. Try again in a moment."

P = ParamSpec("P")
T = TypeVar("T")


class Seats:
    """Lets few computations run at the same time, and a bounded number wait.

    No visitor has all seats, and of those who wait who has used the least seconds is next: many requests, or
    long ones, hold up nobody but who sent them. Where one more waits than may, the longest line loses its
    last. Seconds are forgotten when a visitor neither waits nor has a seat.

    Args:
        computing: seats.
        waiting: how many may wait, of all visitors.
        clock: seconds, monotonic.
    """

    def __init__(self, computing: int, waiting: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._free, self._each, self._waiting = computing, max(1, computing - 1), waiting
        self._clock = clock
        self._lines: dict[Hashable, deque[asyncio.Future[None]]] = {}
        self._seated: Counter[Hashable] = Counter()
        self._used: dict[Hashable, float] = {}

    async def compute(self, visitor: Hashable, work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
        """What ``work`` returns, computed in a thread. Raises Refused where too many wait."""
        operation.computing.inc()
        try:
            await self._seat(visitor)
            begun = self._clock()
            try:
                return await run_in_threadpool(work, *given, **named)
            finally:
                self._used[visitor] += self._clock() - begun
                self._leave(visitor)
        finally:
            operation.computing.dec()

    async def _seat(self, visitor: Hashable) -> None:
        """Wait for a seat, and take it."""
        self._used.setdefault(visitor, min(self._used.values(), default=0.0))
        if self._free and self._seated[visitor] < self._each:
            self._free -= 1
            self._seated[visitor] += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lines.setdefault(visitor, deque()).append(turn)
        self._turn_away(visitor)
        try:
            await turn
        except asyncio.CancelledError:
            self._give_up(visitor, turn)
            raise

    def _give_up(self, visitor: Hashable, turn: asyncio.Future[None]) -> None:
        """Who asked has gone: leave the line, or the seat that came in the same moment."""
        line = self._lines.get(visitor, deque())
        if turn in line:
            line.remove(turn)
            self._forget(visitor)
        elif not turn.cancelled() and not turn.exception():
            self._leave(visitor)

    def _turn_away(self, visitor: Hashable) -> None:
        """Refuse the last of the longest line where too many wait; of lines as long, of the visitor's own."""
        if sum(map(len, self._lines.values())) <= self._waiting:
            return
        longest = max(self._lines, key=lambda each: (len(self._lines[each]), each == visitor))
        operation.journal.note("computation refused", waiting=self._waiting)
        self._lines[longest].pop().set_exception(Refused(429, _BUSY.format(waiting=self._waiting)))
        self._forget(longest)

    def _leave(self, visitor: Hashable) -> None:
        """Give a seat back, to who is next."""
        self._seated[visitor] -= 1
        self._free += 1
        while self._free and (lines := self._ready()):
            following = min(lines, key=self._used.__getitem__)
            turn = self._lines[following].popleft()
            if turn.cancelled():
                self._forget(following)
                continue
            self._free -= 1
            self._seated[following] += 1
            turn.set_result(None)
        self._forget(visitor)

    def _ready(self) -> list[Hashable]:
        """Who waits and may have one more seat."""
        return [each for each, line in self._lines.items() if line and self._seated[each] < self._each]

    def _forget(self, visitor: Hashable) -> None:
        """Keep no number of who neither waits nor has a seat."""
        if not self._lines.get(visitor):
            self._lines.pop(visitor, None)
            if not self._seated[visitor]:
                del self._seated[visitor], self._used[visitor]
