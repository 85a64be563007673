"""Which answers share seats: what takes long holds up its own kind alone."""

import asyncio
import threading

from explorer.ui.server import answers
from explorer.ui.server.admission import limits
from explorer.ui.server.admission.compute_slots import ComputeSlots
from explorer.ui.server.admission.visitors import Visitor


def test_checks_do_not_wait_for_near_rules_nor_curves_for_checks():
    import app  # a second for every process that collects this file

    seats = {name: app._SLOTS[question.seats] for name, question in answers.QUESTIONS.items()}
    assert seats["checks"] is seats["row"]
    assert len({id(seats[name]) for name in ("curves", "checks", "neighbours")}) == 3


def test_one_visitors_near_rules_leave_a_seat_to_others_at_the_address():
    async def both() -> list[str]:
        seats, done = ComputeSlots(limits.SEARCH_SLOTS, limits.MAX_WAITING), threading.Event()
        first, second = Visitor("first", "192.0.2.1"), Visitor("second", "192.0.2.1")
        slow = [asyncio.create_task(seats.compute(first, done.wait)) for _ in range(4)]
        await asyncio.sleep(0)
        answer = await asyncio.wait_for(seats.compute(second, str), 30)
        done.set()
        await asyncio.gather(*slow)
        return [answer]

    assert asyncio.run(both()) == [""]
