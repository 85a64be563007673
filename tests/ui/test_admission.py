"""Who comes in and how fast: each limit set to 2."""

from __future__ import annotations

import asyncio
import resource
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from explorer.instrument.limits import LONGEST_QUERY
from explorer.ui import admission, limits
from explorer.ui.pages import PAGES


class _Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def _scope(kind: str = "http", path: str = "/confirm", cookie: str = "", address: str = "10.0.0.1") -> Scope:
    headers = [(b"cookie", f"{admission.VISITOR}={cookie}".encode())] if cookie else []
    return {
        "type": kind,
        "method": "GET",
        "path": path,
        "query_string": b"",
        "scheme": "http",
        "headers": headers,
        "client": (address, 1),
        "server": ("127.0.0.1", 80),
    }


async def _sent(app: Any, scope: Scope, receive: Receive | None = None) -> list[Message]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def nothing() -> Message:
        return {"type": "websocket.disconnect", "code": 1000}

    await app(scope, receive or nothing, send)
    return sent


_answering = PlainTextResponse("here")


def test_two_turns_at_once_and_then_two_a_second():
    clock = _Clock()
    pace = admission.Pace(2, clock)
    assert [pace.take() for _ in range(4)] == [0, 0, 0.5, 0.5]
    clock.now += 0.25
    assert pace.take() == 0.25
    clock.now += 0.25
    assert [pace.take(), pace.take()] == [0, 0.5]
    clock.now += 100  # a long rest saves up no more than at first
    assert [pace.take(), pace.take(), pace.take()] == [0, 0, 0.5]


def test_a_hurried_visitor_is_told_and_nobody_else():
    app = admission.Paced(_answering, admission.Visitors(each=2, shared=2))

    def codes(count: int, **who: str) -> list[int]:
        return [asyncio.run(_sent(app, _scope(**who)))[0]["status"] for _ in range(count)]

    assert codes(3, cookie="one") == [200, 200, 429]
    assert codes(2, cookie="two") == [200, 200]  # at the same address
    assert codes(3) == [200, 200, 429]  # all without a cookie there
    assert codes(2, address="10.0.0.2") == [200, 200]
    start, body = asyncio.run(_sent(app, _scope(cookie="one")))
    assert b"more than 2 requests a second" in body["body"]
    assert dict(start["headers"])[b"retry-after"] == b"1"


def test_a_third_who_would_wait_is_told():
    async def computed() -> list[Any]:
        seats, go = admission.Seats(computing=1, waiting=2), asyncio.Event()
        loop = asyncio.get_running_loop()
        order: list[int] = []

        def work(number: int) -> int:
            order.append(number)
            if number == 0:
                asyncio.run_coroutine_threadsafe(go.wait(), loop).result()
            return number

        tasks = [asyncio.create_task(seats.compute(work, number)) for number in range(4)]
        refused = (await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED))[0].pop().exception()
        running = list(order)
        go.set()
        told = await asyncio.gather(*tasks[:3])
        return [refused, running, told, order, await seats.compute(work, 7)]

    refused, running, told, order, later = asyncio.run(computed())
    assert isinstance(refused, HTTPException)
    assert (refused.status_code, "2 requests wait" in refused.detail) == (429, True)
    assert len(running) <= 1  # one at a time
    assert (told, order[:3], later) == ([0, 1, 2], [0, 1, 2], 7)
    answer = asyncio.run(admission.refused(Request(_scope()), refused))
    assert (answer.status_code, b"2 requests wait" in answer.body) == (429, True)


async def _held(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await _answering(scope, receive, send)
    while scope["type"] == "websocket" and (await receive())["type"] != "websocket.disconnect":
        pass


def test_a_third_page_is_told_and_comes_in_when_one_has_left():
    async def visited() -> None:
        app = admission.Pages(_held, pages=2)
        gone = [asyncio.Event() for _ in range(2)]

        async def open_page(left: asyncio.Event) -> None:
            async def receive() -> Message:
                await left.wait()
                return {"type": "websocket.disconnect", "code": 1000}

            assert await _sent(app, _scope("websocket", "/_stcore/stream"), receive) == []

        tasks = [asyncio.create_task(open_page(left)) for left in gone]
        await asyncio.sleep(0)
        (closed,) = await _sent(app, _scope("websocket", "/_stcore/stream"))
        assert (closed["code"], "2 pages are open" in closed["reason"]) == (1013, True)
        for page in PAGES:
            start, body = await _sent(app, _scope(path=page.path))
            assert (start["status"], b"2 pages are open" in body["body"]) == (503, True)
        assert (await _sent(app, _scope(path="/assets/x.js")))[0]["status"] == 200
        gone[0].set()
        await tasks[0]
        assert (await _sent(app, _scope(path="/")))[0]["status"] == 200
        gone[1].set()
        await tasks[1]

    asyncio.run(visited())


def test_no_more_pages_than_there_are_files(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (2 * limits.FILES_A_PAGE - 1, 10))
    app = admission.Pages(_held, pages=1_000)
    app._open = 1
    assert asyncio.run(_sent(app, _scope(path="/")))[0]["status"] == 503


def test_who_sends_more_than_a_page_may_is_read_later(monkeypatch: pytest.MonkeyPatch):
    slept: list[float] = []
    clock = _Clock()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock.now += seconds

    async def flooded() -> int:
        messages = [{"type": "websocket.receive"}] * 10 + [{"type": "websocket.disconnect", "code": 1000}]
        waiting = iter(messages)

        async def receive() -> Message:
            return next(waiting)

        received = admission._slowed(receive, admission.Pace(2, clock))
        count = 0
        while (await received())["type"] == "websocket.receive":
            count += 1
        return count

    monkeypatch.setattr(admission.asyncio, "sleep", sleep)
    assert asyncio.run(flooded()) == 10  # none is lost
    assert slept == pytest.approx([0.5] * 8)


def test_a_message_longer_than_any_of_ours_ends_the_connection():
    async def received(length: int) -> Message:
        async def receive() -> Message:
            return {"type": "websocket.receive", "bytes": bytes(length)}

        return await admission._slowed(receive, admission.Pace(2))()

    assert asyncio.run(received(limits.MESSAGE))["type"] == "websocket.receive"
    assert asyncio.run(received(limits.MESSAGE + 1)) == {"type": "websocket.disconnect", "code": 1009}
    assert limits.MESSAGE > 10 * LONGEST_QUERY


def test_a_visitor_gets_a_name_once():
    fresh = admission.named(Request(_scope()), PlainTextResponse(""))
    cookie = fresh.headers["set-cookie"]
    assert cookie.startswith(f"{admission.VISITOR}=")
    assert {"HttpOnly", "SameSite=lax"} <= set(cookie.split("; "))
    again = admission.named(Request(_scope(cookie="one")), PlainTextResponse(""))
    assert "set-cookie" not in again.headers
    visitors = admission.Visitors()
    assert visitors.pace(HTTPConnection(_scope(cookie="one"))) is visitors.pace(
        HTTPConnection(_scope(cookie="one", address="10.0.0.9"))
    )


@pytest.mark.parametrize(
    ("now", "set_to"),
    [
        ((256, 20_000), (limits.OPEN_FILES, 20_000)),
        ((256, 1_024), (1_024, 1_024)),
        ((256, resource.RLIM_INFINITY), (limits.OPEN_FILES, resource.RLIM_INFINITY)),
        ((20_000, 20_000), None),
        ((resource.RLIM_INFINITY, resource.RLIM_INFINITY), None),
    ],
)
def test_the_soft_limit_of_open_files_is_raised(now, set_to, monkeypatch: pytest.MonkeyPatch):
    sets: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _which: now)
    monkeypatch.setattr(resource, "setrlimit", lambda _which, pair: sets.append(pair))
    admission.raise_open_files()
    assert sets == ([] if set_to is None else [set_to])
    assert limits.OPEN_FILES >= limits.FILES_A_PAGE * 400
