"""Who comes in and how fast: each limit set to 2."""

import asyncio
import resource
from collections.abc import Coroutine
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from explorer.instrument.limits import MAX_QUERY
from explorer.ui.server.admission import admission, limits
from explorer.ui.server.admission.paths import PAGES, Page
from explorer.ui.server.admission.visitors import VisitorQuota
from tests.ui.asgi import messages_of
from tests.ui.visitors import scope_of


class _Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


async def _gone() -> Message:
    return {"type": "websocket.disconnect", "code": 1000}


async def _sent(app: Any, scope: Scope, receive: Receive = _gone) -> list[Message]:
    return await messages_of(app, scope, receive=receive)


_answering = PlainTextResponse("here")


def _paced(visitor: int, address: int) -> admission.RateLimitMiddleware:
    rates = admission.VisitorRateLimiters(visitor_rate=visitor, address_rate=address)
    return admission.RateLimitMiddleware(_answering, rates)


def test_two_turns_at_once_and_then_two_a_second():
    clock = _Clock()
    pace = admission.RateLimiter(2, clock)
    assert [pace.acquire() for _ in range(4)] == [0, 0, 0.5, 0.5]
    clock.now += 0.25
    assert pace.acquire() == 0.25
    clock.now += 0.25
    assert [pace.acquire(), pace.acquire()] == [0, 0.5]
    clock.now += 100  # a long rest saves up no more than at first
    assert [pace.acquire(), pace.acquire(), pace.acquire()] == [0, 0, 0.5]


def test_only_the_hurried_visitor_is_refused():
    def codes(app: Any, count: int, **who: str) -> list[int]:
        return [asyncio.run(_sent(app, scope_of(**who)))[0]["status"] for _ in range(count)]

    app = _paced(2, 6)
    assert codes(app, 3, name="one") == [200, 200, 429]
    assert codes(app, 2, name="two") == [200, 200]  # at the same address
    assert codes(app, 3) == [200, 200, 429]  # what the others there have left
    assert codes(app, 2, address="10.0.0.2") == [200, 200]
    start, body = asyncio.run(_sent(app, scope_of(name="one")))
    assert b"more than 2 requests a second" in body["body"]
    assert dict(start["headers"])[b"retry-after"] == b"1"
    forgers = _paced(2, 2)
    forged = [codes(forgers, 1, cookie=f"name{number}.0") for number in range(3)]
    assert forged == [[200], [200], [429]]  # an invented name is none
    takers = _paced(2, 2)
    taken = [codes(takers, 1, name=f"name{number}") for number in range(3)]
    assert taken == [[200], [200], [429]]  # many names at one address are one crowd


def test_a_refusal_is_delayed_and_other_answers_are_immediate(monkeypatch: pytest.MonkeyPatch):
    """Whoever is refused at once asks again at once: refusals alone kept a server busy."""
    monkeypatch.setattr(limits, "REFUSAL_DELAY_S", 60.0)
    paced = _paced(1, 9)
    full = admission.PageLimitMiddleware(_held, max_pages=0)

    async def waiting(answer: Coroutine[Any, Any, Any]) -> bool:
        task = asyncio.create_task(answer)
        done, _ = await asyncio.wait([task], timeout=0.05)
        task.cancel()
        return not done

    async def visited() -> None:
        assert not await waiting(_sent(paced, scope_of(name="one")))
        assert await waiting(_sent(paced, scope_of(name="one")))
        assert not await waiting(_sent(paced, scope_of(name="two")))
        assert await waiting(_sent(full, scope_of(path="/")))
        assert await waiting(_sent(full, scope_of("websocket", "/_stcore/stream")))
        for code, waits in ((429, True), (400, False), (404, False), (503, False)):
            refusal = admission.handle_refused(Request(scope_of()), admission.RefusedError(code, "no"))
            assert await waiting(refusal) == waits

    asyncio.run(visited())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_that_is_asked_for_too_often_is_refused_as_a_page(page: Page):
    app = _paced(2, 2)
    for _ in range(2):
        asyncio.run(_sent(app, scope_of(path=page.path)))
    start, body = asyncio.run(_sent(app, scope_of(path=page.path)))
    headers = dict(start["headers"])
    assert (start["status"], headers[b"content-type"]) == (429, b"text/html; charset=utf-8")
    assert headers[b"refresh"] == headers[b"retry-after"] == b"15"
    text = body["body"].decode()
    assert "These are more than 2 requests a second: wait a moment." in text
    assert '<a href="">Ask now</a>' in text


def test_messages_on_a_page_are_escaped():
    assert b"&lt;b&gt;" in admission.make_html_refusal(503, "<b>").body


async def _held(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await _answering(scope, receive, send)
    while scope["type"] == "websocket" and (await receive())["type"] != "websocket.disconnect":
        pass


def test_a_third_page_is_refused_until_another_one_is_closed():
    async def visited() -> None:
        app = admission.PageLimitMiddleware(_held, max_pages=2)
        gone = [asyncio.Event() for _ in range(2)]

        async def open_page(left: asyncio.Event) -> None:
            async def receive() -> Message:
                await left.wait()
                return {"type": "websocket.disconnect", "code": 1000}

            assert await _sent(app, scope_of("websocket", "/_stcore/stream"), receive) == []

        tasks = [asyncio.create_task(open_page(left)) for left in gone]
        await asyncio.sleep(0)
        (closed,) = await _sent(app, scope_of("websocket", "/_stcore/stream"))
        assert (closed["code"], "2 pages are open" in closed["reason"]) == (1013, True)
        for page in PAGES:
            start, body = await _sent(app, scope_of(path=page.path))
            assert (start["status"], b"2 pages are open" in body["body"]) == (503, True)
        assert (await _sent(app, scope_of(path="/assets/x.js")))[0]["status"] == 200
        gone[0].set()
        await tasks[0]
        assert (await _sent(app, scope_of(path="/")))[0]["status"] == 200
        gone[1].set()
        await tasks[1]

    asyncio.run(visited())


KEEP_COOKIES = "let your browser keep cookies for this site, or try again in about a minute"


@pytest.mark.parametrize(
    ("share", "who", "page", "advice"),
    [
        ((2, 9, 9), [{"name": "one"}] * 3, 503, "close one of them and reload this one"),
        # With the page comes a name, for a browser that keeps it.
        ((9, 2, 9), [{}, {"cookie": "invented.0"}, {"cookie": "one"}], 200, KEEP_COOKIES),
        ((9, 9, 2), [{"name": "one"}, {"name": "two"}, {}], 503, "try again in about a minute"),
    ],
)
def test_a_third_page_of_a_group_is_refused_and_other_groups_are_not(
    share: tuple[int, int, int], who: list[dict[str, str]], page: int, advice: str
):
    async def visited() -> None:
        app = admission.PageLimitMiddleware(_held, quota=VisitorQuota(*share))
        left = asyncio.Event()

        async def receive() -> Message:
            await left.wait()
            return {"type": "websocket.disconnect", "code": 1000}

        def opened(**one: str) -> Any:
            return _sent(app, scope_of("websocket", "/_stcore/stream", **one), receive)

        tasks = [asyncio.create_task(opened(**one)) for one in who[:2]]
        await asyncio.sleep(0)
        (closed,) = await opened(**who[2])
        words = f"Your network has 2 pages open: {advice}."
        assert (closed["code"], closed["reason"]) == (1013, words)
        assert len(words) < 124  # what a websocket has room for
        start, body = await _sent(app, scope_of(path="/", **who[2]))
        assert start["status"] == page
        assert (words if page == 503 else "here") in body["body"].decode()
        tasks.append(asyncio.create_task(opened(name="another", address="10.0.0.2")))
        await asyncio.sleep(0)
        assert not tasks[2].done()
        left.set()
        assert await asyncio.gather(*tasks) == [[], [], []]
        assert not app._open_pages  # a server that runs for weeks keeps no number of who has left

    asyncio.run(visited())


def test_no_more_pages_than_there_are_files(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (2 * limits.FILES_PER_PAGE - 1, 10))
    app = admission.PageLimitMiddleware(_held, max_pages=1_000)
    app._open_pages["all"] = 1
    assert asyncio.run(_sent(app, scope_of(path="/")))[0]["status"] == 503


def test_a_sender_over_the_limit_is_read_later(monkeypatch: pytest.MonkeyPatch):
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

        received = admission._throttle_messages(receive, admission.RateLimiter(2, clock))
        count = 0
        while (await received())["type"] == "websocket.receive":
            count += 1
        return count

    monkeypatch.setattr(admission.asyncio, "sleep", sleep)
    assert asyncio.run(flooded()) == 10  # none is lost
    assert slept == pytest.approx([0.5] * 8)


def test_a_silent_connection_is_closed():
    async def conversation() -> list[Message]:
        messages = iter([{"type": "websocket.connect"}, {"type": "websocket.receive"}])

        async def receive() -> Message:
            if (message := next(messages, None)) is None:
                await asyncio.sleep(0.05)
                return {"type": "websocket.disconnect", "code": 1000}
            return message

        async def silent() -> Message:
            return await asyncio.Event().wait()  # type: ignore[return-value]  # it never does

        def throttled(receive: Receive) -> Receive:
            return admission._throttle_messages(
                receive, admission.RateLimiter(9), first_message_timeout_s=0.01
            )

        spoken = throttled(receive)
        told = [await spoken() for _ in range(3)]  # who has spoken once may be silent as long as he likes
        told.append(await throttled(silent)())
        return told

    told = asyncio.run(conversation())
    assert [message.get("code") for message in told] == [None, None, 1000, 1008]


def test_a_message_longer_than_any_of_ours_ends_the_connection():
    async def received(length: int) -> Message:
        async def receive() -> Message:
            return {"type": "websocket.receive", "bytes": bytes(length)}

        return await admission._throttle_messages(receive, admission.RateLimiter(2))()

    assert asyncio.run(received(limits.MAX_MESSAGE_BYTES))["type"] == "websocket.receive"
    assert asyncio.run(received(limits.MAX_MESSAGE_BYTES + 1)) == {
        "type": "websocket.disconnect",
        "code": 1009,
    }
    assert limits.MAX_MESSAGE_BYTES > 10 * MAX_QUERY


@pytest.mark.parametrize(
    ("now", "set_to"),
    [
        ((256, 20_000), (limits.MAX_OPEN_FILES, 20_000)), ((256, 1_024), (1_024, 1_024)),
        ((256, resource.RLIM_INFINITY), (limits.MAX_OPEN_FILES, resource.RLIM_INFINITY)),
        ((20_000, 20_000), None), ((resource.RLIM_INFINITY, resource.RLIM_INFINITY), None),
    ],
)  # fmt: skip
def test_the_soft_limit_of_open_files_is_raised(now, set_to, monkeypatch: pytest.MonkeyPatch):
    sets: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _which: now)
    monkeypatch.setattr(resource, "setrlimit", lambda _which, pair: sets.append(pair))
    admission.raise_file_limit()
    assert sets == ([] if set_to is None else [set_to])
    assert limits.MAX_OPEN_FILES >= limits.FILES_PER_PAGE * 400
