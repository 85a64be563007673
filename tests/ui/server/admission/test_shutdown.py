"""How the server ends: whatever waits is let go of, and nothing else is."""

import asyncio

import pytest

from explorer.ui.server.admission.shutdown import ServerShutdown, Shutdown


async def _never() -> None:
    await asyncio.Event().wait()


def test_waiting_requests_are_released_at_shutdown():
    async def held() -> None:
        ending = Shutdown()
        waits = [asyncio.create_task(ending.wait_for(_never())) for _ in range(3)]
        assert await ending.wait_for(asyncio.sleep(0, "here")) == "here"
        ending.begin()
        waits.append(ending.wait_for(_never()))  # nothing begins to wait any more
        raised = await asyncio.gather(*waits, return_exceptions=True)
        assert [type(error) for error in raised] == [ServerShutdown] * 4
        wait = asyncio.create_task(Shutdown().wait_for(_never()))
        await asyncio.sleep(0)
        wait.cancel()
        with pytest.raises(asyncio.CancelledError):  # a client that has left is told of no shutdown
            await wait

    asyncio.run(held())


def test_a_stream_continues_until_it_ends_or_the_server_stops():
    closed, ending = [], Shutdown()

    async def numbers(then):
        try:
            for number in range(3):
                yield number
            await then()
        finally:
            closed.append(then)

    async def end():
        ending.begin()
        await _never()

    async def streamed():
        streams = [ending.iterate(numbers(then)) for then in (lambda: asyncio.sleep(0), end)]
        return tuple([[number async for number in each] for each in streams])

    assert asyncio.run(streamed()) == ([0, 1, 2], [0, 1, 2])
    assert len(closed) == 2
