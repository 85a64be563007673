"""Runs that are looked at, taken away and brought back: by whom, and what is refused."""

import asyncio
import csv
import gzip
import io
import json
import threading

import pytest
from safetensors.torch import load

from explorer.takeaway import read_settings
from explorer.training import Run, Settings, Table
from explorer.ui.server.admission import limits
from explorer.ui.server.admission.visitors import Visitor
from explorer.ui.server.runs import jobs, responses, takeaway
from explorer.ui.server.runs.stream import format_event
from tests.training.driving import turn_until_idle
from tests.training.tables import POINTS
from tests.ui.server.runs.test_jobs import begun, commanded, told

QUERY = "task=moons&op=sign&rule=default&rule=clipped&steps=20&hidden=4&batch=8&pace=full&device=cpu"


@pytest.fixture
def run(client, engine):
    """One that is over, its learning rate changed after two steps."""
    started = begun(client, query=QUERY, paused=True)
    commanded(client, started, "step")
    commanded(client, started, "step")
    commanded(client, started, "resume", lr="0.02")
    turn_until_idle(engine)
    return started


@pytest.fixture
def alone():
    """The same run, without an engine."""
    there = Run(jobs.read_run_settings({"query": f"{QUERY}&branch=2,lr:0.02"}))
    there.advance(20)
    return there


def listed(tensors):
    return {name: each.tolist() for name, each in tensors.items()}


def taken(client, run, name, key=None):
    return client.post(f"/runs/{run['id']}/files/{name}", {"key": key or run["key"]})


def test_each_file_is_of_the_run_as_it_was(client, run, alone):
    answer = taken(client, run, "history.csv")
    losses = [float(row["loss"]) for row in [*csv.DictReader(io.StringIO(answer.text))][:20]]
    assert losses == pytest.approx(alone.snapshot().losses["default"].tolist())
    assert answer.headers["content-disposition"] == 'attachment; filename="history.csv"'
    assert read_settings(taken(client, run, "settings.json").text) == alone.settings
    assert listed(load(taken(client, run, "weights.safetensors").body)) == listed(alone.weights())
    code = taken(client, run, "run.py").text
    compile(code, "run.py", "exec")
    assert "rates = {2: 0.02}" in code


def test_only_who_started_a_run_takes_a_file_away_that_there_is(client, run):
    other = begun(client, owner="somebody else", query=QUERY)
    for name in takeaway.FILES:
        for key in ("0" * 64, other["key"]):
            assert "Only the visitor who started this run" in told(taken(client, run, name, key=key), 403)
    for name in ("passwd", "..%2F..%2Fapp.py", "history.csv%00", "HISTORY.CSV"):
        assert told(taken(client, run, name), 404).startswith("There is no such file")


def test_a_run_that_is_gone_is_reported(client, engine, run):
    engine.close()
    assert "press Start" in told(taken(client, run, "weights.safetensors"), 400)
    assert "press Start" in told(client.get(f"/runs/{run['id']}/at/4"), 400)


def test_a_checkpoint_is_sent_like_an_event(client, run, alone):
    seen = client.get(f"/runs/{run['id']}/at/7?show=causes").data
    assert (seen["step"], seen["steps"], seen["snapshot"]["step"]) == (7, 20, 7)
    assert seen["recorded"] == {"lr": "0.01", "branch": "2,lr:0.02"}
    assert set(seen["snapshot"]["measured"]) == {"causes"}
    assert seen["conclusion"]
    assert client.get(f"/runs/{run['id']}/at/99999").data["step"] == 20
    line = f"/runs/{run['id']}/measured/line_search"
    now, then = (client.get(f"{line}{query}").data for query in ("", "?at=7"))
    assert now != then


def test_a_compressed_answer_has_the_same_content_in_half_the_bytes(client, run):
    asks = {"accept-encoding": "br, gzip"}
    for target in ("measured/slow_motion?layer=0", "at/7?show=inputs"):
        plain, packed = (client.get(f"/runs/{run['id']}/{target}", **each) for each in ({}, asks))
        assert "content-encoding" not in plain.headers
        assert packed.headers["content-encoding"] == "gzip"
        assert gzip.decompress(packed.body) == plain.body
        assert len(packed.body) < 0.6 * len(plain.body)
    short = client.get(f"/runs/{run['id']}/measured/unit?layer=0&cause=0", **asks)
    assert "content-encoding" not in short.headers  # it would not be worth it


def test_continuing_a_run_requires_its_key(client, engine, run, alone):
    query = f"{QUERY}&branch=2,lr:0.02&branch=7,default:clipped"
    after = {"run": run["id"], "key": "0" * 64, "step": 7}
    refusal = client.post("/runs", {"query": query, "owner": "me", "after": after})
    assert "Only the visitor who started a run" in told(refusal, 403)
    branched = begun(client, query=query, paused=True, after=after | {"key": run["key"]})
    assert commanded(client, branched, "step").data["step"] == 8
    commanded(client, branched, "resume")
    turn_until_idle(engine)
    assert "Clipped straight-through (was Default autograd)" in format_event(engine.snapshot(branched["id"]))
    expected = alone.branch(7, default="clipped")
    expected.advance(20)
    assert listed(engine.snapshot(branched["id"]).snapshot.losses) == listed(expected.snapshot().losses)


def test_settings_are_opened_as_the_page_takes_them_or_it_is_explained(client, run):
    text = taken(client, run, "settings.json").text
    answer = client.post("/settings", {"text": text}).data
    assert answer["table"] is None
    assert (answer["choice"]["op"], answer["choice"]["rules"]) == ("sign", ["default", "clipped"])
    assert answer["choice"]["training"]["branch"] == "2,lr:0.02"
    assert takeaway.choice_from_settings(read_settings(text)).hidden == 4
    chosen = Table(POINTS, "left", ("corner",))
    for table, target, without in ((POINTS, None, []), (chosen, "left", ["corner"])):
        answer = client.post("/settings", {"text": takeaway.settings_json(Settings(table=table))})
        assert answer.data["table"] == {"text": POINTS, "target": target, "without": without}
    for text in ("", "{}", "[1]", '{"steps": 1e9}', '{"op": "formula: x +"}', json.dumps({"op": "x" * 400})):
        answer = client.post("/settings", {"text": text})
        assert told(answer, 400).startswith("This cannot be opened: ")


@pytest.mark.parametrize("path", ["/settings", "/studies/cost"])
def test_an_answer_that_needs_computing_takes_a_compute_slot(client, path):
    """A body is parsed in it as well."""
    done = threading.Event()

    async def asked():
        others = [Visitor(f"{number}", "there") for number in range(limits.READ_SLOTS)]
        seated = [asyncio.create_task(responses.READER_SLOTS.compute(other, done.wait)) for other in others]
        await asyncio.sleep(0)
        asking = asyncio.create_task(client.ask("POST", path, b"{"))
        answered, _ = await asyncio.wait([asking], timeout=0.2)
        done.set()
        await asyncio.gather(*seated)
        return len(answered), await asking

    early, answer = asyncio.run(asked())
    assert early == 0
    assert "send JSON" in told(answer, 400)


def test_settings_have_a_script_without_a_run(client, engine):
    text = client.post("/script", {"query": QUERY}).data["text"]
    assert text == takeaway.script(jobs.read_run_settings({"query": QUERY}))
    assert not engine.list()
    assert "must be" in told(client.post("/script", {"query": f"{QUERY}&branch=x"}), 400)
