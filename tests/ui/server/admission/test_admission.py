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
from tests.ui.asgi import Answer, ask, messages_of
from tests.ui.server.classes.rooms import Clock
from tests.ui.visitors import scope_of

_answering = PlainTextResponse("here")


async def _gone() -> Message:
    return {"type": "websocket.disconnect", "code": 1000}


async def _held(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await _answering(scope, receive, send)
    while scope["type"] == "websocket" and (await receive())["type"] != "websocket.disconnect":
        pass


def _open_page(app: Any, receive: Receive = _gone, **who: str) -> Coroutine[Any, Any, list[Message]]:
    return messages_of(app, scope_of("websocket", "/_stcore/stream", **who), receive=receive)


def _get(app: Any, path: str = "/sheet", **who: str) -> Coroutine[Any, Any, Answer]:
    return ask(app, scope_of(path=path, **who))


def _paced(visitor: int, address: int) -> admission.RateLimitMiddleware:
    rates = admission.VisitorRateLimiters(visitor, address, Clock())
    return admission.RateLimitMiddleware(_answering, rates)


def test_two_turns_at_once_and_then_two_a_second():
    clock = Clock()
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
        return [asyncio.run(_get(app, **who)).status for _ in range(count)]

    app = _paced(2, 6)
    assert codes(app, 3, name="one") == [200, 200, 429]
    assert codes(app, 2, name="two") == [200, 200]  # at the same address
    assert codes(app, 3) == [200, 200, 429]  # what the others there have left
    assert codes(app, 2, address="10.0.0.2") == [200, 200]
    answer = asyncio.run(_get(app, name="one"))
    assert "more than 2 requests a second" in answer.text
    assert answer.headers["retry-after"] == "1"
    for who in ({"cookie": "name{}.0"}, {"name": "name{}"}):  # an invented name is none, many are one crowd
        paced = _paced(2, 2)
        asked = [{key: text.format(number) for key, text in who.items()} for number in range(3)]
        assert [codes(paced, 1, **each) for each in asked] == [[200], [200], [429]]


def test_a_refusal_is_delayed_and_other_answers_are_immediate(monkeypatch: pytest.MonkeyPatch):
    """Whoever is refused at once asks again at once: refusals alone kept a server busy."""
    monkeypatch.setattr(limits, "REFUSAL_DELAY_S", 60.0)
    paced = _paced(1, 9)
    full = admission.PageLimitMiddleware(_held, max_pages=0)
    refusals = [admission.RefusedError(code, "no") for code in (429, 400, 404, 503)]

    async def visited() -> list[bool]:
        waits = []
        for answer in (
            _get(paced, name="one"), _get(paced, name="one"), _get(paced, name="two"), _get(full, "/"),
            _open_page(full), *(admission.handle_refused(Request(scope_of()), each) for each in refusals),
        ):  # fmt: skip
            task = asyncio.create_task(answer)
            done, _ = await asyncio.wait([task], timeout=0.05)
            task.cancel()
            waits.append(not done)
        return waits

    assert asyncio.run(visited()) == [False, True, False, True, True, True, False, False, False]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_that_is_asked_for_too_often_is_refused_as_a_page(page: Page):
    app = _paced(2, 2)
    *_, answer = [asyncio.run(_get(app, page.path)) for _ in range(3)]
    assert (answer.status, answer.headers["content-type"]) == (429, "text/html; charset=utf-8")
    assert answer.headers["refresh"] == answer.headers["retry-after"] == "15"
    assert "These are more than 2 requests a second: wait a moment." in answer.text
    assert '<a href="">Ask now</a>' in answer.text
    assert b"&lt;b&gt;" in admission.make_html_refusal(503, "<b>").body


def _receive_after(left: asyncio.Event) -> Receive:
    async def receive() -> Message:
        await left.wait()
        return await _gone()

    return receive


def test_a_third_page_is_refused_until_another_one_is_closed():
    async def visited() -> None:
        app = admission.PageLimitMiddleware(_held, max_pages=2)
        gone = [asyncio.Event() for _ in range(2)]
        tasks = [asyncio.create_task(_open_page(app, _receive_after(left))) for left in gone]
        await asyncio.sleep(0)
        (closed,) = await _open_page(app)
        assert (closed["code"], "2 pages are open" in closed["reason"]) == (1013, True)
        for page in PAGES:
            answer = await _get(app, page.path)
            assert (answer.status, "2 pages are open" in answer.text) == (503, True)
        assert (await _get(app, "/assets/x.js")).status == 200
        gone[0].set()
        assert await tasks[0] == []
        assert (await _get(app, "/")).status == 200
        gone[1].set()
        assert await tasks[1] == []

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
def test_a_third_page_of_a_group_is_refused_and_other_groups_are_not(share, who, page: int, advice: str):
    async def visited() -> None:
        app = admission.PageLimitMiddleware(_held, quota=VisitorQuota(*share))
        left = asyncio.Event()
        others = [*who[:2], {"name": "another", "address": "10.0.0.2"}]
        tasks = [asyncio.create_task(_open_page(app, _receive_after(left), **one)) for one in others]
        await asyncio.sleep(0)
        (closed,) = await _open_page(app, **who[2])
        words = f"Your network has 2 pages open: {advice}."
        assert (closed["code"], closed["reason"]) == (1013, words)
        assert len(words) < 124  # what a websocket has room for
        answer = await _get(app, "/", **who[2])
        assert (answer.status, (words if page == 503 else "here") in answer.text) == (page, True)
        assert not tasks[2].done()
        left.set()
        assert await asyncio.gather(*tasks) == [[], [], []]
        assert not app._open_pages  # a server that runs for weeks keeps no number of who has left

    asyncio.run(visited())


def test_no_more_pages_than_there_are_files(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (2 * limits.FILES_PER_PAGE - 1, 10))
    app = admission.PageLimitMiddleware(_held, max_pages=1_000)
    app._open_pages["all"] = 1
    assert asyncio.run(_get(app, "/")).status == 503


def _receiving(*messages: Message) -> Receive:
    """Return what receives these messages and then, after a rest, the end of the connection."""
    waiting = iter(messages)

    async def receive() -> Message:
        if (message := next(waiting, None)) is None:
            await asyncio.sleep(0.05)
            return await _gone()
        return message

    return receive


def test_a_sender_over_the_limit_is_read_later(monkeypatch: pytest.MonkeyPatch):
    slept: list[float] = []
    clock = Clock()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock.now += seconds

    async def flooded() -> None:
        flood = _receiving(*[{"type": "websocket.receive"}] * 10)
        received = admission._throttle_messages(flood, admission.RateLimiter(2, clock))
        for _ in range(10):  # none is lost
            assert (await received())["type"] == "websocket.receive"

    monkeypatch.setattr(admission.asyncio, "sleep", sleep)
    asyncio.run(flooded())
    assert slept == pytest.approx([0.5] * 8)


def test_a_silent_connection_is_closed():
    async def conversation() -> list[Message]:
        def throttled(receive: Any) -> Receive:
            limiter = admission.RateLimiter(9)
            return admission._throttle_messages(receive, limiter, first_message_timeout_s=0.01)

        spoken = throttled(_receiving({"type": "websocket.connect"}, {"type": "websocket.receive"}))
        told = [await spoken() for _ in range(3)]  # who has spoken once may be silent as long as he likes
        return [*told, await throttled(asyncio.Event().wait)()]

    assert [message.get("code") for message in asyncio.run(conversation())] == [None, None, 1000, 1008]


def test_a_message_longer_than_any_of_ours_ends_the_connection():
    def received(length: int) -> Any:
        long = _receiving({"type": "websocket.receive", "bytes": bytes(length)})
        return asyncio.run(admission._throttle_messages(long, admission.RateLimiter(2))())

    assert received(limits.MAX_MESSAGE_BYTES)["type"] == "websocket.receive"
    ended = {"type": "websocket.disconnect", "code": 1009}
    assert received(limits.MAX_MESSAGE_BYTES + 1) == ended
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
