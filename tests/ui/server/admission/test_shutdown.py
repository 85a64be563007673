"""How the server ends: whatever waits is let go of, and nothing else is."""

import asyncio

import pytest

from explorer.ui.server.admission.shutdown import ServerShutdown, Shutdown


async def _never() -> None:
    await asyncio.Event().wait()


def test_waiting_requests_are_released_at_shutdown():
    async def held() -> BaseException | str:
        ending = Shutdown()
        waits = [asyncio.create_task(ending.wait_for(_never())) for _ in range(3)]
        early = await ending.wait_for(asyncio.sleep(0, "here"))
        ending.begin()
        raised = await asyncio.gather(*waits, return_exceptions=True)
        assert [type(error) for error in raised] == [ServerShutdown] * 3
        with pytest.raises(ServerShutdown):  # nothing begins to wait any more
            await ending.wait_for(_never())
        return early

    assert asyncio.run(held()) == "here"


def test_a_client_that_has_left_is_not_notified_of_the_shutdown():
    async def left() -> None:
        wait = asyncio.create_task(Shutdown().wait_for(_never()))
        await asyncio.sleep(0)
        wait.cancel()
        with pytest.raises(asyncio.CancelledError):
            await wait

    asyncio.run(left())


def test_a_stream_continues_until_it_ends_or_the_server_stops():
    closed = []

    async def numbers(then):
        try:
            for number in range(3):
                yield number
            await then()
        finally:
            closed.append(then)

    async def streamed():
        ending = Shutdown()
        whole = [number async for number in ending.iterate(numbers(lambda: asyncio.sleep(0)))]
        cut = []
        async for number in ending.iterate(numbers(_never)):
            cut.append(number)
            if number == 2:
                asyncio.get_running_loop().call_later(0.01, ending.begin)
        return whole, cut

    assert asyncio.run(streamed()) == ([0, 1, 2], [0, 1, 2])
    assert len(closed) == 2
