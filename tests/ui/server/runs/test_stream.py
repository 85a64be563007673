"""Runs as events: what a watcher is told, and when."""

import asyncio
import base64
import json
from dataclasses import replace

import numpy as np
import pytest
from starlette.requests import Request

from explorer.training import Settings
from explorer.ui.server.admission.visitors import VisitorQuota
from explorer.ui.server.runs import stream
from explorer.ui.server.runs.stream import StateBatcher
from tests.training.driving import LONG, SMALL, turn_until_idle
from tests.ui.visitors import scope_of

RACE = replace(SMALL, rules=("default", "zero"))


def told(engine, identity, most=99, meanwhile=lambda: None):
    """The events up to the end or to so many, as data; ``meanwhile`` is called after each."""

    async def watched():
        texts = []
        async for text in stream.stream_events(
            StateBatcher(engine), identity, (), stream.WatchLimiter(0.001).get_pause_s
        ):
            texts.append(text)
            if len(texts) == most:
                break
            meanwhile()
        return texts

    texts = asyncio.run(watched())
    assert all(text.startswith((":", "data: {")) and text.endswith("\n\n") for text in texts)
    return [json.loads(text.removeprefix("data: ")) for text in texts if text.startswith("data")]


def numbers(series):
    return np.frombuffer(base64.b64decode(series["bdata"]), f"<{series['dtype']}").tolist()


def test_a_watcher_sees_a_run_to_its_end(engine):
    identity = engine.start(RACE)
    seen = told(engine, identity, meanwhile=engine.turn)
    assert [event["step"] for event in seen] == sorted({event["step"] for event in seen})
    assert (seen[0]["state"], seen[0]["snapshot"], seen[0]["conclusion"]) == ("running", None, "")
    last, status = seen[-1], engine.snapshot(identity)
    assert (last["state"], last["sentence"]) == ("finished", status.sentence)
    for rule, losses in status.snapshot.losses.items():
        assert numbers(last["snapshot"]["losses"][rule]) == losses.tolist()
        assert numbers(last["snapshot"]["loss_steps"][rule]) == list(range(SMALL.steps))
        gradients = last["snapshot"]["gradients"][rule]
        assert gradients["passed"] == status.snapshot.gradients[rule].passed
    assert last["conclusion"].endswith(".")


def test_no_run_is_left_when_its_watchers_have_gone(engine, clock):
    identities = [engine.start(LONG, name) for name in "abc"]
    for identity in identities:
        told(engine, identity, most=2, meanwhile=engine.turn)
    (again,) = told(engine, identities[0], most=1)  # who reconnects gets the whole series
    assert len(numbers(again["snapshot"]["losses"]["default"])) == again["step"] > 0
    assert len(engine.list()) == 3
    clock.now += 10.0
    assert not engine.turn()
    assert [status.state for status in engine.list()] == ["paused"] * 3
    clock.now += 60.0
    assert engine.list() == ()


def test_no_event_is_sent_twice(engine, monkeypatch):
    monkeypatch.setattr(stream, "KEEPALIVE_S", 0.005)
    identity = engine.start(SMALL, paused=True)
    seen = told(engine, identity, most=4)
    assert [event["state"] for event in seen] == ["ready"]  # and three comments


def test_a_rate_set_while_a_run_is_paused_is_sent_immediately(engine):
    identity = engine.start(SMALL, paused=True)
    engine.command(identity, "step")
    seen = told(engine, identity, most=2, meanwhile=lambda: engine.change(identity, lr=1e-8))
    assert [event["recorded"]["branch"] for event in seen] == ["", "1,lr:1e-08"]


def test_a_line_is_named_by_the_rule_that_it_goes_on_with_from_its_first_step_on(engine):
    identity = engine.start(replace(SMALL, branch=((1, "default", "zero"),)), paused=True)
    seen = told(engine, identity, most=3, meanwhile=lambda: engine.command(identity, "step"))
    named = ["Zero (was Default autograd)" in event["conclusion"] for event in seen]
    assert [(event["step"], is_named) for event, is_named in zip(seen, named, strict=True)] == [
        (0, False), (1, False), (2, True),
    ]  # fmt: skip


def test_gradients_that_are_not_finite_are_null(engine):
    identity = engine.start(replace(SMALL, rules=("formula: g / 0",)))
    turn_until_idle(engine)
    (event,) = told(engine, identity)
    assert (event["state"], event["snapshot"]["gradients"]) == ("diverged", {"formula: g / 0": None})


def test_a_slow_reader_gets_fewer_events(engine):
    identity = engine.start(LONG)
    seen = told(engine, identity, most=4, meanwhile=lambda: [engine.turn() for _ in range(20)])
    assert np.diff([event["step"] for event in seen]).min() > 20


def request(run, name="", query=b""):
    return Request(scope_of(name=name) | {"path_params": {"job": run}, "query_string": query})


def test_the_route(client, engine):
    answer = client.get("/runs/nobody-knows/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["cache-control"] == "no-cache"
    event = json.loads(answer.text.removeprefix("data: "))
    assert event["state"] == "gone"
    assert "press Start" in event["sentence"]


THIRD_OF_A_NETWORK = "Your network already watches 2 trainings"


@pytest.mark.parametrize(
    ("most", "runs", "names", "said"),
    [
        ({"max_per_job": 2}, "aaa", "xyz", "This training is already watched in 2"),
        ({"quota": VisitorQuota(visitor=2, anonymous=9, address=9)}, "abc", "xxx", THIRD_OF_A_NETWORK),
        ({"quota": VisitorQuota(visitor=9, anonymous=2, address=9)}, "abc", ["", "", ""], THIRD_OF_A_NETWORK),
        ({"quota": VisitorQuota(visitor=9, anonymous=9, address=2)}, "abc", "abc", THIRD_OF_A_NETWORK),
        ({"max_watchers": 2}, "abc", "abc", "2 trainings are watched already"),
    ],
)
def test_only_the_third_watcher_is_refused(engine, most, runs, names, said):
    started = {name: engine.start(LONG, name) for name in "abc"}
    requests = [request(started[run], name) for run, name in zip(runs, names, strict=True)]
    watching = stream.WatchLimiter(**most)
    looks = StateBatcher(engine)

    async def watched():
        def counted(asked):
            run = asked.path_params["job"]
            return watching.guard_stream(asked, run, stream.stream_events(looks, run))

        events = [counted(one) for one in requests]
        for each in events[:2]:
            await anext(each)
        refused = [json.loads(text[6:]) async for text in counted(requests[2])]
        here = len(watching)
        await events[0].aclose()
        again = json.loads((await anext(events[2]))[6:])
        for each in events[1:]:
            await each.aclose()
        return refused, here, again

    (event,), here, again = asyncio.run(watched())
    assert (event["state"], said in event["sentence"], here) == ("crowded", True, 2)
    assert event["sentence"].endswith(("and reload the page.", "in about a minute."))
    assert again["state"] in ("running", "waiting")
    assert not watching._counts  # a server that runs for weeks keeps no number of who has left


def test_instruments_are_in_the_pictures_of_who_asks_for_them(engine):
    """Two watch one run: each sees what he asked for, and the engine measures both at once."""
    lab = Settings(task="circles", rules=("default", "clipped"), hidden=4, steps=9, device="cpu")
    identity = engine.start(lab, paused=True)

    async def watched():
        looks = StateBatcher(engine)
        wanted = [("causes",), ("alignment", "inputs"), ()]
        feeds = [stream.stream_events(looks, identity, shown) for shown in wanted]
        return await asyncio.gather(*map(anext, feeds))

    pictures = [json.loads(text.removeprefix("data: "))["snapshot"] for text in asyncio.run(watched())]
    assert [sorted(picture["measured"]) for picture in pictures] == [["causes"], ["alignment", "inputs"], []]
    assert pictures[0]["measured"]["causes"]["default"][0]["blocks"][0]["kind"] == "stack"
    assert pictures[1]["measured"]["alignment"]["clipped"]["cosine"]["dtype"] == "f4"
    assert pictures[2]["measured_steps"]["dtype"] == "i4"


def test_a_question_to_an_instrument_comes_with_its_numbers_and_is_told_by_its_key(engine):
    """Two watch one run and choose an example each; of two questions to one instrument the last counts."""
    lab = Settings(task="spikes", rules=("fast_sigmoid",), hidden=4, steps=9, device="cpu")
    identity = engine.start(lab, paused=True)

    async def watched(query):
        answer = await stream.stream_job(request(identity, query=query))
        return json.loads((await anext(answer.body_iterator)).removeprefix("data: "))["snapshot"]

    first = asyncio.run(watched(b"show=raster%3Fexample%3D1&show=none-such&show=raster%3Fexample%3D7"))
    other = asyncio.run(watched(b"show=raster"))
    examples = [each["measured"]["raster"]["fast_sigmoid"][0]["blocks"][0] for each in (first, other)]
    assert [each["kind"] for each in examples] == ["example"] * 2
    assert examples[0]["image"] != examples[1]["image"]
    assert list(first["measured"]) == ["raster"]
    assert first["most"]["raster"] == {"example": 359}
    beyond = asyncio.run(watched(b"show=raster%3Fexample%3D360"))
    assert beyond["measured"] == {}
    assert beyond["unmeasured"]["raster"] == "example must be from 0 to 359, not 360"
    assert beyond["unmeasured"]["alignment"].startswith("Not measured here: ")
