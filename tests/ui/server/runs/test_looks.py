"""Looks at runs that several watch: one question, one picture, and never the loop that serves everybody."""

import asyncio
import json
import threading
from types import SimpleNamespace
from unittest.mock import AsyncMock

import numpy as np
import pytest

from explorer.ui.server.runs import stream
from explorer.ui.server.runs.stream import StateBatcher
from tests.training.driving import LONG, SMALL
from tests.training.scheduling.counting import make_counting
from tests.ui.server.runs.test_stream import told


def asked_after(engine, before):
    """Return an engine that is asked after something else was done with what is asked for."""
    return SimpleNamespace(snapshots=lambda shown: before(shown) or engine.snapshots(shown))


def batched(engine, before):
    return StateBatcher(asked_after(engine, before))


def test_all_watchers_together_share_the_pictures_of_a_second():
    """All look at the same moments: of all 0.5 s, of all 10 s, of all 20 s."""
    watching = stream.WatchLimiter(interval_s=0.5, frames_per_s=0.1)
    for watchers, now, pause in ((0, 1005.2, 0.3), (1, 1005, 5), (2, 1005, 15)):
        watching._counts["all"] = watchers
        assert watching.get_pause_s(now) == pytest.approx(pause)


def test_simultaneous_watchers_share_one_request(engine):
    questions = []
    identities = [engine.start(SMALL, name) for name in "abc"]
    everyone = [*identities, identities[0]]

    async def watched():
        looks = batched(engine, lambda shown: questions.append(list(shown)))
        return await asyncio.gather(*(anext(stream.stream_events(looks, each)) for each in everyone))

    texts = asyncio.run(watched())
    assert questions == [identities]
    assert [json.loads(text.removeprefix("data: "))["id"] for text in texts] == everyone


def test_after_a_look_at_several_runs_they_have_as_long_for_themselves(engine, monkeypatch):
    clock, rest = [0.0], AsyncMock()

    def work(shown):
        clock[0] += 0.25 * len(shown)

    async def looked(*identities):
        looks = batched(engine, work)
        await asyncio.gather(*map(looks.get_state, identities))
        await looks._task

    identities = [engine.start(SMALL, name) for name in "ab"]
    monkeypatch.setattr(stream, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(stream.asyncio, "sleep", rest)
    asyncio.run(looked(identities[0]))
    rest.assert_not_called()
    asyncio.run(looked(*identities))
    rest.assert_called_once_with(0.5)


def test_a_picture_is_encoded_once_and_away_from_the_loop_that_serves_everybody(engine, monkeypatch):
    encoded, event = [], stream.format_event

    def noted(status, shown):
        encoded.append((status.id, threading.current_thread()))
        return event(status, shown)

    async def watched(identity):
        looks = StateBatcher(engine)
        return await asyncio.gather(*(anext(stream.stream_events(looks, identity)) for _ in range(3)))

    monkeypatch.setattr(stream, "format_event", noted)
    identity = engine.start(SMALL)
    assert len(set(asyncio.run(watched(identity)))) == 1
    ((run, thread),) = encoded
    assert run == identity
    assert thread is not threading.current_thread()


@pytest.mark.parametrize("kind", ["run", "study"])
def test_a_seen_snapshot_is_not_encoded_again_until_a_new_watcher_asks(engine, monkeypatch, kind):
    encoded, event = [], stream.format_event
    monkeypatch.setattr(stream, "format_event", lambda *given: encoded.append(given) or event(*given))
    if kind == "run":
        identity = engine.start(SMALL, paused=True)
    else:
        identity = engine.start_study(make_counting(engine._clock), None)

    async def looked():
        looks = StateBatcher(engine)
        first = await looks.get_state(identity)
        again = await looks.get_state(identity, (), first.mark)
        both = await asyncio.gather(looks.get_state(identity, (), first.mark), looks.get_state(identity))
        return first, again, *both

    first, again, *both = asyncio.run(looked())
    assert (first.mark, again.text, len(encoded)) == (again.mark, "", 2)
    assert [each.text for each in both] == [first.text] * 2


def test_a_look_that_fails_ends_the_streams_and_the_next_one_is_taken(engine):
    mistakes = [ValueError("a mistake of ours")]

    def fail_once(_shown):
        if mistakes:
            raise mistakes.pop()

    async def watched():
        looks = batched(engine, fail_once)
        with pytest.raises(ValueError, match="a mistake of ours"):
            await anext(stream.stream_events(looks, "a run"))
        return await anext(stream.stream_events(looks, "a run"))

    assert "gone" in asyncio.run(watched())


def test_a_periodic_request_is_answered_periodically(engine, monkeypatch):
    """However long a look takes, as long as it takes less than that."""
    times, now = [], [0.0]

    def work(_shown):
        now[0] += 0.03
        engine.turn()

    async def sleep(seconds):
        now[0] += seconds

    async def watched():
        loop = asyncio.get_running_loop()
        monkeypatch.setattr(loop, "time", lambda: now[0])
        async for _ in stream.stream_events(
            batched(engine, work), engine.start(LONG), (), stream.WatchLimiter(0.05).get_pause_s
        ):
            times.append(now[0])
            if len(times) == 5:
                break

    monkeypatch.setattr(stream.asyncio, "sleep", sleep)
    asyncio.run(watched())
    assert np.diff(times) == pytest.approx([0.05] * 4)


def test_the_event_loop_is_never_held(engine):
    """While the engine takes its time others go on."""
    waits, reached = threading.Event(), threading.Event()

    def wait(_shown):
        reached.set()
        assert waits.wait(10)

    async def both():
        watcher = asyncio.create_task(anext(stream.stream_events(batched(engine, wait), "a run")))
        while not reached.is_set():
            await asyncio.sleep(0.001)
        waits.set()  # nobody could do that if the loop were held
        return await watcher

    assert "gone" in asyncio.run(both())


def test_a_silent_engine_is_reported_and_asked_again(engine):
    failures = [RuntimeError("the training process does not answer")] * 2

    def fail_twice(_shown):
        if failures:
            raise failures.pop()

    seen = told(asked_after(engine, fail_twice), engine.start(SMALL, paused=True), most=2)
    assert [event["state"] for event in seen] == ["silent", "ready"]
    assert seen[0]["sentence"] == "Training is unavailable: the training process does not answer."
