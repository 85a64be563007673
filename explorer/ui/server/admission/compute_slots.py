"""Slots for computations that a visitor waits for, shared fairly by the time each visitor has used."""

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

_BUSY_MESSAGE = "The server is busy: {waiting} requests wait. Try again in a moment."

P = ParamSpec("P")
T = TypeVar("T")
_Ticket = asyncio.Future[None]  # pending while a request waits, done once it has a slot


class ComputeSlots:
    """A fixed number of slots for concurrent computations, with a bounded queue.

    The order is that of a ``FairQueue`` over seconds used. No visitor gets all slots. If the queue overflows,
    the last request of the longest line at the busiest address is refused.

    Args:
        slots: number of concurrent computations.
        max_waiting: number of waiting requests, of all visitors.
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
        """Return the result of ``work``, run in a thread. Raises RefusedError if too many requests wait."""
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
        """Assign free slots to the next requests whose visitors may have one more."""
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
        """Return the tickets of all waiting requests."""
        return [turn for turn in self._visitors if not turn.done()]

    def _refuse_excess(self, visitor: Visitor) -> None:
        """Refuse the last request of the longest line if too many requests wait.

        Among equally long lines the visitor's own is chosen, otherwise that of the latest request.
        """
        waiting = sorted(self._list_waiting(), key=lambda turn: self._visitors[turn] == visitor)
        if len(waiting) > self._max_waiting:
            monitoring.event_log.record("computation refused", waiting=self._max_waiting)
            last = self._queue.order(waiting, holders=())[-1]
            last.set_exception(RefusedError(429, _BUSY_MESSAGE.format(waiting=self._max_waiting)))


def _has_slot(ticket: _Ticket) -> bool:
    """Return whether a request has been given a slot."""
    return ticket.done() and not ticket.cancelled() and not ticket.exception()
