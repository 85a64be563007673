"""How the server ends: whatever waits is let go of, and nothing else is."""

from __future__ import annotations

import asyncio
import signal
from types import SimpleNamespace

import pytest

from explorer.ui import ending as module
from explorer.ui.ending import GRACE_S, Ending, ServerEnds, follow_server


async def _never() -> None:
    await asyncio.Event().wait()


def test_who_waits_is_let_go_of():
    async def held() -> BaseException | str:
        ending = Ending()
        waits = [asyncio.create_task(ending.before(_never())) for _ in range(3)]
        early = await ending.before(asyncio.sleep(0, "here"))
        ending.begin()
        raised = await asyncio.gather(*waits, return_exceptions=True)
        assert [type(error) for error in raised] == [ServerEnds] * 3
        with pytest.raises(ServerEnds):  # nothing begins to wait any more
            await ending.before(_never())
        return early

    assert asyncio.run(held()) == "here"


def test_who_leaves_by_himself_is_not_told_that_the_server_ends():
    async def left() -> None:
        wait = asyncio.create_task(Ending().before(_never()))
        await asyncio.sleep(0)
        wait.cancel()
        with pytest.raises(asyncio.CancelledError):
            await wait

    asyncio.run(left())


def test_a_stream_goes_on_until_its_end_or_the_servers():
    closed = []

    async def numbers(then):
        try:
            for number in range(3):
                yield number
            await then()
        finally:
            closed.append(then)

    async def streamed():
        ending = Ending()
        whole = [number async for number in ending.until(numbers(lambda: asyncio.sleep(0)))]
        cut = []
        async for number in ending.until(numbers(_never)):
            cut.append(number)
            if number == 2:
                asyncio.get_running_loop().call_later(0.01, ending.begin)
        return whole, cut

    assert asyncio.run(streamed()) == ([0, 1, 2], [0, 1, 2])
    assert len(closed) == 2


def test_the_servers_signal_begins_the_end(monkeypatch: pytest.MonkeyPatch):
    """Of uvicorn's server what is used, whose method hears the signal."""

    class Server(SimpleNamespace):
        def handle_exit(self, *_: object) -> None:
            self.should_exit = True

    async def followed(grace: int | None) -> tuple[bool, int]:
        server = Server(should_exit=False, config=SimpleNamespace(timeout_graceful_shutdown=grace))
        monkeypatch.setattr(signal, "getsignal", lambda _sign: server.handle_exit)
        monkeypatch.setattr(module, "ending", ending := Ending())
        following = asyncio.create_task(follow_server())
        wait = asyncio.create_task(ending.before(_never()))
        await asyncio.sleep(0)
        before = wait.done()
        server.handle_exit()
        await following
        with pytest.raises(ServerEnds):
            await wait
        return before, server.config.timeout_graceful_shutdown

    assert asyncio.run(followed(None)) == (False, GRACE_S)
    assert asyncio.run(followed(30)) == (False, 30)  # what was asked for on the command line
    monkeypatch.setattr(signal, "getsignal", lambda _sign: signal.SIG_DFL)
    asyncio.run(follow_server())  # another server, which has its own ways
