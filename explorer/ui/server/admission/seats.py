"""Seats for what is computed while somebody waits for it: taken in turn, by the time each has used."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter, deque
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from starlette.concurrency import run_in_threadpool

from explorer.ui.server.admission import operation
from explorer.ui.server.admission.admission import Refused
from explorer.ui.server.admission.visitors import Visitor

_BUSY = "The server is busy: {waiting} requests wait. Try again in a moment."

P = ParamSpec("P")
T = TypeVar("T")


class Seats:
    """Lets few computations run at the same time, and a bounded number wait.

    Addresses take turns, and at each its visitors: next is who has used the least seconds. An address counts
    as much as the square root of how many visitors it has here: a class behind one address has more than one
    person at another, and whoever takes a hundred names has the share of ten. No visitor has all seats.
    Where one more waits than may, the longest line of the address that most wait at loses its last. Seconds
    are forgotten of visitors and addresses that neither wait nor have a seat.

    Args:
        computing: seats.
        waiting: how many may wait, of all visitors.
        clock: seconds, monotonic.
    """

    def __init__(self, computing: int, waiting: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._free, self._each, self._waiting = computing, max(1, computing - 1), waiting
        self._clock = clock
        self._lines: dict[Visitor, deque[asyncio.Future[None]]] = {}
        self._seated: Counter[Visitor] = Counter()
        self._used: dict[Visitor, float] = {}
        self._used_at: dict[str, float] = {}  # by address

    async def compute(self, visitor: Visitor, work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
        """What ``work`` returns, computed in a thread. Raises Refused where too many wait."""
        operation.computing.inc()
        try:
            await self._seat(visitor)
            begun = self._clock()
            try:
                return await run_in_threadpool(work, *given, **named)
            finally:
                seconds = self._clock() - begun
                self._used[visitor] += seconds
                self._used_at[visitor.address] += seconds
                self._leave(visitor)
        finally:
            operation.computing.dec()

    async def _seat(self, visitor: Visitor) -> None:
        """Wait for a seat, and take it."""
        self._greet(visitor)
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

    def _greet(self, visitor: Visitor) -> None:
        """Count a newcomer as one who has used as little as anybody there, and a new address as anywhere."""
        neighbours = [used for each, used in self._used.items() if each.address == visitor.address]
        if not neighbours:
            self._used_at[visitor.address] = min(map(self._used_of, self._used_at), default=0.0)
        self._used.setdefault(visitor, min(neighbours, default=0.0))

    def _used_of(self, address: str) -> float:
        """Seconds used at an address, for its weight."""
        return self._used_at[address] / self._weight(address)

    def _weight(self, address: str) -> float:
        return math.sqrt(sum(each.address == address for each in self._used))

    def _give_up(self, visitor: Visitor, turn: asyncio.Future[None]) -> None:
        """Who asked has gone: leave the line, or the seat that came in the same moment."""
        line = self._lines.get(visitor, deque())
        if turn in line:
            line.remove(turn)
            self._forget(visitor)
        elif not turn.cancelled() and not turn.exception():
            self._leave(visitor)

    def _turn_away(self, visitor: Visitor) -> None:
        """Refuse the last of the longest line where too many wait; of lines as long, of the visitor's own.

        Where that is none of them, it is of who came last.
        """
        waiting = Counter(each.address for each, line in self._lines.items() for _ in line)
        if waiting.total() <= self._waiting:
            return
        crowds = {address: count / self._weight(address) for address, count in waiting.items()}
        lines = {each: (crowds[each.address], len(line)) for each, line in self._lines.items() if line}
        longest = max(reversed(lines), key=lambda each: (lines[each], each == visitor))
        operation.journal.note("computation refused", waiting=self._waiting)
        self._lines[longest].pop().set_exception(Refused(429, _BUSY.format(waiting=self._waiting)))
        self._forget(longest)

    def _leave(self, visitor: Visitor) -> None:
        """Give a seat back, to who is next."""
        self._seated[visitor] -= 1
        self._free += 1
        while self._free and (lines := self._ready()):
            following = min(lines, key=lambda each: (self._used_of(each.address), self._used[each]))
            turn = self._lines[following].popleft()
            if turn.cancelled():
                self._forget(following)
                continue
            self._free -= 1
            self._seated[following] += 1
            turn.set_result(None)
        self._forget(visitor)

    def _ready(self) -> list[Visitor]:
        """Who waits and may have one more seat."""
        return [each for each, line in self._lines.items() if line and self._seated[each] < self._each]

    def _forget(self, visitor: Visitor) -> None:
        """Keep no number of who neither waits nor has a seat."""
        if self._lines.get(visitor):
            return
        self._lines.pop(visitor, None)
        if not self._seated[visitor]:
            del self._seated[visitor], self._used[visitor]
            if all(each.address != visitor.address for each in self._used):
                del self._used_at[visitor.address]
