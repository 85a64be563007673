"""A limit on concurrent computations. Each visitor gets an equal share of the computing time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from starlette.concurrency import run_in_threadpool

from explorer.training.scheduling import FairQueue, Parties
from explorer.ui.server.admission import monitoring
from explorer.ui.server.admission.admission import RefusedError
from explorer.ui.server.admission.visitors import Visitor

_BUSY_MESSAGE = "The server is busy: {waiting} requests are waiting. Try again in a moment."

P = ParamSpec("P")
T = TypeVar("T")
_Ticket = asyncio.Future[None]  # pending while a request waits, done once it has a slot


class ComputeSlots:
    """A fixed number of slots for concurrent computations, with a bounded queue.

    The queue is a ``FairQueue`` over the seconds that each visitor has used. No visitor gets all slots,
    unless there is only one. If the queue overflows, the last request of the longest line at the busiest
    address is refused.

    Args:
        slots: the number of concurrent computations.
        max_waiting: the maximum number of waiting requests of all visitors.
        clock: a monotonic clock in seconds.
    """

    def __init__(self, slots: int, max_waiting: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._slots, self._slots_per_visitor, self._max_waiting = slots, max(1, slots - 1), max_waiting
        self._clock = clock
        self._visitors: dict[_Ticket, Visitor] = {}  # waiting and running requests
        self._queue = FairQueue[_Ticket](
            lambda turn: Parties(self._visitors[turn], self._visitors[turn].address)
        )

    async def compute(self, visitor: Visitor, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Wait for a free slot, run ``work`` in a thread, and return the result.

        Raises RefusedError if too many requests are waiting.
        """
        ticket: _Ticket = asyncio.get_running_loop().create_future()
        self._visitors[ticket] = visitor
        monitoring.computations.inc()
        try:
            self._assign_slots()
            self._refuse_excess(visitor)
            await ticket
            start_s = self._clock()
            try:
                return await run_in_threadpool(work, *args, **kwargs)
            finally:
                self._queue.charge(ticket, self._clock() - start_s)
        finally:
            del self._visitors[ticket]
            self._assign_slots()
            monitoring.computations.dec()

    def _assign_slots(self) -> None:
        self._queue.keep(self._visitors)
        running = [visitor for turn, visitor in self._visitors.items() if _has_slot(turn)]
        free = self._slots - len(running)
        if free <= 0:
            return
        full_visitors = {visitor for visitor in running if running.count(visitor) >= self._slots_per_visitor}
        candidates = [turn for turn in self._list_waiting() if self._visitors[turn] not in full_visitors]
        for ticket in (
            self._queue.order(candidates) if free > 1 else filter(None, [self._queue.find_first(candidates)])
        ):
            visitor = self._visitors[ticket]
            if len(running) < self._slots and running.count(visitor) < self._slots_per_visitor:
                running.append(visitor)
                ticket.set_result(None)

    def _list_waiting(self) -> list[_Ticket]:
        return [turn for turn in self._visitors if not turn.done()]

    def _refuse_excess(self, visitor: Visitor) -> None:
        """Refuse the last request of the visitor with the longest line if too many requests are waiting.

        Among equally long lines, the given visitor's line is chosen, otherwise that of the latest request.
        """
        waiting = sorted(self._list_waiting(), key=lambda turn: self._visitors[turn] == visitor)
        if len(waiting) > self._max_waiting:
            monitoring.event_log.record("computation refused", waiting=self._max_waiting)
            last = self._queue.order(waiting, holders=())[-1]
            last.set_exception(RefusedError(429, _BUSY_MESSAGE.format(waiting=self._max_waiting)))


def _has_slot(ticket: _Ticket) -> bool:
    return ticket.done() and not ticket.cancelled() and not ticket.exception()
