"""A run as events: what a watcher is told, and when."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from dataclasses import replace

import numpy as np
from starlette.requests import Request

from explorer.training import Engine, Limits
from explorer.ui import stream
from tests.training.driving import LONG, SMALL, turn_until_idle

RACE = replace(SMALL, rules=("default", "zero"))


def told(engine, identity, most=99, meanwhile=lambda: None):
    """The events up to the end or to so many, as data; ``meanwhile`` is called after each."""

    async def watched():
        found = []
        async for text in stream.events(engine, identity, interval_s=0.001):
            found.append(text)
            if len(found) == most:
                break
            meanwhile()
        return found

    texts = asyncio.run(watched())
    assert all(text.startswith((":", "data: {")) and text.endswith("\n\n") for text in texts)
    return [json.loads(text.removeprefix("data: ")) for text in texts if text.startswith("data")]


def numbers(series):
    return np.frombuffer(base64.b64decode(series["bdata"]), f"<{series['dtype']}").tolist()


def test_a_watcher_sees_a_run_to_its_end(engine):
    identity = engine.start(RACE)
    seen = told(engine, identity, meanwhile=engine.turn)
    assert [event["step"] for event in seen] == sorted({event["step"] for event in seen})
    assert (seen[0]["state"], seen[0]["snapshot"], seen[0]["words"]) == ("running", None, [])
    last, status = seen[-1], engine.snapshot(identity)
    assert (last["state"], last["sentence"]) == ("finished", status.sentence)
    for rule, losses in status.snapshot.losses.items():
        assert numbers(last["snapshot"]["losses"][rule]) == losses.tolist()
        assert numbers(last["snapshot"]["loss_steps"][rule]) == list(range(SMALL.steps))
        gradients = last["snapshot"]["gradients"][rule]
        assert gradients["passed"] == status.snapshot.gradients[rule].passed
        assert len(numbers(gradients["edges"])) == len(numbers(gradients["passed_counts"])) + 1
    assert len(last["words"]) == 3


def test_a_reconnect_starts_afresh_with_the_whole_series(engine):
    identity = engine.start(LONG)
    told(engine, identity, most=2, meanwhile=engine.turn)
    (again,) = told(engine, identity, most=1)
    assert len(numbers(again["snapshot"]["losses"]["default"])) == again["step"] > 0


def test_nothing_is_told_twice(engine, monkeypatch):
    monkeypatch.setattr(stream, "QUIET_S", 0.005)
    identity = engine.start(SMALL, paused=True)
    seen = told(engine, identity, most=4, meanwhile=lambda: None)
    assert [event["state"] for event in seen] == ["ready"]  # and three comments


def test_a_watched_run_that_was_forgotten_is_gone(engine):
    (event,) = told(engine, "nobody-knows")
    assert event["state"] == "gone"
    assert "press Start" in event["sentence"]


def test_values_that_are_not_finite_are_null(engine):
    identity = engine.start(replace(SMALL, rules=("formula: g / 0",)))
    turn_until_idle(engine)
    (event,) = told(engine, identity)
    assert (event["state"], event["snapshot"]["gradients"]) == ("diverged", {"formula: g / 0": None})
    assert stream._data({"a": [float("inf")], "b": float("nan")})["b"] is None


def test_an_engine_that_is_silent_is_said_and_asked_again(engine):
    class Silent:
        def __init__(self):
            self.failures = 2

        def snapshot(self, identity):
            self.failures -= 1
            if self.failures >= 0:
                raise RuntimeError("the training process does not answer")
            return engine.snapshot(identity)

    seen = told(Silent(), engine.start(SMALL, paused=True), most=2)
    assert [event["state"] for event in seen] == ["silent", "ready"]
    assert seen[0]["sentence"] == "Training is not available just now: the training process does not answer."


def test_who_is_slow_gets_fewer_events(engine):
    identity = engine.start(LONG)
    seen = told(engine, identity, most=4, meanwhile=lambda: [engine.turn() for _ in range(20)])
    assert np.diff([event["step"] for event in seen]).min() > 20


def test_the_event_loop_is_never_held(engine):
    """While the engine takes its time others go on."""
    waits, asked = threading.Event(), threading.Event()

    class Slow:
        def snapshot(self, identity):
            asked.set()
            assert waits.wait(10)
            return engine.snapshot(identity)

    async def both():
        watcher = asyncio.create_task(anext(stream.events(Slow(), "a run")))
        while not asked.is_set():
            await asyncio.sleep(0.001)
        waits.set()  # nobody could do that if the loop were held
        return await watcher

    assert "gone" in asyncio.run(both())


def test_the_route(monkeypatch):
    engine = Engine(Limits(workers=0))
    monkeypatch.setattr(stream, "shared_engine", lambda: engine)

    async def answered():
        request = Request({"type": "http", "path_params": {"run": "nobody-knows"}})
        answer = await stream.run_events(request)
        return answer, [part async for part in answer.body_iterator]

    answer, (text,) = asyncio.run(answered())
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["cache-control"] == "no-cache"
    assert json.loads(text.removeprefix("data: "))["state"] == "gone"


def test_all_watchers_together_share_the_pictures_of_a_second(engine, monkeypatch):
    slept = []

    async def sleep(seconds):
        slept.append(seconds)

    async def watched():
        one, other = (
            stream._counted(stream.events(engine, engine.start(LONG, name), 0.001)) for name in "ab"
        )
        await anext(one)
        await anext(other)
        engine.turn()
        await anext(one)
        await other.aclose()
        for _ in range(2):
            engine.turn()
        await anext(one)
        await one.aclose()

    monkeypatch.setattr(stream, "PICTURES", 2)
    monkeypatch.setattr(stream.asyncio, "sleep", sleep)
    asyncio.run(watched())
    assert (slept[0], slept[-1]) == (1, 0.5)
    assert not stream._watching
