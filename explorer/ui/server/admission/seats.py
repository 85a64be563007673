"""Seats for what is computed while somebody waits for it: taken in turn, by the time each has used."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from starlette.concurrency import run_in_threadpool

from explorer.training.scheduling import FairQueue, Parties
from explorer.ui.server.admission import operation
from explorer.ui.server.admission.admission import Refused
from explorer.ui.server.admission.visitors import Visitor

_BUSY = "The server is busy: {waiting} requests wait. Try again in a moment."

P = ParamSpec("P")
T = TypeVar("T")
_Turn = asyncio.Future[None]  # pending while a request waits, None once it has a seat


class Seats:
    """Lets few computations run at the same time, and a bounded number wait.

    Their order is that of a ``FairQueue`` of seconds. No visitor has all seats. Where one more waits than
    may, the longest line of the address that most wait at loses its last.

    Args:
        computing: seats.
        waiting: how many may wait, of all visitors.
        clock: seconds, monotonic.
    """

    def __init__(self, computing: int, waiting: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._computing, self._each, self._waiting = computing, max(1, computing - 1), waiting
        self._clock = clock
        self._visitors: dict[_Turn, Visitor] = {}  # of each request that waits or has a seat
        self._queue = FairQueue[_Turn](
            lambda turn: Parties(self._visitors[turn], self._visitors[turn].address)
        )

    async def compute(self, visitor: Visitor, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return the result of ``work``, computed in a thread. Raises Refused where too many wait."""
        turn: _Turn = asyncio.get_running_loop().create_future()
        self._visitors[turn] = visitor
        operation.computing.inc()
        try:
            self._fill_seats()
            self._turn_away(visitor)
            await turn
            begun = self._clock()
            try:
                return await run_in_threadpool(work, *args, **kwargs)
            finally:
                self._queue.charge(turn, self._clock() - begun)
        finally:
            del self._visitors[turn]
            self._fill_seats()
            operation.computing.dec()

    def _fill_seats(self) -> None:
        """Give each free seat to who is next and may have one more."""
        self._queue.keep(self._visitors)
        seated = [visitor for turn, visitor in self._visitors.items() if _is_seated(turn)]
        free = self._computing - len(seated)
        if free <= 0:
            return
        full = {visitor for visitor in seated if seated.count(visitor) >= self._each}
        could = [turn for turn in self._in_line() if self._visitors[turn] not in full]
        for turn in self._queue.order(could) if free > 1 else filter(None, [self._queue.first(could)]):
            visitor = self._visitors[turn]
            if len(seated) < self._computing and seated.count(visitor) < self._each:
                seated.append(visitor)
                turn.set_result(None)

    def _in_line(self) -> list[_Turn]:
        return [turn for turn in self._visitors if not turn.done()]

    def _turn_away(self, visitor: Visitor) -> None:
        """Refuse the last of the longest line where too many wait; of lines as long, of the visitor's own.

        Where that is none of them, it is of who came last.
        """
        waiting = sorted(self._in_line(), key=lambda turn: self._visitors[turn] == visitor)
        if len(waiting) > self._waiting:
            operation.journal.note("computation refused", waiting=self._waiting)
            last = self._queue.order(waiting, holders=())[-1]
            last.set_exception(Refused(429, _BUSY.format(waiting=self._waiting)))


def _is_seated(turn: _Turn) -> bool:
    return turn.done() and not turn.cancelled() and not turn.exception()
