"""Who computes next: visitors take turns by the time they have used."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from explorer.ui.server.admission import admission, compute_slots
from explorer.ui.server.admission.compute_slots import ComputeSlots
from explorer.ui.server.admission.visitors import Visitor
from tests.ui.visitors import scope_of


@pytest.fixture(autouse=True)
def _without_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    async def awaited(work: Callable[[], Any]) -> Any:
        return await work()

    monkeypatch.setattr(compute_slots, "run_in_threadpool", awaited)


class _House:
    """Seats on a clock of their own; each work takes the seconds it says."""

    def __init__(self, computing: int, waiting: int) -> None:
        self.now = 0.0
        self.seats = ComputeSlots(computing, waiting, clock=lambda: self.now)
        self.order: list[str] = []
        self.tasks: list[asyncio.Task[Any]] = []
        self._go: list[asyncio.Event] = []

    async def ask(self, visitor: str, seconds: float = 1.0, address: str | None = None) -> asyncio.Task[Any]:
        """A request of a visitor, who has an address alone where none is given."""
        go = asyncio.Event()

        async def work() -> str:
            self.order.append(visitor)
            self._go.append(go)
            await go.wait()
            self.now += seconds
            return visitor

        task = asyncio.create_task(self.seats.compute(Visitor(visitor, address or visitor), work))
        self.tasks.append(task)
        await _settled()
        return task

    async def finish(self) -> list[Any]:
        """One by one, until nobody is left: return what each got, a refusal included."""
        while self._go:
            self._go.pop(0).set()
            await _settled()
        return await asyncio.gather(*self.tasks, return_exceptions=True)


async def _settled() -> None:
    for _ in range(9):
        await asyncio.sleep(0)


def _finished(slots: int, waiting: int, *asked: tuple[Any, ...]) -> tuple[_House, list[Any]]:
    """A house after visitors, who ask by name, seconds and address, are all gone; what each got."""

    async def visited() -> tuple[_House, list[Any]]:
        house = _House(slots, waiting)
        for one in asked:
            await house.ask(*one)
        return house, await house.finish()

    return asyncio.run(visited())


def _order(*asked: tuple[Any, ...]) -> list[str]:
    house, _ = _finished(1, 999, *asked)
    assert not house.seats._visitors  # nothing is kept of who has left
    assert not len(house.seats._queue)
    return house.order


def test_a_visitor_of_many_requests_holds_up_himself_only():
    asked = [("many",)] * 4 + [("one",), ("other",)]
    assert _order(*asked) == ["many", "one", "other", "many", "many", "many"]


def test_long_computations_weigh_more_than_short_ones():
    asked = [("long", 5.0), ("short", 1.0)] * 5
    assert _order(*asked) == ["long", *["short"] * 5, *["long"] * 4]


def test_a_class_of_nine_behind_one_address_has_three_turns_while_one_person_elsewhere_has_one():
    pupils = [(f"pupil {number}", 1.0, "school") for number in range(9)] * 3
    order = _order(*pupils, *[("one", 1.0, "home")] * 5)
    assert [order.index("one", 4 * turn) % 4 for turn in range(5)] == [order.index("one")] * 5


def test_no_visitor_has_all_seats():
    async def visited() -> list[list[str]]:
        house, seen = _House(2, 9), []
        for visitor in ("a", "a", "a", "b"):
            await house.ask(visitor)
            seen.append(list(house.order))
        await house.finish()
        return [*seen, house.order]

    assert asyncio.run(visited()) == [["a"], ["a"], ["a"], ["a", "b"], ["a", "b", "a", "a"]]


def test_a_line_that_can_have_no_seat_is_not_put_in_order(monkeypatch: pytest.MonkeyPatch):
    """One attacker's line of 64 took a sixth of the server's time, one order a request."""

    async def visited() -> int:
        house, asked = _House(2, 99), []
        for name in ("order", "find_first"):
            search = getattr(queue := house.seats._queue, name)
            noted = lambda items, search=search: asked.append(items) or search(items)  # noqa: E731
            monkeypatch.setattr(queue, name, noted)
        for _ in range(9):
            await house.ask("many")
        before = len(list(filter(None, asked)))
        await house.ask("one")  # the second seat
        assert house.order == ["many", "one"]
        await house.ask("other")  # no seat is free
        assert len(list(filter(None, asked))) == before + 1
        await house.finish()
        return before

    assert asyncio.run(visited()) == 1


def test_a_third_waiting_request_is_refused():
    _, (*served, refused) = _finished(1, 2, ("a",), ("b",), ("c",), ("d",))
    assert served == ["a", "b", "c"]
    crowd = [(f"name {number}", 1.0, "crowded") for number in range(3)]
    for asked in ([("many",)] * 3, crowd):  # the last of the longest line, or of the busiest address
        _, (*kept, last, one) = _finished(1, 2, *asked, ("one",))
        assert kept == [name for name, *_ in asked[:2]]
        assert isinstance(last, HTTPException)
        assert one == "one"
    answer = asyncio.run(admission.handle_refused(Request(scope_of()), refused))
    assert (answer.status_code, b"2 requests are waiting" in answer.body) == (429, True)


def test_a_leaving_client_frees_its_place_and_its_slot():
    async def visited() -> tuple[list[str], ComputeSlots]:
        house = _House(1, 9)
        _, waiting, seated, _ = [await house.ask(visitor) for visitor in "abcd"]
        waiting.cancel()
        await _settled()
        house._go.pop(0).set()  # c is given the seat, and goes in the same moment
        while not any(map(compute_slots._has_slot, house.seats._visitors)):
            await asyncio.sleep(0)
        seated.cancel()
        await _settled()
        await house.finish()
        return house.order, house.seats

    order, left = asyncio.run(visited())
    assert (order[0], order[-1]) == ("a", "d")
    assert "b" not in order
    assert (left._visitors, len(left._queue)) == ({}, 0)


def test_a_client_that_leaves_at_its_turn_passes_it_on():
    """The turn of somebody whose task was cancelled, and who has not been told so yet."""

    async def visited() -> list[str]:
        house = _House(1, 9)
        for visitor in "abc":
            await house.ask(visitor)
        house.tasks[1].cancel()
        house._go.pop(0).set()
        await _settled()
        await house.finish()
        return house.order

    assert asyncio.run(visited()) == ["a", "c"]
